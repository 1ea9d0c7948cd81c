"""What an import costs: seconds, resident megabytes, modules.

usage: python bench/imports.py MODULE         prints one JSON object a row
The seconds are the minimum over fresh interpreters; memory and modules include the interpreter's.
"""

from __future__ import annotations

import json
import subprocess
import sys

ROUNDS = 7

PROGRAM = """
import sys, time
start = time.perf_counter()
__import__(sys.argv[1])
seconds = time.perf_counter() - start
pages = int(open("/proc/self/statm").read().split()[1])
print(seconds, pages * 4096 / 2**20, len(sys.modules))
"""


def measure(module: str) -> dict[str, float]:
    """Returns the figures of the fastest of several fresh interpreters."""
    best = None
    for _ in range(ROUNDS):
        command = [sys.executable, "-c", PROGRAM, module]
        row = [float(x) for x in subprocess.check_output(command, text=True).split()]
        best = row if best is None else [min(a, b) for a, b in zip(best, row, strict=True)]
    return {"import s": round(best[0], 4), "import MB": round(best[1], 1), "modules": best[2]}


def main() -> None:
    """Prints the rows of the module named on the command line."""
    for name, value in measure(sys.argv[1]).items():
        print(json.dumps({name: value}))


if __name__ == "__main__":
    main()
