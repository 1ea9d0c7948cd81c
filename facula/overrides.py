"""__torch_function__: questions about overrides, the call of them, and function modes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from facula import _C

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
]

has_torch_function = _C._has_torch_function
has_torch_function_unary = _C._has_torch_function_unary
has_torch_function_variadic = _C._has_torch_function_variadic
_disabled_torch_function_impl = _C._disabled_torch_function_impl


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable, *args: Any, **kwargs: Any
) -> Any:
    """Call the overrides of `public_api` that the relevant arguments define."""
    return _C._handle_torch_function(public_api, tuple(relevant_args), args, kwargs)


def get_default_nowrap_functions() -> set[Callable]:
    """Return the functions whose results do not become the subclass of their argument."""
    tensor = _C.Tensor
    names = ("_base", "grad", "_grad")
    found = {getattr(getattr(tensor, name, None), "__get__", None) for name in names}
    return {f for f in found if f is not None}


def is_tensor_like(inp: Any) -> bool:
    """Say whether an object is a tensor or defines `__torch_function__`."""
    return isinstance(inp, _C.Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable) -> bool:
    """Say whether a function is a method or an attribute's getter of Tensor."""
    name = getattr(func, "__name__", None)
    return name == "__get__" or getattr(_C.Tensor, name or "", None) is func


def resolve_name(f: Callable) -> str | None:
    """Give the dotted name of a function."""
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", getattr(f, "__name__", None))
    if name is None:
        return None
    return f"{module}.{name}" if module else f"facula.Tensor.{name}"


class TorchFunctionMode:
    """A context in which every function call goes to `__torch_function__` of this object."""

    def __torch_function__(
        self, func: Callable, types: tuple, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        _C._push_torch_function_mode(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        _C._pop_torch_function_mode()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A function mode that calls every function as it is."""

    def __torch_function__(
        self, func: Callable, types: tuple, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """A context in which subclasses do not override functions."""

    def __enter__(self) -> None:
        self._before = _C._set_torch_function_disabled(True)

    def __exit__(self, *exc: Any) -> None:
        _C._set_torch_function_disabled(self._before)


def enable_reentrant_dispatch() -> Any:
    """Give a context that changes nothing: overrides run with their mode off anyway."""
    import contextlib

    return contextlib.nullcontext()
