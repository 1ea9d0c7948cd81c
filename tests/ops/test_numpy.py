"""NumPy judges every operator that it has too: all dtypes, and values where programs go wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from samples import DTYPES

import facula

FLOATS = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-7, 60000.0]
TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 2e-6, "complex64": 4e-6}
REFUSED = (NotImplementedError, RuntimeError, TypeError)

# Names are those of Facula; a function of the same name in NumPy judges unless one is given.
SAME = {name: getattr(np, name) for name in (
    "abs absolute negative positive sqrt square exp exp2 expm1 log log2 log10 log1p sin cos tan "
    "arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc isnan isinf "
    "isfinite signbit deg2rad rad2deg conj angle real imag logical_not sinc i0 fix isposinf "
    "isneginf isreal nan_to_num"
).split()}
UNARY: dict[str, Callable] = {
    **SAME, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "neg": np.negative, "round": np.round,
    "bitwise_not": np.invert, "sign": np.sign, "reciprocal": lambda a: 1 / a,
    "rsqrt": lambda a: 1 / np.sqrt(a), "frac": lambda a: a - np.trunc(a),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "relu": lambda a: np.maximum(a, 0),
}
BINARY: dict[str, Callable] = {
    **{name: getattr(np, name) for name in (
        "add subtract multiply divide true_divide floor_divide remainder fmod maximum minimum fmax "
        "fmin arctan2 hypot logaddexp logaddexp2 copysign nextafter heaviside gcd lcm bitwise_and "
        "bitwise_or bitwise_xor logical_and logical_or logical_xor greater greater_equal less "
        "less_equal not_equal float_power"
    ).split()},
    "sub": np.subtract, "mul": np.multiply, "div": np.divide, "atan2": np.arctan2,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "pow": np.power, "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
}
# Where Facula follows another rule than NumPy, pairs or values that are not compared.
NARROW = {np.nextafter}  # in the type itself, not in a wider one
INTEGER_DIVISION = {"floor_divide", "remainder", "fmod"}
SHIFTS = {"bitwise_left_shift", "bitwise_right_shift"}


def specials(name: str) -> np.ndarray:
    """The values of a dtype that are tried; bfloat16 is judged through the float32 it came from."""
    if name == "bool":
        return np.array([True, False])
    if name.startswith("complex"):
        parts = [0.0, -0.0, 1.0, -0.5, 2.0]
        return np.array([complex(a, b) for a in parts for b in parts], dtype=name)
    if "float" in name:
        if name == "bfloat16":
            return facula.tensor(FLOATS, dtype=facula.bfloat16).float().numpy()
        return np.array(FLOATS, dtype=name)
    info = np.iinfo(name)
    values = {info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 7, max(-1, info.min)}
    return np.array(sorted(values), dtype=name)


def given(name: str, values: np.ndarray) -> facula.Tensor:
    return facula.from_numpy(values.copy()).to(getattr(facula, name))


def judged(f: Callable, *arrays: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(f(*arrays))


def wide(a: np.ndarray) -> np.ndarray:
    """The array in double precision, so that NumPy's result can be rounded once."""
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def expected(f: Callable, got: facula.Tensor, *arrays: np.ndarray) -> np.ndarray:
    """NumPy's result in the dtype of Facula's: exact for integers, rounded from double else."""
    inexact = got.is_floating_point() or got.is_complex()
    if inexact and not got.is_complex() and got.dtype != facula.float64:
        # Integers are rounded to the type of the loop first.
        arrays = tuple(a.astype(np.float32) if a.dtype.kind in "iub" else a for a in arrays)
    exact = not inexact or f in NARROW
    want = judged(f, *[a if exact else wide(a) for a in arrays])
    with np.errstate(all="ignore"):
        if got.dtype == facula.bfloat16:
            return facula.from_numpy(want).to(facula.bfloat16).double().numpy()
        return want.astype(str(got.dtype).rsplit(".", 1)[-1])


