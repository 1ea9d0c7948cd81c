"""Compares the C++ examples with their Python twins: the same seed must give the same losses.

A pair is run with few steps; the lines of both that hold a loss must be equal to the last digit.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from shell import PYTHON, ROOT, environment, say

# Names of examples/NAME.py and examples/cpp/NAME.cpp with their arguments for a short run.
TWINS = {
    "digits": ["--epochs", "2"],
    "gan": ["--steps", "60"],
    "custom_layer": ["--steps", "21"],
    "char_gpt": ["--steps", "11", "--sample", "5"],
}
LOSSES = re.compile(r"^.*(?:loss|discriminator|accuracy) .*\d.*$", re.MULTILINE)


def losses(command: list[str | Path], reports: Path) -> list[str]:
    """Returns the lines with losses that a program prints; none where it fails."""
    result = subprocess.run([str(c) for c in command], cwd=ROOT, text=True, capture_output=True,
                            env=environment(FACULA_EXAMPLE_OUT=str(reports)))
    if result.returncode != 0:
        print(result.stdout + result.stderr, flush=True)
        return []
    return [line for line in LOSSES.findall(result.stdout) if not line.startswith("reloaded")]


def compare_twins(programs: Path, reports: Path) -> tuple[int, int]:
    """Runs every pair, the C++ half from the folder `programs`; returns how many agree and not."""
    same = 0
    for name, arguments in TWINS.items():
        python = [PYTHON, "-P", ROOT / "examples" / f"{name}.py", *arguments]
        cpp = [programs / name, *arguments]
        if name == "char_gpt":
            python += ["--save-text", reports / "text.txt"]
            cpp += ["--text", reports / "text.txt"]
        expected, got = losses(python, reports), losses(cpp, reports)
        if expected and got == expected:
            same += 1
            continue
        say(f"examples/cpp/{name}.cpp differs from examples/{name}.py")
        print(*["Python:", *expected, "C++:", *got], sep="\n", flush=True)
    return same, len(TWINS) - same
