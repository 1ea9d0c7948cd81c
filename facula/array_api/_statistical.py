"""Statistical and utility functions of the array API standard: reductions along axes.

`axis` is an axis, a tuple of axes (the empty tuple reduces nothing) or None for all of them.
"""

from __future__ import annotations

import builtins

import facula
from facula.array_api._promotion import SIGNED, UNSIGNED, normalized, normalized_axes, promote

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from facula.array_api._promotion import Array

    Axes = int | tuple[int, ...] | None

__all__ = ("all any cumulative_prod cumulative_sum diff max mean min prod std sum var").split()


def _reduced(
    operator: Callable[..., Array], x: Array, axis: Axes, keepdims: builtins.bool, **kwargs: Any
) -> Array:
    """Apply an operator that reduces a tuple of dimensions."""
    axes = normalized_axes(axis, x.ndim)
    if not axes:  # each element is a reduction of its own
        return operator(x.unsqueeze(-1), dim=(-1,), keepdim=False, **kwargs)
    return operator(x, dim=axes, keepdim=keepdims, **kwargs)


def _flattened(x: Array, axes: tuple[int, ...]) -> Array:
    """Join axes to one, which becomes the last."""
    kept = [a for a in range(x.ndim) if a not in axes]
    count = 1
    for a in axes:
        count *= x.shape[a]
    return x.permute((*kept, *axes)).reshape([*(x.shape[a] for a in kept), count])


def accumulated(x: Array, dtype: facula.dtype | None) -> facula.dtype:
    """Give the dtype of sums and products: integers become 64 bits wide, others stay."""
    if dtype is not None:
        return dtype
    if x.dtype in UNSIGNED:
        return facula.uint64
    return facula.int64 if x.dtype in SIGNED or x.dtype == facula.bool else x.dtype


def all(x: Array, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Array:
    """Say whether all elements along axes are true, or not zero; true of none."""
    return _reduced(facula.all, x, axis, keepdims).to(facula.bool)


def any(x: Array, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Array:
    """Say whether any element along axes is true, or not zero; false of none."""
    return _reduced(facula.any, x, axis, keepdims).to(facula.bool)


def _cumulative(
    operator: Callable[..., Array],
    x: Array,
    axis: int | None,
    dtype: facula.dtype | None,
    initial: int | None,
) -> Array:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an array of {x.ndim} dimensions needs an axis")
        axis = 0
    axis = normalized(axis, x.ndim)
    dtype = accumulated(x, dtype)
    result = operator(x, dim=axis, dtype=dtype)
    if initial is None:
        return result
    shape = [1 if a == axis else n for a, n in enumerate(x.shape)]
    first = facula.full(shape, initial, dtype=dtype, device=x.device)
    return facula.cat([first, result], axis)


def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: facula.dtype | None = None,
    include_initial: builtins.bool = False,
) -> Array:
    """Give the products of the first elements along an axis; with the initial one, of none too.

    `axis` may be left out for arrays of one dimension only (ValueError).
    """
    return _cumulative(facula.cumprod, x, axis, dtype, 1 if include_initial else None)


def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: facula.dtype | None = None,
    include_initial: builtins.bool = False,
) -> Array:
    """Give the sums of the first elements along an axis; with the initial one, of none too.

    `axis` may be left out for arrays of one dimension only (ValueError).

        >>> cumulative_sum(facula.tensor([1, 2, 3]), include_initial=True)
        tensor([0, 1, 3, 6])
    """
    return _cumulative(facula.cumsum, x, axis, dtype, 0 if include_initial else None)


def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Give the n-th differences of neighbours along an axis, to which arrays may be added first."""
    if n == 0:
        return x
    given = [v for v in (prepend, x, append) if v is not None]
    dtype = x.dtype
    for other in given:
        dtype = promote(dtype, other.dtype)
    joined = facula.cat([v.to(dtype) for v in given], axis) if len(given) > 1 else x
    return facula.diff(joined, n, axis)


def max(x: Array, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Array:
    """Give the maximum along axes, NaN where there is one; the maximum of none is an error."""
    return _reduced(facula.amax, x, axis, keepdims)


def mean(x: Array, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Array:
    """Give the mean along axes; NaN of none."""
    return _reduced(facula.mean, x, axis, keepdims)


def min(x: Array, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Array:
    """Give the minimum along axes, NaN where there is one; the minimum of none is an error."""
    return _reduced(facula.amin, x, axis, keepdims)


def prod(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: facula.dtype | None = None,
    keepdims: builtins.bool = False,
) -> Array:
    """Give the product along axes, 1 of none. Without `dtype`, integers become 64 bits wide."""
    axes = normalized_axes(axis, x.ndim)
    result = facula.prod(_flattened(x, axes), dim=-1, dtype=accumulated(x, dtype))
    if keepdims:
        result = result.reshape([1 if a in axes else n for a, n in enumerate(x.shape)])
    return result


def std(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: int | float = 0.0,
    keepdims: builtins.bool = False,
) -> Array:
    """Give the standard deviation along axes: the root of `var`."""
    return _reduced(facula.std, x, axis, keepdims, correction=correction)


def sum(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: facula.dtype | None = None,
    keepdims: builtins.bool = False,
) -> Array:
    """Give the sum along axes, 0 of none. Without `dtype`, integers become 64 bits wide.

    >>> sum(facula.tensor([200, 100], dtype=facula.uint8))
    tensor(300, dtype=torch.uint64)
    """
    return _reduced(facula.sum, x, axis, keepdims, dtype=accumulated(x, dtype))


def var(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: int | float = 0.0,
    keepdims: builtins.bool = False,
) -> Array:
    """Give the variance along axes: squared distances from the mean, over n - correction."""
    return _reduced(facula.var, x, axis, keepdims, correction=correction)
