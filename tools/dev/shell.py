"""Folders, and running other programs in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
BUILD = ROOT / "build"
PYTHON = VENV / "bin" / "python"


def say(text: str) -> None:
    """Prints a line about what happens next."""
    print(f"./dev: {text}", flush=True)


def environment(**extra: str) -> dict[str, str]:
    """Returns the environment of a child: the tools of .venv first, the package importable."""
    values = dict(os.environ)
    values["PATH"] = f"{VENV / 'bin'}{os.pathsep}{values['PATH']}"
    values["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), values.get("PYTHONPATH")]))
    values.update(extra)
    return values


def run(*command: str | Path, check: bool = True, **extra: str) -> int:
    """Runs a command in the root folder; ends this script if it fails and `check` is set."""
    code = subprocess.run([str(c) for c in command], cwd=ROOT, env=environment(**extra)).returncode
    if check and code != 0:
        sys.exit(f"./dev: {' '.join(str(c) for c in command[:4])} ... failed with status {code}")
    return code
