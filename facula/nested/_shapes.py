"""Shapes of jagged nested tensors: views of dimensions, parts, and joining."""

from __future__ import annotations

from typing import Any

import facula
from facula.nested._functions import (
    call_on_values,
    handles,
    inner_dim,
    nested_in,
    outer_dim,
    outer_shape,
    shape_text,
    unbind,
)
from facula.nested._jagged import NestedInt, NestedTensor, Structure, wrap

Tensor = facula.Tensor


def _listed(first: Any, rest: tuple) -> list[int]:
    return list(first) if isinstance(first, (tuple, list)) else [first, *rest]


def _fill_unknown(part: list[int], have: int) -> list[int] | None:
    """Replace -1 in sizes that must hold `have` elements; None when they do not fit."""
    known = 1
    for n in part:
        known *= 1 if n == -1 else n
    if part.count(-1) == 1:
        if known == 0 or have % known:
            return None
        return [have // known if n == -1 else n for n in part]
    return part if -1 not in part and known == have else None


@handles("view reshape _unsafe_view")
def view(func: Any, name: str, this: NestedTensor, *shape: Any) -> NestedTensor:
    s, want = this._structure, _listed(shape[0], shape[1:])
    inner = list(this.shape)
    before, after = inner[: s.ragged - 1], inner[s.ragged :]

    def numel(sizes: list[int]) -> int:
        return facula.Size(sizes).numel()

    # The ragged dimension stands where its symbol or a single -1 does.
    symbols = [k for k, n in enumerate(want) if isinstance(n, NestedInt) and n == s.symbol]
    places = symbols or [k for k, n in enumerate(want) if n == -1]
    if want and want[0] in (s.batch, -1):
        for k in places:
            if k == 0:
                continue
            head = _fill_unknown(want[1:k], numel(before))
            tail = _fill_unknown(want[k + 1 :], numel(after))
            if head is not None and tail is not None:
                total = inner[s.ragged - 1]
                return call_on_values(func, s.moved(k), this, [*head, total, *tail])
    raise RuntimeError(f"{name}(): cannot view shape {shape_text(this)} as {want}")


@handles("view_as reshape_as expand_as")
def view_as(func: Any, name: str, this: NestedTensor, other: Tensor) -> NestedTensor:
    if isinstance(other, NestedTensor):
        return view(Tensor.view, "view", this, outer_shape(other))
    raise RuntimeError(f"{name}(): cannot view shape {shape_text(this)} as {list(other.shape)}")


@handles("unflatten")
def unflatten(func: Any, name: str, this: NestedTensor, dim: int, sizes: Any) -> NestedTensor:
    s, d = this._structure, inner_dim(this, dim, name)
    shift = len(sizes) - 1 if d < s.ragged - 1 else 0
    return call_on_values(func, s.moved(s.ragged + shift), this, d, sizes)


@handles("flatten")
def flatten(
    func: Any, name: str, this: NestedTensor, start_dim: int = 0, end_dim: int = -1
) -> NestedTensor:
    s, first, last = this._structure, outer_dim(this, start_dim), outer_dim(this, end_dim)
    if first == last:
        return this
    if first == 0:
        raise RuntimeError("flatten(): not supported for NestedTensor on dim=0")
    if first <= s.ragged <= last:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim")
    shift = last - first if last < s.ragged else 0
    return call_on_values(func, s.moved(s.ragged - shift), this, first - 1, last - 1)


@handles("unsqueeze")
def unsqueeze(func: Any, name: str, this: NestedTensor, dim: int) -> NestedTensor:
    s, dims = this._structure, this.dim() + 2
    if not -dims <= dim < dims:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got "
            f"{dim})"
        )
    d = dim % dims
    if d == 0:
        raise RuntimeError("unsqueeze(): not supported for NestedTensor on dim=0")
    return call_on_values(func, s.moved(s.ragged + (d <= s.ragged)), this, d - 1)


@handles("squeeze")
def squeeze(func: Any, name: str, this: NestedTensor, dim: int | None = None) -> NestedTensor:
    s = this._structure
    if dim is None:
        raise RuntimeError("squeeze(): a dimension is required for NestedTensor")
    d = inner_dim(this, dim, name)
    shift = d < s.ragged - 1 and this.size(d) == 1
    return call_on_values(func, s.moved(s.ragged - shift), this, d)


def _turned(func: Any, this: NestedTensor, a: int, b: int) -> NestedTensor:
    s, a, b = this._structure, outer_dim(this, a), outer_dim(this, b)
    if a == b:
        return this
    if a == 0 or b == 0:
        raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
    moved = s.moved({a: b, b: a}.get(s.ragged, s.ragged))
    return call_on_values(Tensor.transpose, moved, this, a - 1, b - 1)


@handles("transpose swapaxes swapdims")
def transpose(func: Any, name: str, this: NestedTensor, dim0: int, dim1: int) -> NestedTensor:
    return _turned(func, this, dim0, dim1)


@handles("mT")
def matrix_transpose(func: Any, name: str, this: NestedTensor) -> NestedTensor:
    return _turned(func, this, -1, -2)


