"""LowRankMultivariateNormal: normal vectors whose covariance is a diagonal and a few factors."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.distribution import Distribution
from facula.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv
from facula.distributions.utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]

Tensor = facula.Tensor
Size = facula.Size


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """Give the Cholesky factor of `I + W^T D^-1 W`."""
    capacitance = facula.matmul(W.mT / D.unsqueeze(-2), W)
    identity = facula.eye(W.size(-1), dtype=W.dtype, device=W.device)
    return facula.linalg.cholesky(capacitance + identity)


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """Give the log determinant of `W W^T + D`, by the matrix determinant lemma."""
    return 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(
    W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor
) -> Tensor:
    """Give `x^T (W W^T + D)^-1 x`, by the Woodbury identity."""
    projected = _batch_mv(W.mT / D.unsqueeze(-2), x)
    return (x.pow(2) / D).sum(-1) - _batch_mahalanobis(capacitance_tril, projected)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with mean `loc` `(..., n)` and covariance
    `cov_factor @ cov_factor.mT + diag(cov_diag)`, where `cov_factor` is `(..., n, m)` and
    `cov_diag` `(..., n)`. All work is of order n m^2.

    Example::

        >>> m = LowRankMultivariateNormal(
        ...     facula.zeros(2), facula.tensor([[1.0], [0.0]]), facula.ones(2))
        >>> m.variance
        tensor([2., 1.])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: Any = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = Size(loc.shape[-1:])
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if tuple(cov_factor.shape[-2:-1]) != tuple(event_shape):
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m"
            )
        if tuple(cov_diag.shape[-1:]) != tuple(event_shape):
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            batch = tuple(
                facula.broadcast_shapes(
                    loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
                )
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand(batch + (-1,))
        self.cov_factor = cov_factor.expand(batch + (-1, -1))
        self.cov_diag = cov_diag.expand(batch + (-1,))
        super().__init__(Size(batch), event_shape, validate_args=validate_args)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LowRankMultivariateNormal:
        new = self._expand(
            LowRankMultivariateNormal, batch_shape, _instance, loc=1, cov_factor=2, cov_diag=1
        )
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return new

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    def _spread(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def variance(self) -> Tensor:
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        identity = facula.eye(root.shape[-2], dtype=root.dtype, device=root.device)
        inner = facula.matmul(scaled, scaled.mT) + identity
        return self._spread(root * facula.linalg.cholesky(inner))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        covariance = facula.matmul(factor, factor.mT)
        return self._spread(covariance + facula.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance, by the Woodbury identity."""
        diag = self._unbroadcasted_cov_diag
        wt = self._unbroadcasted_cov_factor.mT / diag.unsqueeze(-2)
        a = facula.linalg.solve_triangular(self._capacitance_tril, wt, upper=False)
        return self._spread(facula.diag_embed(diag.reciprocal()) - facula.matmul(a.mT, a))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        options = {"dtype": self.loc.dtype, "device": self.loc.device}
        factors = Size((*shape[:-1], self.cov_factor.shape[-1]))
        eps_w = _standard_normal(factors, **options)
        eps_d = _standard_normal(shape, **options)
        return (
            self.loc
            + _batch_mv(self._unbroadcasted_cov_factor, eps_w)
            + self._unbroadcasted_cov_diag.sqrt() * eps_d
        )

    def _log_det(self) -> Tensor:
        return _batch_lowrank_logdet(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril
        )

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_lowrank_mahalanobis(
            self._unbroadcasted_cov_factor,
            self._unbroadcasted_cov_diag,
            value - self.loc,
            self._capacitance_tril,
        )
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_det() + distance)

    def entropy(self) -> Tensor:
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return entropy.expand(self._batch_shape) if len(self._batch_shape) else entropy
