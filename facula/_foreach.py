"""`facula._foreach_*`: operators over lists of tensors, one tensor after the other.

Optimisers of other libraries use them. An element of the result is what the operator of the same
name gives; forms that end in `_` write to the tensors and return the list. Further arguments may
be a number, a list of numbers or of tensors (one an element), or a tensor without dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula

Tensor = facula.Tensor

_UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 "
    "neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
).split()
_NUMBERS = (int, float, complex)


def _tensors(value: Any, name: str, argument: str = "self") -> Any:
    """Check for a list or tuple of tensors; RuntimeError for an empty one."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(t, Tensor) for t in value):
        raise TypeError(
            f"{name}(): argument '{argument}' must be tuple of Tensors, not "
            f"{type(value).__name__}"
        )
    if not value:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return value


def _same_length(first: Any, other: Any) -> Any:
    if len(first) != len(other):
        raise RuntimeError(
            "Tensor lists must have the same number of tensors, "
            f"got {len(first)} and {len(other)}"
        )
    return other


def _each(tensors: Any, value: Any, name: str, scalar_tensor: bool = True) -> list[Any]:
    """Give the argument for each tensor."""
    if isinstance(value, _NUMBERS):
        return [value] * len(tensors)
    if isinstance(value, Tensor):
        if not scalar_tensor:
            raise TypeError(f"{name}(): a tensor is not accepted, expected a number or a list")
        if value.dim() != 0:
            raise RuntimeError(
                f"scalar tensor expected to be 0 dim but it has {value.dim()} dimensions and "
                f"{value.numel()} elements."
            )
        return [value] * len(tensors)
    if isinstance(value, (list, tuple)):
        if all(isinstance(v, Tensor) for v in value):
            return list(_same_length(tensors, value))
        if all(isinstance(v, _NUMBERS) for v in value):
            if len(value) != len(tensors):
                raise RuntimeError(
                    "Tensor list must have same number of elements as scalar list."
                )
            return list(value)
    raise TypeError(
        f"{name}(): expected a number, a tensor without dimensions, or a list of numbers or "
        f"tensors, not {type(value).__name__}"
    )


def _finish(tensors: Any, results: Any, inplace: bool) -> Any:
    """Run through the results; give the list itself for forms in place, else a tuple."""
    results = tuple(results)
    return tensors if inplace else results


def _unary(op: str, inplace: bool) -> Callable[..., Any]:
    method = op + "_" * inplace
    name = "_foreach_" + method

    def call(self: Any) -> Any:
        _tensors(self, name)
        return _finish(self, (getattr(t, method)() for t in self), inplace)

    return call


def _binary(op: str, inplace: bool) -> Callable[..., Any]:
    """add, sub, mul, div, pow, and maximum and its kin, which take no tensor."""
    method = op + "_" * inplace
    name = "_foreach_" + method
    arithmetic = op in ("add", "sub", "mul", "div")

    def apply(t: Any, v: Any, alpha: Any) -> Any:
        if alpha is not None:
            return getattr(t, method)(v, alpha=alpha)
        if op in ("maximum", "minimum", "clamp_max", "clamp_min"):
            bound = {"maximum": "min", "clamp_min": "min"}.get(op, "max")
            if inplace:
                return t.clamp_(**{bound: v})
            return facula.clamp(t, **{bound: v})
        return getattr(t, method)(v)

    def call(self: Any, other: Any, *, alpha: Any = 1) -> Any:
        if op == "pow" and not inplace and isinstance(self, _NUMBERS):
            return tuple(facula.pow(self, t) for t in _tensors(other, name, "exponent"))
        _tensors(self, name)
        values = _each(self, other, name, arithmetic)
        if type(alpha) is int and alpha == 1:
            alpha = None
        elif op not in ("add", "sub") or not isinstance(values[0], Tensor):
            raise TypeError(f"{name}(): alpha goes with tensors to add or subtract only")
        elif alpha is None:
            raise TypeError(f"{name}(): argument 'alpha' must be Number, not NoneType")
        pairs = zip(self, values, strict=True)
        return _finish(self, (apply(t, v, alpha) for t, v in pairs), inplace)

    return call


