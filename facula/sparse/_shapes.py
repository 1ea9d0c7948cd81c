"""Sparse tensors by another shape: transposed, selected, joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import facula
from facula import _C
from facula.sparse._table import entry
from facula.sparse._tensor import SparseTensor, is_sparse, parts, refuse

Tensor = _C.Tensor


def wrap(dim: int, dims: int) -> int:
    """Give a dimension in [0, dims); IndexError where there is none."""
    if not -max(dims, 1) <= dim < max(dims, 1):
        low, high = -max(dims, 1), max(dims, 1) - 1
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})"
        )
    return dim % max(dims, 1)


def _coo(t: SparseTensor) -> tuple[SparseTensor, Tensor, Tensor]:
    """Give a COO form with its indices and (recorded) values."""
    t = _C._sparse_convert(t, _C.sparse_coo, None, 0)
    t = _C._sparse_settled(t)
    return t, parts(t).indices, _C._sparse_raw_values(t)


def _back(t: Tensor, like: SparseTensor) -> Tensor:
    p = parts(like)
    if p.is_coo or not is_sparse(t) or t.dim() < 2:
        return t
    if p.layout in (_C.sparse_csr, _C.sparse_csc):
        return _C._sparse_convert(t, p.layout, None, 0)
    return t


# ---- transposition


@entry("transpose", "swapaxes", "swapdims")
def _transpose(input: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    return _C._sparse_transpose(input, wrap(dim0, input.dim()), wrap(dim1, input.dim()))


def _matrix(input: SparseTensor, name: str, most: int | None = None) -> SparseTensor:
    """Turn the last two dimensions round; RuntimeError where there are fewer, or more than most."""
    n = input.dim()
    if n < 2 or (most and n > most):
        what = "matrices (2-D tensors)" if most else "matrices or batches of matrices"
        raise RuntimeError(f"tensor.{name} is only supported on {what}. Got {n}-D tensor.")
    return _transpose(input, -2, -1)


def _conj(t: SparseTensor) -> SparseTensor:
    return t.conj() if t.is_complex() else t


@entry("adjoint")
def _adjoint(input: SparseTensor) -> SparseTensor:
    return _conj(_matrix(input, "adjoint()"))


@entry("mH")
def _mh(input: SparseTensor) -> SparseTensor:
    return _conj(_matrix(input, "mH"))


@entry("H")
def _h(input: SparseTensor) -> SparseTensor:
    return _conj(_matrix(input, "H", 2))


@entry("mT")
def _mt(input: SparseTensor) -> SparseTensor:
    return _matrix(input, "mT")


@entry("T")
def _turned(input: SparseTensor) -> SparseTensor:
    return _t(input) if input.dim() <= 2 else _permute(input, *range(input.dim())[::-1])


@entry("t")
def _t(input: SparseTensor) -> SparseTensor:
    if input.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.dim()}D")
    return input if input.dim() < 2 else _C._sparse_transpose(input, 0, 1)


@entry("permute")
def _permute(input: SparseTensor, *dims: Any) -> SparseTensor:
    order = list(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else list(dims)
    order = [wrap(d, input.dim()) for d in order]
    if sorted(order) != list(range(input.dim())):
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {input.dim()} is not "
            f"equal to len(dims) = {len(order)}, or dimensions repeat"
        )
    n = parts(input).sparse_dim
    if input.layout is not _C.sparse_coo:
        if order == [1, 0]:
            return _t(input)
        raise refuse("permute", input.layout)
    if any((d < n) != (i < n) for i, d in enumerate(order)):
        raise RuntimeError("permute(sparse_coo): sparse and dense dimensions cannot be exchanged")
    t, at, v = _coo(input)
    sizes = tuple(t.shape[d] for d in order)
    v = v.permute(0, *(d - n + 1 for d in order[n:]))
    same = order[:n] == list(range(n))
    return _C._sparse_coo(at[order[:n]], v, sizes, parts(t).coalesced and same)


@entry("unsqueeze")
def _unsqueeze(input: SparseTensor, dim: int) -> SparseTensor:
    d = wrap(dim, input.dim() + 1)
    t, at, v = _coo(input)
    n = parts(t).sparse_dim
    sizes = (*t.shape[:d], 1, *t.shape[d:])
    if d > n:
        return _C._sparse_coo(at, v.unsqueeze(d - n + 1), sizes, parts(t).coalesced)
    row = facula.zeros((1, at.size(1)), dtype=at.dtype)
    return _C._sparse_coo(facula.cat([at[:d], row, at[d:]]), v, sizes, parts(t).coalesced)


@entry("squeeze")
def _squeeze(input: SparseTensor, dim: Any = None) -> SparseTensor:
    raise refuse("squeeze", input.layout)


# ---- parts of a tensor


def _taken(input: SparseTensor, d: int, keep: Tensor, rows: Tensor | None, size: int) -> Tensor:
    """Keep some elements, with new positions along a sparse dimension, of `size`, or none."""
    t, at, v = _coo(input)
    sizes = list(t.shape)
    lines = [at[i].index_select(0, keep) for i in range(at.size(0))]
    v = v.index_select(0, keep)
    sorted_still = parts(t).coalesced
    if rows is None:
        del lines[d], sizes[d]
        if not lines:
            return v.sum(0)
    else:
        lines[d], sizes[d] = rows, size
        sorted_still = sorted_still and d == 0
    made = facula.stack(lines) if keep.numel() else at.new_empty((len(lines), 0))
    return _C._sparse_coo(made, v, tuple(sizes), sorted_still)


@entry("index_select")
def _index_select(input: SparseTensor, dim: int, index: Tensor, *, out: Any = None) -> Tensor:
    for t in (input, index):
        if not isinstance(t, Tensor):
            raise TypeError(f"index_select(): expected a Tensor, got {type(t).__name__}")
    d = wrap(dim, input.dim())
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    index = index.reshape(-1)
    if index.dtype not in (facula.int64, facula.int32):
        raise IndexError("index_select(): Expected dtype int32/int64 for index")
    index = index.to(facula.int64)
    size = input.size(d)
    wrong = (index < -size) | (index >= size)
    if bool(wrong.any()):
        raise IndexError(f"index_select(): index out of range in self of size {size}")
    index = facula.where(index < 0, index + size, index)
    t, at, v = _coo(input)
    n = parts(t).sparse_dim
    if d >= n:
        sizes = list(t.shape)
        sizes[d] = index.numel()
        v = v.index_select(d - n + 1, index)
        return _back(_C._sparse_coo(at, v, tuple(sizes), parts(t).coalesced), input)
    order = at[d].argsort(stable=True)
    counts = facula.bincount(at[d], minlength=size)
    starts = counts.cumsum(0) - counts
    each = counts.index_select(0, index)
    rows = facula.arange(index.numel()).repeat_interleave(each)
    place = facula.arange(rows.numel()) - (each.cumsum(0) - each).index_select(0, rows)
    keep = order.index_select(0, starts.index_select(0, index).index_select(0, rows) + place)
    return _back(_taken(t, d, keep, rows, index.numel()), input)


@entry("select", "select_copy")
def _select(input: SparseTensor, dim: int, index: int) -> Tensor:
    d = wrap(dim, input.dim())
    size = input.size(d)
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {d}"
        )
    t, at, v = _coo(input)
    n = parts(t).sparse_dim
    if d >= n:
        sizes = tuple(s for i, s in enumerate(t.shape) if i != d)
        v = v.select(d - n + 1, index % size)
        return _back(_C._sparse_coo(at, v, sizes, parts(t).coalesced), input)
    keep = (at[d] == index % size).nonzero().reshape(-1)
    picked = _taken(t, d, keep, None, 0)
    if not parts(input).is_coo and is_sparse(picked) and picked.dim() == 1:
        return picked
    return _back(picked, input)


@entry("narrow", "narrow_copy")
def _narrow(input: SparseTensor, dim: int, start: Any, length: int) -> SparseTensor:
    d = wrap(dim, input.dim())
    size = input.size(d)
    start = int(start)
    start = start + size if start < 0 else start
    if length < 0 or start < 0 or start + length > size:
        raise RuntimeError(
            f"narrow(): start ({start}) + length ({length}) exceeds dimension size ({size})."
        )
    t, at, v = _coo(input)
    n = parts(t).sparse_dim
    if d >= n:
        sizes = list(t.shape)
        sizes[d] = length
        v = v.narrow(d - n + 1, start, length)
        return _C._sparse_coo(at, v, tuple(sizes), parts(t).coalesced)
    keep = ((at[d] >= start) & (at[d] < start + length)).nonzero().reshape(-1)
    coalesced = parts(t).coalesced
    made = _taken(t, d, keep, at[d].index_select(0, keep) - start, length)
    return made._coalesced_(True) if coalesced and not made.requires_grad else made


def subscript(t: SparseTensor, index: Any) -> Tensor:
    """Give `t[index]` for integers, slices, None, an ellipsis and vectors of positions."""
    items = list(index) if isinstance(index, tuple) else [index]
    taken = sum(1 for i in items if i is not None and i is not Ellipsis)
    if taken > t.dim():
        raise IndexError("too many indices for tensor of dimension " + str(t.dim()))
    if any(i is Ellipsis for i in items):
        at = next(k for k, i in enumerate(items) if i is Ellipsis)
        items[at : at + 1] = [slice(None)] * (t.dim() - taken)
    d, result = 0, t
    for item in items:
        if item is None:
            result, d = result.unsqueeze(d), d + 1
        elif isinstance(item, slice):
            result, d = _sliced(result, d, item), d + 1
        elif isinstance(item, (int, facula.SymInt)) and not isinstance(item, bool):
            result = result.select(d, int(item))
        else:
            result, d = result.index_select(d, _positions(item, result.size(d))), d + 1
    return result


def _sliced(t: Tensor, d: int, item: slice) -> Tensor:
    start, stop, step = item.indices(t.size(d))
    if step < 1:
        raise ValueError("step must be greater than zero")
    if (start, stop, step) == (0, t.size(d), 1):
        return t
    if step == 1:
        return t.narrow(d, start, max(stop - start, 0))
    return t.index_select(d, facula.arange(start, max(stop, start), step))


def _positions(item: Any, size: int) -> Tensor:
    at = item if isinstance(item, Tensor) else facula.as_tensor(item)
    if at.dim() != 1:
        raise refuse("indexing by a tensor of more than one dimension", _C.sparse_coo)
    if at.dtype == facula.bool:
        if at.numel() != size:
            raise IndexError(f"a mask of {at.numel()} elements does not fit a dimension of {size}")
        return at.nonzero().reshape(-1)
    return at


# ---- joining


@entry("cat", "concat", "concatenate", "_cat")
def _cat(tensors: Sequence[Tensor], dim: int = 0, *, out: Any = None) -> SparseTensor:
    items = list(tensors)
    if not items or not all(is_sparse(t) for t in items):
        raise RuntimeError("Concatenating sparse tensors, but a dense tensor was found")
    d = wrap(dim, items[0].dim())
    forms = [_coo(t) for t in items]
    first = forms[0][0]
    n, dtype = parts(first).sparse_dim, items[0].dtype
    for t, _, _ in forms:
        dtype = facula.promote_types(dtype, t.dtype)
        others = [s for i, s in enumerate(t.shape) if i != d]
        if others != [s for i, s in enumerate(first.shape) if i != d]:
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the "
                f"concatenating dimension), but found shape: {list(t.shape)}"
            )
        if parts(t).sparse_dim != n:
            raise RuntimeError("cat: all tensors must have as many sparse dimensions")
    sizes = list(first.shape)
    sizes[d] = sum(t.size(d) for t in items)
    rows, values, start = [], [], 0
    for t, at, v in forms:
        v = v.to(dtype)
        if d < n:
            at = at.clone()
            at[d] += start
        else:
            before = [*v.shape]
            before[d - n + 1] = start
            after = [*v.shape]
            after[d - n + 1] = sizes[d] - start - t.size(d)
            v = facula.cat([v.new_zeros(before), v, v.new_zeros(after)], d - n + 1)
        start += t.size(d)
        rows.append(at)
        values.append(v)
    sorted_still = d == 0 and n > 0 and all(parts(t).coalesced for t, _, _ in forms)
    made = _C._sparse_coo(facula.cat(rows, 1), facula.cat(values), tuple(sizes), sorted_still)
    return _back(made, items[0])


@entry("stack")
def _stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Any = None) -> SparseTensor:
    items = list(tensors)
    if not items or not all(is_sparse(t) for t in items):
        raise RuntimeError("stack: expected sparse tensors, but a dense tensor was found")
    if any(t.shape != items[0].shape for t in items):
        raise RuntimeError("stack expects each tensor to be equal size")
    d = wrap(dim, items[0].dim() + 1)
    return _cat([_unsqueeze(t, d) for t in items], d)


@entry("vstack", "row_stack")
def _vstack(tensors: Sequence[Tensor], *, out: Any = None) -> SparseTensor:
    return _cat(tensors, 0)


@entry("hstack", "column_stack")
def _hstack(tensors: Sequence[Tensor], *, out: Any = None) -> SparseTensor:
    return _cat(tensors, 1 if tensors[0].dim() > 1 else 0)
