"""Mixed precision under its older name: `facula.amp` for the CPU."""

from __future__ import annotations

from typing import Any

import facula.amp as _amp

__all__ = ["GradScaler", "autocast"]


class autocast(_amp.autocast):
    """`facula.amp.autocast("cpu", ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`facula.amp.GradScaler("cpu", ...)`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("cpu", *args, **kwargs)
