"""Names of TorchScript. Decorators return what they decorate; nothing is compiled or traced.

`script` returns the function or module itself, which runs as Python with the same results.
Making, saving and loading TorchScript programs is not built.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from facula import _absent, nn
from facula.jit import annotations

__all__ = [
    "Attribute",
    "Final",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "trace",
    "unused",
    "wait",
]

_WHY = "TorchScript programs are neither made nor read"
_python_isinstance = isinstance


class ScriptModule(nn.Module):
    """A module that is a TorchScript program. There are none; subclasses are ordinary modules."""

    def save(self, f: Any, **kwargs: Any) -> None:
        """Raise: TorchScript programs are not written."""
        raise _absent.missing("facula.jit.ScriptModule.save", _WHY)


RecursiveScriptModule = TopLevelTracedModule = ScriptModule
ScriptFunction = _absent.absent_class("facula.jit.ScriptFunction", _WHY)
CompilationUnit = _absent.absent_class("facula.jit.CompilationUnit", _WHY)
trace = _absent.absent_function("facula.jit.trace", _WHY)
trace_module = _absent.absent_function("facula.jit.trace_module", _WHY)
_get_trace_graph = _absent.absent_function("facula.jit._get_trace_graph", _WHY)
load = _absent.absent_function("facula.jit.load", _WHY)
save = _absent.absent_function("facula.jit.save", _WHY)


class Error(RuntimeError):
    """An error inside a TorchScript program, for `except`: there are none."""


class TracerWarning(Warning):
    """A warning of tracing, for filters: nothing is traced."""


class ScriptWarning(Warning):
    """A warning of scripting, for filters: nothing is compiled."""


def fork(func: Callable, *args: Any, **kwargs: Any) -> Any:
    """Call a function and return a Future of its result, which is there already."""
    from facula.futures import Future

    future: Future = Future()
    try:
        future.set_result(func(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future


def wait(future: Any) -> Any:
    """Give the result of a Future."""
    return future.wait()


_fork, _wait = fork, wait


class strict_fusion(contextlib.ContextDecorator):  # noqa: N801
    """A context that changes nothing: nothing is fused."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass


class Attribute:
    """A value with the type that TorchScript would give it."""

    def __init__(self, value: Any, type: Any) -> None:
        self.value, self.type = value, type


def script(obj: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the function, class or module itself: it runs as Python."""
    if obj is None:
        return lambda f: f
    _absent.once("facula.jit.script", "nothing is compiled, the code runs as Python")
    return obj


def script_if_tracing(fn: Callable) -> Callable:
    """Return the function itself: nothing is ever traced."""
    return fn


_script_if_tracing = script_if_tracing


def script_method(fn: Callable) -> Callable:
    """Return the method itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Return the function itself, or a decorator that does."""
    return drop if callable(drop) else (lambda f: f)


def unused(fn: Any) -> Any:
    """Return the function or property itself."""
    return fn


def export(fn: Any) -> Any:
    """Return the method itself."""
    return fn


def interface(obj: Any) -> Any:
    """Return the class itself."""
    return obj


def _overload(func: Any) -> Any:
    """Return the function itself; the last definition of a name counts."""
    return func


def _overload_method(func: Any) -> Any:
    """Return the method itself; the last definition of a name counts."""
    return func


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Say whether an object has a type; of a generic type only the container is looked at."""
    import typing
    from types import UnionType

    if typing.get_origin(target_type) in (typing.Union, UnionType):
        return any(isinstance(obj, kind) for kind in typing.get_args(target_type))
    kinds = target_type if _python_isinstance(target_type, tuple) else (target_type,)
    return _python_isinstance(obj, tuple(typing.get_origin(kind) or kind for kind in kinds))


def is_scripting() -> bool:
    """Say that no TorchScript program is being made or run."""
    return False


def is_tracing() -> bool:
    """Say that nothing is being traced."""
    return False


def freeze(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the module itself, which must be in evaluation mode."""
    if mod.training:
        raise RuntimeError("freeze: call eval() on the module before")
    return mod


def optimize_for_inference(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the module itself in evaluation mode."""
    return mod.eval()


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Accept whether programs are optimised."""
    yield


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """Accept the name of a fuser."""
    yield


def enable_onednn_fusion(enabled: bool) -> None:
    """Accept whether TorchScript uses oneDNN."""


def onednn_fusion_enabled() -> bool:
    """Say that TorchScript does not fuse."""
    return False


def set_fusion_strategy(strategy: Any) -> list:
    """Accept how programs would be fused."""
    return []
