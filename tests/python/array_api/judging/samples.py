"""A sample of arguments for every function of the standard's main namespace."""

from __future__ import annotations

import math

import numpy as np

from judging.draws import (
    ALL,
    BITS,
    COMPLEX,
    FLOATS,
    INEXACT,
    INTEGERS,
    MILD,
    NUMERIC,
    REAL,
    Draw,
    Dtype,
)

#: The sampler of each function by its path; each gives (args, kwargs).
SAMPLES: dict = {}


def sample(*paths: str):
    def register(function):
        for path in paths:
            SAMPLES[path] = function
        return function

    return register


# ---- element by element


def _unary(dtypes, complex_too=True):
    """Draw an array; what is special of complex numbers NumPy often has otherwise."""

    def draw(d: Draw):
        dtype = d.one(*dtypes)
        return [d.array(dtype, special=complex_too or dtype not in COMPLEX)], {}

    return draw


for _names, _dtypes in {
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan "
    "tanh": INEXACT,
    "abs negative positive square isfinite isinf isnan conj real round": NUMERIC,
    "imag": COMPLEX,
    "ceil floor trunc": REAL,
    "signbit": FLOATS,
    "bitwise_invert": BITS,
    "logical_not": ["bool"],
}.items():
    for _name in _names.split():
        SAMPLES[_name] = _unary(_dtypes, complex_too=_dtypes is not INEXACT)


def _binary(dtypes):
    def draw(d: Draw):
        first, second = d.promotable(dtypes)
        shapes = d.broadcasting(2)
        special = first not in COMPLEX  # NaN and infinities of these are left open
        if d.whole(0, 3) == 0:
            pair = [d.array(first, shapes[0], special), d.number(first)]
            return (pair if d.maybe() else pair[::-1]), {}
        return [d.array(first, shapes[0], special), d.array(second, shapes[1], special)], {}

    return draw


for _names, _dtypes in {
    "add multiply subtract equal not_equal": NUMERIC,
    "divide": INEXACT,
    "atan2 copysign hypot logaddexp": FLOATS,
    "greater greater_equal less less_equal maximum minimum": REAL,
    "bitwise_and bitwise_or bitwise_xor": BITS,
    "logical_and logical_or logical_xor": ["bool"],
}.items():
    for _name in _names.split():
        SAMPLES[_name] = _binary(_dtypes)


@sample("nextafter")
def _(d):
    dtype = d.one(*FLOATS)
    shapes = d.broadcasting(2)
    return [d.array(dtype, shapes[0]), d.array(dtype, shapes[1])], {}


@sample("bitwise_left_shift", "bitwise_right_shift")
def _(d):
    first, second = d.promotable(INTEGERS)
    shapes = d.broadcasting(2)
    by = np.asarray(np.abs(d.array(second, shapes[1], special=False)) % 7, second)
    return [d.array(first, shapes[0]), by], {}


@sample("floor_divide", "remainder")
def _(d):
    args, kwargs = _binary(REAL)(d)
    divisor = args[1]
    if isinstance(divisor, np.ndarray) and divisor.dtype.kind in "iu":
        divisor[divisor == 0] = 3
    elif isinstance(divisor, int) and divisor == 0:
        args[1] = 3
    if isinstance(args[0], np.ndarray) and args[0].dtype.kind == "i":
        args[0][args[0] == np.iinfo(args[0].dtype).min] = 5  # the least over -1 has no value
    for i, arg in enumerate(args):  # of infinities NumPy gives what the standard does not
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
            arg[np.isinf(arg)] = 5
        elif isinstance(arg, float) and math.isinf(arg):
            args[i] = 5.0
    return args, kwargs


@sample("pow")
def _(d):
    dtype = d.one(*REAL)
    shapes = d.broadcasting(2)
    base, exponent = d.array(dtype, shapes[0]), d.array(dtype, shapes[1], special=dtype in FLOATS)
    if dtype in INTEGERS:
        exponent = np.asarray(np.abs(exponent))
    else:
        base[np.isneginf(base)] = -2.5  # to the power 0.5, NumPy gives sqrt(-inf)
    return [base, exponent], {}


def _without_complex_zero(dtypes):
    """Draw an array; of complex zeros NumPy gives NaN, and the standard leaves them open."""

    def draw(d: Draw):
        x = d.array(d.one(*dtypes), special=False)
        if x.dtype.kind == "c":
            x[x == 0] = 1
        return [x], {}

    return draw


SAMPLES["reciprocal"] = _without_complex_zero(INEXACT)
SAMPLES["sign"] = _without_complex_zero(NUMERIC)


