"""Memory of CUDA devices: nothing is held, as there are none."""

from __future__ import annotations

from typing import Any

from facula.cuda import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
)

__all__ = [
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
]


def memory_snapshot(*args: Any, **kwargs: Any) -> list:
    """Return the blocks of a device's memory: none."""
    return []


def _record_memory_history(*args: Any, **kwargs: Any) -> None:
    """Accept whether allocations are recorded: there are none."""


def _snapshot(device: Any = None) -> dict[str, Any]:
    return {"segments": [], "device_traces": []}


def _dump_snapshot(filename: str = "dump_snapshot.pickle") -> None:
    raise RuntimeError("cuda.memory._dump_snapshot: no CUDA device is available")