@handles("permute")
def permute(func: Any, name: str, this: NestedTensor, *dims: Any) -> NestedTensor:
    order = [outer_dim(this, d) for d in _listed(dims[0], dims[1:])]
    if sorted(order) != list(range(this.dim() + 1)):
        raise RuntimeError(
            f"permute(): {list(order)} is no order of the dimensions of {shape_text(this)}"
        )
    if order[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    s = this._structure
    return call_on_values(func, s.moved(order.index(s.ragged)), this, [d - 1 for d in order[1:]])


def _item(this: NestedTensor, index: int) -> Tensor:
    s = this._structure
    if not -s.batch <= index < s.batch:
        raise IndexError(f"select(): index {index} out of range for a batch of {s.batch}")
    first, n = s.rows()[index]
    return this.as_subclass(Tensor).narrow(s.ragged - 1, first, n)


@handles("select")
def select(func: Any, name: str, this: NestedTensor, dim: int, index: int) -> Tensor:
    if outer_dim(this, dim) == 0:
        return _item(this, index)
    s, d = this._structure, inner_dim(this, dim, name)
    return call_on_values(func, s.moved(s.ragged - (d < s.ragged - 1)), this, d, index)


@handles("narrow slice")
def narrow(func: Any, name: str, this: NestedTensor, dim: int, *place: Any) -> NestedTensor:
    return call_on_values(func, this._structure, this, inner_dim(this, dim, name), *place)


@handles("__getitem__")
def getitem(func: Any, name: str, this: NestedTensor, index: Any) -> Tensor:
    wanted = list(index) if isinstance(index, tuple) else [index]
    if ... in [i for i in wanted if i is ...]:
        at = next(k for k, i in enumerate(wanted) if i is ...)
        missing = this.dim() + 2 - len(wanted)
        wanted[at : at + 1] = [slice(None)] * missing
    if wanted and isinstance(wanted[0], int):
        item = _item(this, wanted[0])
        return item[tuple(wanted[1:])] if len(wanted) > 1 else item
    full = slice(None)
    result, d = this, 0
    for i in wanted:
        if isinstance(i, int) and not isinstance(i, bool):
            result = select(Tensor.select, "select", result, d, i)
            continue
        if isinstance(i, slice):
            if i != full:
                inner = inner_dim(result, d, "slice")
                part = (*[full] * inner, i)
                result = call_on_values(Tensor.__getitem__, result._structure, result, part)
        elif i is None:
            result = unsqueeze(Tensor.unsqueeze, "unsqueeze", result, d)
        else:
            raise NotImplementedError(
                f"__getitem__: an index of type {type(i).__name__} is not built for nested tensors"
            )
        d += 1
    return result


def _batch_parts(this: NestedTensor, counts: list[int]) -> tuple[NestedTensor, ...]:
    """Cut the batch into parts of so many items."""
    s, parts, at = this._structure, [], 0
    values = this.as_subclass(Tensor)
    for n in counts:
        rows = s.rows()[at : at + n]
        first = min((a for a, _ in rows), default=0)
        last = max((a + m for a, m in rows), default=first)
        offsets = s.offsets[at : at + n + 1] - first
        lengths = None if s.lengths is None else s.lengths[at : at + n]
        part = values.narrow(s.ragged - 1, first, last - first)
        parts.append(wrap(part, Structure(offsets, lengths, s.ragged)))
        at += n
    return tuple(parts)


def _counts(total: int, each: int) -> list[int]:
    return [min(each, total - at) for at in range(0, total, each)] or [0]


@handles("chunk")
def chunk(func: Any, name: str, this: NestedTensor, chunks: int, dim: int = 0) -> Any:
    if outer_dim(this, dim) == 0:
        batch = this._structure.batch
        return _batch_parts(this, _counts(batch, max(1, -(-batch // chunks))))
    return call_on_values(func, this._structure, this, chunks, inner_dim(this, dim, name))


@handles("split split_with_sizes tensor_split unsafe_split unsafe_chunk")
def split(func: Any, name: str, this: NestedTensor, sizes: Any, dim: int = 0) -> Any:
    return call_on_values(func, this._structure, this, sizes, inner_dim(this, dim, name))


@handles("cat concat concatenate stack")
def join(func: Any, name: str, tensors: Any, dim: int = 0) -> NestedTensor:
    like = nested_in(tensors)
    s = like._structure
    for t in tensors:
        if not isinstance(t, NestedTensor) or not s.same_rows(t._structure):
            raise RuntimeError(
                f"{name}(): expected nested tensors with the same rows, got {shape_text(like)} and "
                f"{shape_text(t)}"
            )
    if name == "stack":
        dims = like.dim() + 2
        d = dim % dims if -dims <= dim < dims else outer_dim(like, dim)
        if d == 0:
            raise RuntimeError("stack(): not supported for NestedTensor on dim=0")
        return call_on_values(func, s.moved(s.ragged + (d <= s.ragged)), tensors, d - 1)
    return call_on_values(func, s, tensors, inner_dim(like, dim, "cat"))


@handles("expand broadcast_to")
def expand(func: Any, name: str, this: NestedTensor, *shape: Any) -> NestedTensor:
    s, want = this._structure, _listed(shape[0], shape[1:])
    fits = len(want) == this.dim() + 1 and want[0] in (-1, s.batch)
    if not fits or want[s.ragged] not in (-1, s.symbol):
        raise RuntimeError(f"{name}(): cannot expand shape {shape_text(this)} to {want}")
    inner = [-1 if k == s.ragged else n for k, n in enumerate(want)][1:]
    return call_on_values(func, s, this, inner)


__all__ = ["join", "select", "split", "unbind", "view"]
