"""Apple GPUs: this build has none."""

from __future__ import annotations

from typing import Any

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]


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


def _is_in_bad_fork() -> bool:
    return False


def _none(*args: Any, **kwargs: Any) -> Any:
    """Raise RuntimeError: there is no such device."""
    raise RuntimeError("mps: no such device is available")


synchronize = current_device = set_device = current_stream = get_device_name = _none
get_device_properties = get_device_capability = get_rng_state = set_rng_state = _none
