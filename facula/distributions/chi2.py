"""Chi2: sums of squares of normal numbers."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The chi-squared distribution with `df` degrees of freedom.

    Example::

        >>> Chi2(facula.tensor([1.0])).mean
        tensor([1.])
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: Any = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Chi2:
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    @property
    def df(self) -> facula.Tensor:
        """The degrees of freedom."""
        return self.concentration * 2
