"""Sums, norms and softmax of sparse tensors, and comparisons of whole ones."""

from __future__ import annotations

from typing import Any

from facula import _C
from facula.sparse._arithmetic import sub
from facula.sparse._table import cast, coalesced, entry, entry_of_tensors, no_out, on_values
from facula.sparse._tensor import SparseTensor, refuse

Tensor = _C.Tensor


@entry("sum")
def _sum(
    input: SparseTensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    no_out("sum", out)
    if dtype is not None:
        input = on_values(input, lambda v: v.to(dtype))
    everything = dim is None or (isinstance(dim, (list, tuple)) and len(dim) == 0)
    if everything and not keepdim:
        return _C._sparse_sum(input, None)
    dims = list(range(input.dim())) if everything else [dim] if isinstance(dim, int) else list(dim)
    result = _C._sparse_sum(input, dims)
    if not keepdim:
        return result
    for d in sorted(d % input.dim() for d in dims):
        result = result.unsqueeze(d)
    # Blocks and batches of the input need not fit the result.
    fits = input.layout in (_C.sparse_csr, _C.sparse_csc) and input.dim() == 2
    return result.to_sparse(layout=input.layout) if fits else result


@entry("vector_norm")
def _vector_norm(
    x: SparseTensor,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    return _norm(x, ord, dim, keepdim, dtype, out)


@entry("norm")
def _norm(
    input: SparseTensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    no_out("norm", out)
    if dim is not None or keepdim:
        raise refuse("norm along dimensions", input.layout)
    t = coalesced(input)
    return _C._sparse_raw_values(t).norm(2 if p == "fro" else p, dtype=dtype)


@entry_of_tensors(2, "dist")
def _dist(input: SparseTensor, other: SparseTensor, p: float = 2) -> Tensor:
    return _norm(sub(input, other), p)


@entry_of_tensors(2, "is_same_size")
def _is_same_size(input: Tensor, other: Tensor) -> bool:
    return input.layout is other.layout and input.shape == other.shape


@entry("any")
def _any(input: SparseTensor) -> Tensor:
    return _C._sparse_raw_values(coalesced(input)).any()


@entry("softmax")
def _softmax(input: SparseTensor, dim: int, dtype: Any = None, _stacklevel: int = 3) -> Tensor:
    return _C._sparse_softmax(cast(input, dtype), dim, False)


@entry("log_softmax")
def _log_softmax(input: SparseTensor, dim: int, dtype: Any = None, _stacklevel: int = 3) -> Tensor:
    return _C._sparse_softmax(cast(input, dtype), dim, True)
