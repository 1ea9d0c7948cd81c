"""Operators by namespace: `facula.ops.space.name` for those that programs define, and
`facula.ops.aten.name` for Facula's own under the names of PyTorch's library.
"""

from __future__ import annotations

from typing import Any

from facula import _C, _custom_op
from facula._absent import absent_function

loaded_libraries: set[str] = set()


class _Overload:
    """An operator with its overload's name; the overload is chosen by the arguments anyway.

    To dispatch modes and classes it stands for a row of the operator table, and is called with the
    row's parameters.
    """

    namespace = property(lambda self: self._packet._space)

    def __init__(self, packet: _Packet, overload: str) -> None:
        self._packet, self._overloadname = packet, overload
        self.__name__ = f"{packet.__name__}.{overload}"
        self._row: _Row | None = None

    def bind(self, handle: Any, schema: str) -> _Row:
        """Make it stand for a row."""
        if self._row is None or self._row.schema != schema:
            self._row = _Row(handle, schema)
        return self._row

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        row = self._row
        if row is None:
            return self._packet(*args, **kwargs)
        if row.fits(args, kwargs):
            return row(*args, **kwargs)
        try:
            return self._packet(*args, **kwargs)
        except TypeError as error:
            text = f"{self.name()}: the arguments do not fit {row.schema}"
            raise TypeError(text) from error

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._packet}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self._packet}.{self._overloadname}"

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


class _Row:
    """A row of Facula's own table, as modes and classes see it: called with a row's parameters."""

    def __init__(self, handle: Any, schema: str) -> None:
        self._handle, self.schema = handle, schema
        self._names: list[str] = []
        self._types: list[str] = []
        self._defaults: dict[str, Any] = {}
        self._positional = 0
        self._read(schema)

    def _read(self, schema: str) -> None:
        inside = schema[schema.index("(") + 1 : schema.partition(" -> ")[0].rindex(")")]
        keyword_only = False
        for part in filter(None, inside.split(", ")):
            if part == "*":
                keyword_only = True
                continue
            kind, _, name = part.partition(" ")
            name, found, default = name.partition("=")
            self._names.append(name)
            self._types.append(kind)
            if found:
                self._defaults[name] = _literal(default)
            self._positional += not keyword_only

    def fits(self, args: tuple, kwargs: dict) -> bool:
        """Say whether arguments are those of the row."""
        if len(args) > self._positional:
            return False
        given = {*self._names[: len(args)], *kwargs}
        return given <= set(self._names) and all(
            n in given or n in self._defaults for n in self._names
        )

    def _widen(self, count: int) -> None:
        # Factories take a dtype and a device that their schema leaves out.
        if count == len(self._names) + 2:
            self._names += ["dtype", "device"]
            self._types += ["DType?", "Device?"]
            self._defaults |= {"dtype": None, "device": None}

    def given(self, values: list) -> tuple[tuple, dict]:
        """Positional and keyword arguments of a call, without those that have their defaults."""
        self._widen(len(values))
        plain = [
            n in self._defaults and not _is_tensor(v) and v == self._defaults[n]
            for n, v in zip(self._names, values, strict=True)
        ]
        count = self._positional
        while count and plain[count - 1]:
            count -= 1
        rest = range(self._positional, len(values))
        return tuple(values[:count]), {self._names[i]: values[i] for i in rest if not plain[i]}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = dict(zip(self._names, args, strict=False)) | kwargs
        ordered = [values.get(n, self._defaults.get(n)) for n in self._names]
        return _C._run_operator(self._handle, tuple(self._types), ordered)


def _is_tensor(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(v, _C.Tensor) for v in value)
    return isinstance(value, _C.Tensor)


def _literal(text: str) -> Any:
    import ast

    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return float(text) if text.lstrip("-") in ("inf", "nan") else text


def row_overload(
    handle: Any, name: str, schema: str, overload: str = "default"
) -> tuple[_Overload, _Row]:
    """The object that stands for a row of the operator table, `facula.ops.aten.NAME.OVERLOAD`, and
    the row itself.
    """
    found = getattr(getattr(aten, name), overload)
    return found, found.bind(handle, schema)


def _own(name: str) -> Any:
    """Return the function of Facula that does what an operator of PyTorch's library does."""
    import facula
    from facula.utils._aten import FUNCTIONS

    if name in FUNCTIONS:
        return FUNCTIONS[name]
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
                packet = _Packet(self.name, name, function)
                if self.name in ("aten", "prims"):  # programs compare them by identity
                    self.__dict__[name] = packet
                return packet
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        prefix = self.name + "::"
        return [k.removeprefix(prefix) for k in _custom_op._registry if k.startswith(prefix)]


aten = _Namespace("aten")


def load_library(path: str) -> None:
    """Raise OSError: libraries of operators that are built against PyTorch cannot be loaded."""
    raise OSError(f"Could not load this library: {path}: it needs PyTorch's C++ library")


def import_module(module: str) -> None:
    """Import a Python module that defines operators."""
    import importlib

    importlib.import_module(module)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    space = _Namespace(name)
    globals()[name] = space
    return space
