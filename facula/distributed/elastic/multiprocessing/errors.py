"""Errors of started processes: the decorator changes nothing."""

from __future__ import annotations

from typing import Any

__all__ = ["record"]


def record(fn: Any, error_handler: Any = None) -> Any:
    """Return the function itself: errors are not written to a file for a launcher."""
    return fn


class ChildFailedError(Exception):
    """A started process has failed."""
