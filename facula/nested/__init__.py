"""Nested tensors: batches whose items differ in length, without padding.

`layout=facula.jagged` is the layout to compute with: one ragged dimension, with pointwise
functions, products, norms, reductions and attention. `layout=facula.strided`, the default as in
PyTorch, holds items of any sizes; it can be made, taken apart and padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import facula
from facula._absent import once
from facula.nested._jagged import NestedTensor, Structure
from facula.nested._jagged import wrap as _wrap
from facula.nested._strided import StridedNestedTensor

__all__ = [
    "as_nested_tensor",
    "masked_select",
    "narrow",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]

Tensor = facula.Tensor


def _check_layout(layout: Any, what: str) -> bool:
    """Whether the layout is the jagged one; RuntimeError for others than that and strided."""
    if layout not in (None, facula.strided, facula.jagged):
        raise RuntimeError(f"{what}: layout {layout} is unsupported for nested tensors")
    return layout is facula.jagged


def _ragged_dim(items: Sequence[Tensor]) -> int:
    """Return the dimension in which the items differ, 0 when there is none."""
    dims = {t.dim() for t in items}
    if len(dims) != 1:
        raise RuntimeError(
            "When constructing a nested tensor, all tensors in list must have the same dim, got "
            f"{sorted(dims)}"
        )
    if dims == {0}:
        raise RuntimeError("nested_tensor: expected tensors of at least one dimension")
    ragged = [d for d in range(items[0].dim()) if len({t.size(d) for t in items}) > 1]
    if len(ragged) > 1:
        raise RuntimeError(
            "Cannot represent given tensor list as a nested tensor with the jagged layout: only "
            f"one dimension may be ragged, but the sizes differ in dimensions {ragged}"
        )
    return ragged[0] if ragged else 0


def _jagged_from_list(items: Sequence[Tensor]) -> NestedTensor:
    if not items:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    if len({t.dtype for t in items}) > 1 or len({t.device for t in items}) > 1:
        raise RuntimeError(
            "When constructing a nested tensor, all tensors in list must have the same dtype and "
            "device"
        )
    dim = _ragged_dim(items)
    counts = facula.tensor([0, *(t.size(dim) for t in items)], dtype=facula.int64)
    offsets = counts.cumsum(0)
    return _wrap(facula.cat(list(items), dim), Structure(offsets, None, dim + 1))


def _as_list(items: Any, dtype: Any, device: Any) -> list[Tensor]:
    if isinstance(items, Tensor):
        items = items.unbind(0)
    if not isinstance(items, (list, tuple)):
        raise TypeError(
            "nested_tensor(): expected a list of tensors or of lists of numbers, got "
            f"{type(items).__name__}"
        )
    made = []
    for item in items:
        t = item if isinstance(item, Tensor) else facula.as_tensor(item)
        made.append(t.to(dtype=dtype or t.dtype, device=device or t.device))
    return made


def nested_tensor(
    tensor_list: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Make a nested tensor, a leaf, from copies of the items (tensors or lists of numbers).

    RuntimeError if the items differ in their number of dimensions, or, for `layout=facula.jagged`,
    in more than one size.

    >>> import facula
    >>> facula.nested.nested_tensor([[1.0, 2.0], [3.0]], layout=facula.jagged).values()
    tensor([1., 2., 3.])
    """
    items = [t.detach() for t in _as_list(tensor_list, dtype, device)]
    if _check_layout(layout, "nested_tensor()"):
        made = _jagged_from_list(items)
        made = _wrap(made.values().detach().clone(), made._structure) if len(items) == 1 else made
    else:
        once("nested_tensor", "layout=facula.jagged is the one to compute with, and is to be given")
        made = StridedNestedTensor._from_list(items)
    return made.requires_grad_(requires_grad)


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
    """Make a nested tensor from tensors, through which gradients pass; a nested one stays.

    A dense tensor gives a batch of items of one length.
    """
    if isinstance(ts, (NestedTensor, StridedNestedTensor)):
        wanted = facula.strided if layout is None else layout
        if wanted is ts.layout:
            return ts.to(dtype=dtype or ts.dtype, device=device or ts.device)
        ts = list(ts.unbind(0))
    items = _as_list(ts, dtype, device)
    if _check_layout(layout, "as_nested_tensor()"):
        return _jagged_from_list(items)
    return StridedNestedTensor._from_list(items)


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedTensor:
    """Make a jagged nested tensor of joined rows; `values` is not copied, gradients pass through.

    `offsets` `(B + 1,)` say where items begin, `lengths` `(B,)` how long they are; one of them
    follows from the other when the items fill all rows. RuntimeError when both are missing or they
    do not fit the values; `jagged_dim` is the ragged dimension, 1 if None.
    """
    ragged = 1 if jagged_dim is None else jagged_dim
    if not 1 <= ragged <= values.dim():
        raise RuntimeError(
            f"nested_tensor_from_jagged(): jagged_dim {jagged_dim} is no dimension of values of "
            f"shape {tuple(values.shape)} behind the batch"
        )
    if offsets is None:
        if lengths is None:
            raise RuntimeError(
                "nested_tensor_from_jagged(): At least one of offsets or lengths is required."
            )
        zero = lengths.new_zeros(1)
        offsets, lengths = facula.cat([zero, lengths.cumsum(0).to(lengths.dtype)]), None
    structure = Structure(offsets, lengths, ragged)
    _check_rows(structure, values.size(ragged - 1))
    if max_seqlen is not None:
        if max_seqlen < max(structure.counts(), default=0):
            raise RuntimeError(
                f"nested_tensor_from_jagged(): max_seqlen is {max_seqlen}, but an item has "
                f"{max(structure.counts())} rows"
            )
        structure._cache["max"] = max_seqlen
    if min_seqlen is not None:
        structure._cache["min"] = min_seqlen
    return _wrap(values, structure)


