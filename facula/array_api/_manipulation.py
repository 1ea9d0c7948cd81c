"""Manipulation functions of the array API standard."""

from __future__ import annotations

import builtins

import facula
from facula.array_api._promotion import Tensor, normalized, normalized_axes, of_one_dtype

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Sequence

    from facula.array_api._promotion import Array

__all__ = (
    "broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape "
    "roll squeeze stack tile unstack"
).split()


def _several_of_one_dtype(arrays: Sequence[Array]) -> list[Array]:
    if not arrays:
        raise ValueError("expected at least one array")
    return of_one_dtype(*arrays)


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """Broadcast arrays to their common shape; the results may share memory."""
    return list(facula.broadcast_tensors(*arrays)) if arrays else []


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """Broadcast an array to a shape; the result shares its memory."""
    return facula.broadcast_to(x, shape)


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an axis; with None, their elements in row-major order.

    >>> concat([facula.tensor([1]), facula.tensor([2.5, 3.5])])
    tensor([1.0000, 2.5000, 3.5000])
    """
    same = _several_of_one_dtype(arrays)
    if axis is None:
        return facula.cat([x.reshape(-1) for x in same])
    normalized(axis, same[0].ndim)
    return facula.cat(same, axis)


def expand_dims(x: Array, /, *, axis: int = 0) -> Array:
    """Insert an axis of size 1, which is `axis` of the result; IndexError when out of range."""
    return facula.unsqueeze(x, normalized(axis, x.ndim + 1))


def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Reverse the order of elements along axes: None for all."""
    return facula.flip(x, normalized_axes(axis, x.ndim))


def moveaxis(
    x: Array,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
) -> Array:
    """Move axes to new places; the others keep their order."""
    return facula.moveaxis(x, source, destination)


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Give the axes a new order: axis i of the result is `axes[i]` of `x`."""
    return facula.permute(x, tuple(axes))


def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Repeat each element along an axis (None: of the flattened array), by number or by numbers.

    >>> repeat(facula.tensor([5, 7]), facula.tensor([2, 1]))
    tensor([5, 5, 7])
    """
    source, dim = (x.reshape(-1), 0) if axis is None else (x, normalized(axis, x.ndim))
    if isinstance(repeats, Tensor):
        repeats = repeats.to(facula.int64)
        if repeats.ndim == 0 or repeats.shape == (1,):
            repeats = repeats.reshape(-1).expand(source.shape[dim])
    return facula.repeat_interleave(source, repeats, dim)


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: builtins.bool | None = None) -> Array:
    """Give the elements in another shape, in which one size may be -1.

    `copy=True` always copies; `copy=False` never does: ValueError where the layout needs it.
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if copy:
        return x.clone(memory_format=facula.contiguous_format).reshape(sizes)
    result = facula.reshape(x, sizes)
    if copy is False and result.data_ptr() != x.data_ptr():
        raise ValueError("reshape: the layout of the array needs a copy, but copy is False")
    return result


def roll(
    x: Array,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> Array:
    """Move elements along axes by shifts, back in at the other end; None: as if flattened.

    >>> roll(facula.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    if axis is None:
        return facula.roll(x.reshape(-1), shift).reshape(x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: expected as many shifts as axes, got {shift} and {axis}")
    return facula.roll(x, shifts, axes) if axes else x.clone()


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Take axes of size 1 away; an axis of another size is a ValueError."""
    axes = normalized_axes(axis, x.ndim)
    for each in axes:
        if x.shape[each] != 1:
            raise ValueError(f"squeeze: expected size 1 of axis {each}, got {x.shape[each]}")
    return facula.squeeze(x, axes)


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Join arrays of one shape along a new axis."""
    same = _several_of_one_dtype(arrays)
    normalized(axis, same[0].ndim + 1)
    return facula.stack(same, axis)


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Repeat the whole array along each axis; missing axes or repetitions are ones in front."""
    return facula.tile(x, tuple(repetitions))


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array into the slices of an axis, which share its memory."""
    return facula.unbind(x, normalized(axis, x.ndim))