@sample("clip")
def _(d):
    dtype = d.one(*REAL)
    shapes = d.broadcasting(3)
    number = lambda: d.number(dtype) if dtype in INTEGERS else d.one(*MILD)
    low = d.one(None, number(), d.array(dtype, shapes[1], special=False))
    high = d.one(None, number(), d.array(dtype, shapes[2], special=False))
    limits = [low, high]
    if all(isinstance(v, (int, float)) for v in limits) and limits[0] > limits[1]:
        limits.reverse()
    if all(v is not None for v in limits):  # what happens when they cross is left open
        shape = np.broadcast_shapes(*(np.shape(v) for v in limits))
        pair = np.broadcast_arrays(*limits) if shape else limits
        if np.any(np.greater(*pair)):
            limits[1] = None
    return [d.array(dtype, shapes[0]), *limits], {}


# ---- creation


@sample("asarray")
def _(d):
    if d.maybe():
        kwargs = d.options(copy=lambda: True)
        return [d.array(d.one(*ALL))], kwargs
    kind = d.one("bool", "int64", "float32", "complex64")
    return [d.array(kind, special=False).tolist()], {"dtype": Dtype(kind)}


@sample("arange")
def _(d):
    dtype = d.one("int64", "int32", "uint8", "float32", "float64")
    step = d.one(1, 2, 3, -1, -2) if dtype != "uint8" else d.one(1, 2, 3)
    low = 0 if dtype == "uint8" else -9
    ends = sorted([d.whole(low, 20), d.whole(low, 20)], reverse=step < 0)
    if d.whole(0, 3) == 0:
        ends.reverse()  # none
    if dtype in FLOATS and d.maybe():
        return [ends[0] + 0.25, ends[1] + 0.5, step * 0.5], {"dtype": Dtype(dtype)}
    if d.whole(0, 3) == 0:
        return [abs(ends[0])], {"dtype": Dtype(dtype)}
    return [*ends, step], {"dtype": Dtype(dtype)}


@sample("linspace")
def _(d):
    dtype = d.one(*INEXACT)
    ends = [d.one(-3.5, 0.0, 1.0, 7.25), d.one(-2.0, 0.0, 1.0, 9.5)]
    if dtype in COMPLEX:
        ends[1] += 1.5j
    kwargs = d.options(endpoint=d.maybe)
    return [*ends, d.whole(0, 9)], {"dtype": Dtype(dtype), **kwargs}


@sample("eye")
def _(d):
    args = [d.whole(0, 4), d.one(None, d.whole(0, 4))]
    return args, {"dtype": Dtype(d.one(*ALL)), "k": d.whole(-5, 5)}


@sample("zeros", "ones", "empty")
def _(d):
    return [d.one(d.shape(), d.whole(0, 4))], {"dtype": Dtype(d.one(*ALL))}


@sample("zeros_like", "ones_like", "empty_like")
def _(d):
    return [d.array(d.one(*ALL))], d.options(dtype=lambda: Dtype(d.one(*ALL)))


@sample("full")
def _(d):
    dtype = d.one(*ALL)
    return [d.shape(), d.number(dtype)], {"dtype": Dtype(dtype)}


@sample("full_like")
def _(d):
    dtype = d.one(*ALL)
    return [d.array(dtype), d.number(dtype)], {}


@sample("from_dlpack")
def _(d):
    return [d.array(d.one(*ALL))], {}


@sample("meshgrid")
def _(d):
    dtype = d.one(*NUMERIC)
    arrays = [d.array(dtype, (d.whole(0, 3),)) for _ in range(d.whole(1, 3))]
    return arrays, d.options(indexing=lambda: d.one("xy", "ij"))


@sample("tril", "triu")
def _(d):
    return [d.array(d.one(*ALL), d.shape(2))], d.options(k=lambda: d.whole(-4, 4))


# ---- data types


@sample("astype")
def _(d):
    source = d.one(*ALL)
    if source in COMPLEX:
        target = d.one(*COMPLEX)
    elif source in FLOATS:
        target = d.one(*INEXACT, "bool", "int64", "int32")
    else:
        target = d.one(*ALL)
    x = d.array(source, special=source not in FLOATS or target in INEXACT)
    return [x, Dtype(target)], d.options(copy=d.maybe)


@sample("can_cast")
def _(d):
    first, second = d.promotable(ALL)
    return [Dtype(first) if d.maybe() else d.array(first), Dtype(second)], {}


@sample("finfo")
def _(d):
    return [Dtype(d.one(*INEXACT)) if d.maybe() else d.array(d.one(*INEXACT))], {}


@sample("iinfo")
def _(d):
    return [Dtype(d.one(*INTEGERS)) if d.maybe() else d.array(d.one(*INTEGERS))], {}


@sample("isdtype")
def _(d):
    kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
             "complex floating", "numeric", Dtype("int8"), Dtype("complex64"))  # fmt: skip
    kind = d.one(*kinds)
    return [Dtype(d.one(*ALL)), (kind, d.one(*kinds)) if d.maybe() else kind], {}


