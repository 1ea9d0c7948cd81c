"""Divergences between distributions of two families.

Where draws of p fall out of the support of q with any probability, the divergence is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import facula
from facula.distributions.bernoulli import Bernoulli
from facula.distributions.beta import Beta
from facula.distributions.binomial import Binomial
from facula.distributions.continuous_bernoulli import ContinuousBernoulli
from facula.distributions.exponential import Exponential
from facula.distributions.gamma import Gamma
from facula.distributions.gumbel import Gumbel
from facula.distributions.kl import register_kl
from facula.distributions.laplace import Laplace
from facula.distributions.normal import Normal
from facula.distributions.pareto import Pareto
from facula.distributions.poisson import Poisson
from facula.distributions.uniform import Uniform
from facula.distributions.utils import euler_constant

Tensor = facula.Tensor
inf = facula.inf
where, lgamma, digamma = facula.where, facula.lgamma, facula.digamma


def _x_log_x(x: Tensor) -> Tensor:
    return facula.xlogy(x, x)


def _always_infinite(type_p: type, parameter: str, *types_q: type) -> None:
    def infinite(p: Any, q: Any) -> Tensor:
        return facula.full_like(getattr(p, parameter), inf)

    for type_q in types_q:
        register_kl(type_p, type_q)(infinite)


_always_infinite(Beta, "concentration1", Pareto)
_always_infinite(ContinuousBernoulli, "probs", Pareto)
_always_infinite(Exponential, "rate", Beta, ContinuousBernoulli, Pareto, Uniform)
_always_infinite(Gamma, "concentration", Beta, ContinuousBernoulli, Pareto, Uniform)
_on_parts = (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_always_infinite(Gumbel, "loc", *_on_parts)
_always_infinite(Laplace, "loc", *_on_parts)
_always_infinite(Normal, "loc", *_on_parts)
_always_infinite(Pareto, "scale", Beta, ContinuousBernoulli, Uniform)
_always_infinite(Poisson, "rate", Bernoulli, Binomial)


@register_kl(Bernoulli, Poisson)
def _kl_bernoulli_poisson(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


def _from_moments(log_density: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a divergence of p's entropy and of the mean of q's log density, which a function of q
    and of the mean and the variance of p gives.
    """

    def kl(p: Any, q: Any) -> Tensor:
        return -p.entropy() - log_density(q, p.mean, p.variance)

    return kl


def _mean_log_exponential(q: Any, mean: Tensor, variance: Tensor) -> Tensor:
    return q.rate.log() - q.rate * mean


def _mean_log_normal(q: Any, mean: Tensor, variance: Tensor) -> Tensor:
    squares = variance + (mean - q.loc).pow(2)
    return -0.5 * math.log(2 * math.pi) - q.scale.log() - 0.5 * squares / q.scale.pow(2)


def _mean_log_continuous_bernoulli(q: Any, mean: Tensor, variance: Tensor) -> Tensor:
    return mean * q.logits + facula.log1p(-q.probs) + q._cont_bern_log_norm()


register_kl(Beta, Exponential)(_from_moments(_mean_log_exponential))
register_kl(ContinuousBernoulli, Exponential)(_from_moments(_mean_log_exponential))
register_kl(Gamma, Exponential)(_from_moments(_mean_log_exponential))
for _type in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_type, Normal)(_from_moments(_mean_log_normal))
register_kl(Beta, ContinuousBernoulli)(_from_moments(_mean_log_continuous_bernoulli))


def _mean_log_gamma(q: Any, mean: Tensor, mean_log: Tensor) -> Tensor:
    """The mean of q's log density from the means of x and log x."""
    return (
        q.concentration * q.rate.log()
        - lgamma(q.concentration)
        + (q.concentration - 1) * mean_log
        - q.rate * mean
    )


@register_kl(Beta, Gamma)
def _kl_beta_gamma(p: Any, q: Any) -> Tensor:
    mean_log = digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0)
    return -p.entropy() - _mean_log_gamma(q, p.mean, mean_log)


@register_kl(Exponential, Gamma)
def _kl_exponential_gamma(p: Any, q: Any) -> Tensor:
    mean_log = -euler_constant - p.rate.log()
    return -p.entropy() - _mean_log_gamma(q, p.mean, mean_log)


@register_kl(Pareto, Gamma)
def _kl_pareto_gamma(p: Any, q: Any) -> Tensor:
    mean_log = p.scale.log() + p.alpha.reciprocal()
    mean = p.alpha * p.scale / (p.alpha - 1)
    return where(p.alpha <= 1, inf, -p.entropy() - _mean_log_gamma(q, mean, mean_log))


