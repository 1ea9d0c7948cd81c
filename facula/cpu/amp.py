"""Mixed precision under its older name: `facula.amp` for the CPU."""

from __future__ import annotations

import warnings
from typing import Any

import facula.amp as _amp

__all__ = ["GradScaler", "autocast"]


def _warn(name: str, instead: str) -> None:
    warnings.warn(
        f"facula.cpu.amp.{name} is deprecated: use facula.amp.{instead}",
        FutureWarning,
        stacklevel=3,
    )


class autocast(_amp.autocast):
    """`facula.amp.autocast("cpu", ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _warn("autocast", "autocast('cpu', ...)")
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`facula.amp.GradScaler("cpu", ...)`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradScaler", "GradScaler('cpu', ...)")
        super().__init__("cpu", *args, **kwargs)
