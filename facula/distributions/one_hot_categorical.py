"""OneHotCategorical: one of several categories, as a vector with a single one."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.categorical import Categorical
from facula.distributions.distribution import Distribution
from facula.nn import functional as F

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]

Tensor = facula.Tensor
Size = facula.Size


class OneHotCategorical(Distribution):
    """A vector of K numbers, one of them 1, drawn with the weights `probs` of shape `(..., K)`, or
    with unnormalised log probabilities `logits`.

    Example::

        >>> OneHotCategorical(facula.tensor([0.0, 1.0])).sample()
        tensor([0., 1.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(
            self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> OneHotCategorical:
        new = self._expand(OneHotCategorical, batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The normalised log probabilities."""
        return self._categorical.logits

    @property
    def mean(self) -> Tensor:
        return self._categorical.probs

    @property
    def mode(self) -> Tensor:
        return F.one_hot(self._categorical.mode, self.event_shape[-1]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self._categorical.probs * (1 - self._categorical.probs)

    @property
    def param_shape(self) -> Any:
        """The shape of the given parameter."""
        return self._categorical.param_shape

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        indices = self._categorical.sample(Size(sample_shape))
        return F.one_hot(indices, self.event_shape[-1]).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = facula.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + tuple(self.batch_shape) + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A one-hot distribution whose draws pass gradients to the probabilities unchanged (Bengio,
    Leonard, Courville, 2013).
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        probs = self._categorical.probs  # its gradient is the one of the draw
        return self.sample(sample_shape) + (probs - probs.detach())
