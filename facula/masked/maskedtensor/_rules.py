"""What operators do with tensors that carry a mask: rules by the operator's name.

A rule gets the operator and its arguments, beneath autograd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula import Tensor
from facula.masked.maskedtensor._functions import REDUCTIONS, chosen, reduce
from facula.masked.maskedtensor.core import MaskedTensor, is_masked_tensor

__all__ = ["RULES"]

UNARY = (
    "abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh "
    "arctanh bitwise_not ceil clamp clamp_min clamp_max clip conj_physical cos cosh deg2rad "
    "digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10 log1p log2 logit i0 "
    "isnan nan_to_num neg negative positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn "
    "signbit sin sinc sinh sqrt square tan tanh trunc round_decimals isinf isposinf isneginf "
    "isfinite logical_not i1 i0e i1e"
).split()
BINARY = (
    "add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift "
    "div divide floor_divide fmod logaddexp logaddexp2 mul multiply nextafter remainder sub "
    "subtract rsub true_divide eq ne le ge greater greater_equal gt less_equal lt less maximum "
    "minimum fmax fmin not_equal nextafter_wide logical_and logical_or"
).split()
# Those that move elements, which move the mask likewise.
PASSED_ON = (
    "select transpose permute movedim split split_with_sizes chunk t slice narrow slice_backward "
    "select_backward narrow_backward index expand view reshape alias squeeze cat unsqueeze unfold "
    "unfold_backward im2col col2im stack flip roll"
).split()
LIKE = "ones_like zeros_like empty_like full_like rand_like randn_like".split()


def _data(x: Any) -> Any:
    return _mapped(x, lambda t: t._masked_data)


def _mask(x: Any) -> Any:
    return _mapped(x, lambda t: t._masked_mask)


def _mapped(x: Any, part: Callable[[MaskedTensor], Tensor]) -> Any:
    if is_masked_tensor(x):
        return part(x)
    if isinstance(x, list | tuple):
        return type(x)(_mapped(item, part) for item in x)
    return x


def _with_masks(data: Any, mask: Any) -> Any:
    if isinstance(data, list | tuple):
        return type(data)(_with_masks(d, m) for d, m in zip(data, mask, strict=True))
    return MaskedTensor(data, mask)


def _passed_on(func: Any, *args: Any, **kwargs: Any) -> Any:
    named = {k: _mapped(v, lambda t: t._masked_data) for k, v in kwargs.items()}
    data = func(*_data(args), **named)
    named = {k: _mapped(v, lambda t: t._masked_mask) for k, v in kwargs.items()}
    return _with_masks(data, func(*_mask(args), **named))


def _unary(func: Any, *args: Any, **kwargs: Any) -> MaskedTensor:
    if kwargs:
        raise ValueError("MaskedTensor unary ops require that len(kwargs) == 0.")
    if any(isinstance(a, Tensor) for a in args[1:]):
        raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    x = args[0]
    return MaskedTensor(func(*_data(args)), x._masked_mask)


def _unary_inplace(func: Any, *args: Any, **kwargs: Any) -> MaskedTensor:
    if kwargs:
        raise ValueError("MaskedTensor unary ops require that len(kwargs) == 0.")
    x = args[0]
    x._set_data_mask(func(*_data(args)), x._masked_mask)
    return x


def _check_masks(a: Any, b: Any) -> None:
    if not (is_masked_tensor(a) and is_masked_tensor(b)):
        return
    a, b = a._masked_mask, b._masked_mask
    if a.dim() != b.dim() or not bool((a == b).all()):
        raise ValueError("Input masks must match.")


def _check_binary(args: tuple, kwargs: dict) -> None:
    if kwargs:
        raise ValueError("len(kwargs) must equal 0")
    if any(isinstance(a, Tensor) for a in args[2:]):
        raise TypeError(
            "MaskedTensor binary ops do not support Tensor arguments aside from the lhs and rhs"
        )
    _check_masks(*args[:2])


def _binary(func: Any, *args: Any, **kwargs: Any) -> MaskedTensor:
    _check_binary(args, kwargs)
    data = func(*_data(args))
    mask = next(a for a in args if is_masked_tensor(a))._masked_mask
    return MaskedTensor(data, mask.expand_as(data))


def _binary_inplace(func: Any, *args: Any, **kwargs: Any) -> MaskedTensor:
    _check_binary(args, kwargs)
    x = args[0]
    if not is_masked_tensor(x):
        raise TypeError("a tensor with a mask cannot be written to one without")
    x._set_data_mask(func(*_data(args)), x._masked_mask)
    return x


def _copy(func: Any, x: Any, source: Any, *args: Any) -> Any:
    a, b = (_maybe_mask(t) for t in (x, source))
    if a is not None and b is not None and not bool((a == b).all()):
        raise ValueError("args[0] mask and args[1] mask must match but do not")
    func(_data(x), _data(source))
    return x


def _maybe_mask(x: Any) -> Tensor | None:
    return x._masked_mask if is_masked_tensor(x) else None


def _kept(func: Any, x: MaskedTensor, *args: Any, **kwargs: Any) -> MaskedTensor:
    return MaskedTensor(func(x._masked_data, *args, **kwargs), x._masked_mask)


def _number(func: Any, x: MaskedTensor) -> Any:
    if not bool(x._masked_mask):
        raise ValueError(f"__torch_dispatch__, {func}: expected a mask tensor")
    return func(x._masked_data)


def _softmax(func: Any, x: MaskedTensor, dim: int, *args: Any) -> MaskedTensor:
    filled = x._masked_data.masked_fill(~x._masked_mask, float("-inf"))
    # A row of which nothing counts is all zeros.
    return MaskedTensor(facula.softmax(filled, dim).nan_to_num(0.0), x._masked_mask)


def _softmax_backward(
    func: Any, grad: MaskedTensor, output: MaskedTensor, dim: int, *args: Any
) -> MaskedTensor:
    if not (is_masked_tensor(grad) and is_masked_tensor(output)):
        raise ValueError(f"__torch_dispatch__, {func}: grad and output must both be MaskedTensors")
    _check_masks(grad, output)
    y = output._masked_data
    inner = (grad._masked_data * y).masked_fill(~grad._masked_mask, 0)
    return MaskedTensor(inner - y * inner.sum(dim, True), grad._masked_mask)


def _where(func: Any, condition: Tensor, a: Any, b: Any) -> MaskedTensor:
    return chosen(_data(condition), a, b)


def _reduction(name: str) -> Callable[..., MaskedTensor]:
    return lambda func, *args, **kwargs: reduce(name, *args, **kwargs)


def _rules() -> dict[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {name: _reduction(name) for name in REDUCTIONS}
    rules |= dict.fromkeys(PASSED_ON, _passed_on)
    rules |= dict.fromkeys(UNARY, _unary) | dict.fromkeys(BINARY, _binary)
    rules |= dict.fromkeys([f"{name}_" for name in UNARY], _unary_inplace)
    rules |= dict.fromkeys([f"{name}_" for name in BINARY], _binary_inplace)
    rules |= dict.fromkeys(LIKE, _kept)
    rules |= dict.fromkeys(("detach", "clone", "_to_copy"), _kept)
    return rules | {
        "_local_scalar_dense": _number,
        "_softmax": _softmax,
        "softmax": _softmax,
        "softmax_backward_fused": _softmax_backward,
        "_softmax_backward_data": _softmax_backward,
        "copy_": _copy,
        "where": _where,
    }


RULES = _rules()
