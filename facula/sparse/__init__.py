"""Sparse tensors: COO, CSR, CSC, BSR and BSC, their operators and gradients.

    >>> a = facula.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    >>> facula.sparse.mm(a, facula.ones(3, 2))
    tensor([[3., 3.],
            [9., 9.]])

A sparse tensor is a `facula.Tensor` whose `layout` is not `facula.strided`. Operators that have no
sparse form raise NotImplementedError with their name; `to_dense()` gives a strided tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import facula
from facula import _C, _absent
from facula.sparse import _operators
from facula.sparse._create import (
    check_sparse_tensor_invariants,
    sparse_bsc_tensor,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_coo_tensor,
    sparse_csc_tensor,
    sparse_csr_tensor,
)
from facula.sparse._tensor import SparseTensor, is_sparse

Tensor = _C.Tensor

__all__ = [
    "SparseTensor",
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "spsolve",
    "sum",
]


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """Multiply two matrices, of which at least one is sparse.

    The product of two sparse matrices is sparse. Gradients flow to both; that of a sparse matrix
    has its pattern. Raises RuntimeError where sizes or types do not fit.

    Example:
        >>> facula.sparse.mm(facula.eye(2).to_sparse(), facula.ones(2, 2))
        tensor([[1., 1.],
                [1., 1.]])
    """
    if reduce is not None:
        return _reduced_product(mat1, mat2, reduce)
    if not is_sparse(mat1) and not is_sparse(mat2):
        return facula.mm(mat1, mat2)
    return _operators.TABLE["mm"](mat1, mat2)


def _reduced_product(mat1: Tensor, mat2: Tensor, reduce: str) -> Tensor:
    """Fold the products of each row by sum, mean, amax or amin."""
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in ("sum", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be sum, mean, amax or amin, got {reduce}")
    if not is_sparse(mat1) or is_sparse(mat2):
        raise RuntimeError("mm with reduce: expected a sparse matrix times a strided one")
    coo = _C._sparse_convert(mat1, _C.sparse_coo, None, 0)
    rows, cols = _C._sparse_coalesce(coo).indices()
    values = _C._sparse_raw_values(_C._sparse_coalesce(coo))
    if reduce == "sum":
        return _C._sparse_mm(mat1, mat2)
    terms = values.unsqueeze(1) * mat2.index_select(0, cols)
    start = mat2.new_zeros((mat1.size(0), mat2.size(1)))
    at = rows.unsqueeze(1).expand_as(terms)
    return start.scatter_reduce(0, at, terms, reduce, include_self=False)


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> Tensor:
    """Give `beta * input + alpha * (mat1 @ mat2)` for a sparse `mat1`.

    Example:
        >>> facula.sparse.addmm(facula.ones(2, 2), facula.eye(2).to_sparse(), facula.ones(2, 2))
        tensor([[2., 2.],
                [2., 2.]])
    """
    return _operators.TABLE["addmm"](input, mat1, mat2, beta=beta, alpha=alpha)


def sampled_addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: float = 1.0,
    alpha: float = 1.0,
    out: Tensor | None = None,
) -> Tensor:
    """Give `alpha * (mat1 @ mat2) + beta * input` at the pattern of a CSR `input`."""
    if not is_sparse(input) or input.layout is not _C.sparse_csr:
        raise RuntimeError("sampled_addmm: Expected input to be in the layout sparse_csr")
    from facula.sparse import _functions

    # The columns in the order of the values, which need not be sorted.
    rows, cols = _functions._convert_indices_from_csr_to_coo(
        input.crow_indices(), input.col_indices()
    )
    dots = (mat1.index_select(-2, rows) * mat2.mT.index_select(-2, cols)).sum(-1)
    return _operators.on_values(input, lambda v: alpha * dots + beta * v)


def sum(input: Tensor, dim: int | Sequence[int] | None = None, dtype: Any = None) -> Tensor:
    """Add up all elements, or those along dimensions; strided when no sparse one is left.

    Example:
        >>> facula.sparse.sum(facula.eye(3).to_sparse())
        tensor(3.)
    """
    if not is_sparse(input):
        raise RuntimeError("sparse.sum: expected a sparse tensor, got a strided one")
    result = _operators.TABLE["sum"](input, dim, dtype=dtype)
    whole = dim is not None and not input.is_floating_point() and not input.is_complex()
    return result.to(input.dtype) if whole and dtype is None else result


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Take the softmax over the elements that are kept, as if all others were -inf.

    Example:
        >>> facula.sparse.softmax(facula.eye(2).to_sparse(), 1).to_dense()
        tensor([[1., 0.],
                [0., 1.]])
    """
    return _operators.TABLE["softmax"](input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Take the logarithm of `softmax(input, dim)`, at the elements that are kept."""
    return _operators.TABLE["log_softmax"](input, dim, dtype)


def spsolve(input: Tensor, other: Tensor, *, left: bool = True) -> Tensor:
    """Not built: solving sparse systems raises NotImplementedError."""
    raise NotImplementedError(
        _C._package_words("sparse.spsolve is not built; use facula.linalg.solve of to_dense()")
    )


def spdiags(
    diagonals: Tensor, offsets: Tensor, shape: tuple[int, int], layout: Any = None
) -> Tensor:
    """Make a matrix of diagonals [n, length], each at its offset from the main one.

    Element `j` of a diagonal lies in column `j`. Raises RuntimeError for shapes that do not fit and
    offsets that repeat.

    Example:
        >>> facula.sparse.spdiags(facula.ones(1, 2), facula.tensor([1]), (2, 2)).to_dense()
        tensor([[0., 1.],
                [0., 0.]])
    """
    if not isinstance(diagonals, Tensor) or not isinstance(offsets, Tensor):
        raise TypeError("spdiags(): expected tensors of diagonals and offsets")
    diagonals = diagonals.unsqueeze(0) if diagonals.dim() == 1 else diagonals
    offsets = offsets.reshape(-1)
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if diagonals.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if offsets.numel() != diagonals.size(0):
        raise RuntimeError(
            f"Number of diagonals ({diagonals.size(0)}) does not match the number of offsets "
            f"({offsets.numel()})"
        )
    if offsets.unique().numel() != offsets.numel():
        raise RuntimeError("Offset tensor contains duplicate values")
    cols = facula.arange(diagonals.size(1)).expand_as(diagonals)
    rows = cols - offsets.unsqueeze(1)
    inside = (rows >= 0) & (rows < shape[0]) & (cols < shape[1])
    at = facula.stack([rows[inside], cols[inside]])
    made = sparse_coo_tensor(at, diagonals[inside], tuple(shape))
    return made if layout is None else made.to_sparse(layout=layout)


def _legacy(title: str, dtype: Any) -> type:
    def new(cls: type, *args: Any, device: Any = None) -> Tensor:
        _absent.once_in_words(
            "facula.sparse.SparseTensor(...) is deprecated: use facula.sparse_coo_tensor in place "
            f"of {title}(...)."
        )
        if len(args) == 1 and isinstance(args[0], (tuple, list, facula.Size)):
            args = tuple(args[0])
        if all(isinstance(a, int) for a in args):
            return sparse_coo_tensor(args or (0,), dtype=dtype)
        return sparse_coo_tensor(*args, dtype=dtype)

    def check(cls: type, x: object) -> bool:
        return is_sparse(x) and x.dtype == dtype

    kind = type("_LegacyType", (type,), {"__instancecheck__": check})
    doc = f"The legacy constructor of COO tensors of {dtype}: `{title}(indices, values, size)`."
    return kind(title, (), {"__new__": new, "__module__": "facula.sparse", "__doc__": doc})


FloatTensor = _legacy("FloatTensor", _C.float32)
DoubleTensor = _legacy("DoubleTensor", _C.float64)
HalfTensor = _legacy("HalfTensor", _C.float16)
BFloat16Tensor = _legacy("BFloat16Tensor", _C.bfloat16)
LongTensor = _legacy("LongTensor", _C.int64)
IntTensor = _legacy("IntTensor", _C.int32)
ShortTensor = _legacy("ShortTensor", _C.int16)
CharTensor = _legacy("CharTensor", _C.int8)
ByteTensor = _legacy("ByteTensor", _C.uint8)

from facula.sparse import _methods  # noqa: E402, F401  completes SparseTensor