def compare(got: facula.Tensor, want: np.ndarray, name: str) -> int:
    """Compares element by element; returns how many there are."""
    kind = str(got.dtype).rsplit(".", 1)[-1]
    have = (got.double() if got.dtype == facula.bfloat16 else got).numpy()
    assert have.shape == want.shape
    tolerance = TOLERANCE.get(kind, 1e-12)
    if have.dtype.kind in "fc":
        for part in ("real", "imag") if have.dtype.kind == "c" else ("real",):
            np.testing.assert_allclose(
                getattr(have, part), getattr(want, part), rtol=tolerance, atol=tolerance,
                err_msg=name,
            )
    else:
        np.testing.assert_array_equal(have, want, err_msg=name)
    return have.size


def call(op: str, *tensors: facula.Tensor) -> facula.Tensor | None:
    """The result, or None where the operator refuses the dtype."""
    try:
        return getattr(facula, op)(*tensors)
    except REFUSED:
        return None


def unlike(op: str, values: np.ndarray) -> np.ndarray:
    """Which values are compared: not those where NumPy's answer depends on the type's width."""
    keep = np.ones(values.shape, bool)
    if values.dtype.kind == "f" and op in ("nan_to_num", "i0"):
        keep = np.isfinite(values)
    if values.dtype.kind == "c" and op == "reciprocal":
        keep = values != 0
    if values.dtype.kind == "f" and op == "angle":  # of -0.0: PyTorch says 0, NumPy pi
        keep = (values != 0) | ~np.signbit(values)
    return keep


@pytest.mark.parametrize("op", sorted(op for op in UNARY if hasattr(facula, op)))
def test_unary(op: str, checked) -> None:
    done = 0
    for name in DTYPES:
        values = specials(name)
        got = call(op, given(name, values))
        if got is None or (name == "bool" and got.dtype == facula.bool):
            continue
        if name == "bool":
            values = values.astype(np.float32)
        keep = unlike(op, values)
        if not keep.all():
            values = values[keep]
            got = call(op, given(name, values))
        done += compare(got, expected(UNARY[op], got, values), f"{op} of {name}")
    checked(done)
    assert done


