"""MixtureSameFamily: mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.categorical import Categorical
from facula.distributions.constraints import MixtureSameFamilyConstraint
from facula.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]

Tensor = facula.Tensor
Size = facula.Size


class MixtureSameFamily(Distribution):
    """A mixture whose components are the last batch dimension of `component_distribution`, chosen
    by the categorical `mixture_distribution`.

    Example::

        >>> mixture = MixtureSameFamily(
        ...     Categorical(facula.ones(2)), Normal(facula.tensor([-1.0, 1.0]), 0.5))
        >>> mixture.variance
        tensor(1.2500)
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: Any = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                facula._C._package_words(
                    " The Mixture distribution needs to be an  instance of "
                    "facula.distributions.Categorical"
                )
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                facula._C._package_words(
                    "The Component distribution needs to be an instance of "
                    "facula.distributions.Distribution"
                )
            )
        shape = self._component_distribution.batch_shape
        self._num_component = shape[-1]
        for a, b in zip(
            reversed(mixture_distribution.batch_shape), reversed(shape[:-1]), strict=False
        ):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) is "
                    "not compatible with `component_distribution.batch_shape`"
                    f"({Size(shape[:-1])})"
                )
        count = mixture_distribution.logits.shape[-1]
        if count != self._num_component:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({self._num_component})"
            )
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(
            batch_shape=Size(shape[:-1]), event_shape=event_shape, validate_args=validate_args
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> MixtureSameFamily:
        batch_shape = Size(batch_shape)
        new = self._expand(MixtureSameFamily, batch_shape, _instance)
        new._component_distribution = self._component_distribution.expand(
            Size((*batch_shape, self._num_component))
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the components' indices."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    def _mix(self, values: Tensor) -> Tensor:
        """Average values of the components with their weights."""
        weights = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return facula.sum(weights * values, dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._mix(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        offset = self.component_distribution.mean - self._pad(self.mean)
        return self._mix(self.component_distribution.variance) + self._mix(offset.pow(2.0))

    def cdf(self, x: Tensor) -> Tensor:
        cdf = self.component_distribution.cdf(self._pad(x))
        return facula.sum(cdf * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        log_probs = self.component_distribution.log_prob(self._pad(x))
        log_weights = facula.log_softmax(self.mixture_distribution.logits, dim=-1)
        return facula.logsumexp(log_probs + log_weights, dim=-1)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with facula.no_grad():
            sample_shape = tuple(sample_shape)
            gather_dim = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            event = tuple(self.event_shape)
            at = chosen.reshape(tuple(chosen.shape) + (1,) * (len(event) + 1))
            at = at.expand(tuple(drawn.shape[:gather_dim]) + (1,) + event)
            return facula.gather(drawn, gather_dim, at).squeeze(gather_dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        """Give weights of shape `(..., K)` the components' number of dimensions."""
        missing = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        shape = tuple(x.shape)
        middle = (1,) * missing if len(shape) > 1 else ()
        return x.reshape(shape[:-1] + middle + shape[-1:] + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )
