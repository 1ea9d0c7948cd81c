"""Geometric: the number of failures before the first success."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.distribution import Distribution
from facula.distributions.utils import ProbsOrLogits, broadcast_all
from facula.nn.functional import binary_cross_entropy_with_logits

__all__ = ["Geometric"]

Tensor = facula.Tensor
Size = facula.Size


class Geometric(ProbsOrLogits, Distribution):
    """The number of failures before the first success in trials of probability `probs`, which must
    be over 0, or log odds `logits`.

    Example::

        >>> Geometric(facula.tensor(0.25)).mean
        tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        super().__init__(self._set_binary(probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            if not (value > 0).all():
                shape = tuple(value.shape)
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {shape}) of "
                    f"distribution {self!r} to be positive but found invalid values:\n"
                    f"{value[~(value > 0)]}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Geometric:
        return self._expand(Geometric, batch_shape, _instance, probs=0, logits=0)

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return facula.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        tiny = facula.finfo(self.probs.dtype).tiny
        with facula.no_grad():
            u = self.probs.new(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        # 0 * log(1 - 1) counts as 0
        certain = facula.where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-certain).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        both = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return both / self.probs
