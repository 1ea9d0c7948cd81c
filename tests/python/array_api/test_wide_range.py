"""Operands from all of a dtype's range: huge and tiny numbers, and shifts by any count."""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np
import pytest

import facula
from facula import array_api as xp

NAMES = (
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal sin sinh "
    "sqrt square tan tanh"
).split()


def spread(rng: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    """Give numbers whose exponents are spread evenly, a third of them close to 1."""
    info = np.finfo(dtype)
    widest = np.log10(np.array([info.tiny, info.max], np.float64))
    exponents = np.where(
        rng.random(count) < 0.33, rng.uniform(-1, 1, count), rng.uniform(*widest, count)
    )
    signs = rng.choice([-1.0, 1.0], count)
    return (signs * 10.0 ** np.clip(exponents, widest[0], widest[1] - 0.01)).astype(dtype)


def reference(name: str, z):
    """Give what Python finds in double precision; an exception where there is nothing to find."""
    module = cmath if isinstance(z, complex) else math
    special = {
        "square": lambda: z * z,
        "reciprocal": lambda: 1 / z,
        "expm1": lambda: module.exp(z) - 1 if module is cmath else math.expm1(z),
        "log1p": lambda: module.log(1 + z) if module is cmath else math.log1p(z),
        "log2": lambda: module.log(z) / math.log(2) if module is cmath else math.log2(z),
    }
    return special[name]() if name in special else getattr(module, name)(z)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_one_array(name, dtype):
    rng = np.random.default_rng(11)
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    x = spread(rng, part, 600)
    if dtype != part:
        x = (x + 1j * spread(rng, part, 600)).astype(dtype)
    largest = float(np.finfo(part).max)
    mine = getattr(xp, name)(facula.from_numpy(x)).tolist()
    compared = 0
    for z, found in zip(x.tolist(), mine, strict=True):
        try:
            expected = complex(reference(name, z))
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        if not (abs(expected.real) < largest and abs(expected.imag) < largest):
            continue
        compared += 1
        assert cmath.isclose(found, expected, rel_tol=1e-3, abs_tol=1e-3), (z, found, expected)
    assert compared > 40


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_by_any_count(dtype):
    info = xp.iinfo(getattr(xp, dtype))
    modulus = 2**info.bits
    numbers = [v for v in (1, 5, -1, -7, info.min, info.max) if info.min <= v]
    counts = [0, 1, info.bits - 1, info.bits, info.bits + 1, 2 * info.bits, info.max]
    for count in counts:
        x = xp.asarray(numbers * 8, dtype=getattr(xp, dtype))  # vectors and their remainder
        y = xp.full(x.shape, count, dtype=x.dtype)
        shifted = [v << count if count < info.bits else 0 for v in numbers]
        left = [(v - info.min) % modulus + info.min for v in shifted] * 8
        right = [v >> min(count, 64) for v in numbers] * 8
        for by in (y, count):
            assert xp.bitwise_left_shift(x, by).tolist() == left, (count, by)
            assert xp.bitwise_right_shift(x, by).tolist() == right, (count, by)
            assert (x << by).tolist() == left and (x >> by).tolist() == right, (count, by)


OPERATORS = ["add", "sub", "mul", "and_", "or_", "xor", "eq", "lt", "ge", "floordiv", "mod"]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_operators_with_any_number_of_the_dtype(name, dtype):
    info = np.iinfo(dtype)
    numbers = [info.max, info.max // 3, 1, info.min or 2]
    values = np.array([0, 1, 7, info.max, info.max - 1], dtype)
    with np.errstate(all="ignore"):
        for number in numbers:
            expected = getattr(operator, name)(values, np.full_like(values, number))
            x = facula.from_numpy(values)
            found = getattr(operator, name)(x, int(number))
            assert found.tolist() == expected.tolist(), number
            assert found.dtype is (xp.bool if name in ("eq", "lt", "ge") else x.dtype)
