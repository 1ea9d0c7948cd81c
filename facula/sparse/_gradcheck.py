"""gradcheck of functions of sparse tensors: what is perturbed are the values that they keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from facula import _C
from facula.sparse._tensor import is_sparse, parts


def on_values(func: Callable, inputs: tuple) -> tuple[Callable, tuple]:
    """Give a function of values for one of sparse tensors, with strided results."""
    patterns = [_C._sparse_coalesce(x.detach()) if is_sparse(x) else None for x in inputs]

    def perturbed(*args: Any) -> Any:
        made = [
            a if pattern is None or is_sparse(a) else _C._sparse_map(pattern, a)
            for a, pattern in zip(args, patterns, strict=True)
        ]
        return _strided(func(*made))

    def values(x: Any, pattern: Any) -> Any:
        if pattern is None or not x.requires_grad:
            return x
        return parts(pattern).values.clone().requires_grad_()

    return perturbed, tuple(map(values, inputs, patterns))


def _strided(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return tuple(_strided(r) for r in result)
    return result.to_dense() if is_sparse(result) else result
