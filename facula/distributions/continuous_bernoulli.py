"""ContinuousBernoulli: a distribution over [0, 1], density proportional to p^x (1 - p)^(1 - x)."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.exp_family import ExponentialFamily
from facula.distributions.utils import ProbsOrLogits, broadcast_all, clamp_probs
from facula.nn.functional import binary_cross_entropy_with_logits

__all__ = ["ContinuousBernoulli"]

Tensor = facula.Tensor
Size = facula.Size


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """The continuous Bernoulli distribution (Loaiza-Ganem, Cunningham, 2019).

    Its formulas are 0 / 0 at `probs` 1/2; between the limits `lims` Taylor polynomials take over.

    Example::

        >>> ContinuousBernoulli(0.5).mean
        tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: Any = None,
    ) -> None:
        shape = self._set_binary(probs, logits)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(
                self.probs
            ).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> ContinuousBernoulli:
        new = self._expand(ContinuousBernoulli, batch_shape, _instance, probs=0, logits=0)
        new._lims = self._lims
        return new

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        low = self._lims[0] * facula.ones_like(self.probs)
        return facula.where(self._outside_unstable_region(), self.probs, low)

    def _cont_bern_log_norm(self) -> Tensor:
        """Give the logarithm of the constant that makes the density integrate to 1."""
        cut = self._cut_probs()
        low = facula.where(cut <= 0.5, cut, facula.zeros_like(cut))
        high = facula.where(cut >= 0.5, cut, facula.ones_like(cut))
        log_norm = facula.log(facula.abs(facula.log1p(-cut) - facula.log(cut))) - facula.where(
            cut <= 0.5, facula.log1p(-2.0 * low), facula.log(2.0 * high - 1.0)
        )
        x = facula.pow(self.probs - 0.5, 2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return facula.where(self._outside_unstable_region(), log_norm, taylor)

    @property
    def mean(self) -> Tensor:
        cut = self._cut_probs()
        mean = cut / (2.0 * cut - 1.0) + 1.0 / (facula.log1p(-cut) - facula.log(cut))
        x = self.probs - 0.5
        taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * facula.pow(x, 2)) * x
        return facula.where(self._outside_unstable_region(), mean, taylor)

    @property
    def stddev(self) -> Tensor:
        return facula.sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        cut = self._cut_probs()
        variance = cut * (cut - 1.0) / facula.pow(1.0 - 2.0 * cut, 2) + 1.0 / facula.pow(
            facula.log1p(-cut) - facula.log(cut), 2
        )
        x = facula.pow(self.probs - 0.5, 2)
        taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return facula.where(self._outside_unstable_region(), variance, taylor)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with facula.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(facula.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return (
            -binary_cross_entropy_with_logits(logits, value, reduction="none")
            + self._cont_bern_log_norm()
        )

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        inside = (
            facula.pow(cut, value) * facula.pow(1.0 - cut, 1.0 - value) + cut - 1.0
        ) / (2.0 * cut - 1.0)
        inside = facula.where(self._outside_unstable_region(), inside, value)
        return facula.where(
            facula.le(value, 0.0),
            facula.zeros_like(value),
            facula.where(facula.ge(value, 1.0), facula.ones_like(value), inside),
        )

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut_probs()
        log_rest = facula.log1p(-cut)
        quantile = (facula.log1p(-cut + value * (2.0 * cut - 1.0)) - log_rest) / (
            facula.log(cut) - log_rest
        )
        return facula.where(self._outside_unstable_region(), quantile, value)

    def entropy(self) -> Tensor:
        log_rest, log_p = facula.log1p(-self.probs), facula.log(self.probs)
        return self.mean * (log_rest - log_p) - self._cont_bern_log_norm() - log_rest

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = facula.where(outside, x, (self._lims[0] - 0.5) * facula.ones_like(x))
        log_norm = facula.log(facula.abs(facula.expm1(cut))) - facula.log(facula.abs(cut))
        taylor = 0.5 * x + facula.pow(x, 2) / 24.0 - facula.pow(x, 4) / 2880.0
        return facula.where(outside, log_norm, taylor)
