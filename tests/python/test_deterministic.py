"""Asking for deterministic results: the settings are kept, and results are the same anyway."""

import pytest

import facula


@pytest.fixture(autouse=True)
def reset():
    yield
    facula.use_deterministic_algorithms(False)


def test_settings():
    assert not facula.are_deterministic_algorithms_enabled()
    assert facula.get_deterministic_debug_mode() == 0
    facula.use_deterministic_algorithms(True)
    assert facula.are_deterministic_algorithms_enabled()
    assert facula.get_deterministic_debug_mode() == 2
    assert not facula.is_deterministic_algorithms_warn_only_enabled()
    facula.use_deterministic_algorithms(True, warn_only=True)
    assert facula.are_deterministic_algorithms_enabled()
    assert facula.is_deterministic_algorithms_warn_only_enabled()
    for level, text in enumerate(("default", "warn", "error")):
        facula.set_deterministic_debug_mode(text)
        assert facula.get_deterministic_debug_mode() == level
        facula.set_deterministic_debug_mode(level)
        assert facula.get_deterministic_debug_mode() == level
    with pytest.raises(RuntimeError, match="debug_mode"):
        facula.set_deterministic_debug_mode("loud")
    with pytest.raises(TypeError, match="debug_mode"):
        facula.set_deterministic_debug_mode(None)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scattering_is_the_same_for_any_number_of_threads(reduce):
    facula.use_deterministic_algorithms(True)
    facula.manual_seed(0)
    index, source = facula.randint(0, 50, (20_000, 4)), facula.randn(20_000, 4)
    threads, results = facula.get_num_threads(), []
    for n in (1, 4):
        facula.set_num_threads(n)
        base = facula.zeros(50, 4)
        rows = base.index_reduce(0, index[:, 0], source, "prod" if reduce == "sum" else reduce)
        results.append((base.scatter_reduce(0, index, source, reduce), rows))
    facula.set_num_threads(threads)
    for a, b in zip(*results, strict=True):
        assert facula.equal(a, b)
