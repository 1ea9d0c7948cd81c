"""Calls both namespaces with the same arguments and compares what they give."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np

import facula
from facula import array_api
from judging.draws import Dtype

NAMESPACES = {"facula": array_api, "strict": strict}


def function_of(namespace, path: str):
    """Find a function by its path, such as "linalg.det"."""
    for part in path.split("."):
        namespace = getattr(namespace, part)
    return namespace


def given_to(namespace, value):
    """Turn arrays and dtypes in an argument into those of a namespace."""
    if isinstance(value, np.ndarray):
        if namespace is strict:
            return strict.asarray(value)
        made = facula.from_numpy(np.array(value, order="K"))
        return made
    if isinstance(value, Dtype):
        return getattr(namespace, value.name)
    if isinstance(value, (list, tuple)) and not isinstance(value, str):
        return type(value)(given_to(namespace, v) for v in value)
    return value


def both(path: str, args, kwargs):
    """Call a function of both namespaces."""
    results = []
    for namespace in (array_api, strict):
        function = function_of(namespace, path)
        mine = [given_to(namespace, a) for a in args]
        options = {k: given_to(namespace, v) for k, v in kwargs.items()}
        with np.errstate(all="ignore"):
            results.append(function(*mine, **options))
    return results


def to_numpy(value):
    if isinstance(value, facula.Tensor):
        return value.numpy()
    return np.asarray(value._array)


def dtype_name(value) -> str:
    if isinstance(value, facula.dtype):
        return repr(value).rsplit(".", 1)[-1]
    if isinstance(value, strict._dtypes.DType):
        return value._np_dtype.name
    return to_numpy(value).dtype.name


def assert_same(mine, theirs, *, exact=False, zeros=False, values=True, factor=1.0, what=""):
    """Compare two results: structure, shapes, dtypes, values and, with `zeros`, their signs."""
    if isinstance(theirs, (tuple, list)):
        assert isinstance(mine, type(theirs)) or hasattr(theirs, "_fields"), what
        assert len(mine) == len(theirs), what
        assert getattr(mine, "_fields", None) == getattr(theirs, "_fields", None), what
        options = {"exact": exact, "zeros": zeros, "values": values, "factor": factor, "what": what}
        for a, b in zip(mine, theirs, strict=True):
            assert_same(a, b, **options)
        return
    if isinstance(theirs, strict._dtypes.DType):
        assert dtype_name(mine) == dtype_name(theirs), what
        return
    if not isinstance(mine, facula.Tensor):
        assert type(mine) is type(theirs) and mine == theirs, what
        return
    assert tuple(mine.shape) == tuple(theirs.shape), f"{what}: {mine.shape} for {theirs.shape}"
    a, b = to_numpy(mine), to_numpy(theirs)
    assert a.dtype == b.dtype, f"{what}: {a.dtype} for {b.dtype}"
    if values:
        assert_close(a, b, exact, zeros, factor, what)


def assert_close(a, b, exact=False, zeros=False, factor=1.0, what="", scale=0.0):
    """Compare values; `scale` is what rounding errors are relative to, beside the values."""
    if a.dtype.kind == "c":
        # The parts of a number share its rounding error. The sign of a part that is zero depends
        # on the formula; the standard leaves it open.
        scale = float(np.abs(b[np.isfinite(b)]).max(initial=0))
        assert_close(a.real, b.real, exact, False, factor, what, scale)
        assert_close(a.imag, b.imag, exact, False, factor, what, scale)
        return
    message = f"{what}:\n{a!r}\n for\n{b!r}"
    if exact or a.dtype.kind != "f":
        np.testing.assert_array_equal(a, b, err_msg=message)
    else:
        relative = factor * (2e-5 if a.dtype == np.float32 else 1e-11)
        finite = np.abs(b[np.isfinite(b)])
        if factor > 1:
            scale = max(scale, float(finite.max(initial=0)))
        tiny = relative * max(scale, 1e-3)
        np.testing.assert_allclose(a, b, rtol=relative, atol=tiny, err_msg=message)
    if zeros and a.dtype.kind == "f":
        both_zero = (a == 0) & (b == 0)
        np.testing.assert_array_equal(
            np.signbit(a) & both_zero, np.signbit(b) & both_zero, err_msg=message
        )
