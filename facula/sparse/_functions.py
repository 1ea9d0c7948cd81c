"""Functions of the `facula` namespace that make or multiply sparse tensors."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.sparse import (
    addmm,
    mm,
    sparse_bsc_tensor,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_coo_tensor,
    sparse_csc_tensor,
    sparse_csr_tensor,
)

__all__ = [
    "dsmm",
    "hspmm",
    "saddmm",
    "smm",
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
    "spmm",
    "sspaddmm",
]


def spmm(input: _C.Tensor, mat2: _C.Tensor) -> _C.Tensor:
    """Multiply two matrices; see `facula.sparse.mm`."""
    return mm(input, mat2)


dsmm = smm = hspmm = spmm


def sspaddmm(input: _C.Tensor, mat1: _C.Tensor, mat2: _C.Tensor, **kwargs: Any) -> _C.Tensor:
    """Give `beta * input + alpha * (mat1 @ mat2)`; see `facula.sparse.addmm`."""
    return addmm(input, mat1, mat2, **kwargs)


saddmm = sspaddmm


def _convert_indices_from_coo_to_csr(
    input: _C.Tensor, size: int, *, out_int32: bool = False
) -> _C.Tensor:
    """Give where each of `size` rows begins among sorted rows."""
    starts = facula.searchsorted(input.contiguous(), facula.arange(size + 1, dtype=input.dtype))
    return starts.to(facula.int32 if out_int32 else facula.int64)


def _convert_indices_from_csr_to_coo(
    crow_indices: _C.Tensor,
    col_indices: _C.Tensor,
    *,
    out_int32: bool = False,
    transpose: bool = False,
) -> _C.Tensor:
    """Give rows and columns, [2, nnz], of a compressed pattern."""
    counts = crow_indices.diff().to(facula.int64)
    rows = facula.arange(counts.numel()).repeat_interleave(counts)
    pair = [rows, col_indices.to(facula.int64)]
    made = facula.stack(pair[::-1] if transpose else pair)
    return made.to(facula.int32 if out_int32 else facula.int64)
