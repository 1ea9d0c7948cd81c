"""GeneralizedPareto: the excess of numbers over a high threshold."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.distribution import Distribution
from facula.distributions.utils import all_numbers, broadcast_all

__all__ = ["GeneralizedPareto"]

Tensor = facula.Tensor
Size = facula.Size


class GeneralizedPareto(Distribution):
    """The generalised Pareto distribution from `loc` on, with `scale` and tail index
    `concentration`; concentration 0 is the shifted exponential distribution.

    Example::

        >>> GeneralizedPareto(0.0, 1.0, 0.5).mean
        tensor(2.)
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: Any = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        shape = Size() if all_numbers(loc, scale, concentration) else self.loc.size()
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> GeneralizedPareto:
        return self._expand(
            GeneralizedPareto, batch_shape, _instance, loc=0, scale=0, concentration=0
        )

    def _zero_and_safe(self) -> tuple[Tensor, Tensor]:
        """Tell where the concentration is 0, and give it with ones there."""
        zero = facula.isclose(self.concentration, facula.zeros_like(self.concentration))
        return zero, facula.where(zero, 1.0, self.concentration)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(facula.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, k = self._zero_and_safe()
        power = (1 + 1 / k) * facula.log1p(facula.where(zero, 1.0, k * z))
        inside = -self.scale.log() - facula.where(zero, z, power)
        return facula.where(z >= 0, inside, -math.inf)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability of draws beyond `value`."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, k = self._zero_and_safe()
        return facula.where(zero, -z, -facula.log1p(facula.where(zero, 1.0, k * z)) / k)

    def log_cdf(self, value: Tensor) -> Tensor:
        """Give the logarithm of `cdf`."""
        return facula.log1p(-facula.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return -facula.expm1(self.log_survival_function(value))

    def icdf(self, value: Tensor) -> Tensor:
        zero, k = self._zero_and_safe()
        log_rest = facula.log1p(-value)
        z = facula.where(zero, -log_rest, facula.expm1(-k * log_rest) / k)
        return self.loc + self.scale * z

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        finite = k < 1
        mean = self.loc + self.scale / (1 - facula.where(finite, k, 0.5))
        return facula.where(finite, mean, math.inf)

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        finite = k < 0.5
        safe = facula.where(finite, k, 0.25)
        return facula.where(
            finite, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.inf
        )

    def entropy(self) -> Tensor:
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        bounded = self.concentration < 0
        safe = facula.where(bounded, self.concentration, -1.0)
        upper = facula.where(bounded, self.loc - self.scale / safe, math.inf)
        return constraints.interval(self.loc, upper)
