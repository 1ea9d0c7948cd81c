"""What the tracer of whole programs keeps; nothing is traced here, so it keeps nothing."""

from __future__ import annotations

from typing import Any

__all__ = ["CompileContext", "TracingContext", "active_fake_mode", "detect_fake_mode"]


def active_fake_mode() -> None:
    """Give the running mode that makes tensors without data: there is none."""


def detect_fake_mode(inputs: Any = None) -> None:
    """Give the mode that made one of the inputs: none of them is without data."""


class TracingContext:
    """A trace of a program; there never is one."""

    @staticmethod
    def try_get() -> None:
        """Give the running trace, or None."""

    @staticmethod
    def get() -> TracingContext:
        """Give the running trace; RuntimeError, since there is none."""
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")


class CompileContext(TracingContext):
    """A compilation of a program; there never is one."""
