"""The extension `linalg` of the array API standard."""

from __future__ import annotations

from typing import NamedTuple as _NamedTuple

import facula as _facula
from facula.array_api import _promotion
from facula.array_api._linear_algebra import matmul as matmul
from facula.array_api._linear_algebra import matrix_transpose as matrix_transpose
from facula.array_api._linear_algebra import tensordot as tensordot
from facula.array_api._linear_algebra import vecdot as vecdot
from facula.array_api._statistical import accumulated as _accumulated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from facula.array_api._promotion import Array

__all__ = (
    "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank "
    "matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm"
).split()

_linalg = _facula.linalg


def __dir__() -> list[str]:
    return sorted(__all__)


class EighResult(_NamedTuple):
    """Eigenvalues (..., m) in ascending order and eigenvectors, the columns of (..., m, m)."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(_NamedTuple):
    """A matrix of orthonormal columns and an upper triangular one."""

    Q: Array
    R: Array


class SlogdetResult(_NamedTuple):
    """The sign of determinants and the logarithm of their magnitude."""

    sign: Array
    logabsdet: Array


class SVDResult(_NamedTuple):
    """Left singular vectors, singular values in descending order, right singular vectors."""

    U: Array
    S: Array
    Vh: Array


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Give the triangular factor L of Hermitian positive definite matrices: `x = L L^H`.

    With `upper` the factor U of `x = U^H U`. LinAlgError when a matrix is not positive definite.
    """
    return _linalg.cholesky(x, upper=upper)


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Give the cross product of vectors of three elements along an axis; the others broadcast."""
    x1, x2 = _promotion.operands(x1, x2)
    if x1.ndim != x2.ndim:  # missing axes are sizes of 1 in front
        ndim = max(x1.ndim, x2.ndim)
        x1, x2 = (x.reshape((1,) * (ndim - x.ndim) + tuple(x.shape)) for x in (x1, x2))
    return _linalg.cross(x1, x2, dim=axis)


def det(x: Array, /) -> Array:
    """Give the determinants of square matrices."""
    return _linalg.det(x)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Give a diagonal of matrices (..., m, n), above the main one for a positive offset."""
    return _linalg.diagonal(x, offset=offset)


def eigh(x: Array, /) -> EighResult:
    """Give eigenvalues and eigenvectors of Hermitian matrices."""
    return EighResult(*_linalg.eigh(x))


def eigvalsh(x: Array, /) -> Array:
    """Give the eigenvalues of Hermitian matrices in ascending order."""
    return _linalg.eigvalsh(x)


def inv(x: Array, /) -> Array:
    """Give the inverses of square matrices; LinAlgError when one has none."""
    return _linalg.inv(x)


def matrix_norm(
    x: Array, /, *, keepdims: bool = False, ord: int | float | str | None = "fro"
) -> Array:
    """Give norms of matrices (..., m, n): "fro", "nuc", 1, 2, inf and the negatives of these."""
    return _linalg.matrix_norm(x, ord="fro" if ord is None else ord, keepdim=keepdims)


def matrix_power(x: Array, n: int, /) -> Array:
    """Give square matrices to an integer power, of their inverses when it is negative."""
    return _linalg.matrix_power(x, n)


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Count the singular values of matrices that exceed the greatest times `rtol`."""
    return _linalg.matrix_rank(x, rtol=rtol)


def outer(x1: Array, x2: Array, /) -> Array:
    """Give the products of all pairs of elements of two vectors, `x1[i] * x2[j]`."""
    return _facula.outer(*_promotion.operands(x1, x2))


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Give the pseudo-inverses of matrices, without singular values under the greatest x `rtol`."""
    return _linalg.pinv(x, rtol=rtol)


def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """Factor matrices (..., m, n) into Q and R; with "complete", Q is (..., m, m)."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f'qr: expected mode "reduced" or "complete", got {mode!r}')
    return QRResult(*_linalg.qr(x, mode=mode))


def slogdet(x: Array, /) -> SlogdetResult:
    """Give the sign of determinants and the logarithm of their magnitude."""
    return SlogdetResult(*_linalg.slogdet(x))


def solve(x1: Array, x2: Array, /) -> Array:
    """Solve `x1 @ x = x2`; only an `x2` of one dimension is a vector, all others are matrices."""
    x1, x2 = _promotion.operands(x1, x2)
    vector = x2.ndim == 1
    if vector:
        x2 = x2[:, None]
    while x2.ndim < x1.ndim:  # so that matrices are not taken for a batch of vectors
        x2 = x2[None]
    result = _linalg.solve(x1, x2)
    return result[..., 0] if vector else result


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Factor matrices: `x = U @ diag(S) @ Vh`."""
    return SVDResult(*_linalg.svd(x, full_matrices=full_matrices))


def svdvals(x: Array, /) -> Array:
    """Give the singular values of matrices in descending order."""
    return _linalg.svdvals(x)


def trace(x: Array, /, *, offset: int = 0, dtype: _facula.dtype | None = None) -> Array:
    """Sum a diagonal of matrices (..., m, n); without `dtype`, integers become 64 bits wide."""
    line = diagonal(x, offset=offset)
    return _facula.sum(line, dim=-1, dtype=_accumulated(x, dtype))


def vector_norm(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: int | float = 2,
) -> Array:
    """Give norms of vectors along axes (None: of all elements).

    `ord` is a power; inf and -inf stand for the greatest and least magnitude, 0 counts non-zeros.
    """
    axes = _promotion.normalized_axes(axis, x.ndim)
    if not axes:
        return _linalg.vector_norm(x.unsqueeze(-1), ord=ord, dim=-1)
    return _linalg.vector_norm(x, ord=ord, dim=axes, keepdim=keepdims)
