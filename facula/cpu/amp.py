"""Mixed precision under its older name: `facula.amp` for the CPU."""

from __future__ import annotations

from typing import Any

import facula.amp as _amp
from facula.amp._old_names import warn_of_old_name

__all__ = ["GradScaler", "autocast"]


class autocast(_amp.autocast):
    """`facula.amp.autocast("cpu", ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        warn_of_old_name("cpu", "autocast", "autocast('cpu', ...)")
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`facula.amp.GradScaler("cpu", ...)`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn_of_old_name("cpu", "GradScaler", "GradScaler('cpu', ...)")
        super().__init__("cpu", *args, **kwargs)
