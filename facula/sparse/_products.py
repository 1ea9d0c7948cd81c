"""Products of sparse matrices with matrices and vectors."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.sparse._arithmetic import add
from facula.sparse._table import coalesced, entry_of_tensors, no_out
from facula.sparse._tensor import is_sparse, parts, refuse

Tensor = _C.Tensor


@entry_of_tensors(2, "mm", "spmm", "dsmm", "_sparse_mm", "smm", "hspmm")
def _mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    no_out("mm", out)
    for t in (input, mat2):
        if t.dim() != 2:
            raise RuntimeError(f"mm: Expected 2-D matrices, got {input.dim()}-D and {mat2.dim()}-D")
    return _C._sparse_mm(input, mat2)


@entry_of_tensors(2, "mv")
def _mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Tensor:
    no_out("mv", out)
    if input.dim() != 2 or vec.dim() != 1:
        raise RuntimeError(
            f"mv: two tensor dim should be 2 and 1, but got {input.dim()} and {vec.dim()}"
        )
    if is_sparse(vec):
        raise refuse("mv", vec.layout)
    return _C._sparse_mm(input, vec.unsqueeze(1)).squeeze(1)


@entry_of_tensors(2, "bmm")
def _bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    no_out("bmm", out)
    if input.dim() != 3 or mat2.dim() != 3:
        raise RuntimeError("bmm: expected 3-D tensors")
    if not is_sparse(input) or is_sparse(mat2):
        raise refuse("bmm", _C.sparse_coo)
    batches, rows, inner = input.shape
    if mat2.shape[:2] != (batches, inner):
        raise RuntimeError(
            f"bmm: Expected size for first two dimensions of batch2 tensor to be: [{batches}, "
            f"{inner}] but got: {list(mat2.shape[:2])}"
        )
    coo = coalesced(_C._sparse_convert(input, _C.sparse_coo, None, 0))
    if parts(coo).sparse_dim != 3:
        raise refuse("bmm with dense dimensions", _C.sparse_coo)
    at = parts(coo).indices
    diagonal = facula.stack([at[0] * rows + at[1], at[0] * inner + at[2]])
    block = _C._sparse_coo(
        diagonal, _C._sparse_values(coo), (batches * rows, batches * inner), True
    )
    flat = _C._sparse_mm(block, mat2.reshape(batches * inner, mat2.size(2)))
    return flat.reshape(batches, rows, mat2.size(2))


@entry_of_tensors(2, "matmul", "__matmul__", "__rmatmul__")
def _matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    no_out("matmul", out)
    dims = (input.dim(), other.dim())
    if dims == (2, 2):
        return _mm(input, other)
    if dims == (2, 1):
        return _mv(input, other)
    if dims == (1, 2) and not is_sparse(input):
        return _C._sparse_mm(input.unsqueeze(0), other).squeeze(0)
    if dims == (3, 3):
        return _bmm(input, other)
    if len(input.shape) > 2 and dims[1] == 2 and not is_sparse(input):
        flat = _C._sparse_mm(input.reshape(-1, input.size(-1)), other)
        return flat.reshape(*input.shape[:-1], other.size(1))
    raise refuse(f"matmul of {dims[0]}-D and {dims[1]}-D tensors", _C.sparse_coo)


@entry_of_tensors(2, "linear")
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if is_sparse(bias):
        raise refuse("linear with a sparse bias", bias.layout)
    out = _matmul(input, weight.t())
    return out if bias is None else out + bias


def _scale_and_add(input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    if is_sparse(product):
        return add(input * beta if beta != 1 else input, product)
    if is_sparse(input):
        return add(product, input, alpha=beta)
    return input * beta + product if beta != 1 else input + product


@entry_of_tensors(3, "addmm", "sspaddmm", "saddmm")
def _addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    no_out("addmm", out)
    product = _C._sparse_mm(mat1, mat2) if is_sparse(mat1) or is_sparse(mat2) else mat1 @ mat2
    return _scale_and_add(input, product, beta, alpha)


@entry_of_tensors(3, "addmv")
def _addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    no_out("addmv", out)
    return _scale_and_add(input, _mv(mat, vec), beta, alpha)
