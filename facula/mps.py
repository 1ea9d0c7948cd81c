"""Apple GPUs: this build has none."""

from __future__ import annotations

from facula._no_device import (
    _is_in_bad_fork,
    current_allocated_memory,
    device_count,
    driver_allocated_memory,
    empty_cache,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    refusal,
)

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]

_none = refusal("mps")
synchronize = current_device = set_device = current_stream = get_device_name = _none
get_device_properties = get_device_capability = get_rng_state = set_rng_state = _none
