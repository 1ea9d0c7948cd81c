"""Binomial: the number of successes among independent trials."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.distribution import Distribution
from facula.distributions.utils import ProbsOrLogits, broadcast_all

__all__ = ["Binomial"]

Tensor = facula.Tensor
Size = facula.Size


class Binomial(ProbsOrLogits, Distribution):
    """The number of successes in `total_count` trials of probability `probs` or log odds `logits`.

    Example::

        >>> Binomial(4, facula.tensor([0.0, 0.5])).mean
        tensor([0., 2.])
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: Any = None,
    ) -> None:
        name = self._choose(probs, logits)
        self.total_count, param = broadcast_all(total_count, probs if logits is None else logits)
        setattr(self, name, param)
        self.total_count = self.total_count.type_as(param)
        super().__init__(param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Binomial:
        return self._expand(Binomial, batch_shape, _instance, total_count=0, probs=0, logits=0)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with facula.no_grad():
            return facula.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        log_choose = (
            facula.lgamma(n + 1) - facula.lgamma(value + 1) - facula.lgamma(n - value + 1)
        )
        # n log(1 + exp(logits)), written so that neither sign of the logits overflows
        log_total = n * (logits.clamp(min=0) + facula.log1p(facula.exp(-facula.abs(logits))))
        return value * logits + log_choose - log_total

    def _one_count(self, what: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{what}`.")
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(facula.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        values = facula.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values