def _fused(op: str, inplace: bool) -> Callable[..., Any]:
    """addcmul and addcdiv: `self + value * tensor1 * tensor2` or `/ tensor2`."""
    method = op + "_" * inplace
    name = "_foreach_" + method

    def call(
        self: Any, tensor1: Any, tensor2: Any, value: Any = 1, *, scalars: Any = None
    ) -> Any:
        _tensors(self, name)
        first = _same_length(self, _tensors(tensor1, name, "tensor1"))
        second = _same_length(self, _tensors(tensor2, name, "tensor2"))
        factors = value if scalars is None else scalars
        if isinstance(factors, Tensor):
            if factors.dim() != 1 or factors.numel() != len(self):
                raise RuntimeError(
                    f"Expected length of scalars to match input of length {len(self)} but got "
                    f"a tensor of shape {tuple(factors.shape)}"
                )
            factors = factors.tolist()
        factors = _each(self, factors, name)
        rows = zip(self, first, second, factors, strict=True)
        return _finish(
            self, (getattr(t, method)(a, b, value=f) for t, a, b, f in rows), inplace
        )

    return call


def _lerp(inplace: bool) -> Callable[..., Any]:
    method = "lerp" + "_" * inplace

    def call(self: Any, tensors1: Any, weight: Any) -> Any:
        name = "_foreach_" + method
        _tensors(self, name)
        ends = _same_length(self, _tensors(tensors1, name, "tensors1"))
        weights = _each(self, weight, name, False)
        rows = zip(self, ends, weights, strict=True)
        return _finish(self, (getattr(t, method)(e, w) for t, e, w in rows), inplace)

    return call


def _foreach_norm(self: Any, ord: float = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """Give the vector norm of each tensor."""
    _tensors(self, "_foreach_norm")
    return tuple(facula.linalg.vector_norm(t, ord, dtype=dtype) for t in self)


def _foreach_powsum(self: Any, ord: float = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """Give the sum of the powers of the absolute values of each tensor."""
    _tensors(self, "_foreach_powsum")
    return tuple(t.abs().pow(ord).sum(dtype=dtype) for t in self)


def _foreach_max(self: Any) -> tuple[Tensor, ...]:
    """Give the largest element of each tensor."""
    return tuple(t.max() for t in _tensors(self, "_foreach_max"))


def _foreach_clone(self: Any, *, memory_format: Any = facula.preserve_format) -> Any:
    """Copy each tensor."""
    return tuple(t.clone(memory_format=memory_format) for t in _tensors(self, "_foreach_clone"))


def _foreach_mm(self: Any, mat2: Any) -> tuple[Tensor, ...]:
    """Give the product of each pair of matrices."""
    _same_length(_tensors(self, "_foreach_mm"), _tensors(mat2, "_foreach_mm", "mat2"))
    return tuple(facula.mm(a, b) for a, b in zip(self, mat2, strict=True))


def _foreach_zero_(self: Any) -> Any:
    """Fill each tensor with zeros."""
    return _finish(self, (t.zero_() for t in _tensors(self, "_foreach_zero_")), True)


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Copy each tensor of `src` into the one at its place."""
    _same_length(_tensors(self, "_foreach_copy_"), _tensors(src, "_foreach_copy_", "src"))
    pairs = zip(self, src, strict=True)
    return _finish(self, (t.copy_(s, non_blocking) for t, s in pairs), True)


def _make() -> None:
    makers: list[tuple[str, Callable[[bool], Callable[..., Any]]]] = [
        (op, lambda inplace, op=op: _unary(op, inplace)) for op in _UNARY
    ]
    for op in "add sub mul div pow maximum minimum clamp_max clamp_min".split():
        makers.append((op, lambda inplace, op=op: _binary(op, inplace)))
    for op in ("addcmul", "addcdiv"):
        makers.append((op, lambda inplace, op=op: _fused(op, inplace)))
    makers.append(("lerp", _lerp))
    for op, make in makers:
        for inplace in (False, True):
            function = make(inplace)
            function.__name__ = function.__qualname__ = "_foreach_" + op + "_" * inplace
            function.__doc__ = f"Apply `{op}{'_' * inplace}` to each tensor of a list."
            globals()[function.__name__] = function


_make()
