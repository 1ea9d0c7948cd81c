"""Operators by namespace: `facula.ops.space.name` for those that programs define, and
`facula.ops.aten.name` for Facula's own under the names of PyTorch's library.
"""

from __future__ import annotations

from typing import Any

from facula import _custom_op
from facula._absent import absent_function

loaded_libraries: set[str] = set()


class _Overload:
    """An operator with its overload's name; the overload is chosen by the arguments anyway."""

    def __init__(self, packet: _Packet, overload: str) -> None:
        self._packet, self._overloadname = packet, overload
        self.__name__ = f"{packet.__name__}.{overload}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._packet(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._packet}', overload='{self._overloadname}')>"

    def name(self) -> str:
        """Return "space::name.overload"."""
        return f"{self._packet._qualname}.{self._overloadname}"

    @property
    def overloadpacket(self) -> _Packet:
        """The operator with all its overloads."""
        return self._packet


class _Packet:
    """An operator with all its overloads."""

    def __init__(self, space: str, name: str, function: Any) -> None:
        self._qualname, self._function = f"{space}::{name}", function
        self.__name__ = name
        self._space = space

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"{self._space}.{self.__name__}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'OpOverloadPacket' object has no attribute {name!r}")
        overload = _Overload(self, name)
        self.__dict__[name] = overload
        return overload

    def overloads(self) -> list[str]:
        """Return the names of overloads that have been asked for."""
        return [k for k, v in vars(self).items() if isinstance(v, _Overload)] or ["default"]


def _own(name: str) -> Any:
    """Return the function of Facula that does what an operator of PyTorch's library does."""
    import facula

    for home in (facula, facula.nn.functional, facula.linalg, facula.special):
        prefix = "" if home is facula else f"{home.__name__.rpartition('.')[2]}_"
        found = getattr(home, name.removeprefix(prefix), None)
        if callable(found) and not isinstance(found, type):
            return found
    found = getattr(facula.Tensor, name, None)
    return found if callable(found) else None


class _Namespace:
    """The operators of one namespace.

    Libraries use operators of PyTorch's own ("aten") as keys: there, every name is one, and calling
    one that Facula lacks raises NotImplementedError.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            function: Any = _custom_op.find(self.name, name)
            if function is None and self.name in ("aten", "prims"):
                function = _own(name)
                if function is None:
                    function = absent_function(f"facula.ops.{self.name}.{name}")
            if function is not None:
                return _Packet(self.name, name, function)
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        prefix = self.name + "::"
        return [k.removeprefix(prefix) for k in _custom_op._registry if k.startswith(prefix)]


def load_library(path: str) -> None:
    """Raise OSError: libraries of operators that are built against PyTorch cannot be loaded."""
    raise OSError(f"Could not load this library: {path}: it needs PyTorch's C++ library")


def import_module(module: str) -> None:
    """Import a Python module that defines operators."""
    import importlib

    importlib.import_module(module)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'facula.ops' has no attribute {name!r}")
    space = _Namespace(name)
    globals()[name] = space
    return space
