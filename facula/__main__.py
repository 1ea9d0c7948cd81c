"""python -m facula: where the C++ side of an installed package lies.

`cmake -DCMAKE_PREFIX_PATH=$(python -m facula --cmake-dir)` lets find_package(Facula) find it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def installed(path: str) -> str:
    """Returns a folder of the installed package; ends the program where there is none."""
    folder = PACKAGE / path
    if not folder.is_dir():
        sys.exit(
            f"facula: {folder} is not there: this is a development build. "
            "`cmake --install build/dev --component cpp --prefix DIR` installs the C++ library."
        )
    return str(folder)


def main() -> None:
    """Prints what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m facula", description=__doc__.splitlines()[0])
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--version", action="store_true", help="the version")
    group.add_argument("--cmake-dir", action="store_true", help="the folder of FaculaConfig.cmake")
    group.add_argument("--include-dir", action="store_true", help="the folder of the C++ headers")
    arguments = parser.parse_args()
    if arguments.version:
        print((PACKAGE / "version.txt").read_text().strip())
    else:
        print(installed("share/cmake/Facula" if arguments.cmake_dir else "include"))


if __name__ == "__main__":
    main()
