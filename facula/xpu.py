"""Intel GPUs: this build has none."""

from __future__ import annotations

from collections.abc import Iterable

from facula._no_device import *
from facula._no_device import refusal

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]

_none = refusal("xpu")
synchronize = current_device = set_device = current_stream = get_device_name = _none
get_device_properties = get_device_capability = get_rng_state = set_rng_state = _none
mem_get_info = set_stream = memory_stats = is_current_stream_capturing = _none


def get_rng_state_all() -> list:
    """Return the states of the devices' generators: there are none."""
    return []


def set_rng_state_all(new_states: Iterable) -> None:
    """Accept the states of the devices' generators: there are none."""
