"""HalfNormal: absolute values of normal numbers."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions._half import Half
from facula.distributions.normal import Normal
from facula.distributions.transforms import AbsTransform

__all__ = ["HalfNormal"]

Tensor = facula.Tensor


class HalfNormal(Half):
    """The distribution of `|x|` for x of the normal distribution with mean 0 and standard deviation
    `scale`.

    Example::

        >>> HalfNormal(1.0).mean
        tensor(0.7979)
    """

    def __init__(self, scale: Any, validate_args: Any = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> HalfNormal:
        return super().expand(batch_shape, self._get_checked_instance(HalfNormal, _instance))

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._log_prob(value)
