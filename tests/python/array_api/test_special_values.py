"""Zeros, infinities and NaN in every combination, against NumPy's and Python's mathematics."""

from __future__ import annotations

import cmath
import itertools
import math

import array_api_strict as strict
import numpy as np
import pytest

import facula
from facula import array_api

inf, nan = math.inf, math.nan

UNARY = (
    "abs acos acosh asin asinh atan atanh ceil conj cos cosh exp expm1 floor isfinite isinf isnan "
    "log log10 log1p log2 negative positive real reciprocal round sign signbit sin sinh sqrt "
    "square tan tanh trunc"
).split()
BINARY = (
    "add atan2 copysign divide equal greater greater_equal hypot less less_equal logaddexp maximum "
    "minimum multiply nextafter not_equal pow remainder subtract"
).split()
REAL = [
    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 2.5, -2.5, 3.0, -3.0, inf, -inf, nan,
    1e-3, -7.25, 1e-310, 3.4e38, 1.7e308, -1.7e308, 1e-30, -1e-30, 20.0, -100.0, 1e10,
]  # fmt: skip
#: Zeros of both signs are equal: which one is given is left open.
FREE_ZEROS = {"maximum", "minimum"}


def assert_equal(mine, theirs, what, signs=True):
    assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
    message = f"{what}: {mine} for {theirs}"
    if mine.dtype == bool:
        np.testing.assert_array_equal(mine, theirs, err_msg=message)
        return
    tolerance = 1e-5 if mine.dtype in (np.float32, np.complex64) else 1e-12
    np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=0, err_msg=message)
    zeros = (mine == 0) & signs
    np.testing.assert_array_equal(
        np.signbit(mine) & zeros, np.signbit(theirs) & zeros, err_msg=message
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_real_unary(name, dtype):
    with np.errstate(all="ignore"):
        x = np.array(REAL).astype(dtype)
        theirs = np.asarray(getattr(strict, name)(strict.asarray(x))._array)
    assert_equal(getattr(array_api, name)(facula.from_numpy(x)).numpy(), theirs, name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_real_binary(name, dtype):
    with np.errstate(all="ignore"):
        pairs = np.array(list(itertools.product(REAL, REAL))).astype(dtype)
        left, right = pairs[:, 0].copy(), pairs[:, 1].copy()
        theirs = getattr(strict, name)(strict.asarray(left), strict.asarray(right))
    mine = getattr(array_api, name)(facula.from_numpy(left), facula.from_numpy(right)).numpy()
    assert_equal(mine, np.asarray(theirs._array), name, name not in FREE_ZEROS)


# ---- the quotient that the standard prefers to Python's


@pytest.mark.parametrize("dtype", [facula.float32, facula.float64])
def test_floor_divide(dtype):
    values = [0.0, -0.0, 1.0, -2.0, 3.5, -7.25, inf, -inf, nan]
    for a, b in itertools.product(values, values):
        with np.errstate(all="ignore"):
            expected = np.floor(np.float64(a) / np.float64(b))
        found = array_api.floor_divide(facula.full((3,), a, dtype=dtype), b)[1].item()
        assert found == expected or (found != found and expected != expected), (a, b, found)
        assert math.copysign(1, found) == math.copysign(1, expected) or found != 0, (a, b)


@pytest.mark.parametrize("operator", ["__mod__", "__imod__"])
@pytest.mark.parametrize("dtype", [facula.float16, facula.float32, facula.float64])
def test_zero_remainders_have_the_sign_of_the_divisor(dtype, operator):
    for a, b in itertools.product([0.0, -0.0, 6.0, -6.0], [2.0, -3.0, inf, -inf]):
        if a and math.isinf(b):
            continue
        x = facula.full((2,), a, dtype=dtype)
        found = getattr(x, operator)(facula.full((2,), b, dtype=dtype))[0].item()
        assert found == 0 and math.copysign(1, found) == math.copysign(1, b), (a, b, found)


# ---- complex numbers

PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, inf, -inf, nan]
COMPLEX_UNARY = (
    "abs acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split()
)


def same_part(a: float, b: float, tolerance: float, signs: bool = True) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if a == b == 0:
        return not signs or math.copysign(1, a) == math.copysign(1, b)
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def python_result(name: str, z: complex):
    """Give Python's result, or None where it raises or C leaves a sign or a part open."""
    if name in ("asin", "acos", "sin") and math.isnan(z.real + z.imag) and cmath.isinf(z):
        return None  # an infinite part of either sign
    if name == "acosh" and z.real == 0 and math.isnan(z.imag):
        return complex(nan, math.pi / 2)  # C17 and the standard; Python has C99's
    if name == "tanh" and z.real == 0 and math.isnan(z.imag):
        return complex(z.real, nan)
    if name == "tan" and z.imag == 0 and math.isnan(z.real):
        return complex(nan, z.imag)
    try:
        return abs(z) if name == "abs" else getattr(cmath, name)(z)
    except (ValueError, OverflowError):
        return None


@pytest.mark.parametrize("dtype", [facula.complex64, facula.complex128])
@pytest.mark.parametrize("name", COMPLEX_UNARY)
def test_complex_unary(name, dtype):
    numbers = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
    found = getattr(array_api, name)(facula.tensor(numbers, dtype=dtype)).tolist()
    tolerance = 1e-6 if dtype is facula.complex64 else 1e-13
    compared = 0
    for z, mine in zip(numbers, found, strict=True):
        theirs = python_result(name, z)
        if theirs is None:
            continue
        compared += 1
        parts = [(mine.real, theirs.real), (mine.imag, theirs.imag)]
        signs = cmath.isfinite(z)  # C leaves many signs of zeros open beside infinities and NaN
        assert all(same_part(a, b, tolerance, signs) for a, b in parts), (name, z, mine, theirs)
    assert compared >= 75


#: Results of the standard that Python has no function for, or raises for.
CASES = [
    ("expm1", complex(nan, 0), complex(nan, 0)),
    ("expm1", complex(-inf, 1), complex(-1, math.copysign(0, math.sin(1)))),
    ("expm1", complex(inf, 0), complex(inf, 0)),
    ("expm1", complex(inf, 2), complex(-inf, inf)),
    ("expm1", complex(inf, inf), complex(inf, nan)),
    ("expm1", complex(inf, -inf), complex(inf, nan)),
    ("expm1", complex(inf, nan), complex(inf, nan)),
    ("expm1", complex(-inf, inf), complex(-1, 0)),
    ("expm1", complex(-inf, -inf), complex(-1, 0)),
    ("expm1", complex(-inf, nan), complex(-1, 0)),
    ("expm1", complex(1, inf), complex(nan, nan)),
    ("expm1", complex(0, 0), complex(0, 0)),
    ("expm1", complex(nan, 1), complex(nan, nan)),
    ("exp", complex(1, inf), complex(nan, nan)),
    ("log1p", complex(-1, 0), complex(-inf, 0)),
    ("log1p", complex(2, inf), complex(inf, math.pi / 2)),
    ("log1p", complex(-inf, 3), complex(inf, math.pi)),
    ("log1p", complex(inf, 3), complex(inf, 0)),
    ("log1p", complex(-inf, inf), complex(inf, 3 * math.pi / 4)),
    ("log1p", complex(inf, inf), complex(inf, math.pi / 4)),
    ("log1p", complex(inf, nan), complex(inf, nan)),
    ("log1p", complex(nan, inf), complex(inf, nan)),
    ("log1p", complex(nan, 2), complex(nan, nan)),
    ("log2", complex(-inf, inf), complex(inf, 3 * math.pi / 4 / math.log(2))),
    ("log2", complex(0, 0), complex(-inf, 0)),
    ("log", complex(-0.0, 0), complex(-inf, math.pi)),
    ("atanh", complex(1, 0), complex(inf, 0)),
    ("cosh", complex(0, inf), complex(nan, 0)),
    ("sinh", complex(0, inf), complex(0, nan)),
    ("tanh", complex(2, inf), complex(nan, nan)),
    ("round", complex(0.5, -1.5), complex(0, -2)),
    ("round", complex(2.5, inf), complex(2, inf)),
    ("sign", complex(0, 0), complex(0, 0)),
    ("sign", complex(3, -4), complex(0.6, -0.8)),
    ("sign", complex(nan, 1), complex(nan, nan)),
    ("square", complex(1, -2), complex(-3, -4)),
    ("reciprocal", complex(inf, 1), complex(0, -0.0)),
    ("reciprocal", complex(2, -inf), complex(0, 0)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [facula.complex64, facula.complex128])
@pytest.mark.parametrize("name, z, expected", CASES)
def test_complex_cases(name, z, expected, dtype):
    mine = getattr(array_api, name)(facula.full((5,), z, dtype=dtype))[3].item()
    tolerance = 1e-6 if dtype is facula.complex64 else 1e-13
    for a, b in ((mine.real, expected.real), (mine.imag, expected.imag)):
        assert same_part(a, b, tolerance, cmath.isfinite(z)), (mine, expected)


@pytest.mark.parametrize("dtype", [facula.complex64, facula.complex128])
def test_complex_sums_keep_parts_apart(dtype):
    numbers = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
    left = [z for z in numbers for _ in numbers]
    right = numbers * len(numbers)
    x, y = (facula.tensor(v, dtype=dtype) for v in (left, right))
    for name, sign in (("add", 1), ("subtract", -1)):
        found = getattr(array_api, name)(x, y).tolist()
        for a, b, mine in zip(left, right, found, strict=True):
            assert same_part(mine.real, a.real + sign * b.real, 1e-6), (name, a, b, mine)
            assert same_part(mine.imag, a.imag + sign * b.imag, 1e-6), (name, a, b, mine)


@pytest.mark.parametrize("dtype", [facula.complex64, facula.complex128])
def test_finite_over_infinite_is_zero(dtype):
    infinite = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)
                if math.isinf(a + b) or (math.isinf(a) and math.isinf(b))]  # fmt: skip
    for z in (1 + 0j, -2 + 3j, 0j, 1e30 - 1j):
        quotients = array_api.divide(
            facula.full((), z, dtype=dtype), facula.tensor(infinite, dtype=dtype)
        )
        assert all(q == 0 for q in quotients.tolist())
    wide = facula.tensor([1e38 + 1e38j], dtype=dtype)
    assert abs((wide / wide).item() - 1) < 1e-6
