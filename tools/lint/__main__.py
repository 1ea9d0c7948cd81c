"""Runs every lint: layers, sizes, mirrored tests, spelling, ruff, clang-format.

usage: python tools/lint [--fix] [NAME ...]     --fix repairs what can be repaired
The last line reads 'N passed, M failed' and counts lints.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import layers
import mirrors
import sizes
import spelling
from files import CPP, ROOT, sources

TOOLS = Path(sys.executable).parent  # the pinned ones, beside this interpreter


def output_lines(tool: str, *arguments: str | Path) -> Iterator[str]:
    """Runs a tool beside the interpreter; yields what it prints if it fails."""
    program = TOOLS / tool
    command = [str(program if program.exists() else tool), *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    if result.returncode != 0:
        yield from (result.stdout + result.stderr).rstrip().splitlines()


def python_files() -> list[Path]:
    """Returns the Python files, scripts without a suffix included."""
    return [*sources(".py"), Path("dev")]


def clang_format(*options: str) -> Iterator[str]:
    """Yields the C++ files that are not formatted."""
    files = list(sources(*CPP))
    if files:
        for line in output_lines("clang-format", "--Werror", *options, *files):
            if "warning:" in line or "error:" in line:
                yield line


LINTS: dict[str, Callable[[], Iterator[str]]] = {
    "layers": layers.check,
    "sizes": sizes.check,
    "mirrors": mirrors.check,
    "spelling": spelling.check,
    "ruff": lambda: output_lines("ruff", "check", "--output-format=concise", *python_files()),
    "clang-format": lambda: clang_format("--dry-run"),
}


def fix() -> None:
    """Formats C++, sorts imports and applies ruff's other safe repairs."""
    repair = output_lines("ruff", "check", "--output-format=concise", "--fix", *python_files())
    for line in [*repair, *clang_format("-i")]:
        print(line)


def main() -> int:
    """Runs the lints named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*LINTS, []], metavar="NAME")
    parser.add_argument("--fix", action="store_true")
    arguments = parser.parse_args()
    if arguments.fix:
        fix()
        return 0
    failed = 0
    names = arguments.names or list(LINTS)
    for name in names:
        findings = list(LINTS[name]())
        for line in findings[:40]:
            print(f"{name}: {line}")
        if len(findings) > 40:
            print(f"{name}: and {len(findings) - 40} more")
        failed += bool(findings)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
