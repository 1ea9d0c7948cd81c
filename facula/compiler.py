"""`compile` and what surrounds it. Nothing is compiled: functions run as they are, eagerly."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from facula import _absent

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
    "substitute_in_graph",
    "wrap_numpy",
]


def compile(
    model: Callable | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Return the function or module itself: it runs eagerly, with the same results.

    Without `model` it returns a decorator. The first use says that nothing was compiled.
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if model is None:
        return lambda f: compile(f, disable=disable)
    if not callable(model):
        raise RuntimeError(f"compile: expected a function or a module, got {type(model).__name__}")
    if not disable:
        _absent.once("facula.compile", "nothing is compiled, the function runs as it is")
    return model


def _identity(fn: Any = None, *args: Any, **kwargs: Any) -> Any:
    if fn is None:
        return lambda f: f
    return fn


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the function itself; nothing is compiled anyway."""
    return _identity(fn)


def allow_in_graph(fn: Any) -> Any:
    """Return the function itself."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """Return the function itself."""
    return fn


def substitute_in_graph(original_fn: Any, **kwargs: Any) -> Callable:
    """Return a decorator that changes nothing."""
    return _identity


def wrap_numpy(fn: Any) -> Any:
    """Return the function itself."""
    return fn


def is_compiling() -> bool:
    """Say that no program is being captured."""
    return False


def is_dynamo_compiling() -> bool:
    """Say that no program is being captured."""
    return False


def is_exporting() -> bool:
    """Say that no program is being exported."""
    return False


def reset() -> None:
    """Forget compiled programs: there are none."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: no graphs of kernels are kept."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Return the names of backends: none."""
    return []


@contextlib.contextmanager
def set_stance(stance: str = "default", **kwargs: Any) -> Iterator[None]:
    """Accept how compiled programs should behave."""
    yield


load_compiled_function = _absent.absent_function("facula.compiler.load_compiled_function")
