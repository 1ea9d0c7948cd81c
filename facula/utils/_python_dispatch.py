"""Modes that see every operator: `__torch_dispatch__` of a `TorchDispatchMode`.

Inside `with mode:` each call of an operator goes to `mode.__torch_dispatch__(func, types, args,
kwargs)`, also those of backward passes and of composed functions' parts. The mode is off while it
runs, so `func(*args, **kwargs)` makes the call; what the mode returns is the result. `func` is one
of `facula.ops.aten`, named as the rows of Facula's operator table are; arguments that have their
default values are left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import facula
from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode:
    """A context in which operators go to `__torch_dispatch__` of this object.

    >>> class Names(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     y = facula.ones(2).exp()
    aten.ones.default
    aten.exp.default
    """

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Take a call; NotImplementedError unless a subclass defines it."""
        raise NotImplementedError

    def _take(self, handle: Any, name: str, schema: str, values: list) -> Any:
        func = facula.ops.row_overload(handle, name, schema)
        args, kwargs = func.given(values)
        return self.__torch_dispatch__(func, (), args, kwargs)

    def __enter__(self) -> TorchDispatchMode:
        _C._push_dispatch_mode(self._take)
        return self

    def __exit__(self, *exc: Any) -> None:
        _C._pop_dispatch_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchDispatchMode:
        """Make a mode of the class."""
        return cls(*args, **kwargs)


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that calls every operator as it is."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Call the operator."""
        return func(*args, **(kwargs or {}))


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Say whether a tensor is a subclass that capture can take apart."""
    return hasattr(type(t), "__tensor_flatten__") and hasattr(type(t), "__tensor_unflatten__")


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    return [taker.__self__ for taker in _C._dispatch_modes()]


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    modes = _get_current_dispatch_mode_stack()
    return modes[-1] if modes else None


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    modes = _get_current_dispatch_mode_stack()
    for _ in modes:
        _C._pop_dispatch_mode()
    try:
        yield modes
    finally:
        for mode in modes:
            _C._push_dispatch_mode(mode._take)
