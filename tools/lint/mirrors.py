"""Tests mirror sources: src/facula/core/x.cpp has tests/cpp/core/x_test.cpp.

A file in a subfolder may be tested in the layer's folder or in the same subfolder; a test names a
file that exists, so that no test outlives its source.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from files import finding, tracked

# Layers in which every source file has a test of its own. Kernels and the operator layer are tested
# row by row by tests/ops, the bindings by tests/python.
MIRRORED = ("base", "core", "device", "autograd", "modes", "nn", "ir", "compile", "profiler")

SOURCES = Path("src/facula")
TESTS = Path("tests/cpp")


def check() -> Iterator[str]:
    """Yields sources without a test and tests without a source."""
    files = set(tracked())
    tests = {(p.relative_to(TESTS).parts[0], p.stem.removesuffix("_test")): p for p in files
             if p.is_relative_to(TESTS) and p.suffix == ".cpp"}
    names: set[tuple[str, str]] = set()
    for path in sorted(files):
        if not path.is_relative_to(SOURCES) or path.suffix not in (".h", ".cpp"):
            continue
        layer = path.relative_to(SOURCES).parts[0]
        names.add((layer, path.stem))
        if path.suffix == ".cpp" and layer in MIRRORED and (layer, path.stem) not in tests:
            yield finding(path, 1, f"no {TESTS / layer / path.stem}_test.cpp tests this file")
    for key, path in sorted(tests.items()):
        if key[0] in MIRRORED and key not in names:
            yield finding(path, 1, f"tests no file of src/facula/{key[0]}")
