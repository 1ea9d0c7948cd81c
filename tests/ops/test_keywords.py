"""Keywords that a method or a function lacks are refused: out= belongs to functions alone."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import numpy as np
import pytest
from samples import samples

import facula
from facula import Tensor

SAMPLES = samples(lambda case: case.get("dtype") in ("float32", "int64", "bool"), 3)
# `rename` takes any name.
METHODS = sorted(
    name
    for name in dir(Tensor)
    if not name.startswith("_") and callable(getattr(Tensor, name)) and name != "rename"
)
# These want a sparse tensor, and say so before they look at what they are given.
OF_SPARSE = set(
    "ccol_indices coalesce col_indices crow_indices indices is_coalesced row_indices smm "
    "sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm values".split()
)
REMOVED = {"eig", "lstsq", "solve", "symeig"}  # say so whatever they are given
REFUSED = re.compile(
    r"unexpected keyword argument 'out'|invalid combination|takes no keyword arguments"
)


def parameters(function: Callable) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        return []


def test_no_method_shows_out() -> None:
    assert len(METHODS) > 500
    assert [n for n in METHODS if "out" in parameters(getattr(Tensor, n))] == []
    assert "out" in parameters(facula.add) and "out" not in parameters(facula.add_)


@pytest.mark.parametrize("name", sorted(set(METHODS) - OF_SPARSE - REMOVED))
def test_a_method_names_the_keyword_that_it_refuses(name: str) -> None:
    x, out = facula.ones(2, 2), facula.zeros(2, 2)
    with pytest.raises(TypeError, match=REFUSED):
        getattr(x, name)(out=out)
    assert x.tolist() == [[1, 1], [1, 1]] and not out.any()


def calls_of(name: str) -> int:
    """Make recorded calls of a method with keywords that it lacks; how many there were."""
    method, done = getattr(Tensor, name), 0
    for sample in SAMPLES[name.removesuffix("_") if name not in SAMPLES else name]:

        def build(sample=sample) -> tuple[list, dict]:
            return sample.build(lambda t: t.detach().clone())[1:]

        args, kwargs = build()
        if not args or not isinstance(args[0], Tensor) or "out" in kwargs:
            continue
        try:
            method(*args, **kwargs)
        except (RuntimeError, TypeError, NotImplementedError, IndexError):
            continue  # a result that does not fit into self, the arguments of the function only
        args, kwargs = build()
        before = args[0].clone()
        for keyword, value in (("out", facula.empty(0)), ("nonsense", 1)):
            with pytest.raises(TypeError):
                method(*args, **{**kwargs, keyword: value})
        facula.testing.assert_close(args[0], before, rtol=0, atol=0, equal_nan=True)
        done += 1
    return done


def test_methods_refuse_in_calls_that_are_right_otherwise() -> None:
    known = [n for n in METHODS if n in SAMPLES or n.removesuffix("_") in SAMPLES]
    called = [n for n in known if calls_of(n)]
    print(f"methods: {len(called)} of {len(known)} with samples")
    assert len(called) > 300


@pytest.mark.parametrize(
    "call",
    [
        lambda x, o: facula.adjoint(x, out=o),
        lambda x, o: facula.broadcast_to(x, (2, 2), out=o),
        lambda x, o: facula.diagflat(x, out=o),
        lambda x, o: facula.flatten(x, out=o),
        lambda x, o: facula.ravel(x, out=o),
        lambda x, o: facula.reshape(x, (4,), out=o),
        lambda x, o: facula.t(x, out=o),
        lambda x, o: facula.tile(x, (2,), out=o),
        lambda x, o: facula.unflatten(x, 0, (1, 2), out=o),
        lambda x, o: facula.relu_(x, out=o),
        lambda x, o: facula.clamp_max_(x, 1, out=o),
        lambda x, o: facula.nn.functional.relu_(x, out=o),
        lambda x, o: facula.special.expit_(x, out=o),
    ],
)
def test_functions_without_out(call: Callable) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        call(facula.ones(2, 2), facula.empty(0))


def test_overloads_of_methods_are_listed_without_out() -> None:
    x = facula.ones(2, 2)
    with pytest.raises(TypeError, match="expected one of") as found:
        x.max(0, out=(x, x))
    assert "Tensor out" not in str(found.value) and "* (Tensor input)\n" in str(found.value)
    with pytest.raises(TypeError, match=r"Tensor out=None\)"):
        facula.max(x, "0")


def test_numpy_hands_none_to_methods() -> None:
    x = facula.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    for f, want in ((np.sum, 10), (np.mean, 2.5), (np.cumsum, None), (np.argmax, 3)):
        got = f(x) if want is not None else f(x, axis=0)
        assert isinstance(got, Tensor) and (want is None or got == want)
    assert facula.add(x.detach(), 1, out=None).tolist() == [[2, 3], [4, 5]]
    with pytest.raises(TypeError, match="out"):
        x.detach().add_(1, out=None)
