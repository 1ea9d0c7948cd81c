"""Objects of classes in a checkpoint, for programs that say `weights_only=False` under the alias.

A file may name classes and functions, may make objects without calling their constructors, and
may give them their state, as pickles of modules and of settings do. Calling a function that a
file names is still refused but for those that are known to make data.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import importlib
import pathlib
import types
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

__all__ = ["call", "find"]

# Constructors that keep their arguments and do nothing else.
_CLASSES = (enum.Enum, pathlib.PurePath, functools.partial)
_NUMPY = {
    "numpy": ("dtype",),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.numeric": ("_frombuffer",),
    "numpy.core.numeric": ("_frombuffer",),
}


def find(module: str, name: str) -> Any:
    """Return the class or function of that name; raises UnpicklingError where there is none."""
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UnpicklingError(f"Can't get {module}.{name}: {error}") from None
    if not isinstance(found, (type, types.FunctionType, types.BuiltinFunctionType)):
        raise UnpicklingError(f"{module}.{name} is neither a class nor a function")
    return found


def _rebuilt(cls: type, base: type, state: Any) -> Any:
    """Do what `copyreg._reconstructor` does for objects of older protocols."""
    if base is object:
        return object.__new__(cls)
    obj = base.__new__(cls, state)
    if base.__init__ is not object.__init__:
        base.__init__(obj, state)
    return obj


def _makes_data(function: Any) -> bool:
    if isinstance(function, type):
        return issubclass(function, _CLASSES) or function.__module__ == "numpy.dtypes"
    return False


def _is_numpy(function: Any) -> bool:
    for module, names in _NUMPY.items():
        try:
            owner = importlib.import_module(module)
        except ImportError:
            continue
        if any(function is getattr(owner, name, None) for name in names):
            return True
    return False


def call(function: Callable, args: tuple, new: bool) -> Any:
    """Make the object that a file asks for: by `__new__` where `new`, else by a known maker."""
    if new and isinstance(function, type):
        return function.__new__(function, *args)
    if function is copyreg._reconstructor and len(args) == 3:
        return _rebuilt(*args)
    if _makes_data(function) or _is_numpy(function):
        return function(*args)
    name = getattr(function, "__qualname__", repr(function))
    raise UnpicklingError(
        f"{getattr(function, '__module__', '')}.{name} may not be called from a file; load a "
        "state dict instead, or allow it with torch.serialization.add_safe_globals"
    )
