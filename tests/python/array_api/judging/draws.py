"""Draws of arrays, shapes and axes. An array is NumPy's until a namespace gets it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = INTEGERS + FLOATS
INEXACT = FLOATS + COMPLEX
NUMERIC = REAL + COMPLEX
BITS = ["bool", *INTEGERS]
ALL = ["bool", *NUMERIC]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, math.inf, -math.inf, math.nan, 3.25, -7.0]
MILD = [0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 3.25, -2.0]


@dataclass(frozen=True)
class Dtype:
    """The dtype of a namespace by its name."""

    name: str


class Draw:
    """Draws by hypothesis; the elements of arrays come from a seed, which is much faster."""

    def __init__(self, draw):
        self._draw = draw

    def one(self, *choices):
        return self._draw(st.sampled_from(choices))

    def whole(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def maybe(self) -> bool:
        return self._draw(st.booleans())

    def options(self, **values) -> dict:
        """Give some of the options: each is left out half of the time."""
        return {name: value() for name, value in values.items() if self.maybe()}

    # ---- shapes and axes

    def shape(self, low: int = 0, high: int = 3, least: int = 0) -> tuple[int, ...]:
        return tuple(self.whole(least, 4) for _ in range(self.whole(low, high)))

    def broadcasting(self, count: int) -> list[tuple[int, ...]]:
        full = self.shape()
        return [
            tuple(1 if self.whole(0, 3) == 0 else n for n in full[self.whole(0, len(full)) :])
            for _ in range(count)
        ]

    def axis(self, ndim: int) -> int:
        return self.whole(-ndim, ndim - 1)

    def axes(self, ndim: int):
        """Give None, an axis or a tuple of different axes."""
        kind = self.whole(0, 2)
        if kind == 0:
            return None
        if kind == 1 and ndim:
            return self.axis(ndim)
        order = self._draw(st.permutations(range(ndim)))
        return tuple(a - ndim * self.whole(0, 1) for a in order[: self.whole(0, ndim)])

    # ---- arrays

    def array(self, dtype: str, shape: tuple[int, ...] | None = None, special: bool = True):
        """Give an array whose elements repeat and, with `special`, hold NaN, inf and extremes."""
        rng = np.random.default_rng(self.whole(0, 2**32 - 1))
        shape = self.shape() if shape is None else shape
        values = elements(rng, dtype, math.prod(shape), special).reshape(shape)
        if values.ndim >= 2 and self.whole(0, 4) == 0:  # a layout that is not contiguous
            return np.asfortranarray(values)
        return values

    def number(self, dtype: str):
        """Give a Python number that goes with a dtype."""
        if dtype == "bool":
            return self.maybe()
        if dtype in INTEGERS:
            return self.whole(0, 7) if dtype in UNSIGNED else self.whole(-7, 7)
        if dtype in COMPLEX and self.maybe():
            return complex(self.one(*MILD), self.one(*MILD))
        return self.one(*SPECIAL) if self.maybe() else self.whole(-7, 7)

    def promotable(self, dtypes: list[str]) -> tuple[str, str]:
        """Give two dtypes of one kind that have a common one."""
        first = self.one(*dtypes)
        kinds = [["bool"], INTEGERS, FLOATS, COMPLEX]
        kind = next(k for k in kinds if first in k)
        second = self.one(*[d for d in kind if d in dtypes])
        if "uint64" in (first, second) and (first in SIGNED or second in SIGNED):
            second = first
        return first, second


def elements(rng: np.random.Generator, dtype: str, count: int, special: bool) -> np.ndarray:
    """Give elements of which some are equal, and some are special."""
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        low, high = (0, 9) if dtype in UNSIGNED else (-5, 5)
        values = rng.integers(low, high, count).astype(dtype)
        if special:
            extremes = np.array([info.min, info.max, info.max - 1, info.max // 2], dtype)
            values = np.where(rng.random(count) < 0.2, rng.choice(extremes, count), values)
        return values
    if dtype in COMPLEX:
        part = "float32" if dtype == "complex64" else "float64"
        values = np.empty(count, dtype)
        values.real = elements(rng, part, count, special)
        values.imag = elements(rng, part, count, special)
        return values
    pool = np.array(SPECIAL if special else MILD)
    values = np.where(rng.random(count) < 0.6, rng.choice(pool, count), rng.normal(0, 3, count))
    return values.astype(dtype)
