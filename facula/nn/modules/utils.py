"""Small helpers of the module classes: numbers repeated to tuples, padding lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from types import FunctionType
from typing import Any


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple]:
    def parse(x: Any) -> tuple:
        if isinstance(x, Iterable):
            return tuple(x)
        return tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple, n: int) -> tuple:
    """Reverse `t` and repeat each entry `n` times: sizes per dimension become the list that
    `functional.pad` takes.
    """
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: list[int]) -> list[int]:
    """Replace the None entries of an output size by the last entries of `defaults`."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [
        v if v is not None else d
        for v, d in zip(out_size, defaults[-len(out_size) :], strict=False)
    ]


def _own_constructor(cls: type) -> None:
    """Give a class that shares the constructor of its base class one of its own, so that errors
    about arguments name the class that was called; Module's constructor does so by itself.
    """
    shared = cls.__init__
    if shared.__qualname__ in ("Module.__init__", f"{cls.__qualname__}.__init__"):
        return
    own = FunctionType(
        shared.__code__, shared.__globals__, "__init__", shared.__defaults__, shared.__closure__
    )
    for name in ("__kwdefaults__", "__annotations__", "__doc__", "__module__"):
        setattr(own, name, getattr(shared, name))
    own.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = own


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take `prefix` off the names in a state dict that have it, in place.

    The versions of modules that a state dict of `Module.state_dict` carries follow. A network
    saved inside a wrapper can so be loaded without it.

    Example:
        >>> from facula.nn.modules.utils import consume_prefix_in_state_dict_if_present
        >>> state = {"module.weight": 1, "step": 2}
        >>> consume_prefix_in_state_dict_if_present(state, "module.")
        >>> state
        {'step': 2, 'weight': 1}
    """
    for name in [name for name in state_dict if name.startswith(prefix)]:
        state_dict[name[len(prefix) :]] = state_dict.pop(name)
    versions = getattr(state_dict, "_metadata", {})
    for name in [name for name in versions if name]:
        if name == prefix.replace(".", "") or name.startswith(prefix):
            versions[name[len(prefix) :]] = versions.pop(name)
