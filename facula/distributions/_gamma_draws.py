"""Draws from standard gamma and Dirichlet distributions, with gradients to their parameters.

The draws consume a generator's numbers in PyTorch's order, one element after the other, so that a
seed gives the same values. The gradients are implicit: a draw moves with its parameters such that
its cumulative probability stays (Figurnov, Mohamed, Mnih, 2018); `_implicit` has the formulas.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import facula
from facula.autograd.function import Function, once_differentiable
from facula.distributions._implicit import beta_slope, gamma_slope

__all__ = ["dirichlet", "standard_gamma"]

Tensor = facula.Tensor

_THIRD = 0.3333333432674408  # 1/3 in single precision, as in PyTorch
_SQUEEZE = 0.03310000151395798  # 0.0331 likewise
_CHUNK = 1 << 14


class _Stream:
    """A generator's uniform and normal numbers as floats, drawn in blocks.

    `close` leaves the generator as if the numbers had been drawn singly. In the generator's state
    the second of a pair of normal numbers lies at byte 5024, and whether there is one at 5040.
    """

    _NORMAL, _IS_VALID = 5024, 5040

    def __init__(self, generator: Any, expected: int) -> None:
        self._generator = facula.default_generator if generator is None else generator
        self._state = self._generator.get_state()
        raw = memoryview(self._state.untyped_storage())
        valid = struct.unpack_from("<i", raw, self._IS_VALID)[0]
        self._kept = struct.unpack_from("<d", raw, self._NORMAL)[0] if valid else None
        self._expected = expected
        self._block: list[float] = []
        self._at = 0

    def _draw(self, count: int) -> Tensor:
        return facula.rand(count, dtype=facula.float64, generator=self._generator)

    def uniform(self) -> float:
        """Give a number in [0, 1)."""
        if self._at == len(self._block):
            self._state = self._generator.get_state()
            count = max(16, min(self._expected, _CHUNK))
            self._expected -= count
            self._block = self._draw(count).tolist()
            self._at = 0
        self._at += 1
        return self._block[self._at - 1]

    def normal(self) -> float:
        """Give a standard normal number, by the method of Box and Muller."""
        if self._kept is not None:
            value, self._kept = self._kept, None
            return value
        angle = 2.0 * math.pi * self.uniform()
        radius = math.sqrt(-2.0 * math.log1p(-self.uniform()))
        self._kept = radius * math.sin(angle)
        return radius * math.cos(angle)

    def close(self) -> None:
        """Give the numbers that were not used back to the generator."""
        self._generator.set_state(self._state)
        if self._at:
            self._draw(self._at)
        state = self._generator.get_state()
        raw = memoryview(state.untyped_storage())
        struct.pack_into("<i", raw, self._IS_VALID, self._kept is not None)
        struct.pack_into("<d", raw, self._NORMAL, self._kept or 0.0)
        self._generator.set_state(state)


def _one_gamma(alpha: float, stream: _Stream) -> float:
    """Draw one number by the method of Marsaglia and Tsang (2000)."""
    scale = 1.0
    if alpha < 1.0:  # a draw for alpha + 1 times a power of a uniform number
        if alpha == 0.0:
            return 0.0
        scale = (1.0 - stream.uniform()) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - _THIRD
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = stream.normal()
        y = 1.0 + c * x
        while y <= 0.0:
            x = stream.normal()
            y = 1.0 + c * x
        v = y * y * y
        u = 1.0 - stream.uniform()
        xx = x * x
        if u < 1.0 - _SQUEEZE * xx * xx:
            return scale * d * v
        if math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _gammas(alpha: Tensor, generator: Any) -> Tensor:
    """Give float64 draws for each element, in the order of the elements."""
    alphas = alpha.detach().to(facula.float64).reshape(-1).tolist()
    for a in alphas:
        if not 0.0 <= a < math.inf:
            raise ValueError(f"standard_gamma: expected finite alpha >= 0, got {a}")
    stream = _Stream(generator, 3 * len(alphas))
    drawn = [_one_gamma(a, stream) for a in alphas]
    stream.close()
    return facula.tensor(drawn, dtype=facula.float64, device=alpha.device).reshape(alpha.shape)


class _StandardGamma(Function):
    @staticmethod
    def forward(ctx: Any, alpha: Tensor, generator: Any) -> Tensor:
        tiny = facula.finfo(alpha.dtype).tiny
        result = _gammas(alpha, generator).to(alpha.dtype).clamp(min=tiny)
        ctx.save_for_backward(alpha, result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        alpha, result = ctx.saved_tensors
        return grad * gamma_slope(alpha.double(), result.double()).to(grad.dtype), None


class _Dirichlet(Function):
    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        gammas = _gammas(concentration, None)
        info = facula.finfo(concentration.dtype)
        shares = (gammas / gammas.sum(-1, keepdim=True)).to(concentration.dtype)
        result = shares.clamp(min=info.tiny, max=1 - info.eps / 2)
        ctx.save_for_backward(concentration, result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        concentration, result = ctx.saved_tensors
        alpha, x = concentration.double(), result.double()
        rest = alpha.sum(-1, keepdim=True) - alpha
        # Each coordinate alone follows a beta distribution; the others share what it leaves.
        slope = facula.where(rest > 0, beta_slope(alpha, rest, x) / (1 - x), 0.0)
        upstream = grad.double()
        return (slope * (upstream - (x * upstream).sum(-1, keepdim=True))).to(grad.dtype)


def standard_gamma(alpha: Tensor, generator: Any = None) -> Tensor:
    """Draw gamma distributed numbers of shape `alpha` and rate 1, differentiable in `alpha`.

    Raises ValueError unless every element of `alpha` is finite and at least 0.
    """
    return _StandardGamma.apply(alpha, generator)


def dirichlet(concentration: Tensor) -> Tensor:
    """Draw points of the simplex along the last dimension, differentiable in `concentration`."""
    return _Dirichlet.apply(concentration)
