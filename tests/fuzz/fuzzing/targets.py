"""Every public function: its path below the package and what is known of its parameters.

The operator table gives the types of its rows; functions written in Python are read with
inspect.signature, where annotations, defaults and names hint at types.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import facula
from fuzzing.recorded import RECORDED, opcases

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from opgen import __main__ as opgen  # noqa: E402
from opgen.bindings import paths_of, python_params, shown  # noqa: E402

NAMESPACES = (
    "nn.functional linalg special fft nn.init nn.utils masked sparse nested signal func testing"
).split()
# Classes whose methods are called, and the kind of argument that `self` is.
CLASSES = {
    "Tensor": "Tensor", "UntypedStorage": "Storage", "Generator": "Generator", "Size": "Size",
}
# Functions that end or block the process, or change files, by their purpose.
LEFT_OUT = {
    "save", "load", "hub", "seed", "nn.utils.parametrize",
}
# Methods that the interpreter gives to every class.
LEFT_OUT |= {f"{c}.{name}" for c in CLASSES for name in dir(object)}
HINTS = {
    "dim": "int", "dims": "int[]", "axis": "int", "size": "int[]", "shape": "int[]", "p": "float",
    "kernel_size": "int[]", "stride": "int[]", "padding": "int[]", "dilation": "int[]",
    "output_size": "int[]", "weight": "Tensor?", "bias": "Tensor?", "input": "Tensor",
    "target": "Tensor", "other": "Tensor|Scalar", "tensors": "Tensor[]", "eps": "float",
    "reduction": "str", "mode": "str", "dtype": "DType?", "device": "Device?", "n": "int",
    "generator": "Generator?", "self": "Tensor", "tensor": "Tensor", "mask": "Tensor",
    "indices": "Tensor", "index": "Tensor", "x": "Tensor", "a": "Tensor", "A": "Tensor",
    "B": "Tensor", "out": "Out", "memory_format": "MemoryFormat?", "groups": "int",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter: its name, its type as the operator table spells types, whether it is needed."""

    name: str
    type: str
    required: bool
    keyword: bool = False


@dataclass(frozen=True)
class Target:
    """A function and the parameter lists of its overloads."""

    path: str
    overloads: tuple[tuple[Parameter, ...], ...]
    in_table: bool


def function(path: str) -> Any:
    """The callable at a path below the package, or of a recorded operator."""
    if path.startswith(RECORDED):
        return opcases.resolve(facula, path.removeprefix(RECORDED))
    parts = path.split(".")
    value: Any = facula
    for i, part in enumerate(parts):
        if isinstance(value, ModuleType) and not hasattr(value, part):
            importlib.import_module("facula." + ".".join(parts[: i + 1]))
        value = getattr(value, part)
    return value


@functools.cache
def table() -> dict[str, tuple[tuple[Parameter, ...], ...]]:
    """Parameter lists by public path, from the operator table."""
    found: dict[str, list[tuple[Parameter, ...]]] = {}
    for rows in opgen.load_table().values():
        for row in rows:
            for path, _ in paths_of(row):
                params = tuple(
                    Parameter(shown(p), p.type, p.default is None, p.keyword)
                    for p in python_params(row, path)
                )
                found.setdefault(path, []).append(params)
    return {path: tuple(lists) for path, lists in found.items()}


def guessed(p: inspect.Parameter) -> str:
    """The type of a parameter of a Python function."""
    text = p.annotation if isinstance(p.annotation, str) else ""
    plain = text.replace(" | None", "")
    optional = "?" if plain != text or p.default is None else ""
    known = {"Tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "str": "str",
             "Number": "Scalar", "dtype": "DType"}.get(plain)
    if known:
        return known + optional
    if "Sequence[Tensor" in plain or "list[Tensor" in plain:
        return "Tensor[]"
    if "Sequence[int" in plain or "int | tuple" in plain or "tuple[int" in plain:
        return "int[]" + optional
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "str")):
        if type(p.default) is kind:
            return name
    return HINTS.get(p.name, "any")


def signature(path: str, f: Any) -> tuple[tuple[Parameter, ...], ...]:
    """The parameter list of a function that is not in the table; anything where it is unknown."""
    own = CLASSES.get(path.split(".")[0], "Tensor")
    try:
        params = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return tuple((Parameter("self", own, True), *[Parameter("_", "any", True)] * n)
                     for n in range(3))
    found = []
    for p in params:
        if p.kind is p.VAR_POSITIONAL:
            found += [Parameter("_", "any", False)] * 2
        elif p.kind is not p.VAR_KEYWORD:
            kind = own if p.name == "self" else guessed(p)
            found.append(Parameter(p.name, kind, p.default is p.empty, p.kind is p.KEYWORD_ONLY))
    return (tuple(found),)


def public(space: Any, prefix: str) -> dict[str, Any]:
    """The callables of a namespace by path, classes and modules left out."""
    found = {}
    for name in dir(space):
        path = prefix + name
        if path in LEFT_OUT or (name.startswith("_") and prefix[:-1] not in CLASSES):
            continue
        if name.startswith("_") and not name.startswith("__"):
            continue
        try:
            value = getattr(space, name)
        except Exception:  # properties of the type, names that are not built
            continue
        if callable(value) and not isinstance(value, (type, ModuleType)):
            found[path] = value
    return found


@functools.cache
def targets() -> dict[str, Target]:
    """All targets by path."""
    found = public(facula, "")
    for name in CLASSES:
        found |= public(getattr(facula, name), name + ".")
    for space in NAMESPACES:
        try:
            module = importlib.import_module("facula." + space)
        except ModuleNotFoundError:
            continue
        found |= {
            path: f
            for path, f in public(module, space + ".").items()
            if (getattr(f, "__module__", None) or "facula").startswith("facula")
        }
    known = table()
    return {
        path: Target(path, known.get(path) or signature(path, f), path in known)
        for path, f in sorted(found.items())
    }