def pairs(op: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of special values but those for which Facula's rule differs on purpose."""
    a, b = (x.ravel() for x in np.meshgrid(specials(name), specials(name)))
    keep = np.ones(a.shape, bool)
    if a.dtype.kind in "iu":
        if op in INTEGER_DIVISION:  # a zero divisor raises
            keep &= b != 0
        if op == "pow":
            keep &= b >= 0
        if op in SHIFTS:  # NumPy leaves shifts by the width undefined
            keep &= (b >= 0) & (b < a.dtype.itemsize * 8)
        if op == "gcd":
            keep &= (a > np.iinfo(a.dtype).min) & (b > np.iinfo(a.dtype).min)
        if op == "lcm":  # what overflows wraps, before or after the sign is taken
            keep &= (abs(a.astype(float)) < 10) & (abs(b.astype(float)) < 10)
    if a.dtype.kind == "c" and ("div" in op or "pow" in op):  # the kinds of infinity by zero
        keep &= (a != 0) & (b != 0)
    if op == "heaviside":  # of NaN PyTorch makes 0
        keep &= ~np.isnan(a) if a.dtype.kind == "f" else a != 0
    return a[keep], b[keep]


@pytest.mark.parametrize("op", sorted(op for op in BINARY if hasattr(facula, op)))
def test_binary(op: str, checked) -> None:
    done = 0
    for name in DTYPES:
        if op == "nextafter" and name == "bfloat16":
            continue  # NumPy has none: it would step in single precision
        if op.startswith("logaddexp") and name.startswith("complex"):
            continue  # NumPy has them for real numbers only
        if name == "bool" and op not in ("logical_and", "logical_or", "logical_xor", "eq", "ne"):
            continue
        a, b = pairs(op, name)
        got = call(op, given(name, a), given(name, b))
        if got is not None:
            done += compare(got, expected(BINARY[op], got, a, b), f"{op} of {name}")
    checked(done)
    assert done


REDUCTIONS: dict[str, Callable] = {
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.amax, "amin": np.amin,
    "any": np.any, "all": np.all, "nansum": np.nansum, "nanmean": np.nanmean,
    "argmax": np.argmax, "argmin": np.argmin, "count_nonzero": np.count_nonzero,
    "var": lambda a, axis: np.var(a, axis=axis, ddof=1),
    "std": lambda a, axis: np.std(a, axis=axis, ddof=1),
    "logsumexp": lambda a, axis: np.log(np.sum(np.exp(a), axis=axis)),
    "cumsum": np.cumsum, "cumprod": np.cumprod,
    "trapezoid": lambda a, axis: np.trapezoid(a, axis=axis),
    "diff": lambda a, axis: np.diff(a, axis=axis), "sort": np.sort,
}


def grid(name: str) -> np.ndarray:
    """A 3 x 4 x 5 array without ties, so that positions of extremes are unique."""
    values = (np.arange(60) * 7 % 61 - 20).reshape(3, 4, 5)
    if name == "bool":
        return values % 3 == 0
    if name == "uint8":
        values = values + 20
    return (values / 8 if "float" in name or "complex" in name else values).astype(
        "float32" if name == "bfloat16" else name
    )


@pytest.mark.parametrize("op", sorted(REDUCTIONS))
def test_reductions(op: str, checked) -> None:
    done = 0
    for name in DTYPES:
        values = grid(name)
        if name == "bool" and op in ("argmax", "argmin", "diff"):
            continue
        for dim in (0, 1, -1):
            if name == "float16" and op in ("prod", "cumprod", "logsumexp"):
                continue  # overflows
            try:
                got = getattr(facula, op)(given(name, values), dim=dim)
            except REFUSED:
                continue
            got = got.values if isinstance(got, tuple) else got
            f = REDUCTIONS[op]
            want = expected(lambda a, f=f, dim=dim: f(a, axis=dim), got, values)
            done += compare(got, want, f"{op} of {name}")
    checked(done)
    assert done


X, Y = np.arange(24.0).reshape(2, 3, 4), np.arange(12.0).reshape(3, 4) * 0.5
V = np.array([3, 1, 2, 1, 0])
# Facula's call and NumPy's, on the arrays that follow.
PAIRED: dict[str, tuple[Callable, Callable, list]] = {
    "matmul": (facula.matmul, np.matmul, [X, Y.T]),
    "kron": (facula.kron, np.kron, [Y, Y.T]),
    "outer": (facula.outer, np.outer, [V, V]),
    "inner": (facula.inner, np.inner, [Y, Y]),
    "vdot": (facula.vdot, np.vdot, [V, V]),
    "trace": (facula.trace, np.trace, [Y]),
    "tril": (facula.tril, np.tril, [X]),
    "triu": (facula.triu, np.triu, [X]),
    "rot90": (lambda t: t.rot90(1, (1, 2)), lambda a: np.rot90(a, 1, (1, 2)), [X]),
    "roll": (lambda t: t.roll((1, -1), (0, 2)), lambda a: np.roll(a, (1, -1), (0, 2)), [X]),
    "tile": (lambda t: t.tile((2, 1, 2)), lambda a: np.tile(a, (2, 1, 2)), [X]),
    "fliplr": (facula.fliplr, np.fliplr, [Y]),
    "flipud": (facula.flipud, np.flipud, [Y]),
    "flip": (lambda t: t.flip(0, 2), lambda a: np.flip(a, (0, 2)), [X]),
    "moveaxis": (lambda t: facula.moveaxis(t, 0, 2), lambda a: np.moveaxis(a, 0, 2), [X]),
    "diag": (facula.diag, np.diag, [Y]),
    "diagonal": (lambda t: t.diagonal(1, 0, 2), lambda a: np.diagonal(a, 1, 0, 2), [X]),
    "diagflat": (facula.diagflat, np.diagflat, [V]),
    "cov": (facula.cov, np.cov, [Y]),
    "corrcoef": (facula.corrcoef, np.corrcoef, [Y + V[:4] ** 2]),
    "cross": (lambda a, b: facula.linalg.cross(a, b), np.cross, [X[0, :, :3], X[1, :, :3]]),
    "bincount": (facula.bincount, np.bincount, [V]),
    "unique": (facula.unique, np.unique, [V]),
    "argsort": (lambda t: t.argsort(stable=True), lambda a: np.argsort(a, kind="stable"), [V]),
    "searchsorted": (facula.searchsorted, np.searchsorted, [np.sort(V), V]),
    "bucketize": (lambda t: facula.bucketize(t, facula.tensor([1.0, 5.0])),
                  lambda a: np.digitize(a, [1.0, 5.0], right=True), [Y]),
    "isin": (facula.isin, np.isin, [V, V[:2]]),
    "take": (facula.take, np.take, [Y, V]),
    "nanquantile": (lambda t: facula.nanquantile(t, 0.3, dim=1),
                    lambda a: np.nanquantile(a, 0.3, axis=1), [Y]),
    "quantile": (lambda t: facula.quantile(t, 0.7, dim=0),
                 lambda a: np.quantile(a, 0.7, axis=0), [Y]),
    "histc": (lambda t: facula.histc(t, 4, 0.0, 5.0),
              lambda a: np.histogram(a, 4, (0.0, 5.0))[0], [Y]),
    "where": (lambda a, b: facula.where(a > 3, a, b), lambda a, b: np.where(a > 3, a, b), [Y, -Y]),
    "clip": (lambda t: facula.clip(t, 1.0, 3.0), lambda a: a.clip(1.0, 3.0), [Y]),
    "repeat_interleave": (lambda t: t.repeat_interleave(2, 1), lambda a: a.repeat(2, 1), [X]),
    "einsum": (lambda a, b: facula.einsum("abc,bc->ac", a, b),
               lambda a, b: np.einsum("abc,bc->ac", a, b), [X, Y]),
    "tensordot": (lambda a, b: facula.tensordot(a, b, dims=2),
                  lambda a, b: np.tensordot(a, b, axes=2), [X, Y]),
    "nonzero": (facula.nonzero, np.argwhere, [V]),
    "cumulative_trapezoid": (facula.cumulative_trapezoid,
                             lambda a: np.cumsum((a[..., 1:] + a[..., :-1]) / 2, -1), [X]),
    "broadcast_to": (lambda t: t.broadcast_to(2, 3, 4),
                     lambda a: np.broadcast_to(a, (2, 3, 4)), [Y]),
    "hstack": (lambda a, b: facula.hstack((a, b)), lambda a, b: np.hstack((a, b)), [Y, Y]),
    "vstack": (lambda a, b: facula.vstack((a, b)), lambda a, b: np.vstack((a, b)), [Y, Y]),
    "dstack": (lambda a, b: facula.dstack((a, b)), lambda a, b: np.dstack((a, b)), [Y, Y]),
    "column_stack": (lambda a, b: facula.column_stack((a, b)),
                     lambda a, b: np.column_stack((a, b)), [V, V]),
    "gradient": (lambda t: facula.gradient(t, dim=1)[0], lambda a: np.gradient(a, axis=1), [Y**2]),
}
MAKERS: dict[str, tuple[Callable, Callable, tuple]] = {
    "arange": (facula.arange, np.arange, (1.0, 7.5, 0.75)),
    "linspace": (facula.linspace, np.linspace, (-3, 10, 7)),
    "logspace": (facula.logspace, np.logspace, (-2, 3, 6)),
    "eye": (facula.eye, np.eye, (3, 5)),
    "full": (facula.full, np.full, ((2, 3), 1.5)),
    "tri": (lambda n, m: facula.ones(n, m).tril(), np.tri, (3, 4)),
}


@pytest.mark.parametrize("op", sorted(PAIRED))
def test_paired(op: str, checked) -> None:
    ours, theirs, arrays = PAIRED[op]
    got = ours(*[facula.from_numpy(np.ascontiguousarray(a)) for a in arrays])
    np.testing.assert_allclose(got.numpy(), judged(theirs, *arrays), rtol=1e-12, atol=1e-12)
    checked(got.numel())


@pytest.mark.parametrize("op", sorted(MAKERS))
def test_makers(op: str, checked) -> None:
    ours, theirs, args = MAKERS[op]
    got = ours(*args)
    np.testing.assert_allclose(got.numpy(), theirs(*args), rtol=1e-6)
    checked(got.numel())
