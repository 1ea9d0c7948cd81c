"""The public names of the package, by module, and the examples written for them."""

from __future__ import annotations

import importlib
import re
import types
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

#: Modules with pages of their own; operators have theirs by family.
MODULES = (
    "facula facula.Tensor facula.nn facula.nn.functional facula.nn.init facula.nn.parameter "
    "facula.nn.attention facula.nn.attention.bias facula.nested facula.backends.opt_einsum "
    "facula.nn.utils facula.nn.utils.rnn facula.nn.utils.parametrize "
    "facula.nn.utils.parametrizations facula.nn.utils.prune facula.nn.utils.stateless "
    "facula.optim facula.optim.lr_scheduler facula.optim.swa_utils facula.utils.data "
    "facula.utils.checkpoint facula.utils.benchmark facula.utils.dlpack facula.utils.hooks "
    "facula.utils.cpp_extension facula.autograd facula.autograd.functional "
    "facula.autograd.forward_ad facula.autograd.graph facula.autograd.profiler facula.func "
    "facula.linalg facula.fft facula.special facula.distributions "
    "facula.distributions.constraints facula.distributions.transforms facula.distributions.kl "
    "facula.distributions.utils facula.amp facula.library facula.overrides facula.testing "
    "facula.random facula.serialization facula.masked facula.signal.windows facula.hub "
    "facula.futures facula.datasets facula.sparse facula.as_torch facula.foreach "
    "facula.quasirandom facula.array_api facula.array_api.fft facula.array_api.linalg"
).split()
_FOREIGN = (
    "typing", "collections", "functools", "contextlib", "abc", "enum", "math", "itertools",
    "warnings",
)  # fmt: skip


def load(module: str) -> Any:
    """Returns a module, or the type Tensor."""
    import facula

    return facula.Tensor if module == "facula.Tensor" else importlib.import_module(module)


def public_names(module: str) -> list[str]:
    """Returns the public functions, classes and attributes of a module or type."""
    import facula

    space = load(module)
    names = getattr(space, "__all__", None) or [n for n in dir(space) if not n.startswith("_")]
    found = []
    for name in names:
        if module == "facula" and name in facula._SUBMODULES:
            continue
        value = getattr(space, name, None)
        home = getattr(value, "__module__", None) or ""
        if isinstance(value, types.ModuleType) or home.split(".")[0] in _FOREIGN:
            continue
        if (getattr(value, "__doc__", None) or "").startswith("Not built"):
            continue  # a name that is only there to be named
        if callable(value) or module == "facula.Tensor":
            found.append(name)
    return sorted(found)


def written_examples() -> dict[str, list[str]]:
    """Returns the examples of the folder examples/, by full name, as lists of statements.

    A line is `name: statement ;; statement`; names are below the module that `[module]` names;
    a line break within a statement is written as in a Python string.
    """
    found: dict[str, list[str]] = {}
    for file in sorted((HERE / "examples").glob("*.txt")):
        module = ""
        for line in file.read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if heading := re.fullmatch(r"\[([\w.]+)\]", line):
                module = heading[1]
                continue
            name, _, code = line.partition(": ")
            full = f"{module}.{name}"
            if full in found:
                raise ValueError(f"{file.name}: two examples of {full}")
            found[full] = [p.strip().replace(r"\n", "\n") for p in code.split(" ;; ")]
    return found


def scope() -> dict[str, Any]:
    """Returns what examples may use without importing it."""
    import facula

    facula.manual_seed(0)
    names = {"facula": facula, "nn": facula.nn, "F": facula.nn.functional, "optim": facula.optim}
    return {**names, "D": importlib.import_module("facula.distributions"), "xp": facula.array_api}
