"""StudentT: the mean of normal numbers in units of its estimated error."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.chi2 import Chi2
from facula.distributions.distribution import Distribution
from facula.distributions.utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]

Tensor = facula.Tensor
Size = facula.Size


class StudentT(Distribution):
    """Student's t distribution with `df` degrees of freedom, center `loc` and `scale`.

    Example::

        >>> StudentT(facula.tensor(4.0)).variance
        tensor(2.)
    """

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: Any = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return facula.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.df > 2
        safe = facula.where(finite, self.df, 3.0)
        variance = facula.where(finite, self.scale.pow(2) * safe / (safe - 2), math.inf)
        return facula.where(self.df <= 1, math.nan, variance)

    def expand(self, batch_shape: Any, _instance: Any = None) -> StudentT:
        new = self._expand(StudentT, batch_shape, _instance, df=0, loc=0, scale=0)
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * facula.rsqrt(z / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        log_norm = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + facula.lgamma(0.5 * self.df)
            - facula.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * facula.log1p(y**2.0 / self.df) - log_norm

    def entropy(self) -> Tensor:
        half, above = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = facula.lgamma(half) + math.lgamma(0.5) - facula.lgamma(above)
        return (
            self.scale.log()
            + above * (facula.digamma(above) - facula.digamma(half))
            + 0.5 * self.df.log()
            + log_beta
        )
