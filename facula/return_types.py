"""The named tuples that operators with several results give; each is made at its first use."""

from __future__ import annotations

from typing import Any

from facula import _C


def __getattr__(name: str) -> Any:
    if hasattr(_C._return_types, name):
        return getattr(_C._return_types, name)
    raise AttributeError(f"module 'facula.return_types' has no attribute {name!r}")
