"""LogisticNormal: normal vectors sent to the simplex."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.normal import Normal
from facula.distributions.transformed_distribution import TransformedDistribution
from facula.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]

Tensor = facula.Tensor


class LogisticNormal(TransformedDistribution):
    """The distribution over the simplex of K + 1 coordinates that stick breaking makes of normal
    vectors with means `loc` and standard deviations `scale` of shape `(..., K)`.

    Example::

        >>> LogisticNormal(facula.zeros(3), facula.ones(3)).event_shape
        facula.Size([4])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LogisticNormal:
        return super().expand(batch_shape, self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The means of the normal vectors."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal vectors."""
        return self.base_dist.base_dist.scale
