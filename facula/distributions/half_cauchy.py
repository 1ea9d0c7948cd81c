"""HalfCauchy: absolute values of Cauchy numbers."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions._half import Half
from facula.distributions.cauchy import Cauchy
from facula.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]

Tensor = facula.Tensor


class HalfCauchy(Half):
    """The distribution of `|x|` for x of the Cauchy distribution around 0 with `scale`.

    Example::

        >>> HalfCauchy(1.0).cdf(facula.tensor(1.0))
        tensor(0.5000)
    """

    def __init__(self, scale: Any, validate_args: Any = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> HalfCauchy:
        return super().expand(batch_shape, self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return facula.full(
            self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device
        )

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value = facula.as_tensor(
            value, dtype=self.base_dist.scale.dtype, device=self.base_dist.scale.device
        )
        return self._log_prob(value)
