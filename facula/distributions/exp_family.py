"""ExponentialFamily: distributions whose entropy follows from their log normaliser."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions.distribution import Distribution
from facula.distributions.utils import _sum_rightmost

__all__ = ["ExponentialFamily"]

Tensor = facula.Tensor


class ExponentialFamily(Distribution):
    """A distribution with density `exp(<t(x), theta> - F(theta) + k(x))`.

    A subclass gives its natural parameters theta, the log normaliser F and the mean of the carrier
    measure k; entropy and KL divergence follow by differentiation of F.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def _normalizer_and_means(self) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
        """Give the natural parameters as leaves, F there, and its gradients: the means of t(x)."""
        with facula.enable_grad():
            theta = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*theta)
            means = facula.autograd.grad(normalizer.sum(), theta, create_graph=True)
        return theta, normalizer, means

    def entropy(self) -> Tensor:
        """Give the entropy."""
        theta, normalizer, means = self._normalizer_and_means()
        result = normalizer - self._mean_carrier_measure
        for parameter, mean in zip(theta, means, strict=True):
            result = result - _sum_rightmost(parameter * mean, len(self._event_shape))
        return result