@sample("result_type")
def _(d):
    first, second = d.promotable(ALL)
    args = [Dtype(first) if d.maybe() else d.array(first), d.array(second, ())]
    if d.maybe() and first not in ("bool",):
        args.append(d.whole(0, 3))
    return args, {}


# ---- manipulation


@sample("broadcast_arrays")
def _(d):
    return [d.array(d.one(*ALL), s) for s in d.broadcasting(d.whole(1, 3))], {}


@sample("broadcast_to")
def _(d):
    shape = d.shape()
    part = tuple(1 if d.whole(0, 2) == 0 else n for n in shape[d.whole(0, len(shape)) :])
    return [d.array(d.one(*ALL), part), shape], {}


@sample("concat")
def _(d):
    shape = d.shape(1)
    axis = d.one(None, d.axis(len(shape)))
    first, second = d.promotable(ALL)
    other = d.shape() if axis is None else _resized(shape, axis, d.whole(0, 3))
    return [(d.array(first, shape), d.array(second, other))], {"axis": axis}


def _resized(shape, axis, size):
    sizes = list(shape)
    sizes[axis] = size
    return tuple(sizes)


@sample("expand_dims")
def _(d):
    x = d.array(d.one(*ALL))
    return [x], {"axis": d.whole(-x.ndim - 1, x.ndim)}


@sample("flip")
def _(d):
    x = d.array(d.one(*ALL))
    return [x], d.options(axis=lambda: d.axes(x.ndim))


@sample("moveaxis")
def _(d):
    x = d.array(d.one(*ALL), d.shape(1))
    if d.maybe():
        return [x, d.axis(x.ndim), d.axis(x.ndim)], {}
    count = d.whole(0, x.ndim)
    order = [tuple(d._draw(_permutation(x.ndim))[:count]) for _ in range(2)]
    return [x, *order], {}


def _permutation(ndim):
    from hypothesis import strategies as st

    return st.permutations(range(ndim))


@sample("permute_dims")
def _(d):
    x = d.array(d.one(*ALL))
    return [x, tuple(d._draw(_permutation(x.ndim)))], {}


@sample("repeat")
def _(d):
    x = d.array(d.one(*ALL), d.shape(1))
    axis = d.one(None, d.axis(x.ndim))
    size = x.size if axis is None else x.shape[axis]
    many = d.array(d.one("int64", "int32"), (d.one(1, size),), special=False)
    return [x, d.whole(0, 3) if d.maybe() else np.abs(many) % 3], {"axis": axis}


@sample("reshape")
def _(d):
    x = d.array(d.one(*ALL))
    shape = d.one((x.size,), (-1,), x.shape[::-1], (1, *x.shape), (x.size, 1))
    if x.size == 0 and -1 in shape:
        shape = (0,)
    may_copy = (None, True, False) if x.size else (None, True)  # its copy=False knows no empty ones
    kwargs = d.options(copy=lambda: d.one(*may_copy))
    return [np.ascontiguousarray(x).reshape(x.shape), shape], kwargs


@sample("roll")
def _(d):
    x = d.array(d.one(*ALL))
    axis = d.axes(x.ndim)
    by = d.whole(-5, 5)
    if isinstance(axis, tuple) and d.maybe():
        by = tuple(d.whole(-5, 5) for _ in axis)
    if axis == ():
        axis, by = None, d.whole(-5, 5)
    return [x, by], {"axis": axis}


@sample("squeeze")
def _(d):
    x = d.array(d.one(*ALL), tuple(d.one(1, 1, 3) for _ in range(d.whole(1, 3))))
    ones = [a - x.ndim * d.whole(0, 1) for a, n in enumerate(x.shape) if n == 1]
    if ones and d.maybe():
        return [x, d.one(*ones)], {}
    return [x, tuple(ones)], {}


@sample("stack")
def _(d):
    shape = d.shape()
    first, second = d.promotable(ALL)
    axis = d.whole(-len(shape) - 1, len(shape))
    return [[d.array(first, shape), d.array(second, shape)]], {"axis": axis}


@sample("tile")
def _(d):
    return [d.array(d.one(*ALL)), tuple(d.whole(0, 3) for _ in range(d.whole(0, 4)))], {}


@sample("unstack")
def _(d):
    x = d.array(d.one(*ALL), d.shape(1))
    return [x], {"axis": d.axis(x.ndim)}


# ---- indexing, searching, sorting, sets


@sample("take")
def _(d):
    x = d.array(d.one(*ALL), d.shape(1, least=1))
    axis = d.axis(x.ndim)
    indices = d.array(d.one("int64", "int32", "uint8"), (d.whole(0, 5),), special=False)
    kwargs = {} if x.ndim == 1 and d.maybe() else {"axis": axis}
    return [x, indices % x.shape[axis] if x.size else indices[:0]], kwargs


