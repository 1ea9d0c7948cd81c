"""Python's multiprocessing, with `spawn` and `start_processes`.

Tensors that go through queues and pipes are copied. `Tensor.share_memory_` shares memory with
forked processes.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403
from multiprocessing import (
    Manager,
    Pool,
    Process,
    Queue,
    SimpleQueue,
    current_process,
    get_all_start_methods,
    get_context,
    get_start_method,
    set_start_method,
)
from typing import Any

from facula.multiprocessing.spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *_multiprocessing.__all__,
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]

_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """Return the names of ways to share memory that programs may choose."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """Return the name that was chosen; tensors are copied with either."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose a way to share memory; tensors are copied with either."""
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}")
    _strategy = new_strategy


def init_reductions() -> None:
    """Do nothing: tensors are pickled by themselves."""


def _set_thread_name(name: str) -> None:
    """Accept a name for the thread."""


def __getattr__(name: str) -> Any:
    return getattr(_multiprocessing, name)
