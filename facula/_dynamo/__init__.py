"""Names of PyTorch's capture of Python programs. Facula captures nothing: they change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from facula._dynamo import config, eval_frame, utils
from facula._dynamo.eval_frame import OptimizedModule
from facula.compiler import allow_in_graph, assume_constant_result, disable, is_compiling, reset

__all__ = ["OptimizedModule", "allow_in_graph", "disable", "is_compiling", "optimize", "reset"]


def optimize(*args: Any, **kwargs: Any) -> Callable:
    """Return `compile` with the given options, for use as a decorator."""
    from facula.compiler import compile

    return compile


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Accept that a size may change; every size may."""


def mark_static(t: Any, index: Any = None) -> None:
    """Accept that a size does not change."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Accept that a size may change; every size may."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Accept that a tensor's memory does not move."""


def graph_break(msg: str = "") -> None:
    """Do nothing: there is no graph to break."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Return the names of backends: none."""
    return []


def forbid_in_graph(fn: Any) -> Any:
    """Return the function itself."""
    return fn


def is_dynamo_supported() -> bool:
    """Say that programs are not captured."""
    return False
