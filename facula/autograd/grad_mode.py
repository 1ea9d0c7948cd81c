"""no_grad, enable_grad, set_grad_enabled and inference_mode: context managers and decorators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

_GENERATOR = 0x20  # the flag of a code object that yields


def _wrap_generator(make: Callable, f: Callable) -> Callable:
    """Make every step of a generator run inside a fresh context."""

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Generator:
        generator = f(*args, **kwargs)
        try:
            with make():
                value = generator.send(None)
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    with make():
                        generator.close()
                    raise
                except BaseException as error:
                    with make():
                        value = generator.throw(error)
                else:
                    with make():
                        value = generator.send(sent)
        except StopIteration as end:
            return end.value

    return wrapped


class _Mode(_C._GradMode):
    """A mode of recording that is a context manager and a decorator."""

    def clone(self) -> _Mode:
        """Give a fresh object of the same meaning."""
        return type(self)()

    def __call__(self, f: Callable) -> Callable:
        """Decorate a function or generator function: it runs inside the mode."""
        code = getattr(f, "__code__", None)
        if code is not None and code.co_flags & _GENERATOR:
            return _wrap_generator(self.clone, f)

        @functools.wraps(f)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return f(*args, **kwargs)

        return wrapped


class no_grad(_Mode):
    """Switch the recording of gradients off, for a block or a function."""

    def __new__(cls, orig_func: Callable | None = None) -> Any:
        """Make a mode, or decorate a function directly."""
        mode = super().__new__(cls)
        return mode if orig_func is None else mode(orig_func)


class enable_grad(_Mode):
    """Switch the recording of gradients on, for a block or a function."""

    def __new__(cls, orig_func: Callable | None = None) -> Any:
        """Make a mode, or decorate a function directly."""
        mode = super().__new__(cls)
        mode._set(False, False, False)
        return mode if orig_func is None else mode(orig_func)


class set_grad_enabled(_Mode):
    """Switch the recording of gradients on or off: at once, and until the end of a block."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.mode = mode
        self.prev = _C._set_grad_enabled(mode)

    def clone(self) -> set_grad_enabled:
        """Give a fresh object of the same meaning."""
        return type(self)(self.mode)

    def __call__(self, f: Callable) -> Callable:
        """Decorate a function; the mode outside stays what it was."""
        _C._set_grad_enabled(self.prev)
        return super().__call__(f)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *exc: Any) -> None:
        _C._set_grad_enabled(self.prev)


class inference_mode(_Mode):
    """Switch the recording of gradients off for good: tensors made inside never get a history."""

    def __new__(cls, mode: Any = True) -> Any:
        """Make a mode, or decorate a function directly."""
        made = super().__new__(cls)
        if callable(mode):
            made.mode = True
            made._set(True, True, True)
            return made(mode)
        made.mode = bool(mode)
        made._set(True, made.mode, True)
        return made

    def clone(self) -> inference_mode:
        """Give a fresh object of the same meaning."""
        return type(self)(self.mode)
