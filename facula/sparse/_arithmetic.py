"""Sparse tensors element by element: functions that leave zero at zero, sums, products, powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula import _C
from facula.sparse._table import TABLE, cast, coalesced, entry, is_number, no_out, on_values
from facula.sparse._tensor import SparseTensor, is_sparse, parts, refuse

Tensor = _C.Tensor

_UNARY = (
    "abs asin asinh atan atanh ceil floor round trunc frac deg2rad rad2deg erf erfinv expm1 log1p "
    "sgn sign sin sinh tan tanh sqrt relu isnan isinf isposinf isneginf signbit nan_to_num "
    "conj_physical conj resolve_conj resolve_neg square absolute arcsin arcsinh arctan arctanh fix "
    "leaky_relu"
).split()
_LINEAR = "neg negative positive real imag".split()


def _unary(name: str, merge: bool) -> Callable:
    function = getattr(facula, name, None) or getattr(facula.nn.functional, name)

    def apply(input: SparseTensor, *args: Any, out: Any = None, **kwargs: Any) -> SparseTensor:
        no_out(name, out)
        t = coalesced(input) if merge else input
        return on_values(t, lambda v: function(v, *args, **kwargs))

    return apply


for _name in _UNARY:
    TABLE[_name] = _unary(_name, True)
for _name in _LINEAR:
    TABLE[_name] = _unary(_name, False)


@entry("pow", "__pow__")
def _pow(input: Any, exponent: Any, *, out: Any = None) -> SparseTensor:
    no_out("pow", out)
    if not is_sparse(input) or not is_number(exponent):
        raise refuse("pow", _C.sparse_coo)
    if not isinstance(exponent, Tensor) and exponent == 0:
        raise RuntimeError(
            "pow: Cannot raise to zeroth power on sparse tensor; it would make the "
            "result tensor dense"
        )
    return on_values(coalesced(input), lambda v: v**exponent)


def _kind(t: Tensor) -> str:
    return "sparse" if is_sparse(t) else "dense"


def _check_alpha(alpha: Any, *operands: Any) -> None:
    """Refuse an alpha of a higher kind than the sum: floats for integers, bools for numbers."""
    kinds = [t.dtype for t in operands if isinstance(t, Tensor)]
    if isinstance(alpha, bool) and any(kind != _C.bool for kind in kinds):
        raise RuntimeError("add: Boolean alpha only supported for Boolean results.")
    exact = not any(kind.is_floating_point or kind.is_complex for kind in kinds)
    if exact and isinstance(alpha, (float, complex)):
        raise RuntimeError(
            "add: For integral input tensors, argument alpha must not be a floating point number, "
            f"got {alpha}."
        )


@entry("add", "__add__", "__radd__", "__iadd__")
def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    no_out("add", out)
    _check_alpha(alpha, input, other)
    if is_sparse(input) and is_sparse(other):
        return _C._sparse_add(input, other, alpha)
    if is_sparse(other) and isinstance(input, Tensor):
        if input.shape != other.shape:
            input = input.expand(other.shape)
        return _C._sparse_add(input, other, alpha)
    if isinstance(other, Tensor) and parts(input).layout is not _C.sparse_coo:
        base = other.expand(input.shape) if other.shape != input.shape else other
        if alpha != 1:
            base = base * alpha
        return _C._sparse_add(base, input, 1)
    raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")


@entry("sub", "subtract", "__sub__", "__isub__")
def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        raise RuntimeError("sub(sparse, dense) is not supported. Use sub(dense, sparse) instead.")
    return add(input, other, alpha=-alpha, out=out)


@entry("rsub", "__rsub__")
def _rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    return sub(other, input, alpha=alpha)


@entry("mul", "multiply", "__mul__", "__rmul__", "__imul__")
def _mul(input: Any, other: Any, *, out: Any = None) -> Tensor:
    no_out("mul", out)
    if not is_sparse(input):
        input, other = other, input
    if is_number(other):
        return on_values(input, lambda v: v * other)
    return _C._sparse_mul(input, other)


@entry("div", "divide", "true_divide", "__truediv__", "__itruediv__")
def _div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Tensor:
    no_out("div", out)
    if not is_sparse(input) or is_sparse(other):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor "
            f"(got a {_kind(other)} divisor)"
        )
    if is_number(other):
        if rounding_mode is not None:
            input = coalesced(input)
        return on_values(input, lambda v: facula.div(v, other, rounding_mode=rounding_mode))
    raise RuntimeError(
        "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
        f"{list(other.shape)} for divisor)"
    )


@entry("floor_divide", "__floordiv__")
def _floor_divide(input: Any, other: Any) -> Tensor:
    return _div(input, other, rounding_mode="floor")


# ---- in place


@entry("add_")
def _add_in_place(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    if is_sparse(input):
        result = add(input, other, alpha=alpha)
        if not is_sparse(result):
            raise RuntimeError("add_: a sparse tensor cannot hold the sum with a dense one")
        return input._replace(cast(result, input.dtype))
    _check_alpha(alpha, input, other)
    return _C._sparse_add_into(input, other, alpha)


@entry("sub_")
def _sub_in_place(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return _add_in_place(input, other, alpha=-alpha)


@entry("mul_")
def _mul_in_place(input: Tensor, other: Any) -> Tensor:
    if not is_sparse(input):
        raise refuse("mul_ of a strided tensor by a sparse one", other.layout)
    return input._replace(cast(_mul(input, other), input.dtype))
