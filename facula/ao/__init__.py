"""Names below PyTorch's `ao`: quantisation and pruning."""

from __future__ import annotations

import importlib as _importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("quantization", "nn", "pruning"):
        return _importlib.import_module(f"facula.ao.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
