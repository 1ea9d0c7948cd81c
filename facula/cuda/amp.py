"""Mixed precision under its older name: `facula.amp` for CUDA devices."""

from __future__ import annotations

import warnings
from typing import Any

import facula.amp as _amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _warn(name: str, instead: str) -> None:
    warnings.warn(
        f"facula.cuda.amp.{name} is deprecated: use facula.amp.{instead}",
        FutureWarning,
        stacklevel=3,
    )


class autocast(_amp.autocast):
    """`facula.amp.autocast("cuda", ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _warn("autocast", "autocast('cuda', ...)")
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`facula.amp.GradScaler("cuda", ...)`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradScaler", "GradScaler('cuda', ...)")
        super().__init__("cuda", *args, **kwargs)


def custom_fwd(fwd: Any = None, **kwargs: Any) -> Any:
    """`facula.amp.custom_fwd` for CUDA devices."""
    _warn("custom_fwd", "custom_fwd(..., device_type='cuda')")
    return _amp.custom_fwd(fwd, device_type="cuda", **kwargs)


def custom_bwd(bwd: Any) -> Any:
    """`facula.amp.custom_bwd` for CUDA devices."""
    _warn("custom_bwd", "custom_bwd(..., device_type='cuda')")
    return _amp.custom_bwd(bwd, device_type="cuda")
