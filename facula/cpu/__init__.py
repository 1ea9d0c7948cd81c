"""Memory of the CPU: statistics and the cache of idle blocks.

The names and keys are those that PyTorch has for accelerators.
"""

from __future__ import annotations

from facula import _C

__all__ = [
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "synchronize",
]


def is_available() -> bool:
    """Say that there is a CPU."""
    return True


def synchronize(device: object = None) -> None:
    """Do nothing: work on the CPU is finished when a call returns."""


def memory_stats(device: object = None) -> dict[str, int]:
    """Return statistics of the allocator.

    `allocated_bytes` is what tensors use, `reserved_bytes` what was obtained from the system, each
    with `.all.current` and `.all.peak`; the counts `num_alloc_retries` and `num_ooms` say how often
    the caches had to be emptied and how often that was not enough.
    """
    raw = _C._memory_stats()
    stats = {}
    for key, value in raw.items():
        name, dot, kind = key.partition(".")
        stats[f"{name}.all.{kind}" if dot else name] = value
    return stats


def memory_allocated(device: object = None) -> int:
    """Return the bytes that tensors use now."""
    return _C._memory_stats()["allocated_bytes.current"]


def max_memory_allocated(device: object = None) -> int:
    """Return the most bytes that tensors used at once since the last reset."""
    return _C._memory_stats()["allocated_bytes.peak"]


def memory_reserved(device: object = None) -> int:
    """Return the bytes obtained from the system: those in use, rounding and idle blocks."""
    return _C._memory_stats()["reserved_bytes.current"]


def max_memory_reserved(device: object = None) -> int:
    """Return the most bytes obtained from the system since the last reset."""
    return _C._memory_stats()["reserved_bytes.peak"]


def reset_peak_memory_stats(device: object = None) -> None:
    """Make every peak equal to the current value."""
    _C._reset_peak_memory_stats()


def empty_cache() -> None:
    """Return idle blocks to the system."""
    _C._empty_cache()


def device_count() -> int:
    """Return the number of CPUs as devices: 1."""
    return 1


def current_device() -> str:
    """Return the name of the device."""
    return "cpu"


def set_device(device: object) -> None:
    """Accept the device: there is one."""


class Stream:
    """A queue of work; on the CPU work is done at once."""

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: object) -> None:
        """Do nothing: no work is waiting."""

    def synchronize(self) -> None:
        """Do nothing: no work is waiting."""


class StreamContext:
    """A context that changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


def current_stream(device: object = None) -> Stream:
    """Return the queue of work."""
    return Stream()


def stream(stream: Stream) -> StreamContext:
    """Return a context that changes nothing."""
    return StreamContext(stream)


def __getattr__(name: str) -> object:
    if name == "amp":
        import importlib

        return importlib.import_module("facula.cpu.amp")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