def _uniform_mean_log(low: Tensor, high: Tensor) -> Tensor:
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


@register_kl(Uniform, Gamma)
def _kl_uniform_gamma(p: Any, q: Any) -> Tensor:
    kl = -p.entropy() - _mean_log_gamma(q, p.mean, _uniform_mean_log(p.low, p.high))
    return where(p.low < 0, inf, kl)


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _kl_unit_interval_uniform(p: Any, q: Any) -> Tensor:
    kl = -p.entropy() + (q.high - q.low).log()
    return where((q.low > 0) | (q.high < 1), inf, kl)


@register_kl(Exponential, Gumbel)
def _kl_exponential_gumbel(p: Any, q: Any) -> Tensor:
    product, ratio = p.rate * q.scale, q.loc / q.scale
    # E exp(-x / scale) = product / (product + 1)
    return (
        product.log() - 1 - ratio + facula.exp(ratio) * product / (product + 1) + 1 / product
    )


@register_kl(Gamma, Gumbel)
def _kl_gamma_gumbel(p: Any, q: Any) -> Tensor:
    product, ratio, c = p.rate * q.scale, q.loc / q.scale, p.concentration
    t1 = (c - 1) * digamma(c) - lgamma(c) - c
    t2 = product.log() + c / product
    t3 = facula.exp(ratio) * (1 + product.reciprocal()).pow(-c) - ratio
    return t1 + t2 + t3


@register_kl(Normal, Gumbel)
def _kl_normal_gumbel(p: Any, q: Any) -> Tensor:
    shift = (p.loc - q.loc) / q.scale
    ratio = p.scale / q.scale
    t3 = facula.exp(-shift + 0.5 * ratio.pow(2))
    return -ratio.log() + shift + t3 - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Uniform, Gumbel)
def _kl_uniform_gumbel(p: Any, q: Any) -> Tensor:
    unit = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return unit.log() + 0.5 * (high + low) - unit * (facula.exp(-high) - facula.exp(-low))


@register_kl(Normal, Laplace)
def _kl_normal_laplace(p: Any, q: Any) -> Tensor:
    offset = p.loc - q.loc
    relative = offset / p.scale
    # E |x - loc| of a folded normal number
    distance = math.sqrt(2 / math.pi) * p.scale * facula.exp(
        -0.5 * relative.pow(2)
    ) + offset * facula.erf(math.sqrt(0.5) * relative)
    return -(p.scale / q.scale).log() + distance / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(Pareto, Exponential)
def _kl_pareto_exponential(p: Any, q: Any) -> Tensor:
    mean = p.alpha * p.scale / (p.alpha - 1)
    return where(p.alpha <= 1, inf, -p.entropy() - q.rate.log() + q.rate * mean)


@register_kl(Pareto, Normal)
def _kl_pareto_normal(p: Any, q: Any) -> Tensor:
    return where(p.alpha <= 2, inf, _from_moments(_mean_log_normal)(p, q))


@register_kl(Uniform, Beta)
def _kl_uniform_beta(p: Any, q: Any) -> Tensor:
    log_beta = lgamma(q.concentration1) + lgamma(q.concentration0)
    log_beta = log_beta - lgamma(q.concentration1 + q.concentration0)
    mean_log_density = (
        (q.concentration1 - 1) * _uniform_mean_log(p.low, p.high)
        + (q.concentration0 - 1) * _uniform_mean_log(1 - p.high, 1 - p.low)
        - log_beta
    )
    return where((p.high > 1) | (p.low < 0), inf, -p.entropy() - mean_log_density)


@register_kl(Uniform, ContinuousBernoulli)
def _kl_uniform_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    kl = _from_moments(_mean_log_continuous_bernoulli)(p, q)
    return where((p.high > 1) | (p.low < 0), inf, kl)


@register_kl(Uniform, Exponential)
def _kl_uniform_exponential(p: Any, q: Any) -> Tensor:
    return where(p.low < 0, inf, _from_moments(_mean_log_exponential)(p, q))


@register_kl(Uniform, Pareto)
def _kl_uniform_pareto(p: Any, q: Any) -> Tensor:
    mean_log = _uniform_mean_log(p.low, p.high)
    log_density = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * mean_log
    return where(p.low < q.scale, inf, -p.entropy() - log_density)
