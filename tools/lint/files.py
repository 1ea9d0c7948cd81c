"""Which files the lints look at, and how a finding is written."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Taken over as recorded, not written here.
RECORDED = ("tests/conformance/", "tests/golden/", "bench/recorded/")

CPP = (".h", ".cpp", ".cu", ".cuh")


@cache
def tracked() -> tuple[Path, ...]:
    """Returns the files of the repository, relative to its root, new ones included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    return tuple(Path(name) for name in sorted(set(names)) if (ROOT / name).is_file())


def sources(*suffixes: str, recorded: bool = False) -> Iterator[Path]:
    """Yields the tracked files with these suffixes."""
    for path in tracked():
        if path.suffix in suffixes and (recorded or not path.as_posix().startswith(RECORDED)):
            yield path


def text_of(path: Path) -> str:
    """Returns the contents of a tracked file."""
    return (ROOT / path).read_text(encoding="utf-8")


def finding(path: Path, line: int, message: str) -> str:
    """Returns a finding as editors understand it."""
    return f"{path}:{line}: {message}"
