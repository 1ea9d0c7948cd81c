"""no_grad and its relatives as context managers and decorators."""

import pytest

import facula


def test_contexts():
    assert facula.is_grad_enabled()
    with facula.no_grad():
        assert not facula.is_grad_enabled()
        with facula.enable_grad():
            assert facula.is_grad_enabled()
        assert not facula.is_grad_enabled()
    assert facula.is_grad_enabled()


def test_errors_restore_the_mode():
    with pytest.raises(KeyError), facula.no_grad():
        raise KeyError
    assert facula.is_grad_enabled()


def test_decorators():
    @facula.no_grad()
    def f():
        return facula.is_grad_enabled()

    @facula.no_grad
    def g():
        """Say."""
        return facula.is_grad_enabled()

    @facula.enable_grad()
    def h():
        return facula.is_grad_enabled()

    assert f() is False and g() is False and g.__doc__ == "Say."
    with facula.no_grad():
        assert h() is True


def test_generators():
    @facula.no_grad()
    def steps():
        for _ in range(2):
            assert not facula.is_grad_enabled()
            yield facula.is_grad_enabled()
        return 5

    for inside in steps():
        assert inside is False and facula.is_grad_enabled()


def test_set_grad_enabled():
    with facula.set_grad_enabled(False):
        assert not facula.is_grad_enabled()
    assert facula.is_grad_enabled()
    facula.set_grad_enabled(False)
    assert not facula.is_grad_enabled()
    facula.set_grad_enabled(True)


def test_inference_mode():
    with facula.inference_mode():
        assert facula.is_inference_mode_enabled() and not facula.is_grad_enabled()
        t = facula.ones(1)
    assert t.is_inference() and not facula.is_inference_mode_enabled()
    with facula.inference_mode(False):
        assert not facula.is_inference_mode_enabled()

    @facula.inference_mode()
    def f():
        return facula.is_inference_mode_enabled()

    assert f()


def test_no_grad_records_nothing():
    x = facula.ones(1, requires_grad=True)
    with facula.no_grad():
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_inference_tensors_count_no_versions():
    with facula.inference_mode():
        t = facula.ones(1)
        for made in (t, t * 2, t[0]):
            with pytest.raises(RuntimeError, match="do not track version counter"):
                made._version  # noqa: B018
    assert t.clone()._version == 0
def test_leaving_inference_mode_records_again():
    for outside in (facula.no_grad, facula.inference_mode):
        with outside():
            with facula.inference_mode(False):
                assert facula.is_grad_enabled() and not facula.is_inference_mode_enabled()
                assert (facula.ones(1, requires_grad=True) * 2).requires_grad
            assert not facula.is_grad_enabled()
            assert facula.is_inference_mode_enabled() == (outside is facula.inference_mode)
