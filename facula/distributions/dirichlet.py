"""Dirichlet: the distribution of vectors of probabilities."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions._gamma_draws import dirichlet
from facula.distributions.exp_family import ExponentialFamily

__all__ = ["Dirichlet"]

Tensor = facula.Tensor
Size = facula.Size


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution over the simplex, with `concentration` of shape `(..., K)`.

    Example::

        >>> Dirichlet(facula.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: Any = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(Size(shape[:-1]), Size(shape[-1:]), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Dirichlet:
        return self._expand(Dirichlet, batch_shape, _instance, concentration=1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        c = self.concentration
        return (
            facula.xlogy(c - 1.0, value).sum(-1)
            + facula.lgamma(c.sum(-1))
            - facula.lgamma(c).sum(-1)
        )

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        excess = (self.concentration - 1).clamp(min=0.0)
        mode = excess / excess.sum(-1, True)
        flat = (self.concentration < 1).all(dim=-1)
        mode[flat] = facula.nn.functional.one_hot(
            mode[flat].argmax(dim=-1), self.concentration.shape[-1]
        ).to(mode)
        return mode

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        c = self.concentration
        k, total = c.size(-1), c.sum(-1)
        return (
            facula.lgamma(c).sum(-1)
            - facula.lgamma(total)
            - (k - total) * facula.digamma(total)
            - ((c - 1.0) * facula.digamma(c)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - facula.lgamma(x.sum(-1))
