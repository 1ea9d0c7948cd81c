"""The module of a traced program: not built."""

from __future__ import annotations

from typing import Any

from facula import nn
from facula._absent import absent_class

_WHY = "programs are not traced"
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
GraphModule = absent_class("facula.fx.graph_module.GraphModule", _WHY, (nn.Module,))
_CodeOnlyModule = absent_class("facula.fx.graph_module._CodeOnlyModule", _WHY, (nn.Module,))


def _copy_attr(from_module: nn.Module, to_module: nn.Module, target: str) -> None:
    """Copy an attribute, named with dots, from one tree of modules to another."""
    *path, last = target.split(".")
    for name in path:
        child = getattr(from_module, name)
        here = getattr(to_module, name, None)
        if child is here:
            return
        if here is None:
            here = nn.Module()
            setattr(to_module, name, here)
        from_module, to_module = child, here
    value: Any = getattr(from_module, last)
    if isinstance(value, nn.Parameter) or not hasattr(value, "untyped_storage"):
        setattr(to_module, last, value)
    else:
        to_module.register_buffer(last, value)
