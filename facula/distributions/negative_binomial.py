"""NegativeBinomial: the number of successes before a number of failures."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.distribution import Distribution
from facula.distributions.gamma import Gamma
from facula.distributions.utils import ProbsOrLogits, broadcast_all, lazy_property
from facula.nn import functional as F

__all__ = ["NegativeBinomial"]

Tensor = facula.Tensor
Size = facula.Size


class NegativeBinomial(ProbsOrLogits, Distribution):
    """The number of successes of probability `probs`, in [0, 1), or log odds `logits`, before
    `total_count` failures; `total_count` need not be an integer.

    Example::

        >>> NegativeBinomial(facula.tensor(3.0), 0.5).mean
        tensor(3.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: Any = None,
    ) -> None:
        name = self._choose(probs, logits)
        self.total_count, param = broadcast_all(total_count, probs if logits is None else logits)
        setattr(self, name, param)
        self.total_count = self.total_count.type_as(param)
        super().__init__(param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> NegativeBinomial:
        return self._expand(
            NegativeBinomial, batch_shape, _instance, total_count=0, probs=0, logits=0
        )

    @property
    def mean(self) -> Tensor:
        return self.total_count * facula.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / facula.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """The distribution of the rate, of which the count is a Poisson number."""
        return Gamma(
            concentration=self.total_count, rate=facula.exp(-self.logits), validate_args=False
        )

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with facula.no_grad():
            return facula.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        log_power = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        log_norm = facula.lgamma(1.0 + value) + facula.lgamma(n) - facula.lgamma(n + value)
        return log_power - log_norm.masked_fill(n + value == 0.0, 0.0)
