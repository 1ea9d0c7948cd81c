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

__all__ = [
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


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
        func, row = facula.ops.row_overload(handle, name, schema)
        args, kwargs = row.given(values)
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
    """Say whether a tensor is of a class that says what its tensors consist of, by
    `__tensor_flatten__` and `__tensor_unflatten__`.
    """
    if not isinstance(t, facula.Tensor) or type(t) is facula.Tensor:
        return False
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Say whether a class of tensors says what they consist of."""
    return (
        issubclass(t, facula.Tensor)
        and t is not facula.Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def transform_subclass(
    t: Any, callback: Any, outer_size: Any = None, outer_stride: Any = None
) -> Any:
    """Make a tensor like `t` whose parts are what `callback(name, part)` gives for those of `t`.

    The class of `t` takes it apart by `__tensor_flatten__` and puts the parts together by
    `__tensor_unflatten__(parts, context, outer_size, outer_stride)`.
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(parts, context, size, stride)
    if made.shape != size or made.stride() != stride:
        raise AssertionError(
            f"transform_subclass: __tensor_unflatten__ of {type(t).__name__} gave size "
            f"{tuple(made.shape)} and strides {made.stride()}, expected {tuple(size)} and "
            f"{tuple(stride)}"
        )
    return made


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """Give the result of a `__torch_dispatch__` as its operator would: an operator that writes, or
    has an `out=`, gives the tensor that it wrote to, and others what the class has made.
    """
    target = (kwargs or {}).get("out")
    if target is not None:
        return target
    name = func.overloadpacket.__name__
    if name.endswith("_") and not name.endswith("__") and args:
        return args[0]
    return out


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
