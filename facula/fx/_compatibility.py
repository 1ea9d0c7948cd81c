"""Marks of how stable a name is; they change nothing."""

from collections.abc import Callable
from typing import TypeVar

__all__ = ["compatibility"]

_T = TypeVar("_T", bound=Callable)


def compatibility(is_backward_compatible: bool) -> Callable[[_T], _T]:
    """Return a decorator that gives back what it decorates."""
    return lambda fn: fn
