"""InverseGamma: reciprocals of gamma numbers."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.gamma import Gamma
from facula.distributions.transformed_distribution import TransformedDistribution
from facula.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]

Tensor = facula.Tensor


class InverseGamma(TransformedDistribution):
    """The distribution of `1 / x` for x of the gamma distribution of `concentration` and `rate`.

    Example::

        >>> InverseGamma(facula.tensor(3.0), 4.0).mean
        tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: Any = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        exponent = -facula.ones_like(base.rate)
        super().__init__(base, PowerTransform(exponent), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> InverseGamma:
        return super().expand(batch_shape, self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The scale parameter, which is the rate of x."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        mean = self.rate / (self.concentration - 1)
        return facula.where(self.concentration > 1, mean, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        variance = self.rate.square() / ((c - 1).square() * (c - 2))
        return facula.where(c > 2, variance, math.inf)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()
