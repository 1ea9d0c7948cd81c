"""Searching and sorting functions of the array API standard."""

from __future__ import annotations

import builtins

import facula
from facula.array_api._promotion import normalized_axes, operands, promote

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from facula.array_api._promotion import Array, Number

__all__ = "argmax argmin argsort count_nonzero nonzero searchsorted sort where".split()


def argmax(x: Array, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Array:
    """Give the index of the first maximum along an axis, or in the flattened array."""
    return facula.argmax(x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Array:
    """Give the index of the first minimum along an axis, or in the flattened array."""
    return facula.argmin(x, axis, keepdims)


def argsort(
    x: Array, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True
) -> Array:
    """Give the indices that sort an array along an axis; NaN counts as greater than all."""
    return facula.argsort(x, dim=axis, descending=descending, stable=stable)


def count_nonzero(
    x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: builtins.bool = False
) -> Array:
    """Count the elements that are not zero along axes, as int64."""
    axes = normalized_axes(axis, x.ndim)
    if not axes:
        return (x != 0).to(facula.int64)
    return facula.sum(x != 0, dim=axes, keepdim=keepdims)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Give the indices of elements that are not zero in row-major order, an array for each axis.

    An array without dimensions is a ValueError.
    """
    if x.ndim == 0:
        raise ValueError("nonzero: expected an array of at least 1 dimension")
    return facula.nonzero(x, as_tuple=True)


def searchsorted(
    x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None
) -> Array:
    """Give for each element of `x2` where it belongs in the sorted array `x1` of one dimension.

    Before equal elements with side "left", behind them with "right". `sorter` holds the indices
    that sort `x1` when it is not sorted itself.

        >>> searchsorted(facula.tensor([1, 3, 3]), facula.tensor([3, 0]), side="right")
        tensor([3, 0])
    """
    if side not in ("left", "right"):
        raise ValueError(f'searchsorted: expected side "left" or "right", got {side!r}')
    if x1.ndim != 1:
        raise ValueError(f"searchsorted: expected a first array of 1 dimension, got {x1.ndim}")
    dtype = promote(x1.dtype, x2.dtype)
    ordered = x1.to(dtype)
    if sorter is not None:
        ordered = facula.index_select(ordered, 0, sorter.to(facula.int64))
    return facula.searchsorted(ordered, x2.to(dtype), side=side)


def sort(
    x: Array, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True
) -> Array:
    """Give the array sorted along an axis; NaN counts as greater than all."""
    return facula.sort(x, dim=axis, descending=descending, stable=stable)[0]


def where(condition: Array, x1: Array | Number, x2: Array | Number, /) -> Array:
    """Take elements of `x1` where the condition holds, else of `x2`; one may be a number."""
    return facula.where(condition, *operands(x1, x2))
