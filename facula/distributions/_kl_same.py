"""Divergences between two distributions of one family."""

from __future__ import annotations

from typing import Any

import facula
from facula.distributions.bernoulli import Bernoulli
from facula.distributions.beta import Beta
from facula.distributions.binomial import Binomial
from facula.distributions.categorical import Categorical
from facula.distributions.cauchy import Cauchy
from facula.distributions.continuous_bernoulli import ContinuousBernoulli
from facula.distributions.dirichlet import Dirichlet
from facula.distributions.exponential import Exponential
from facula.distributions.gamma import Gamma
from facula.distributions.geometric import Geometric
from facula.distributions.gumbel import Gumbel
from facula.distributions.half_normal import HalfNormal
from facula.distributions.kl import register_kl
from facula.distributions.laplace import Laplace
from facula.distributions.normal import Normal
from facula.distributions.one_hot_categorical import OneHotCategorical
from facula.distributions.pareto import Pareto
from facula.distributions.poisson import Poisson
from facula.distributions.uniform import Uniform
from facula.distributions.utils import euler_constant
from facula.nn.functional import softplus

Tensor = facula.Tensor
inf = facula.inf
where, lgamma, digamma = facula.where, facula.lgamma, facula.digamma


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p: Any, q: Any) -> Tensor:
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one = where(p.probs == 0, 0.0, where(q.probs == 0, inf, one))
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero = where(p.probs == 1, 0.0, where(q.probs == 1, inf, zero))
    return one + zero


@register_kl(Beta, Beta)
def _kl_beta_beta(p: Any, q: Any) -> Tensor:
    p_sum = p.concentration1 + p.concentration0
    q_sum = q.concentration1 + q.concentration0
    t1 = lgamma(q.concentration1) + lgamma(q.concentration0) + lgamma(p_sum)
    t2 = lgamma(p.concentration1) + lgamma(p.concentration0) + lgamma(q_sum)
    t3 = (p.concentration1 - q.concentration1) * digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * digamma(p.concentration0)
    t5 = (q_sum - p_sum) * digamma(p_sum)
    return t1 - t2 + t3 + t4 + t5


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    kl = p.total_count * (
        p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    )
    return where(p.total_count > q.total_count, inf, kl)


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p: Any, q: Any) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    return where(p.probs == 0, 0.0, where(q.probs == 0, inf, t)).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_onehotcategorical_onehotcategorical(p: Any, q: Any) -> Tensor:
    return _kl_categorical_categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    of_p = p._cont_bern_log_norm() + facula.log1p(-p.probs)
    of_q = q._cont_bern_log_norm() + facula.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + of_p - of_q


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p: Any, q: Any) -> Tensor:
    p_sum, q_sum = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = lgamma(p_sum) - lgamma(q_sum)
    t2 = (lgamma(p.concentration) - lgamma(q.concentration)).sum(-1)
    change = p.concentration - q.concentration
    t3 = (change * (digamma(p.concentration) - digamma(p_sum).unsqueeze(-1))).sum(-1)
    return t1 - t2 + t3


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p: Any, q: Any) -> Tensor:
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = lgamma(q.concentration) - lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * digamma(p.concentration)
    t4 = (q.rate - p.rate) * (p.concentration / p.rate)
    return t1 + t2 + t3 + t4


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p: Any, q: Any) -> Tensor:
    ratio = p.scale / q.scale
    shift = (p.loc - q.loc) / q.scale
    t1 = shift - ratio.log()
    t2 = facula.exp(lgamma(1 + ratio) - shift)
    return t1 + ratio * euler_constant + t2 - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - facula.log1p(-q.probs) / p.probs - q.logits


@register_kl(Normal, Normal)
def _kl_normal_normal(p: Any, q: Any) -> Tensor:
    var_ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (var_ratio + t1 - 1 - var_ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _kl_halfnormal_halfnormal(p: Any, q: Any) -> Tensor:
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p: Any, q: Any) -> Tensor:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * facula.exp(-distance / p.scale) - 1


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(p: Any, q: Any) -> Tensor:
    alpha_ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - alpha_ratio.log() + alpha_ratio - 1
    return where(p.scale < q.scale, inf, kl)


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(p: Any, q: Any) -> Tensor:
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), inf, kl)


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p: Any, q: Any) -> Tensor:
    # Chyzak, Nielsen: "A closed-form formula for the Kullback-Leibler divergence between Cauchy
    # distributions" (2019)
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()
