"""FisherSnedecor: the ratio of two scaled chi-squared numbers."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.distribution import Distribution
from facula.distributions.gamma import Gamma
from facula.distributions.utils import all_numbers, broadcast_all

__all__ = ["FisherSnedecor"]

Tensor = facula.Tensor
Size = facula.Size
nan = facula.nan


class FisherSnedecor(Distribution):
    """The F distribution with `df1` and `df2` degrees of freedom.

    Example::

        >>> FisherSnedecor(facula.tensor(1.0), 4.0).mean
        tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: Any = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        shape = Size() if all_numbers(df1, df2) else self.df1.size()
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> FisherSnedecor:
        new = self._expand(FisherSnedecor, batch_shape, _instance, df1=0, df2=0)
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)
        return new

    @property
    def mean(self) -> Tensor:
        df2 = facula.where(self.df2 <= 2, nan, self.df2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return facula.where(self.df1 <= 2, nan, mode)

    @property
    def variance(self) -> Tensor:
        df2 = facula.where(self.df2 <= 4, nan, self.df2)
        return (
            2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))
        )

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        above = self._gamma1.rsample(sample_shape).view(shape)
        below = self._gamma2.rsample(sample_shape).view(shape)
        tiny = facula.finfo(below.dtype).tiny
        ratio = above / below.clamp(min=tiny)
        return ratio.clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        constant = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        power = half1 * ratio.log() + (half1 - 1) * facula.log(value)
        return constant + power - (half1 + half2) * facula.log1p(ratio * value)
