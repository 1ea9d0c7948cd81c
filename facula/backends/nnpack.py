"""NNPACK: whether this build uses it.

>>> import facula
>>> facula.backends.nnpack.is_available()
False
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

_enabled = False


def is_available() -> bool:
    """Say whether the build has it."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Note whether it should be used and return a tuple of what was noted before."""
    before = globals()["_enabled"]
    globals()["_enabled"] = bool(_enabled)
    return (before,)


@contextlib.contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """Note whether it should be used while the block runs."""
    before = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(*before)