@sample("take_along_axis")
def _(d):
    shape = d.shape(1, least=1)
    axis = d.axis(len(shape))
    size = d.whole(0, 4)
    indices = d.array("int64", _resized(shape, axis, size), special=False) % shape[axis]
    if d.maybe():
        indices = indices - shape[axis]
    return [d.array(d.one(*ALL), shape), indices], {"axis": axis}


@sample("argmax", "argmin")
def _(d):
    x = d.array(d.one(*REAL), d.shape(0, least=1))
    axis = d.one(None, d.axis(x.ndim)) if x.ndim else None
    return [x], {"axis": axis, **d.options(keepdims=d.maybe)}


@sample("count_nonzero", "all", "any")
def _(d):
    x = d.array(d.one(*ALL))
    return [x], {"axis": d.axes(x.ndim), **d.options(keepdims=d.maybe)}


@sample("nonzero")
def _(d):
    return [d.array(d.one(*ALL), d.shape(1))], {}


@sample("searchsorted")
def _(d):
    first, second = d.promotable(REAL)
    pool = d.array(first, (d.whole(0, 6),), special=first not in FLOATS)
    values = d.array(second, special=second not in FLOATS)
    kwargs = d.options(side=lambda: d.one("left", "right"))
    if d.maybe():
        return [pool, values], {**kwargs, "sorter": np.argsort(pool, kind="stable")}
    return [np.sort(pool), values], kwargs


@sample("where")
def _(d):
    first, second = d.promotable(ALL)
    shapes = d.broadcasting(3)
    args = [d.array(first, shapes[1]), d.array(second, shapes[2])]
    if d.whole(0, 3) == 0:
        args[d.whole(0, 1)] = d.number(first if first == second else "uint8")
        dtypes = {a.dtype.name for a in args if isinstance(a, np.ndarray)}
        args = [a if isinstance(a, np.ndarray) else d.number(*dtypes) for a in args]
    return [d.array("bool", shapes[0]), *args], {}


@sample("sort", "argsort")
def _(d):
    dtype = d.one(*REAL)
    x = d.array(dtype, d.shape(1))
    if dtype in FLOATS:
        x = np.nan_to_num(x, posinf=np.inf, neginf=-np.inf)
    kwargs = d.options(descending=d.maybe, axis=lambda: d.axis(x.ndim))
    return [x], kwargs


@sample("unique_all", "unique_counts", "unique_inverse", "unique_values")
def _(d):
    dtype = d.one(*ALL)  # the order of complex numbers, and so of NaN among them, is left open
    return [d.array(dtype, special=dtype not in COMPLEX)], {}


# ---- statistics


@sample("sum", "prod")
def _(d):
    dtype = d.one(*NUMERIC)
    x = d.array(dtype, special=dtype in INTEGERS)
    kwargs = d.options(keepdims=d.maybe, dtype=lambda: Dtype(_wider(d, dtype)))
    return [x], {"axis": d.axes(x.ndim), **kwargs}


def _wider(d, dtype):
    if dtype in INTEGERS:
        return d.one(*INTEGERS, "float64")
    return "float64" if dtype in FLOATS else "complex128"


@sample("cumulative_sum", "cumulative_prod")
def _(d):
    dtype = d.one(*NUMERIC)
    x = d.array(dtype, d.shape(1), special=dtype in INTEGERS)
    kwargs = d.options(include_initial=d.maybe, dtype=lambda: Dtype(_wider(d, dtype)))
    if x.ndim > 1 or d.maybe():
        kwargs["axis"] = d.axis(x.ndim)
    return [x], kwargs


@sample("max", "min")
def _(d):
    x = d.array(d.one(*REAL), d.shape(least=1))
    return [x], {"axis": d.axes(x.ndim), **d.options(keepdims=d.maybe)}


@sample("mean")
def _(d):
    x = d.array(d.one(*INEXACT), special=False)
    return [x], {"axis": d.axes(x.ndim), **d.options(keepdims=d.maybe)}


@sample("std", "var")
def _(d):
    x = d.array(d.one(*FLOATS), d.shape(least=2), special=False)
    kwargs = d.options(keepdims=d.maybe, correction=lambda: d.one(0, 1, 0.5))
    return [x], {"axis": d.axes(x.ndim), **kwargs}


@sample("diff")
def _(d):
    dtype = d.one(*NUMERIC)
    shape = d.shape(1)
    axis = d.axis(len(shape))
    more = lambda: d.array(dtype, _resized(shape, axis, d.whole(0, 2)), special=False)
    kwargs = d.options(n=lambda: d.whole(0, 3), prepend=more, append=more)
    return [d.array(dtype, shape, special=dtype in INTEGERS)], {"axis": axis, **kwargs}
