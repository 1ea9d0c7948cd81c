"""What compiling costs: reads Ninja's log, prints the dearest steps, fails over budget.

usage: python tools/ledger [--log FILE] [--count N] [--budget SECONDS] [--step-budget SECONDS]
The log holds wall times, so the sum is in core-seconds when Ninja ran no more jobs than there are
cores. A step that did not run (or that ccache answered) counts with its last time.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Step(NamedTuple):
    """One step of the last build: its time in seconds and its first output."""

    seconds: float
    output: str


def read_log(text: str) -> list[Step]:
    """Returns the latest run of every step, dearest first; steps with many outputs count once."""
    latest: dict[str, tuple[int, int, str]] = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if line.startswith("#") or len(fields) != 5:
            continue
        start, end, _, output, command = fields
        latest[output] = (int(start), int(end), command)
    steps: dict[tuple[int, int, str], str] = {}
    for output, key in latest.items():
        steps.setdefault(key, output)
    found = [Step((end - start) / 1000, output) for (start, end, _), output in steps.items()]
    return sorted(found, reverse=True)


def drop_dead_entries(folder: Path) -> None:
    """Lets Ninja remove the steps that the build no longer has, as after a renaming.

    It must be the Ninja that the build uses: another version may start its log anew.
    """
    cache = folder / "CMakeCache.txt"
    found = cache.exists() and re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.+)$", cache.read_text(), re.M)
    if found:
        subprocess.run([found[1], "-C", str(folder), "-t", "recompact"], capture_output=True)


def short(output: str) -> str:
    """Returns a readable name of an output."""
    return output.removeprefix(f"{ROOT}/").replace("CMakeFiles/", "").replace(".dir/", ": ")


def main() -> int:
    """Prints the ledger; returns 1 when over budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", type=Path, default=ROOT / "build" / "dev" / ".ninja_log")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--budget", type=float, default=1200)
    parser.add_argument("--step-budget", type=float, default=60)
    arguments = parser.parse_args()
    if not arguments.log.exists():
        print(f"ledger: no {arguments.log}; build first")
        return 1
    drop_dead_entries(arguments.log.parent)
    steps = read_log(arguments.log.read_text())
    total = sum(step.seconds for step in steps)
    print(f"{total:.0f} s in {len(steps)} steps, budget {arguments.budget:.0f} s; the dearest:")
    for step in steps[: arguments.count]:
        print(f"{step.seconds:8.1f} s  {short(step.output)}")
    slow = [step for step in steps if step.seconds > arguments.step_budget]
    for step in slow:
        print(f"over {arguments.step_budget:.0f} s: {short(step.output)}")
    if total > arguments.budget:
        print(f"over budget by {total - arguments.budget:.0f} s")
    return 1 if total > arguments.budget or slow else 0


if __name__ == "__main__":
    sys.exit(main())
