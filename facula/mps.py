"""Apple GPUs: this build has none."""

from __future__ import annotations

from facula._no_device import *
from facula._no_device import refusal

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]

_none = refusal("mps")
synchronize = current_device = set_device = current_stream = get_device_name = _none
get_device_properties = get_device_capability = get_rng_state = set_rng_state = _none
