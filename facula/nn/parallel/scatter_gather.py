"""Splitting values over devices, of which there is at most one."""

from __future__ import annotations

from typing import Any

import facula

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> list[Any]:
    """Split tensors in nested containers along a dimension, a part for each device."""
    targets = list(target_gpus)

    def split(value: Any) -> list[Any]:
        if isinstance(value, facula.Tensor):
            pieces = value.chunk(len(targets), dim)
            return [p.to(t) for p, t in zip(pieces, targets, strict=False)]
        if isinstance(value, tuple) and value:
            rows = zip(*map(split, value), strict=False)
            if hasattr(value, "_fields"):
                return [type(value)(*row) for row in rows]
            return [tuple(row) for row in rows]
        if isinstance(value, list) and value:
            return [list(row) for row in zip(*map(split, value), strict=False)]
        if isinstance(value, dict) and value:
            return [type(value)(row) for row in zip(*map(split, value.items()), strict=False)]
        return [value for _ in targets]

    return split(inputs)


def scatter_kwargs(
    inputs: tuple, kwargs: dict | None, target_gpus: Any, dim: int = 0
) -> tuple[tuple, tuple]:
    """Split positional and keyword arguments."""
    first = scatter(inputs, target_gpus, dim) if inputs else []
    second = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(first), len(second))
    first += [()] * (count - len(first))
    second += [{}] * (count - len(second))
    return tuple(first), tuple(second)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Concatenate tensors in nested containers on one device."""
    first = outputs[0]
    if isinstance(first, facula.Tensor):
        parts = [t.to(target_device) for t in outputs]
        return facula.cat([t.unsqueeze(0) if t.dim() == 0 else t for t in parts], dim)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)((k, gather([d[k] for d in outputs], target_device, dim)) for k in first)
    rows = [gather(row, target_device, dim) for row in zip(*outputs, strict=True)]
    return type(first)(*rows) if hasattr(first, "_fields") else type(first)(rows)
