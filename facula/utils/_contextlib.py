"""Context managers that are decorators as well."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["context_decorator"]


def context_decorator(context: Any, func: Callable) -> Callable:
    """Let a function, or every step of a generator function, run inside a context.

    `context` is a context manager, or a function that makes one for each call.
    """
    if isinstance(func, type):
        raise TypeError(
            f"Cannot decorate classes, only functions; decorate the methods of {func.__name__}"
        )
    make = context if callable(context) and not hasattr(context, "__enter__") else lambda: context
    if inspect.isgeneratorfunction(func):
        from facula.autograd.grad_mode import _wrap_generator

        return _wrap_generator(make, func)

    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with make():
            return func(*args, **kwargs)

    return decorated


class _DecoratorContextManager:
    """A context manager that decorates functions: each call runs inside a fresh clone."""

    def __call__(self, orig_func: Callable) -> Callable:
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: Any) -> Any:
        raise NotImplementedError

    def clone(self) -> _DecoratorContextManager:
        """Make a fresh context of the same meaning; subclasses with arguments override it."""
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that may stand above a function without being called."""

    def __new__(cls, orig_func: Callable | None = None) -> Any:
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)
