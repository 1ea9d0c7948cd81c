"""Installs the package into a new virtual environment and uses it from outside the tree.

usage: python tests/package/check.py [--keep FOLDER]
Checks what a user sees: pip install, the installed size, the import from another folder, training
a little, and a C++ program that finds the package with find_package(Facula) and runs without
Python. The last line reads 'N passed, M failed'.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZE_LIMIT = 100 * 2**20

USE = """
import facula
x = facula.ones(3, 4, requires_grad=True)
(x * 2).sum().backward()
assert x.grad.tolist() == [[2.0] * 4] * 3
print(facula.__file__)
"""

CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(Facula REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE Facula::facula)
"""

MAIN = """
#include <cstdio>
#include "facula/autograd/engine.h"
#include "facula/ops/functions.h"

int main() {
  facula::Tensor x = facula::ones({2, 3});
  facula::set_requires_grad(x, true);
  facula::backward(facula::sum(facula::mul(x, x)));
  double total = *facula::sum(facula::grad(x)).data_as<float>();
  std::printf("%g\\n", total);
  return total == 12 ? 0 : 1;
}
"""


class Checks:
    """Runs commands away from the source tree and counts what held."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.passed = self.failed = 0
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}

    def note(self, name: str, good: bool, detail: str = "") -> bool:
        """Counts and prints one result."""
        self.passed += good
        self.failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {name}{': ' + detail if detail else ''}", flush=True)
        return good

    def run(self, name: str, *command: str | Path) -> str | None:
        """Runs a command; returns what it printed, None if it failed."""
        result = subprocess.run(
            [str(c) for c in command],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        good = result.returncode == 0
        self.note(name, good, "" if good else result.stdout[-2000:])
        return result.stdout.strip() if good else None


def check_python(checks: Checks, python: Path) -> None:
    """Checks the installed package from Python."""
    if (place := checks.run("use it from another folder", python, "-c", USE)) is None:
        return
    package = Path(place.splitlines()[-1]).parent
    checks.note("it is the installed one", not package.is_relative_to(ROOT), str(package))
    size = sum(f.stat().st_size for f in package.rglob("*") if f.is_file())
    checks.note("installed size", size <= SIZE_LIMIT, f"{size / 2**20:.1f} MB")


def check_cpp(checks: Checks, python: Path) -> None:
    """Builds a C++ program against the installed package and runs it without Python."""
    source = checks.folder / "consumer"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(CMAKE)
    (source / "main.cpp").write_text(MAIN)
    folder = checks.run("python -m facula --cmake-dir", python, "-m", "facula", "--cmake-dir")
    if folder is None:
        return
    build = source / "build"
    if (
        checks.run("configure", "cmake", "-S", source, "-B", build, f"-DFacula_DIR={folder}")
        and checks.run("build", "cmake", "--build", build) is not None
    ):
        checks.run("run", build / "consumer")
        libraries = checks.run("its libraries", "ldd", build / "consumer") or ""
        checks.note("no Python among them", "libpython" not in libraries)


def main() -> int:
    """Installs, checks, counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="work in this folder and leave it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        checks = Checks(folder)
        python = folder / "venv" / "bin" / "python"
        checks.run("make a virtual environment", sys.executable, "-m", "venv", folder / "venv")
        if checks.run("pip install", python, "-m", "pip", "install", "-v", ROOT) is not None:
            check_python(checks, python)
            check_cpp(checks, python)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
