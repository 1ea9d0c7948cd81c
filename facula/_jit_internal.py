"""Names below `jit` that libraries import from PyTorch's private module."""

from __future__ import annotations

from typing import Any, Final

from facula.jit import (
    _overload,
    _overload_method,
    export,
    ignore,
    is_scripting,
    unused,
)
from facula.jit.annotations import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
)

__all__ = [
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Final",
    "_copy_to_script_wrapper",
    "_overload",
    "_overload_method",
    "boolean_dispatch",
    "export",
    "ignore",
    "is_scripting",
    "unused",
]


def _copy_to_script_wrapper(fn: Any) -> Any:
    """Return the function itself."""
    return fn


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Any,
    if_false: Any,
    module_name: str,
    func_name: str,
) -> Any:
    """Return a function that calls one of two by the value of a flag among its arguments."""

    def fn(*args: Any, **kwargs: Any) -> Any:
        flag = kwargs.get(arg_name, default)
        if arg_index < len(args):
            flag = args[arg_index]
        return (if_true if flag else if_false)(*args, **kwargs)

    fn.__name__ = func_name
    fn.__module__ = module_name
    return fn
