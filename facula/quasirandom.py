"""Sobol sequences: points of the unit cube that fill it more evenly than random ones.

The direction numbers are those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), for up to 21201 dimensions. The file
_sobol_directions.bin holds them: a table of 19 rows (the primitive polynomial, then the initial
numbers m_1 to m_18, zeros beyond its degree) and a column for each dimension but the first, as
three planes of the low, middle and high bytes, compressed by zlib.
"""

from __future__ import annotations

import zlib
from functools import cache
from operator import index
from pathlib import Path
from typing import Any

import facula

__all__ = ["SobolEngine"]

Tensor = facula.Tensor

_BITS = 30
_DIMENSIONS = 21201
_DEGREES = 18


@cache
def _table() -> Tensor:
    """Read the file: (19, 21200), int64."""
    packed = (Path(__file__).parent / "_sobol_directions.bin").read_bytes()
    planes = facula.frombuffer(bytearray(zlib.decompress(packed)), dtype=facula.uint8)
    low, middle, high = planes.reshape(3, 1 + _DEGREES, _DIMENSIONS - 1).long()
    return low | middle << 8 | high << 16


def _direction_numbers(dimension: int) -> Tensor:
    """Give the (dimension, 30) direction numbers, int64, scaled by 2^30.

    Dimensions of one polynomial degree s follow one recurrence, on integers scaled by 2^30:
    v_j = v_(j-s) ^ (v_(j-s) >> s), then ^ v_(j-k) for each coefficient k of the polynomial.
    """
    scaled = facula.arange(_BITS - 1, -1, -1)
    rows = [1 << scaled.unsqueeze(0)]
    polynomials, *numbers = _table()[:, : dimension - 1]
    for s in range(1, _DEGREES + 1):
        among = facula.nonzero(polynomials >> s == 1).squeeze(1)
        if len(among) == 0:
            break
        polynomial = polynomials[among]
        v = [numbers[j][among] << (_BITS - 1 - j) for j in range(s)]
        for j in range(s, _BITS):
            new = v[j - s] ^ (v[j - s] >> s)
            for k in range(1, s):
                new = new ^ v[j - k] * (polynomial >> (s - k) & 1)
            v.append(new)
        rows.append(facula.stack(v, 1))
    return facula.cat(rows)


def _parity(x: Tensor) -> Tensor:
    """Give 1 where a number of up to 32 bits has an odd number of ones, else 0."""
    for shift in (16, 8, 4, 2, 1):
        x = x ^ (x >> shift)
    return x & 1


class SobolEngine:
    """A generator of a Sobol sequence in [0, 1), with or without scrambling.

    Scrambling (Owen's random linear scrambling and a digital shift) takes `seed`, or the default
    generator where it is None. Equal seeds give PyTorch's points. Raises ValueError for a dimension
    outside of [1, 21201].

    Example:
        >>> engine = facula.quasirandom.SobolEngine(2)
        >>> engine.draw(3)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500]])
    """

    MAXBIT = _BITS
    MAXDIM = _DIMENSIONS

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        if isinstance(dimension, bool):
            raise TypeError("SobolEngine: expected an int as dimension, got bool")
        self.seed = seed
        self.scramble = scramble
        self.dimension = index(dimension)
        self.sobolstate = _direction_numbers(self.dimension)
        self.shift = facula.zeros(self.dimension, dtype=facula.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**_BITS).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Give the next `n` points, (n, dimension), of float32 or float64 (the default dtype when
        None); into `out` where it is given, which gets their shape.

        Raises ValueError for a negative `n` (or one of 0 at the start of the sequence).

        Example:
            >>> facula.quasirandom.SobolEngine(1).draw(4).flatten()
            tensor([0.0000, 0.5000, 0.7500, 0.2500])
        """
        dtype = facula.get_default_dtype() if dtype is None else dtype
        points = self._advance(index(n))
        if len(points) > 0 and dtype not in (facula.float32, facula.float64):
            raise NotImplementedError(f"SobolEngine.draw: expected float32 or float64, got {dtype}")
        result = points.to(dtype) * 2.0**-_BITS
        if self.num_generated == 0:
            result = facula.cat([self._first_point.to(dtype), result])
        self.num_generated += n
        if out is not None:
            return out.resize_as_(result).copy_(result)
        return result

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Give the next 2^m points; ValueError where the points so far and these are not a power of
        2 in number.

        Example:
            >>> facula.quasirandom.SobolEngine(3).draw_base2(4).shape
            facula.Size([16, 3])
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1) != 0:
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Start the sequence again; give the engine.

        Example:
            >>> engine = facula.quasirandom.SobolEngine(1)
            >>> engine.draw(5).shape, engine.reset().num_generated
            (facula.Size([5, 1]), 0)
        """
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Skip `n` points; give the engine.

        Example:
            >>> facula.quasirandom.SobolEngine(1).fast_forward(3).draw()
            tensor([[0.2500]])
        """
        if n != 0:
            self._advance(index(n))
            self.num_generated += n
        return self

    def _scramble(self) -> None:
        """Shift the points by random bits, and multiply the bits of the direction numbers by random
        lower triangular matrices with ones on their diagonals.
        """
        generator = None
        if self.seed is not None:
            generator = facula.Generator()
            generator.manual_seed(self.seed)
        shifts = facula.randint(2, (self.dimension, _BITS), generator=generator)
        self.shift = (shifts << facula.arange(_BITS)).sum(1)
        size = (self.dimension, _BITS, _BITS)
        lower = facula.randint(2, size, generator=generator).tril(-1) + facula.eye(
            _BITS, dtype=facula.int64
        )
        significance = facula.arange(_BITS - 1, -1, -1)
        rows = (lower << significance).sum(2, keepdim=True)
        scrambled = facula.zeros_like(self.sobolstate)
        for p in range(_BITS):
            scrambled |= _parity(rows[:, p] & self.sobolstate) << (_BITS - 1 - p)
        self.sobolstate = scrambled

    def _advance(self, n: int) -> Tensor:
        """Move the state by `n` points; give them as integers below 2^30, without the first point
        of the sequence.

        Point i is the xor of the direction numbers that the Gray code of i names, so linear in the
        bits of i: a block of 2^k points is made by doubling, and moved by the bits above.
        """
        first = max(self.num_generated, 1)
        count = n if self.num_generated > 0 else n - 1
        if count < 0:
            raise ValueError(f"n must be non-negative, but got {count}")
        if first + count > 2**_BITS:
            raise ValueError(f"SobolEngine: the sequence has 2**{_BITS} points")
        if count == 0:
            return self.quasi.new_empty((0, self.dimension))
        weights = self.sobolstate.t().clone()
        weights[1:] ^= self.sobolstate.t()[:-1]
        k = (count - 1).bit_length()
        block = self.shift.unsqueeze(0)
        for j in range(k):
            block = facula.cat([block, block ^ weights[j]])
        blocks = []
        for high in range(first >> k, ((first + count - 1) >> k) + 1):
            moved = block
            for j in range(high.bit_length()):
                if high >> j & 1:
                    moved = moved ^ weights[k + j]
            blocks.append(moved)
        start = first - (first >> k << k)
        points = facula.cat(blocks)[start : start + count]
        self.quasi = points[-1].clone()
        return points

    def __repr__(self) -> str:
        options = [f"dimension={self.dimension}"]
        if self.scramble:
            options.append("scramble=True")
        if self.seed is not None:
            options.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(options)})"
