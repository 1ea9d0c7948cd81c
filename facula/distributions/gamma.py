"""Gamma: waiting times for several events."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions._gamma_draws import standard_gamma
from facula.distributions.exp_family import ExponentialFamily
from facula.distributions.utils import all_numbers, broadcast_all

__all__ = ["Gamma"]

Tensor = facula.Tensor
Size = facula.Size


def _standard_gamma(concentration: Tensor, generator: Any = None) -> Tensor:
    return standard_gamma(concentration, generator)


class Gamma(ExponentialFamily):
    """The gamma distribution with shape `concentration` and inverse scale `rate`.

    Example::

        >>> Gamma(facula.tensor(3.0), 2.0).mean
        tensor(1.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: Any = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        shape = Size() if all_numbers(concentration, rate) else self.concentration.size()
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Gamma:
        return self._expand(Gamma, batch_shape, _instance, concentration=0, rate=0)

    def sample(self, sample_shape: Any = Size(), *, generator: Any = None) -> Tensor:
        with facula.no_grad():
            return Gamma.rsample(self, sample_shape, generator)

    def rsample(self, sample_shape: Any = Size(), generator: Any = None) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = _standard_gamma(self.concentration.expand(shape), generator)
        value = drawn / self.rate.expand(shape)
        value.detach().clamp_(min=facula.finfo(value.dtype).tiny)
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = facula.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (
            facula.xlogy(self.concentration, self.rate)
            + facula.xlogy(self.concentration - 1, value)
            - self.rate * value
            - facula.lgamma(self.concentration)
        )

    def entropy(self) -> Tensor:
        c = self.concentration
        return c - facula.log(self.rate) + facula.lgamma(c) + (1.0 - c) * facula.digamma(c)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return facula.lgamma(x + 1) + (x + 1) * facula.log(-y.reciprocal())

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return facula.special.gammainc(self.concentration, self.rate * value)
