"""What `facula.cpu.amp` and `facula.cuda.amp` say, the older names of mixed precision."""

from __future__ import annotations

import warnings

from facula import _C

__all__ = ["warn_of_old_name"]


def warn_of_old_name(kind: str, name: str, instead: str) -> None:
    """Warn the caller's caller of `facula.KIND.amp.NAME`; `instead` is what facula.amp has."""
    warnings.warn(
        _C._package_words(f"facula.{kind}.amp.{name} is deprecated: use facula.amp.{instead}"),
        FutureWarning,
        stacklevel=3,
    )
