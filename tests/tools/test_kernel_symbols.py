"""Objects compiled for one instruction set share no inline function with the rest.

The linker keeps one copy of a weak symbol; were it the AVX-512 one, every machine would run it. So
a weak symbol in such an object must belong to the instruction set's own namespace.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build" / "dev"


def weak_symbols(obj: Path) -> set[str]:
    """Returns the demangled names of the weak functions that an object defines."""
    text = subprocess.check_output(["nm", "--demangle", "--defined-only", str(obj)], text=True)
    found = set()
    for line in text.splitlines():
        match = re.match(r"^[0-9a-f]+ W (.+)$", line)
        if match:
            found.add(match[1])
    return found


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_weak_symbols_stay_in_the_namespace(isa):
    objects = sorted(BUILD.glob(f"CMakeFiles/facula_kernels_{isa}.dir/**/*.o"))
    if not objects or not shutil.which("nm"):
        pytest.skip(f"no {isa} kernels in build/dev")
    stray = {s for obj in objects for s in weak_symbols(obj) if f"::{isa}::" not in s}
    assert not stray, f"weak symbols outside namespace {isa}: {sorted(stray)[:20]}"
