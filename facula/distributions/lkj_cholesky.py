"""LKJCholesky: Cholesky factors of random correlation matrices."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.beta import Beta
from facula.distributions.distribution import Distribution
from facula.distributions.utils import Number, broadcast_all

__all__ = ["LKJCholesky"]

Tensor = facula.Tensor
Size = facula.Size


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices M `(dim, dim)` with density proportional to
    `det(M) ** (concentration - 1)` (Lewandowski, Kurowicka, Joe, 2009); concentration 1 is the
    uniform distribution.

    Example::

        >>> LKJCholesky(3, 0.5).sample().shape
        facula.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: Any = None) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        shape = Size() if isinstance(concentration, Number) else self.concentration.size()
        # The squared length of what lies left of the diagonal is a beta number in each row.
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = facula.arange(
            dim - 1, dtype=self.concentration.dtype, device=self.concentration.device
        )
        offset = facula.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(shape, Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LKJCholesky:
        new = self._expand(LKJCholesky, batch_shape, _instance, concentration=0)
        new.dim = self.dim
        new._beta = self._beta.expand(Size((*batch_shape, self.dim)))
        return new

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Draw row by row, by the onion method."""
        with facula.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = facula.randn(
                self._extended_shape(sample_shape), dtype=y.dtype, device=y.device
            ).tril(-1)
            direction = normal / normal.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)  # the first row is 0 / 0
            w = facula.sqrt(y) * direction
            tiny = facula.finfo(w.dtype).tiny
            diagonal = facula.clamp(1 - facula.sum(w**2, dim=-1), min=tiny).sqrt()
            return w + facula.diag_embed(diagonal)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        below = self.dim - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        rows = facula.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rows
        unnormalized = facula.sum(order * diagonal.log(), dim=-1)
        alpha = self.concentration + 0.5 * below
        log_norm = (
            0.5 * below * math.log(math.pi)
            + facula.mvlgamma(alpha - 0.5, below)
            - facula.lgamma(alpha) * below
        )
        return unnormalized - log_norm
