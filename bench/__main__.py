"""Runs the benchmarks, beside PyTorch where it is installed; see README.md.

usage: python bench [NAME ...] [--rounds N] [--peer INTERPRETER:MODULE | --alone]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded"
OWN = f"{sys.executable}:facula"


def find_peer() -> str | None:
    """Returns INTERPRETER:MODULE of an installed PyTorch, if there is one."""
    if peer := os.environ.get("FACULA_PEER"):
        return peer
    if find_spec("torch"):
        return f"{sys.executable}:torch"
    local = HERE.parent / "build" / "peers" / "torch-python"
    return f"{local}:torch" if local.exists() else None


def rows_of(script: Path, side: str) -> dict[str, float]:
    """Runs a script that prints one JSON object a row for a side; returns its rows."""
    interpreter, module = side.rsplit(":", 1)
    result = subprocess.run([interpreter, str(script), module], stdout=subprocess.PIPE, text=True)
    rows: dict[str, float] = {}
    for line in result.stdout.splitlines():
        if line.startswith("{"):
            rows.update(json.loads(line))
    return rows


def best_of(script: Path, side: str, rounds: int) -> dict[str, float]:
    """Returns the smallest figure of each row over some rounds."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, value in rows_of(script, side).items():
            best[name] = min(value, best.get(name, math.inf))
    return best


def side_by_side(script: Path, peer: str | None, rounds: int) -> int:
    """Prints the rows of a script for Facula and the peer, with their ratios."""
    own = best_of(script, OWN, rounds)
    other = best_of(script, peer, rounds) if peer else {}
    ratios = []
    for name, value in own.items():
        line = f"{name:28} {value:12.4f}"
        if name in other:
            ratios.append(value / other[name])
            line += f"   PyTorch {other[name]:12.4f}   ratio {ratios[-1]:6.3f}"
        print(line)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of the ratios: {mean:.3f} over {len(ratios)} rows")
    return 0 if own else 1


def compare(what: str, peer: str | None, rounds: int) -> int:
    """Runs the recorded comparison, or the plain benchmark where there is no peer."""
    if peer:
        command = [RECORDED / "compare.py", what, OWN, peer, "--rounds", str(rounds)]
    elif what == "overhead":
        command = [RECORDED / "overhead.py", "facula"]
    else:
        command = [RECORDED / "throughput.py", "facula", *(["--infer"] if what == "infer" else [])]
    return subprocess.run([sys.executable, *map(str, command)]).returncode


def run(name: str, peer: str | None, rounds: int) -> int:
    """Runs one benchmark; returns its exit status."""
    print(f"== {name}", flush=True)
    if name in ("overhead", "train", "infer"):
        return compare(name, peer, rounds)
    if name == "numbers":
        command = [sys.executable, str(RECORDED / "same_numbers.py"), "facula"]
        return subprocess.run(command).returncode
    return side_by_side(HERE / f"{name}.py", peer, rounds)


NAMES = ["overhead", "imports", "allocator", "train", "infer", "numbers"]


def main() -> int:
    """Reads the command line and runs what it names."""
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", help="INTERPRETER:MODULE of a PyTorch")
    parser.add_argument("--alone", action="store_true", help="without PyTorch")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in NAMES]:
        parser.error(f"no benchmark {unknown[0]}; there are {', '.join(NAMES)}")
    peer = None if arguments.alone else arguments.peer or find_peer()
    if not peer:
        print("without PyTorch beside it: bench/README.md says how to set it up")
    names = arguments.names or NAMES
    return max([run(name, peer, arguments.rounds) for name in names])


if __name__ == "__main__":
    sys.exit(main())
