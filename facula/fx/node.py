"""The nodes of a traced program: not built. `map_arg` and `map_aggregate` walk their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from facula._absent import absent_class

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

Node = absent_class("facula.fx.node.Node", "programs are not traced")
Target = Callable[..., Any] | str
Argument = Any
base_types = (str, int, float, bool, complex)


def has_side_effect(fn: Callable) -> Callable:
    """Return the function itself: nothing is removed from programs."""
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply a function to every leaf of nested tuples, lists, dicts and slices."""
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return [map_aggregate(x, fn) for x in a]
    if isinstance(a, dict):
        return {k: map_aggregate(v, fn) for k, v in a.items()}
    if isinstance(a, slice):
        return slice(*(map_aggregate(x, fn) for x in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply a function to every Node in nested arguments."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)
