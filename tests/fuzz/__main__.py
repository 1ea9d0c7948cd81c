"""Makes hostile calls from the command line.

usage: python tests/fuzz [--calls N] [--seed N] [--only TEXT] [--repeat "Call(...)"] [-v]
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from fuzzing import isolated, recorded, specs, targets  # noqa: E402
from fuzzing.generate import mutated, typed  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--calls", type=int, default=60, help="of each function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="functions whose path holds this text")
    parser.add_argument("--from", dest="first", default="", help="start at this path")
    parser.add_argument("--kind", default="typed mutated")
    parser.add_argument("--repeat", help="one call, as a finding shows it")
    parser.add_argument("-v", action="store_true", help="show every function")
    args = parser.parse_args()
    if args.repeat:
        names = {**vars(specs), "Name": recorded.Name}
        report = isolated.repeat(eval(args.repeat, names))
        print("\n".join(report.findings) or "nothing is wrong with it")
        return bool(report.findings)
    jobs: list = []
    if "typed" in args.kind:
        jobs += [(p, partial(typed, target=t)) for p, t in targets.targets().items()]
    if "mutated" in args.kind:
        jobs += [("recorded:" + op, partial(mutated, op=op)) for op in recorded.by_operator()]
    total, start = isolated.Report(), time.monotonic()
    for path, draw in jobs:
        if args.only not in path or path < args.first:
            continue
        report = isolated.batch(draw, args.calls, args.seed)
        total.add(report)
        if args.v:
            print(f"{path:40} {report.calls:6} calls {report.values:6} values", flush=True)
        for finding in report.findings:
            print(finding, flush=True)
    seconds = time.monotonic() - start
    print(f"{total.calls} calls, {total.values} values, {seconds:.0f} s")
    print(f"{len(jobs)} functions, {len(total.findings)} findings", flush=True)
    return bool(total.findings)


if __name__ == "__main__":
    sys.exit(main())
