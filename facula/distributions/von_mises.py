"""VonMises: angles around a direction."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.distribution import Distribution
from facula.distributions.utils import broadcast_all, lazy_property

__all__ = ["VonMises"]

Tensor = facula.Tensor
Size = facula.Size


def _log_i0(x: Tensor) -> Tensor:
    return facula.log(facula.special.i0e(x)) + x


class VonMises(Distribution):
    """The von Mises distribution of angles in [-pi, pi) around `loc`, narrower with larger
    `concentration`.

    Example::

        >>> VonMises(facula.tensor(1.0), facula.tensor(4.0)).mean
        tensor(1.)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: Any = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        return k * facula.cos(value - self.loc) - math.log(2 * math.pi) - _log_i0(k)

    @lazy_property
    def _loc(self) -> Tensor:
        return self.loc.to(facula.double)

    @lazy_property
    def _concentration(self) -> Tensor:
        return self.concentration.to(facula.double)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy distribution that proposals come from."""
        k = self._concentration
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        r = (1 + rho**2) / (2 * rho)
        return facula.where(k < 1e-5, 1 / k + k, r)

    @facula.no_grad()
    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Draw by rejection, after Best and Fisher (1979); computed in double precision."""
        shape = self._extended_shape(sample_shape)
        k, r = self._concentration.expand(shape), self._proposal_r.expand(shape)
        x = facula.empty(shape, dtype=self._loc.dtype, device=self.loc.device)
        done = facula.zeros(shape, dtype=facula.bool, device=self.loc.device)
        while not done.all():
            u = facula.rand((3, *shape), dtype=self._loc.dtype, device=self._loc.device)
            u1, u2, u3 = u.unbind()
            z = facula.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
            x = facula.where(accept, (u3 - 0.5).sign() * f.acos(), x)
            done = done | accept
        angle = (x + math.pi + self._loc) % (2 * math.pi) - math.pi
        return angle.to(self.loc.dtype)

    def expand(self, batch_shape: Any, _instance: Any = None) -> VonMises:
        return self._expand(VonMises, batch_shape, _instance, loc=0, concentration=0)

    @property
    def mean(self) -> Tensor:
        """The mean direction."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance."""
        k = self.concentration
        return 1 - facula.special.i1e(k) / facula.special.i0e(k)
