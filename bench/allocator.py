"""What memory costs: a tensor is made, written once and freed again, over and over.

usage: python bench/allocator.py MODULE       prints one JSON object a row, microseconds
Fresh pages from the system cost more than the writing; an allocator that keeps them does not pay.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable

ROWS = {"64 B": 16, "4 KB": 1 << 10, "256 KB": 1 << 16, "4 MB": 1 << 20, "64 MB": 1 << 24}


def per_call(call: Callable[[], object], seconds: float = 0.2) -> float:
    """Returns the microseconds of a call, the median of five batches."""
    call()
    start = time.perf_counter()
    call()
    count = max(1, int(seconds / 5 / max(time.perf_counter() - start, 1e-7)))
    batches = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call()
        batches.append((time.perf_counter() - start) / count)
    return round(sorted(batches)[2] * 1e6, 3)


def main() -> None:
    """Prints the rows of the module named on the command line."""
    package = importlib.import_module(sys.argv[1])
    for name, count in ROWS.items():
        print(json.dumps({f"empty {name}": per_call(lambda n=count: package.empty(n))}), flush=True)
        fill = per_call(lambda n=count: package.empty(n).fill_(1.0))
        print(json.dumps({f"empty and fill {name}": fill}), flush=True)
    small = [1 << 10] * 64
    kept = per_call(lambda: [package.empty(n) for n in small])
    print(json.dumps({"64 live tensors of 4 KB": kept}))


if __name__ == "__main__":
    main()
