"""The accelerator of the machine, whatever its kind: there is none in this build."""

from __future__ import annotations

from typing import Any

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def _none(name: str) -> RuntimeError:
    return RuntimeError(f"accelerator.{name}: no accelerator is available")


def is_available() -> bool:
    """Say that there is no accelerator."""
    return False


def device_count() -> int:
    """Return the number of accelerators: 0."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """Return the kind of accelerator as a device: None."""
    return None


def current_device_index() -> int:
    """Return the number of the current accelerator; RuntimeError as there is none."""
    raise _none("current_device_index")


current_device_idx = current_device_index


def set_device_index(device: Any) -> None:
    """Make an accelerator the current one; RuntimeError as there is none."""
    raise _none("set_device_index")


set_device_idx = set_device_index


def current_stream(device: Any = None) -> Any:
    """Return the current stream; RuntimeError as there is no accelerator."""
    raise _none("current_stream")


def set_stream(stream: Any) -> None:
    """Make a stream the current one; RuntimeError as there is no accelerator."""
    raise _none("set_stream")


def synchronize(device: Any = None) -> None:
    """Wait for an accelerator; RuntimeError as there is none."""
    raise _none("synchronize")


class device_index:
    """A context in which an accelerator is the current one; with None it changes nothing."""

    def __init__(self, device: int | None) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            raise _none("device_index")

    def __exit__(self, *exc: Any) -> None:
        pass


def empty_cache() -> None:
    """Do nothing: no memory is held."""


def memory_allocated(device: Any = None) -> int:
    """Return the bytes that tensors use on an accelerator: 0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Return statistics of an accelerator's memory: none."""
    return {}


def get_memory_info(device_index: Any = None) -> tuple[int, int]:
    """Return free and total bytes of an accelerator; RuntimeError as there is none."""
    raise _none("get_memory_info")


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: nothing is counted."""
