"""The choice among implementations of scaled_dot_product_attention; on the CPU there is one."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable, Iterator

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """The implementations that a program may ask for."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_enabled: list[SDPBackend] = [b for b in SDPBackend if b is not SDPBackend.ERROR]


def _cur_sdpa_kernel_backends() -> list[SDPBackend]:
    return list(_enabled)


@contextlib.contextmanager
def sdpa_kernel(
    backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False
) -> Iterator[None]:
    """Allow only these implementations inside the block; all of them give the same result."""
    global _enabled
    wanted = [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    if not wanted or not all(isinstance(b, SDPBackend) for b in wanted):
        raise AssertionError("Backends must be an instance of SDPBackend or a list of them")
    before, _enabled = _enabled, wanted
    try:
        yield
    finally:
        _enabled = before


def _get_flash_version() -> str:
    """Return the version of flash attention for GPUs: none is there."""
    return ""
