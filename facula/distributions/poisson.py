"""Poisson: the number of events in a span of time."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.exp_family import ExponentialFamily
from facula.distributions.utils import all_numbers, broadcast_all

__all__ = ["Poisson"]

Tensor = facula.Tensor
Size = facula.Size


class Poisson(ExponentialFamily):
    """The Poisson distribution with mean `rate`.

    Example::

        >>> Poisson(facula.tensor(4.0)).stddev
        tensor(2.)
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: Any = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = Size() if all_numbers(rate) else self.rate.size()
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def expand(self, batch_shape: Any, _instance: Any = None) -> Poisson:
        return self._expand(Poisson, batch_shape, _instance, rate=0)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with facula.no_grad():
            return facula.poisson(self.rate.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return facula.xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (facula.log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return facula.exp(x)
