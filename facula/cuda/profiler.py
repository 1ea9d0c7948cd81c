"""Starting and stopping NVIDIA's profilers, which see nothing of a program on the CPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Do nothing."""


def stop() -> None:
    """Do nothing."""


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Run the block."""
    yield
