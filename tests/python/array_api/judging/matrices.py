"""A sample of arguments for every function of linear algebra and Fourier transforms."""

from __future__ import annotations

import math

import numpy as np

from judging.draws import COMPLEX, FLOATS, INEXACT, INTEGERS, NUMERIC, Draw, Dtype
from judging.samples import SAMPLES, _resized, _wider, sample


def _batch(d: Draw) -> tuple[int, ...]:
    return d.shape(0, 2)


def _regular(d: Draw, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Give square matrices that are far from singular."""
    x = d.array(dtype, (*shape, shape[-1]), special=False)
    return (x + 12 * np.eye(shape[-1])).astype(dtype)


def _hermitian(d: Draw) -> np.ndarray:
    x = _regular(d, d.one(*INEXACT), (*_batch(d), d.whole(0, 4)))
    return x + np.conj(np.swapaxes(x, -1, -2))


def _matrices(d: Draw, dtypes=INEXACT, least=0) -> np.ndarray:
    return d.array(
        d.one(*dtypes), (*_batch(d), d.whole(least, 4), d.whole(least, 4)), special=False
    )


# ---- also in the main namespace


@sample("matmul", "linalg.matmul")
def _(d):
    first, second = d.promotable(NUMERIC)
    m, k, n = d.whole(0, 4), d.whole(0, 4), d.whole(0, 4)
    one, two = d.broadcasting(2)
    left = (k,) if d.whole(0, 3) == 0 else (*one, m, k)
    right = (k,) if d.whole(0, 3) == 0 else (*two, k, n)
    return [d.array(first, left, first in INTEGERS), d.array(second, right, False)], {}


@sample("matrix_transpose", "linalg.matrix_transpose")
def _(d):
    return [d.array(d.one(*NUMERIC), d.shape(2))], {}


@sample("tensordot", "linalg.tensordot")
def _(d):
    first, second = d.promotable(NUMERIC)
    shared = d.shape(0, 2)
    one, two = d.shape(0, 2), d.shape(0, 2)
    left, right = (*one, *shared), (*shared, *two)
    axes = len(shared)
    if d.maybe():
        axes = (tuple(a - len(shared) for a in range(len(shared))), tuple(range(len(shared))))
    return [d.array(first, left, False), d.array(second, right, False)], {"axes": axes}


@sample("vecdot", "linalg.vecdot")
def _(d):
    first, second = d.promotable(NUMERIC)
    size = d.whole(0, 4)
    one, two = d.broadcasting(2)
    axis = -d.whole(1, min(len(one), len(two)) + 1)
    shapes = []
    for rest in (one, two):
        at = len(rest) + 1 + axis
        shapes.append((*rest[:at], size, *rest[at:]))
    return [d.array(first, shapes[0], False), d.array(second, shapes[1], False)], {"axis": axis}


# ---- the extension


@sample("linalg.cholesky")
def _(d):
    return [_hermitian(d)], d.options(upper=d.maybe)


@sample("linalg.eigh", "linalg.eigvalsh")
def _(d):
    return [_hermitian(d)], {}


@sample("linalg.det", "linalg.inv", "linalg.slogdet")
def _(d):
    return [_regular(d, d.one(*INEXACT), (*_batch(d), d.whole(0, 4)))], {}


@sample("linalg.cross")
def _(d):
    first, second = d.promotable(NUMERIC)
    one, two = d.broadcasting(2)
    axis = -d.whole(1, min(len(one), len(two)) + 1)
    shapes = []
    for rest in (one, two):
        at = len(rest) + 1 + axis
        shapes.append((*rest[:at], 3, *rest[at:]))
    return [d.array(first, shapes[0], False), d.array(second, shapes[1], False)], {"axis": axis}


@sample("linalg.diagonal")
def _(d):
    return [d.array(d.one(*NUMERIC), d.shape(2))], d.options(offset=lambda: d.whole(-4, 4))


@sample("linalg.trace")
def _(d):
    dtype = d.one(*NUMERIC)
    kwargs = d.options(offset=lambda: d.whole(-4, 4), dtype=lambda: Dtype(_wider(d, dtype)))
    return [d.array(dtype, d.shape(2), dtype in INTEGERS)], kwargs


@sample("linalg.matrix_norm")
def _(d):
    orders = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)
    return [_matrices(d, least=1)], d.options(keepdims=d.maybe, ord=lambda: d.one(*orders))


@sample("linalg.matrix_power")
def _(d):
    return [_regular(d, d.one(*INEXACT), (*_batch(d), d.whole(0, 3))), d.whole(-3, 4)], {}


@sample("linalg.matrix_rank", "linalg.pinv")
def _(d):
    x = _matrices(d, least=1)
    kwargs = d.options(rtol=lambda: d.one(0.1, d.array("float64", x.shape[:-2], False)))
    if isinstance(kwargs.get("rtol"), np.ndarray):
        kwargs["rtol"] = (np.abs(kwargs["rtol"]) * 0.05 + 0.01).astype(x.real.dtype)
    return [x], kwargs


@sample("linalg.outer")
def _(d):
    first, second = d.promotable(NUMERIC)
    return [d.array(first, (d.whole(0, 4),)), d.array(second, (d.whole(0, 4),))], {}


@sample("linalg.qr")
def _(d):
    return [_matrices(d)], d.options(mode=lambda: d.one("reduced", "complete"))


@sample("linalg.solve")
def _(d):
    first, second = d.promotable(d.one(FLOATS, COMPLEX))
    size = d.whole(0, 4)
    one, two = d.broadcasting(2)
    left = _regular(d, first, (*one, size))
    right = (size,) if d.maybe() else (*two, size, d.whole(0, 3))
    return [left, d.array(second, right, False)], {}


@sample("linalg.svd")
def _(d):
    return [_matrices(d)], d.options(full_matrices=d.maybe)


@sample("linalg.svdvals")
def _(d):
    return [_matrices(d)], {}


@sample("linalg.vector_norm")
def _(d):
    x = d.array(d.one(*INEXACT), d.shape(least=1), special=False)
    orders = (0, 1, -1, 2, -2, 3, 2.5, math.inf, -math.inf)
    kwargs = d.options(keepdims=d.maybe, ord=lambda: d.one(*orders))
    return [x], {"axis": d.axes(x.ndim), **kwargs}


# ---- Fourier transforms

_NORMS = ("backward", "ortho", "forward")


def _transformed(dtypes):
    def draw(d: Draw):
        x = d.array(d.one(*dtypes), d.shape(1, least=2), special=False)
        kwargs = d.options(
            n=lambda: d.whole(2, 6), axis=lambda: d.axis(x.ndim), norm=lambda: d.one(*_NORMS)
        )
        return [x], kwargs

    return draw


def _of_several(dtypes):
    def draw(d: Draw):
        x = d.array(d.one(*dtypes), d.shape(1, least=2), special=False)
        kwargs = d.options(norm=lambda: d.one(*_NORMS))
        if d.maybe():
            axes = d.axes(x.ndim)
            if isinstance(axes, tuple) and axes:
                kwargs["axes"] = axes
                if d.maybe():
                    kwargs["s"] = tuple(d.whole(2, 6) for _ in axes)
        return [x], kwargs

    return draw


for _name in ("fft", "ifft", "irfft", "hfft"):
    SAMPLES["fft." + _name] = _transformed(COMPLEX)
for _name in ("rfft", "ihfft"):
    SAMPLES["fft." + _name] = _transformed(FLOATS)
for _name in ("fftn", "ifftn", "irfftn"):
    SAMPLES["fft." + _name] = _of_several(COMPLEX)
SAMPLES["fft.rfftn"] = _of_several(FLOATS)


@sample("fft.fftfreq", "fft.rfftfreq")
def _(d):
    kwargs = d.options(d=lambda: d.one(0.5, 2.0), dtype=lambda: Dtype(d.one(*FLOATS)))
    return [d.whole(1, 9)], {"dtype": Dtype("float32"), **kwargs}


@sample("fft.fftshift", "fft.ifftshift")
def _(d):
    x = d.array(d.one(*INEXACT), d.shape(1))
    return [x], d.options(axes=lambda: d.axes(x.ndim))


__all__ = ["SAMPLES", "_resized"]
