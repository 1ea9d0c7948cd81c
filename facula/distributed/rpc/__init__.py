"""Calls of functions in other processes: not built."""

from __future__ import annotations

from typing import Any

from facula import _absent


def is_available() -> bool:
    """Say that calls to other processes are not supported."""
    return False


_absent.add_absent(
    globals(),
    "get_worker_info init_rpc remote rpc_async rpc_sync shutdown",
    "BackendType PyRRef RRef TensorPipeRpcBackendOptions WorkerInfo",
    "calls to other processes are not built",
)


def __getattr__(name: str) -> Any:
    if name in ("api", "functions"):
        import importlib

        return importlib.import_module(f"facula.distributed.rpc.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
