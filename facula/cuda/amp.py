"""Mixed precision under its older name: `facula.amp` for CUDA devices."""

from __future__ import annotations

from typing import Any

import facula.amp as _amp
from facula.amp._old_names import warn_of_old_name

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_amp.autocast):
    """`facula.amp.autocast("cuda", ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        warn_of_old_name("cuda", "autocast", "autocast('cuda', ...)")
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`facula.amp.GradScaler("cuda", ...)`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn_of_old_name("cuda", "GradScaler", "GradScaler('cuda', ...)")
        super().__init__("cuda", *args, **kwargs)


def custom_fwd(fwd: Any = None, **kwargs: Any) -> Any:
    """`facula.amp.custom_fwd` for CUDA devices."""
    warn_of_old_name("cuda", "custom_fwd", "custom_fwd(..., device_type='cuda')")
    return _amp.custom_fwd(fwd, device_type="cuda", **kwargs)


def custom_bwd(bwd: Any) -> Any:
    """`facula.amp.custom_bwd` for CUDA devices."""
    warn_of_old_name("cuda", "custom_bwd", "custom_bwd(..., device_type='cuda')")
    return _amp.custom_bwd(bwd, device_type="cuda")
