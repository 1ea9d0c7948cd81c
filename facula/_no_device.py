"""What the modules of accelerators that this build has no support for have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "_is_in_bad_fork", "current_allocated_memory", "device_count", "driver_allocated_memory",
    "empty_cache", "is_available", "is_bf16_supported", "is_initialized", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "refusal", "reset_accumulated_memory_stats", "reset_peak_memory_stats",
]  # fmt: skip


def is_available() -> bool:
    """Say that there is no such device."""
    return False


def is_initialized() -> bool:
    """Say that no such device has been started."""
    return False


def device_count() -> int:
    """Return the number of such devices: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Accept a seed for the generator of a device."""


def manual_seed_all(seed: int) -> None:
    """Accept a seed for the generators of all devices."""


def empty_cache() -> None:
    """Do nothing: no memory is held."""


def memory_allocated(device: Any = None) -> int:
    """Return the bytes that tensors use on a device: 0."""
    return 0


current_allocated_memory = driver_allocated_memory = memory_allocated
max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: nothing is counted."""


reset_accumulated_memory_stats = reset_peak_memory_stats


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Say that there is no device which computes in bfloat16."""
    return False


def _is_in_bad_fork() -> bool:
    return False


def refusal(kind: str) -> Callable[..., Any]:
    """Return the function that raises RuntimeError: there is no device of this kind."""

    def _none(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{kind}: no such device is available")

    return _none
