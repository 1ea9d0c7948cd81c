"""Symbolic sizes: all sizes are numbers, so every guard is its condition."""

from __future__ import annotations

from typing import Any

from facula._absent import absent_class

__all__ = ["guard_or_false", "guard_or_true", "guard_size_oblivious", "is_symbolic"]

ShapeEnv = absent_class("facula.fx.experimental.symbolic_shapes.ShapeEnv", "sizes are numbers")


class GuardOnDataDependentSymNode(RuntimeError):
    """A decision over a size that is not known yet: never raised."""


def guard_or_false(a: Any) -> bool:
    """Return the truth of a condition."""
    return bool(a)


guard_or_true = guard_size_oblivious = guard_or_false
statically_known_true = guard_scalar = guard_or_false


def is_symbolic(val: Any) -> bool:
    """Say that a size is a number."""
    return False


def is_concrete_int(a: Any) -> bool:
    """Say that a size is a number."""
    return True
