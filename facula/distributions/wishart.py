"""Wishart: scatter matrices of normal vectors."""

from __future__ import annotations

import math
import warnings
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.chi2 import Chi2
from facula.distributions.exp_family import ExponentialFamily
from facula.distributions.multivariate_normal import _half_log_det, _precision_to_scale_tril
from facula.distributions.utils import Number, lazy_property

__all__ = ["Wishart"]

Tensor = facula.Tensor
Size = facula.Size
_log_2 = math.log(2)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """Give the derivative of the log multivariate gamma function of dimension p."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    halves = facula.arange(p, dtype=x.dtype, device=x.device) / 2
    return facula.digamma(x.unsqueeze(-1) - halves).sum(-1)




class Wishart(ExponentialFamily):
    """The Wishart distribution of positive definite matrices `(n, n)` with `df > n - 1` degrees of
    freedom and one of `covariance_matrix`, `precision_matrix` and `scale_tril` of shape
    `(..., n, n)`.

    Example::

        >>> Wishart(facula.tensor(2.0), facula.eye(2)).mean
        tensor([[2., 0.],
                [0., 2.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: Any = None,
    ) -> None:
        given = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        given = {k: v for k, v in given.items() if v is not None}
        if len(given) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        if isinstance(df, Number):
            batch = Size(matrix.shape[:-2])
            self.df = facula.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch = facula.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch)
        event = Size(matrix.shape[-2:])
        if self.df.le(event[-1] - 1).any():
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}."
            )
        setattr(self, name, matrix.expand(tuple(batch) + (-1, -1)))
        if self.df.lt(event[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        super().__init__(Size(batch), event, validate_args=validate_args)
        self._batch_dims = [-(x + 1) for x in range(len(self._batch_shape))]
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = facula.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        self._dist_chi2 = self._row_lengths()

    def _row_lengths(self) -> Chi2:
        """The squares of the diagonal in the decomposition of Bartlett."""
        n = self._event_shape[-1]
        rows = facula.arange(n, dtype=self.df.dtype, device=self.df.device)
        df = self.df.expand(self._batch_shape).unsqueeze(-1) - rows
        return Chi2(df=df.expand(tuple(self._batch_shape) + (-1,)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Wishart:
        new = self._expand(
            Wishart,
            batch_shape,
            _instance,
            df=0,
            covariance_matrix=2,
            precision_matrix=2,
            scale_tril=2,
        )
        new._batch_dims = [-(x + 1) for x in range(len(new._batch_shape))]
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(
            tuple(batch_shape) + tuple(self._event_shape)
        )
        new._dist_chi2 = new._row_lengths()
        return new

    def _spread(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the scale matrix."""
        return self._spread(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The scale matrix: the covariance of the normal vectors."""
        factor = self._unbroadcasted_scale_tril
        return self._spread(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the scale matrix."""
        return self._spread(facula.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _df(self) -> Tensor:
        return self.df.expand(self._batch_shape).view(tuple(self._batch_shape) + (1, 1))

    @property
    def mean(self) -> Tensor:
        return self._df() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """The mode; NaN up to n + 1 degrees of freedom."""
        factor = self._df() - self._event_shape[-1] - 1
        return facula.where(factor <= 0, facula.nan, factor) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._df() * (v.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape: Any = Size()) -> Tensor:
        n = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        i, j = facula.tril_indices(n, n, offset=-1)
        below = facula.randn(
            (*sample_shape, *self._batch_shape, n * (n - 1) // 2),
            dtype=noise.dtype,
            device=noise.device,
        )
        noise[..., i, j] = below
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = Size(), max_try_correction: Any = None) -> Tensor:
        """Draw by the decomposition of Bartlett; numerically singular matrices are drawn again, up
        to `max_try_correction` times (3 for one distribution, 10 for a batch).
        """
        if max_try_correction is None:
            max_try_correction = 3 if self._batch_dims else 10
        sample_shape = Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        singular = ~self.support.check(sample)
        if not singular.any():
            return sample
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(max_try_correction):
            again = self._bartlett_sampling(sample_shape)
            sample = facula.where(singular.unsqueeze(-1).unsqueeze(-1), again, sample)
            singular = singular & ~self.support.check(sample)
            if not singular.any():
                break
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, n = self.df, self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril
        trace = facula.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (
            -nu * (n * _log_2 / 2 + _half_log_det(factor))
            - facula.mvlgamma(nu / 2, n)
            + (nu - n - 1) / 2 * facula.linalg.slogdet(value).logabsdet
            - trace / 2
        )

    def entropy(self) -> Tensor:
        nu, n = self.df, self._event_shape[-1]
        return (
            (n + 1) * (n * _log_2 / 2 + _half_log_det(self._unbroadcasted_scale_tril))
            + facula.mvlgamma(nu / 2, n)
            - (nu - n - 1) / 2 * _mvdigamma(nu / 2, n)
            + nu * n / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        n = self._event_shape[-1]
        half = y + (n + 1) / 2
        logabsdet = facula.linalg.slogdet(-2 * x).logabsdet
        return half * (n * _log_2 - logabsdet) + facula.mvlgamma(half, n)