def _check_rows(structure: Structure, total: int) -> None:
    offsets, lengths = structure.offsets, structure.lengths
    for name, t in (("offsets", offsets), ("lengths", lengths)):
        if t is not None and (t.dim() != 1 or t.dtype not in (facula.int64, facula.int32)):
            raise RuntimeError(
                f"nested_tensor_from_jagged(): expected {name} as int64 or int32 of one dimension, "
                f"got {t.dtype} of shape {tuple(t.shape)}"
            )
    if offsets.size(0) == 0 or (lengths is not None and lengths.size(0) != structure.batch):
        raise RuntimeError(
            "nested_tensor_from_jagged(): expected one offset more than lengths, got "
            f"{offsets.size(0)} and {0 if lengths is None else lengths.size(0)}"
        )
    end = 0
    for first, n in structure.rows():
        if n < 0 or first < end or first + n > total:
            raise RuntimeError(
                f"nested_tensor_from_jagged(): rows {first} to {first + n} of an item do not lie "
                f"in the {total} rows of values, or overlap those of the item before"
            )
        end = first + n


def _lengths_of(value: int | Tensor, batch: int, name: str) -> Tensor:
    if isinstance(value, Tensor):
        if value.dim() != 1 or value.size(0) != batch:
            raise RuntimeError(f"narrow(): expected {name} of shape ({batch},)")
        return value.to(facula.int64)
    return facula.full((batch,), value, dtype=facula.int64)


def narrow(
    tensor: Tensor,
    dim: int,
    start: int | Tensor,
    length: int | Tensor,
    layout: Any = facula.strided,
) -> Tensor:
    """Take `length[i]` elements from `start[i]` on of dimension 1 of each item of a dense batch.

    With `layout=facula.jagged` the result shares the memory of `tensor`.
    """
    jagged = _check_layout(layout, "narrow()")
    if tensor.dim() < 2:
        raise RuntimeError("narrow(): expected a tensor of at least two dimensions")
    if jagged and dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    batch, width = tensor.size(0), tensor.size(1)
    first, count = _lengths_of(start, batch, "start"), _lengths_of(length, batch, "length")
    if not jagged:
        items = [
            t.narrow(dim - 1, a, n)
            for t, a, n in zip(tensor.unbind(0), first.tolist(), count.tolist(), strict=True)
        ]
        return as_nested_tensor(items, layout=layout)
    low, high = first.min().item() if batch else 0, (first + count).max().item() if batch else 0
    if low < 0 or high > width or (batch and count.min().item() < 0):
        raise RuntimeError(f"narrow(): start and length leave the {width} rows of an item")
    values = tensor.reshape(batch * width, *tensor.shape[2:])
    begin = facula.arange(batch, dtype=facula.int64) * width + first
    end = begin[-1:] + count[-1:] if batch else begin.new_zeros(1)
    return _wrap(values, Structure(facula.cat([begin, end]), count, 1))


def masked_select(tensor: Tensor, mask: Tensor) -> NestedTensor:
    """Take the elements of each row of `(B, L)` where the mask is true, as a jagged tensor."""
    if tensor.layout is not facula.strided or mask.layout is not facula.strided:
        raise RuntimeError("masked_select(): expected dense tensors")
    wide = mask.expand(tensor.shape) if mask.shape != tensor.shape else mask
    counts = wide.reshape(wide.size(0), -1).sum(1)
    offsets = facula.cat([counts.new_zeros(1), counts.cumsum(0)])
    return _wrap(tensor.masked_select(wide), Structure(offsets, None, 1))


def to_padded_tensor(
    input: Tensor, padding: float, output_size: tuple[int, ...] | None = None
) -> Tensor:
    """Return the dense batch of a nested tensor, items filled up with `padding`."""
    if not isinstance(input, (NestedTensor, StridedNestedTensor)):
        raise RuntimeError("to_padded_tensor(): expected a nested tensor")
    return input.to_padded_tensor(padding, output_size)
