"""Operators over the elements where a mask is true; the others count as the operator's identity.

Without a mask the functions are the plain operators. A result without any element is the identity
(or NaN where there is none).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import facula as _f
from facula import Tensor, dtype
from facula._arguments import as_tuple
from facula._naming import named

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

_Dims = int | Sequence[int] | None


def _dims(input: Tensor, dim: _Dims) -> tuple[int, ...]:
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return tuple(range(input.dim()))
    return as_tuple(dim, "dim")


def _typed(input: Tensor, kind: dtype | None) -> Tensor:
    return input if kind is None else input.to(kind)


def _filled(input: Tensor, mask: Tensor | None, value: Any) -> Tensor:
    """Give the input with `value` where the mask is false, of their common shape."""
    if mask is None:
        return input
    if mask.dtype != _f.bool:
        mask = mask != 0
    return _f.where(mask, input, _f.full((), value, dtype=input.dtype))


def _counts(input: Tensor, mask: Tensor | None) -> Tensor:
    ones = _f.ones(input.shape, dtype=_f.int64, device=input.device)
    return ones if mask is None else _filled(ones, mask, 0)


def _bound(input: Tensor, highest: bool) -> float | int:
    if input.dtype.is_floating_point:
        return math.inf if highest else -math.inf
    if input.dtype == _f.bool:
        return highest
    limits = _f.iinfo(input.dtype)
    return limits.max if highest else limits.min


def sum(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Sum over dimensions."""
    return _filled(input, mask, 0).sum(_dims(input, dim), bool(keepdim), dtype=dtype)


def prod(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Multiply over dimensions."""
    result = _filled(input, mask, 1)
    dims = sorted((d % max(1, input.dim()) for d in _dims(input, dim)), reverse=True)
    if not dims:
        return result.prod(dtype=dtype)
    for d in dims:
        result = result.prod(d, bool(keepdim), dtype=dtype)
    return result


def mean(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Average over dimensions."""
    kind = dtype or input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {kind}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _counts(input, mask).sum(_dims(input, dim), bool(keepdim))


def amax(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Give the largest element over dimensions."""
    values = _typed(input, dtype)
    return _filled(values, mask, _bound(values, False)).amax(_dims(input, dim), bool(keepdim))


def amin(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Give the smallest element over dimensions."""
    values = _typed(input, dtype)
    return _filled(values, mask, _bound(values, True)).amin(_dims(input, dim), bool(keepdim))


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Give the first position of the largest element, in the dtype of the input."""
    values = _typed(input, dtype)
    return _filled(values, mask, _bound(values, False)).argmax(dim, bool(keepdim)).to(values.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Give the first position of the smallest element, in the dtype of the input."""
    values = _typed(input, dtype)
    return _filled(values, mask, _bound(values, True)).argmin(dim, bool(keepdim)).to(values.dtype)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Give the lower median along a dimension."""
    values = _typed(input, dtype)
    if not values.dtype.is_floating_point:
        raise ValueError("masked median expects a floating-point input")
    if mask is None:
        return values.median(dim, keepdim).values
    return _filled(values, mask, math.nan).nanmedian(dim, keepdim).values


def logsumexp(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Give log(sum(exp(input))) over dimensions."""
    values = _typed(input, dtype)
    kind = values.dtype
    if not (kind.is_floating_point or kind.is_complex):
        values = values.to(_f.get_default_dtype())
    return _filled(values, mask, -math.inf).logsumexp(_dims(input, dim), keepdim).to(kind)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """Give log(exp(input) + exp(other)) element by element."""
    left = _filled(_typed(input, dtype), input_mask, -math.inf)
    return _f.logaddexp(left, _filled(_typed(other, dtype), other_mask, -math.inf))


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: _Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Give the norm of order `ord` over dimensions."""
    order = 2.0 if ord is None else float(ord)
    values = _filled(_typed(input, dtype), mask, math.inf if order == -math.inf else 0)
    return _f.linalg.vector_norm(values, order, _dims(input, dim), bool(keepdim))


def _moment(
    input: Tensor, dim: _Dims, correction: float, keepdim: bool, mask: Tensor | None, root: bool
) -> Tensor:
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        input = input.to(_f.get_default_dtype())
    dims = _dims(input, dim)
    count = _counts(input, mask).sum(dims, True)
    average = _filled(input, mask, 0).sum(dims, True) / count
    distance = _filled(input - average, mask, 0)
    squares = distance * distance.conj()  # stays complex, as in PyTorch
    if not keepdim:
        count = count.sum(dims)
    divisor = (count - correction).clamp(min=0)
    result = squares.sum(dims, keepdim) / divisor
    return result.sqrt() if root else result


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise ValueError("expected only one of unbiased and correction")
    if unbiased is not None:
        return 1 if unbiased else 0
    return 1 if correction is None else correction


def _spread(name: str, doc: str, root: bool) -> Callable[..., Tensor]:
    """Make var, or with `root` std."""

    def spread(
        input: Tensor,
        dim: _Dims = None,
        unbiased: bool | None = None,
        *,
        correction: int | float | None = None,
        keepdim: bool | None = False,
        dtype: dtype | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        divisor = _correction(unbiased, correction)
        return _moment(_typed(input, dtype), dim, divisor, bool(keepdim), mask, root)

    return named(spread, __name__, name, doc)


var = _spread("var", "Give the variance over dimensions.", False)
std = _spread("std", "Give the standard deviation over dimensions.", True)


def softmax(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give exp(input) / sum(exp(input)) along a dimension."""
    return _f.softmax(_filled(_typed(input, dtype), mask, -math.inf), dim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give the logarithm of softmax along a dimension."""
    return _f.log_softmax(_filled(_typed(input, dtype), mask, -math.inf), dim)


def softmin(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give the softmax of -input along a dimension."""
    return _f.softmax(-_filled(_typed(input, dtype), mask, math.inf), dim)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Divide by the norm along a dimension, at least `eps`."""
    values = _typed(input, dtype)
    size = norm(values, ord, dim, keepdim=True, mask=mask)
    return _filled(values, mask, 0) / size.clamp(min=eps)


def cumsum(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give running sums along a dimension."""
    return _filled(input, mask, 0).cumsum(dim, dtype=dtype)


def cumprod(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give running products along a dimension."""
    return _filled(input, mask, 1).cumprod(dim, dtype=dtype or input.dtype)
