"""Probability distributions: draws, densities, entropies and divergences, with gradients.

`Distribution` is the base of all. A distribution has parameters (checked against `constraints`), a
batch shape and an event shape; `sample` draws, `rsample` draws with gradients to the parameters,
`log_prob` gives log densities. `transforms` are invertible functions with Jacobians, `biject_to`
and `transform_to` choose one for a constraint, `kl_divergence` compares two distributions.

Example::

    >>> policy = Categorical(logits=facula.zeros(2, 4))
    >>> action = policy.sample()
    >>> policy.log_prob(action).shape
    facula.Size([2])
"""

from facula.distributions import constraints, kl, transforms, utils
from facula.distributions.bernoulli import Bernoulli
from facula.distributions.beta import Beta
from facula.distributions.binomial import Binomial
from facula.distributions.categorical import Categorical
from facula.distributions.cauchy import Cauchy
from facula.distributions.chi2 import Chi2
from facula.distributions.constraint_registry import biject_to, transform_to
from facula.distributions.continuous_bernoulli import ContinuousBernoulli
from facula.distributions.dirichlet import Dirichlet
from facula.distributions.distribution import Distribution
from facula.distributions.exp_family import ExponentialFamily
from facula.distributions.exponential import Exponential
from facula.distributions.fishersnedecor import FisherSnedecor
from facula.distributions.gamma import Gamma
from facula.distributions.generalized_pareto import GeneralizedPareto
from facula.distributions.geometric import Geometric
from facula.distributions.gumbel import Gumbel
from facula.distributions.half_cauchy import HalfCauchy
from facula.distributions.half_normal import HalfNormal
from facula.distributions.independent import Independent
from facula.distributions.inverse_gamma import InverseGamma
from facula.distributions.kl import kl_divergence, register_kl
from facula.distributions.kumaraswamy import Kumaraswamy
from facula.distributions.laplace import Laplace
from facula.distributions.lkj_cholesky import LKJCholesky
from facula.distributions.log_normal import LogNormal
from facula.distributions.logistic_normal import LogisticNormal
from facula.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from facula.distributions.mixture_same_family import MixtureSameFamily
from facula.distributions.multinomial import Multinomial
from facula.distributions.multivariate_normal import MultivariateNormal
from facula.distributions.negative_binomial import NegativeBinomial
from facula.distributions.normal import Normal
from facula.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from facula.distributions.pareto import Pareto
from facula.distributions.poisson import Poisson
from facula.distributions.relaxed_bernoulli import RelaxedBernoulli
from facula.distributions.relaxed_categorical import RelaxedOneHotCategorical
from facula.distributions.studentT import StudentT
from facula.distributions.transformed_distribution import TransformedDistribution
from facula.distributions.transforms import *
from facula.distributions.uniform import Uniform
from facula.distributions.von_mises import VonMises
from facula.distributions.weibull import Weibull
from facula.distributions.wishart import Wishart

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
__all__ += transforms.__all__
