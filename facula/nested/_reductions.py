"""Reductions, normalisations and softmax of jagged nested tensors."""

from __future__ import annotations

from typing import Any

import facula
from facula.nested._functions import (
    call_on_values,
    handles,
    inner_dim,
    outer_dim,
    packed,
    pad,
    pointwise,
    rows_first,
    unpad,
)
from facula.nested._jagged import NestedTensor

Tensor = facula.Tensor


def _fill(name: str, dtype: Any) -> Any:
    """Return what changes nothing in a reduction, to fill short items up with."""
    if name in ("sum", "nansum", "any", "count_nonzero", "norm"):
        return 0
    if name in ("prod", "all"):
        return 1
    low = name in ("max", "amax", "argmax")
    if dtype == facula.bool:
        return not low
    if dtype.is_floating_point:
        return float("-inf") if low else float("inf")
    info = facula.iinfo(dtype)
    return info.min if low else info.max


def _over_rows(
    func: Any, name: str, this: NestedTensor, keepdim: bool, options: dict[str, Any]
) -> Any:
    """Reduce the ragged dimension alone: a dense result (B, ...)."""
    s = this._structure
    if name in ("sum", "mean"):
        rows = rows_first(this)
        dtype = options.get("dtype")
        if dtype is None and name == "sum" and not (rows.is_floating_point() or rows.is_complex()):
            dtype = facula.int64
        rows = rows if dtype is None else rows.to(dtype)
        if name == "mean" and not (rows.is_floating_point() or rows.is_complex()):
            raise RuntimeError("mean(): could not infer output dtype. Input dtype must be floating")
        covered = rows.index_select(0, s.covered())
        item = s.places(rows.size(0))[0].index_select(0, s.covered())
        zeros = rows.new_zeros((s.batch, *rows.shape[1:]))
        result = zeros.index_add(0, item, covered)
        if name == "mean":
            count = s.spans()[:, 1].to(result.dtype)
            result = result / count.reshape(-1, *[1] * (result.dim() - 1))
        return result.unsqueeze(s.ragged) if keepdim else result
    dense = pad(this, _fill(name, this.dtype)).movedim(1, s.ragged)
    return func(dense, s.ragged, keepdim, **options)


def _many(
    func: Any, name: str, this: NestedTensor, dims: Any, keepdim: bool, **options: Any
) -> Any:
    """Reduce several inner dimensions; functions that take one do them from the last."""
    if name in ("sum", "mean", "amax", "amin", "nansum", "any", "all", "count_nonzero"):
        return func(this, dims, keepdim, **options)
    if len(dims) != 1:
        raise RuntimeError(f"{name}(): takes one dimension")
    return func(this, dims[0], keepdim, **options)


def _reduce(
    func: Any, name: str, this: NestedTensor, dims: list[int], keepdim: bool, options: dict
) -> Any:
    s = this._structure
    inner = [d - 1 for d in dims if d not in (0, s.ragged)]
    if 0 in dims and s.ragged not in dims:
        raise RuntimeError(
            f"{name}(): reducing along the batch dimension but not the ragged dimension is not "
            "supported for nested tensors"
        )
    if 0 in dims:
        dense = packed(this).as_subclass(Tensor)
        result = _many(func, name, dense, [s.ragged - 1, *inner], keepdim, **options)
        return result.unsqueeze(0) if keepdim else result
    if s.ragged in dims and inner:
        raise RuntimeError(
            f"{name}(): reducing along a ragged and non-batch dimension is not supported for "
            "nested tensors"
        )
    if s.ragged in dims:
        return _over_rows(func, name, this, keepdim, options)
    gone = 0 if keepdim else sum(d < s.ragged - 1 for d in inner)

    def onto(t: Any, *args: Any, **kw: Any) -> Any:
        return _many(func, name, t, *args, **kw)

    return call_on_values(onto, s.moved(s.ragged - gone), this, inner, keepdim, **options)


@handles("sum mean amax amin nansum prod any all argmax argmin max min")
def reduction(func: Any, name: str, this: NestedTensor, *args: Any, **kwargs: Any) -> Any:
    if name in ("max", "min") and (args or "other" in kwargs):
        other = kwargs.get("other", args[0] if args else None)
        if isinstance(other, Tensor):
            return pointwise(func, name, this, *args, **kwargs)
    places = list(args)
    dim = kwargs.pop("dim", kwargs.pop("axis", None))
    keepdim = kwargs.pop("keepdim", False)
    if places:
        ints = [p for p in places if isinstance(p, int) and not isinstance(p, bool)]
        first = places.pop(0)
        if len(ints) > 1 and name in ("sum", "mean", "amax", "amin"):
            dim, places = ints, [p for p in places if isinstance(p, bool)]
        else:
            dim = first
        keepdim = places[0] if places else keepdim
    options = {key: value for key, value in kwargs.items() if value is not None}
    if "out" in options:
        raise NotImplementedError(f"{name}: out= is not built for nested tensors")
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return func(packed(this).as_subclass(Tensor), **options)
    dims = list(dim) if isinstance(dim, (list, tuple)) else [dim]
    return _reduce(func, name, this, [outer_dim(this, d) for d in dims], keepdim, options)


@handles("softmax log_softmax softmin")
def softmax(func: Any, name: str, this: NestedTensor, dim: int, *args: Any, **kw: Any) -> Any:
    s, d = this._structure, outer_dim(this, dim)
    if d == 0:
        raise RuntimeError(
            f"{name}(): not supported when reducing across the batch dimension for NestedTensor"
        )
    if d != s.ragged:
        return call_on_values(func, s, this, d - 1, *args, **kw)
    fill = float("inf") if name == "softmin" else float("-inf")
    return unpad(func(pad(this, fill), 1, *args, **kw), this)


@handles("layer_norm rms_norm native_layer_norm")
def layer_norm(
    func: Any, name: str, this: NestedTensor, normalized_shape: Any, *args: Any, **kw: Any
) -> Any:
    s = this._structure
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    if count > this.dim() - s.ragged:
        raise RuntimeError(
            f"{name}(): not supported when normalizing over the ragged dimension for NestedTensor"
        )
    return call_on_values(func, s, this, normalized_shape, *args, **kw)


@handles("glu")
def glu(func: Any, name: str, this: NestedTensor, dim: int = -1) -> Any:
    return call_on_values(func, this._structure, this, inner_dim(this, dim, name))


@handles("normalize cumsum cumprod")
def along(func: Any, name: str, this: NestedTensor, dim: int, *args: Any, **kw: Any) -> Any:
    s, d = this._structure, outer_dim(this, dim)
    if d == s.ragged:
        raise NotImplementedError(f"{name}: not built for the ragged dimension of nested tensors")
    return call_on_values(func, s, this, inner_dim(this, dim, name), *args, **kw)
