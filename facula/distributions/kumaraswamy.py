"""Kumaraswamy: a relative of the beta distribution with a simple cumulative probability."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.transformed_distribution import TransformedDistribution
from facula.distributions.transforms import AffineTransform, PowerTransform
from facula.distributions.uniform import Uniform
from facula.distributions.utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]

Tensor = facula.Tensor


def _moments(a: Tensor, b: Tensor, n: int) -> Tensor:
    """Give the n-th moment, `b * B(1 + n / a, b)`."""
    arg1 = 1 + n / a
    return facula.exp(b.log() + facula.lgamma(arg1) + facula.lgamma(b) - facula.lgamma(arg1 + b))


class Kumaraswamy(TransformedDistribution):
    """The distribution over [0, 1] with cumulative probability
    `1 - (1 - x ** concentration1) ** concentration0`.

    Example::

        >>> Kumaraswamy(facula.tensor(1.0), 1.0).mean
        tensor(0.5000)
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: Any = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            facula.full_like(self.concentration0, 0),
            facula.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Kumaraswamy:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(batch_shape)
        new.concentration0 = self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return _moments(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        log_mode = ((-1 / a).log1p() - (-1 / (a * b)).log1p() - b.log()) / a
        return facula.where((a < 1) | (b < 1), facula.nan, log_mode.exp())

    @property
    def variance(self) -> Tensor:
        second = _moments(self.concentration1, self.concentration0, 2)
        return second - facula.pow(self.mean, 2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = facula.digamma(b + 1) + euler_constant
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - facula.log(a) - facula.log(b)
