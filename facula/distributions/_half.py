"""What the distributions of absolute values share: their base is symmetric around 0."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.transformed_distribution import TransformedDistribution

Tensor = facula.Tensor


class Half(TransformedDistribution):
    """The distribution of `|x|` for x of a distribution around 0 with `scale`."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    @property
    def scale(self) -> Tensor:
        """The scale of x."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return facula.zeros_like(self.scale)

    def _log_prob(self, value: Any) -> Tensor:
        """Give twice the density of x where `value` is not negative; a checked tensor."""
        return facula.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
