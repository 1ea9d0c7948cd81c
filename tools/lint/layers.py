"""Includes go down only: which folder of src/facula may include which. No exceptions.

The table is ARCHITECTURE.md's picture. A layer may include what stands in its row and whatever
those may include; `kernels/table` stands for the headers directly in kernels/, the declarations of
what the operator layer calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from files import CPP, finding, sources, text_of

BELOW: dict[str, tuple[str, ...]] = {
    "base/pool": (),
    "base": ("base/pool",),
    "core": ("base",),
    "device": ("core",),
    "kernels/table": ("core",),
    "kernels/cpu": ("kernels/table",),
    "kernels/simd": ("base",),
    "kernels/cuda": ("kernels/table", "device"),
    "autograd": ("core",),
    "ops": ("autograd", "core", "kernels/table"),
    "sparse": ("ops",),
    "modes": ("ops",),
    "ir": ("ops", "modes"),
    "compile": ("ir",),
    "dist": ("ops", "device"),
    "nn": ("sparse", "ops", "device"),
    "profiler": ("base",),
    "serve": ("ir", "ops", "device"),
}

# The top of the house: python may include everything, and nothing includes python.
BELOW["python"] = tuple(BELOW)
BELOW["kernels/cpu"] += ("kernels/simd",)

SOURCE = Path("src/facula")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
SLOW_HEADERS = {"iostream", "regex", "functional"}


def layer_of(path: str) -> str:
    """Returns the layer of a path below src/facula, such as 'core/tensor.h'."""
    parts = path.split("/")
    if parts[0] == "kernels":
        return f"kernels/{parts[1]}" if len(parts) > 2 else "kernels/table"
    return "base/pool" if parts[:2] == ["base", "pool"] and len(parts) > 2 else parts[0]


@cache
def reachable(layer: str) -> frozenset[str]:
    """Returns the layers that files of `layer` may include, itself among them."""
    found = {layer}
    for lower in BELOW.get(layer, ()):
        found |= reachable(lower)
    return frozenset(found)


def check_include(path: Path, layer: str, line: int, name: str) -> str | None:
    """Returns what is wrong with one include of a file, if anything."""
    if name == "Python.h" or name.startswith("nanobind/"):
        wrong = layer != "python"
        return finding(path, line, f"{name} outside src/facula/python") if wrong else None
    if name in SLOW_HEADERS and path.suffix != ".cpp":
        return finding(path, line, f"<{name}> in a header")
    if not name.startswith("facula/"):
        return None
    target = layer_of(name.removeprefix("facula/"))
    allowed = reachable(layer)
    if layer == "base/pool" and name == "facula/base/export.h" or target in allowed:
        return None
    return finding(path, line, f"{layer} may not include {name}: layers go down only")


def check() -> Iterator[str]:
    """Yields every include that goes up or sideways, and every folder that is no layer."""
    for path in sources(*CPP):
        if not path.is_relative_to(SOURCE):
            continue
        layer = layer_of(path.relative_to(SOURCE).as_posix())
        if layer not in BELOW:
            yield finding(path, 1, f"{layer} is no layer: tools/lint/layers.py lists them")
            continue
        for number, text in enumerate(text_of(path).splitlines(), 1):
            if match := INCLUDE.match(text):
                if problem := check_include(path, layer, number, match[1]):
                    yield problem
