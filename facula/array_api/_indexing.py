"""Indexing functions of the array API standard."""

from __future__ import annotations

import facula
from facula.array_api._promotion import normalized

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from facula.array_api._promotion import Array

__all__ = ["take", "take_along_axis"]


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Give the slices of an axis at indices of one dimension; negative ones count from the end.

    `axis` may be left out for arrays of one dimension only (ValueError). IndexError when an index
    is out of range.

        >>> take(facula.tensor([[1, 2, 3]]), facula.tensor([2, 0]), axis=1)
        tensor([[3, 1]])
    """
    if indices.ndim != 1:
        raise ValueError(f"take: expected indices of 1 dimension, got {indices.ndim}")
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: an array of {x.ndim} dimensions needs an axis")
        axis = 0
    axis = normalized(axis, x.ndim)
    return facula.index_select(x, axis, _from_the_end(indices, x.shape[axis]))


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Give elements along an axis at indices of as many dimensions as `x`, which broadcast with it.

    Negative indices count from the end. With the indices of `argsort` this gives the sorted array.

        >>> take_along_axis(facula.tensor([[5, 7]]), facula.tensor([[1], [0]]))
        tensor([[7],
                [5]])
    """
    if indices.ndim != x.ndim:
        raise ValueError(
            f"take_along_axis: expected indices of {x.ndim} dimensions, got {indices.ndim}"
        )
    axis = normalized(axis, x.ndim)
    return facula.take_along_dim(x, _from_the_end(indices, x.shape[axis]), axis)


def _from_the_end(indices: Array, size: int) -> Array:
    """Give indices as int64, negative ones counted from the end."""
    wide = indices.to(facula.int64)
    return facula.where(wide < 0, wide + size, wide) if indices.dtype.is_signed else wide
