"""The table of the operators of sparse tensors, by name, and what their families share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from facula import _C
from facula.sparse._tensor import SparseTensor, is_sparse

Tensor = _C.Tensor

TABLE: dict[str, Callable[..., Any]] = {}


def entry(*names: str) -> Callable[[Callable], Callable]:
    """Register a function, which takes the arguments of the strided operator, under names."""

    def add(function: Callable) -> Callable:
        for name in names:
            TABLE[name] = function
        return function

    return add


def entry_of_tensors(count: int, *names: str) -> Callable[[Callable], Callable]:
    """Register an operator whose first arguments must be tensors."""

    def add(function: Callable) -> Callable:
        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for a in args[:count]:
                if not isinstance(a, Tensor):
                    kind = type(a).__name__
                    raise TypeError(f"{names[0]}(): expected a Tensor as argument, got {kind}")
            return function(*args, **kwargs)

        return entry(*names)(checked)

    return add


def on_values(t: SparseTensor, function: Callable[[Tensor], Tensor]) -> SparseTensor:
    """Apply a function to the values, which it must not reshape; others stay zero."""
    t = _C._sparse_settled(t)
    return _C._sparse_map(t, function(_C._sparse_raw_values(t)))


def coalesced(t: SparseTensor) -> SparseTensor:
    """Coalesce a COO tensor; others are given back as they are."""
    return _C._sparse_coalesce(t)


def is_number(x: Any) -> bool:
    return not isinstance(x, Tensor) or (not is_sparse(x) and x.dim() == 0)


def no_out(name: str, out: Any) -> None:
    if out is not None:
        raise NotImplementedError(f"{name}: out= is not built for sparse tensors")


def cast(t: SparseTensor, dtype: Any) -> SparseTensor:
    return t if dtype is None or dtype == t.dtype else on_values(t, lambda v: v.to(dtype))
