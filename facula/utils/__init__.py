"""Utilities that belong to no single layer; each part is imported at its first use."""

from __future__ import annotations

import importlib
from typing import Any

_PARTS = ("checkpoint", "data", "dlpack", "hooks")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"facula.utils.{name}")
    raise AttributeError(f"module 'facula.utils' has no attribute '{name}'")
