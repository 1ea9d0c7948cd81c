"""Bernoulli: one trial that succeeds or fails."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.exp_family import ExponentialFamily
from facula.distributions.utils import ProbsOrLogits, broadcast_all
from facula.nn.functional import binary_cross_entropy_with_logits

__all__ = ["Bernoulli"]

Tensor = facula.Tensor
Size = facula.Size


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with probability `probs`, else 0; `logits` are the log odds.

    Example::

        >>> Bernoulli(0.25).variance
        tensor(0.1875)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        super().__init__(self._set_binary(probs, logits), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Bernoulli:
        return self._expand(Bernoulli, batch_shape, _instance, probs=0, logits=0)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        return facula.where(self.probs == 0.5, facula.full_like(mode, facula.nan), mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with facula.no_grad():
            return facula.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = facula.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (facula.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return facula.log1p(facula.exp(x))
