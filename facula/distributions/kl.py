"""The Kullback-Leibler divergence between distributions, by a registry of pairs of types.

This file holds the registry, the composite distributions and the normal vectors; the formulas for
one family are in `_kl_same`, those for two families in `_kl_cross`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import facula
from facula.distributions.distribution import Distribution
from facula.distributions.exp_family import ExponentialFamily
from facula.distributions.independent import Independent
from facula.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_mahalanobis,
)
from facula.distributions.multivariate_normal import (
    MultivariateNormal,
    _batch_mahalanobis,
    _half_log_det,
)
from facula.distributions.transformed_distribution import TransformedDistribution
from facula.distributions.utils import _sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

Tensor = facula.Tensor

_KL_REGISTRY: dict[tuple[type, type], Callable[..., Tensor]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Callable[..., Tensor]] = {}  # found pairs of subclasses


def register_kl(type_p: type, type_q: type) -> Callable[[Callable], Callable]:
    """Register the decorated function of (p, q) as the divergence of these types and their
    subclasses.

    Where several registered pairs fit, the most derived one is taken; an ambiguity warns and is
    resolved by registering the pair itself. Raises TypeError unless both are distributions.

    Example::

        >>> @register_kl(Normal, MyDistribution)
        ... def kl_normal_mine(p, q): ...
    """
    if not isinstance(type_p, type) and issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) and issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(fun: Callable[..., Tensor]) -> Callable[..., Tensor]:
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()
        return fun

    return decorator


def _closest(matches: list[tuple[type, type]], first: int) -> tuple[type, type]:
    """Give the pair that is most derived in its part `first`, then in the other one."""

    def precedes(a: tuple[type, type], b: tuple[type, type]) -> bool:
        for i in (first, 1 - first):
            if not issubclass(a[i], b[i]):
                return False
            if a[i] is not b[i]:
                return True
        return True

    best = matches[0]
    for pair in matches[1:]:
        if precedes(pair, best):
            best = pair
    return best


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """Find the most specific function for two types, or give NotImplemented."""
    matches = [
        (p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)
    ]
    if not matches:
        return NotImplemented
    left, right = _closest(matches, 0), _closest(matches, 1)
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        names = (type_p.__name__, type_q.__name__, left[0].__name__, right[1].__name__)
        warnings.warn(
            "Ambiguous kl_divergence({}, {}). Please register_kl({}, {})".format(*names),
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Give the divergence of p from q, the mean of `log p(x) - log q(x)` under p, of shape
    `batch_shape`.

    Raises NotImplementedError if no function is registered for the types.

    Example::

        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    pair = type(p), type(q)
    fun = _KL_MEMOIZE.get(pair)
    if fun is None:
        fun = _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    if fun is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return fun(p, q)


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: Any, q: Any) -> Tensor:
    """The Bregman divergence of the log normaliser."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    theta, normalizer, means = p._normalizer_and_means()
    result = q._log_normalizer(*q._natural_params) - normalizer
    for own, other, mean in zip(theta, q._natural_params, means, strict=True):
        result = result - _sum_rightmost((other - own) * mean, len(q.event_shape))
    return result


@register_kl(Independent, Independent)
def _kl_independent_independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "kl_divergence of Independents with different reinterpreted_batch_ndims"
        )
    result = kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(result, p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms:
        raise NotImplementedError(
            "kl_divergence of TransformedDistributions with different transforms"
        )
    if p.event_shape != q.event_shape:
        raise NotImplementedError(
            "kl_divergence of TransformedDistributions with different event shapes"
        )
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)


def _squares(matrix: Tensor) -> Tensor:
    """Give the sum of the squares of each matrix."""
    return matrix.pow(2).sum((-2, -1))


def _same_events(p: Any, q: Any) -> int:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event "
            f"shapes cannot be computed, got {p.event_shape} and {q.event_shape}"
        )
    return p.event_shape[0]


def _scatter_factors(p: Any) -> tuple[Tensor, ...]:
    """Give factors F with the sum of `F F^T` equal to the covariance of p."""
    if isinstance(p, LowRankMultivariateNormal):
        return p.cov_factor, p.cov_diag.sqrt().diag_embed()
    return (p.scale_tril,)


def _half_log_det_of(p: Any) -> Tensor:
    if isinstance(p, LowRankMultivariateNormal):
        return 0.5 * p._log_det()
    return _half_log_det(p._unbroadcasted_scale_tril)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _kl_to_multivariate_normal(p: Any, q: Any) -> Tensor:
    n = _same_events(p, q)
    factor = q._unbroadcasted_scale_tril
    trace: Any = 0
    for f in _scatter_factors(p):
        batch = facula.broadcast_shapes(factor.shape[:-2], f.shape[:-2])
        f = f.expand((*batch, *f.shape[-2:]))
        whitened = facula.linalg.solve_triangular(
            factor.expand((*batch, n, n)), f, upper=False
        )
        trace = trace + _squares(whitened)
    distance = _batch_mahalanobis(factor, q.loc - p.loc)
    return _half_log_det_of(q) - _half_log_det_of(p) + 0.5 * (trace + distance - n)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _kl_to_lowrank_multivariate_normal(p: Any, q: Any) -> Tensor:
    n = _same_events(p, q)
    w, d = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag
    # By the Woodbury identity the precision of q is D^-1 - A^T A.
    a = facula.linalg.solve_triangular(
        q._capacitance_tril, w.mT / d.unsqueeze(-2), upper=False
    )
    trace: Any = 0
    for f in _scatter_factors(p):
        trace = trace + _squares(f * d.rsqrt().unsqueeze(-1)) - _squares(a.matmul(f))
    distance = _batch_lowrank_mahalanobis(w, d, q.loc - p.loc, q._capacitance_tril)
    return _half_log_det_of(q) - _half_log_det_of(p) + 0.5 * (trace + distance - n)


from facula.distributions import _kl_cross as _kl_cross  # noqa: E402 - they register here
from facula.distributions import _kl_same as _kl_same  # noqa: E402
