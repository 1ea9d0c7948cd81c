"""Operators over the elements where a mask is true; the others count as the operator's identity.

Without a mask the functions are the plain operators. A result without any element is the identity
(or NaN where there is none). A `MaskedTensor` is taken for its data and its mask; the result is a
plain tensor.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import facula as _f
from facula import Tensor, dtype
from facula._arguments import as_tuple
from facula._naming import named
from facula.masked.maskedtensor.core import ReducedData, is_masked_tensor

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
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _parts(input: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Give the data and the mask of a tensor that carries one, else what is given."""
    if not is_masked_tensor(input):
        return input, mask
    own = input.get_mask()
    return ReducedData.apply(input), own if mask is None or mask is own else own & mask


def _taking_masked(function: _Function) -> _Function:
    """Let a function of an input and a mask take a tensor that carries one."""

    @functools.wraps(function)
    def taking(input: Tensor, *args: Any, mask: Tensor | None = None, **kwargs: Any) -> Tensor:
        input, mask = _parts(input, mask)
        return function(input, *args, mask=mask, **kwargs)

    return taking  # type: ignore[return-value]


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


@_taking_masked
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


@_taking_masked
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


@_taking_masked
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


@_taking_masked
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


@_taking_masked
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


@_taking_masked
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


@_taking_masked
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


@_taking_masked
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


@_taking_masked
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
    input, input_mask = _parts(input, input_mask)
    other, other_mask = _parts(other, other_mask)
    left = _filled(_typed(input, dtype), input_mask, -math.inf)
    return _f.logaddexp(left, _filled(_typed(other, dtype), other_mask, -math.inf))


@_taking_masked
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

    return _taking_masked(named(spread, __name__, name, doc))


var = _spread("var", "Give the variance over dimensions.", False)
std = _spread("std", "Give the standard deviation over dimensions.", True)


@_taking_masked
def softmax(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give exp(input) / sum(exp(input)) along a dimension."""
    return _f.softmax(_filled(_typed(input, dtype), mask, -math.inf), dim)


@_taking_masked
def log_softmax(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give the logarithm of softmax along a dimension."""
    return _f.log_softmax(_filled(_typed(input, dtype), mask, -math.inf), dim)


@_taking_masked
def softmin(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give the softmax of -input along a dimension."""
    return _f.softmax(-_filled(_typed(input, dtype), mask, math.inf), dim)


@_taking_masked
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


@_taking_masked
def cumsum(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give running sums along a dimension."""
    return _filled(input, mask, 0).cumsum(dim, dtype=dtype)


@_taking_masked
def cumprod(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Give running products along a dimension."""
    return _filled(input, mask, 1).cumprod(dim, dtype=dtype or input.dtype)
