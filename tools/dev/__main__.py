"""Everything a developer of Facula does, in one script that needs only Python 3.11.

    ./dev setup            tools into .venv, and a check of the system packages
    ./dev demo             train a small network on handwritten digits
    ./dev build            build the library, the extension and the C++ tests in place
    ./dev test [LEVEL]     tiny (seconds), fast, full (sanitizers, fuzzing); without a level:
                           fast and the examples
    ./dev lint             layers, sizes, mirrored tests, spelling, ruff, clang-format
    ./dev fmt              format C++ and Python
    ./dev bench [NAME]     benchmarks, beside PyTorch where it is installed
    ./dev docs             reference pages into build/docs
    ./dev ledger           what the last build of every file cost

Every command first does what it needs: a fresh clone can start with any of them.
"""

from __future__ import annotations

import argparse
import sys

import testing
from building import compile_preset
from setup import setup as set_up
from shell import BUILD, PYTHON, ROOT, run


def setup(_: argparse.Namespace) -> None:
    """Installs the tools into .venv and checks the system packages."""
    set_up()


def build(arguments: argparse.Namespace) -> None:
    """Builds in place."""
    compile_preset(arguments.preset)


def demo(arguments: argparse.Namespace) -> None:
    """Trains a small network on handwritten digits."""
    compile_preset("dev")
    run(PYTHON, ROOT / "examples" / "digits.py", *arguments.rest)


def test(arguments: argparse.Namespace) -> None:
    """Runs the tests of a level."""
    sys.exit(testing.run_level(arguments.level))


def lint(_: argparse.Namespace) -> None:
    """Runs every lint and says which failed."""
    set_up()
    sys.exit(run(PYTHON, ROOT / "tools" / "lint", check=False))


def fmt(_: argparse.Namespace) -> None:
    """Formats the C++ and Python sources."""
    set_up()
    run(PYTHON, ROOT / "tools" / "lint", "--fix")


def bench(arguments: argparse.Namespace) -> None:
    """Runs the benchmarks."""
    compile_preset("dev")
    run(PYTHON, ROOT / "bench", *arguments.rest)


def docs(_: argparse.Namespace) -> None:
    """Writes the reference pages."""
    compile_preset("dev")
    run(PYTHON, ROOT / "tools" / "docs", "--out", BUILD / "docs")


def ledger(_: argparse.Namespace) -> None:
    """Prints what compiling costs."""
    sys.exit(run(sys.executable, ROOT / "tools" / "ledger", check=False))


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="./dev", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for function in (setup, demo, build, test, lint, fmt, bench, docs, ledger):
        command = commands.add_parser(function.__name__, help=function.__doc__.splitlines()[0])
        command.set_defaults(function=function)
        if function is test:
            command.add_argument("level", nargs="?", choices=["tiny", "fast", "full"])
        elif function is build:
            command.add_argument("preset", nargs="?", default="dev",
                                 choices=["dev", "debug", "cpp", "asan", "tsan"])
        elif function in (demo, bench):
            command.add_argument("rest", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
