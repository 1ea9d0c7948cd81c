"""Methods of every Tensor that have to do with sparse layouts; strided ones call them from here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import facula
from facula import _C
from facula.sparse._tensor import BLOCKED, SparseTensor, is_sparse, parts

Tensor = _C.Tensor


def to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """Keep the elements that are not zero; COO unless a layout is given.

    The first `sparse_dim` dimensions become sparse (default: all), or all but the last `dense_dim`.
    BSR and BSC need a `blocksize`. Raises RuntimeError where these do not fit.

    Example:
        >>> facula.eye(2).to_sparse().indices()
        tensor([[0, 1],
                [0, 1]])
    """
    if sparse_dim is not None and (layout is not None or blocksize is not None):
        raise TypeError("to_sparse() takes either sparse_dim or layout and blocksize")
    layout = _C.sparse_coo if layout is None else layout
    if layout is _C.strided:
        return self.to_dense()
    block = None if blocksize is None else [int(b) for b in blocksize]
    if sparse_dim is not None:
        sparse_dim = int(sparse_dim)
        if is_sparse(self):
            if parts(self).is_coo and parts(self).sparse_dim == sparse_dim:
                return self
            return to_sparse(self.to_dense(), sparse_dim)
        if not (0 < sparse_dim <= self.dim() or sparse_dim == self.dim() == 0):
            raise RuntimeError(
                f"sparse_dim must be in the range (0, {self.dim()}], got {sparse_dim}"
            )
        return _C._sparse_convert(self, layout, None, self.dim() - sparse_dim)
    if layout in BLOCKED and block is None:
        raise RuntimeError(f"to_sparse: layout {layout} requires a blocksize")
    if is_sparse(self) and parts(self).layout is layout and block is None:
        return self
    return _C._sparse_convert(self, layout, block, 0 if dense_dim is None else int(dense_dim))


def to_sparse_coo(self: Tensor) -> Tensor:
    """Give the tensor in the layout COO."""
    return to_sparse(self)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """Give the tensor in the layout CSR; it must have at least two sparse dimensions."""
    return to_sparse(self, layout=_C.sparse_csr, dense_dim=dense_dim)


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """Give the tensor in the layout CSC; it must have at least two sparse dimensions."""
    return to_sparse(self, layout=_C.sparse_csc, dense_dim=dense_dim)


def to_sparse_bsr(self: Tensor, blocksize: Sequence[int], dense_dim: int | None = None) -> Tensor:
    """Give the tensor in the layout BSR, with blocks of a size that divides its own."""
    return to_sparse(self, layout=_C.sparse_bsr, blocksize=blocksize, dense_dim=dense_dim)


def to_sparse_bsc(self: Tensor, blocksize: Sequence[int], dense_dim: int | None = None) -> Tensor:
    """Give the tensor in the layout BSC, with blocks of a size that divides its own."""
    return to_sparse(self, layout=_C.sparse_bsc, blocksize=blocksize, dense_dim=dense_dim)


def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """Give the tensor in the strided layout: itself, if it has that."""
    out = _C._sparse_dense(self) if is_sparse(self) else self
    return out if dtype is None else out.to(dtype)


def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """Take the elements at the positions that a sparse tensor keeps.

    Example:
        >>> facula.ones(2, 2).sparse_mask(facula.eye(2).to_sparse()).to_dense()
        tensor([[1., 0.],
                [0., 1.]])
    """
    if not is_sparse(mask):
        raise RuntimeError("sparse_mask: mask must be a sparse tensor")
    return _C._sparse_mask(self, mask)


def sparse_dim(self: Tensor) -> int:
    """Count the sparse dimensions: none."""
    return 0


def dense_dim(self: Tensor) -> int:
    """Count the dense dimensions: all."""
    return self.dim()


def smm(self: Tensor, mat: Tensor) -> Tensor:
    """Multiply by a matrix, of which one is sparse."""
    return facula.sparse.mm(self, mat)


def sspaddmm(self: Tensor, mat1: Tensor, mat2: Tensor, **kwargs: Any) -> Tensor:
    """Give `beta * self + alpha * (mat1 @ mat2)`."""
    return facula.sparse.addmm(self, mat1, mat2, **kwargs)


def sparse_resize_(self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """Change sizes and the split into sparse and dense dimensions, in place, keeping elements.

    Raises RuntimeError where elements are kept and dimensions would shrink or change their kind.
    """
    return _C._sparse_resize(self, tuple(size), sparse_dim, dense_dim, False)


def sparse_resize_and_clear_(
    self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int
) -> Tensor:
    """Change sizes and the split into sparse and dense dimensions, in place, dropping elements."""
    return _C._sparse_resize(self, tuple(size), sparse_dim, dense_dim, True)


for _f in (
    to_sparse,
    to_sparse_coo,
    to_sparse_csr,
    to_sparse_csc,
    to_sparse_bsr,
    to_sparse_bsc,
    to_dense,
    sparse_mask,
    smm,
    sspaddmm,
    sparse_resize_,
    sparse_resize_and_clear_,
):
    setattr(SparseTensor, _f.__name__, _f)
