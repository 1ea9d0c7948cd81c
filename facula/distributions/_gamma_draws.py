"""Draws from standard gamma and Dirichlet distributions, with gradients to their parameters.

The gradients are implicit: a draw moves with its parameters such that its cumulative probability
stays (Figurnov, Mohamed, Mnih, 2018); `_implicit` has the formulas.
"""

from __future__ import annotations

from typing import Any

import facula
from facula.autograd.function import Function, once_differentiable
from facula.distributions._implicit import beta_slope, gamma_slope

__all__ = ["dirichlet", "standard_gamma"]

Tensor = facula.Tensor


def _gammas(alpha: Tensor, generator: Any) -> Tensor:
    """Give float64 draws for each element, in the order of the elements."""
    return facula._C._draw_gammas(alpha.detach().to(facula.float64).contiguous(), generator)


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
    def forward(ctx: Any, concentration: Tensor, generator: Any) -> Tensor:
        gammas = _gammas(concentration, generator)
        info = facula.finfo(concentration.dtype)
        shares = (gammas / gammas.sum(-1, keepdim=True)).to(concentration.dtype)
        result = shares.clamp(min=info.tiny, max=1 - info.eps / 2)
        ctx.save_for_backward(concentration, result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        concentration, result = ctx.saved_tensors
        alpha, x = concentration.double(), result.double()
        rest = alpha.sum(-1, keepdim=True) - alpha
        # Each coordinate alone follows a beta distribution; the others share what it leaves.
        slope = facula.where(rest > 0, beta_slope(alpha, rest, x) / (1 - x), 0.0)
        upstream = grad.double()
        moved = slope * (upstream - (x * upstream).sum(-1, keepdim=True))
        return moved.to(grad.dtype), None


def standard_gamma(alpha: Tensor, generator: Any = None) -> Tensor:
    """Draw gamma distributed numbers of shape `alpha` and rate 1, differentiable in `alpha`.

    Raises ValueError unless every element of `alpha` is finite and at least 0.
    """
    return _StandardGamma.apply(alpha, generator)


def dirichlet(concentration: Tensor, generator: Any = None) -> Tensor:
    """Draw points of the simplex along the last dimension, differentiable in `concentration`."""
    return _Dirichlet.apply(concentration, generator)
