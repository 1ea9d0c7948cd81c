"""Decorators for functions that export operators: they change nothing, as nothing is exported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["parse_args", "quantized_args"]


def parse_args(*arg_descriptors: str) -> Callable[[Any], Any]:
    """Return a decorator that changes nothing."""
    return lambda fn: fn


def quantized_args(*arg_q_descriptors: bool, **kwargs: Any) -> Callable[[Any], Any]:
    """Return a decorator that changes nothing."""
    return lambda fn: fn


def _unimplemented(op: str, msg: str, value: Any = None) -> None:
    raise NotImplementedError(f"onnx: {op}: {msg}")
