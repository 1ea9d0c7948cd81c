"""cuDNN: settings that programs make; this build has no CUDA."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

enabled = False
benchmark = False
deterministic = True
allow_tf32 = False
benchmark_limit = 10


def is_available() -> bool:
    """Say whether the build has cuDNN."""
    return False


def is_acceptable(tensor: Any) -> bool:
    """Say that cuDNN takes no tensor."""
    return False


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    **kwargs: Any,
) -> Iterator[None]:
    """Change the settings while the block runs."""
    settings = vars(sys.modules[__name__])
    new = {
        "enabled": enabled,
        "benchmark": benchmark,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    before = {name: settings[name] for name in new}
    settings.update(new)
    try:
        yield
    finally:
        settings.update(before)


def version() -> None:
    """Give None: there is no cuDNN."""
