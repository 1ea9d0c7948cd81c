"""Linear algebra of the main namespace of the array API standard."""

from __future__ import annotations

import facula
from facula.array_api._promotion import normalized, of_one_dtype

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Sequence

    from facula.array_api._promotion import Array

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Array, x2: Array, /) -> Array:
    """Give matrix products: (..., m, k) with (..., k, n) gives (..., m, n); vectors lose their one.

    An array without dimensions is a ValueError.

        >>> matmul(facula.tensor([[1, 2], [3, 4]]), facula.tensor([1, 1]))
        tensor([3, 7])
    """
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError("matmul: expected arrays of at least 1 dimension")
    return facula.matmul(*of_one_dtype(x1, x2))


def matrix_transpose(x: Array, /) -> Array:
    """Exchange the last two axes of matrices (..., m, n)."""
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: expected at least 2 dimensions, got {x.ndim}")
    return x.mT


def tensordot(
    x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array:
    """Sum products over axes of two arrays: the last n of `x1` with the first n of `x2`.

    Or over pairs of axes: `axes` is then two sequences, of axes of `x1` and of `x2`.
    """
    x1, x2 = of_one_dtype(x1, x2)
    if isinstance(axes, int):
        return facula.tensordot(x1, x2, dims=axes)
    return facula.tensordot(x1, x2, dims=(list(axes[0]), list(axes[1])))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Give `sum(conj(x1) * x2)` along an axis, counted from the end; the others broadcast.

    >>> vecdot(facula.tensor([1j, 2]), facula.tensor([1j, 1]))
    tensor(3.+0.j)
    """
    x1, x2 = of_one_dtype(x1, x2)
    shortest = min(x1.ndim, x2.ndim)
    if axis >= 0:  # the same axis of arrays of as many dimensions, counted from the end
        axis = normalized(axis, max(x1.ndim, x2.ndim)) - max(x1.ndim, x2.ndim)
    axis = normalized(axis, shortest) - shortest
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(
            f"vecdot: expected axes of one size, got {x1.shape[axis]} and {x2.shape[axis]}"
        )
    if x1.dtype.is_floating_point or x1.dtype.is_complex:
        return facula.linalg.vecdot(x1, x2, dim=axis)
    return facula.sum(x1 * x2, dim=axis, dtype=x1.dtype)
