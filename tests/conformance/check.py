"""Runs the recorded cases and compares with the names that are known to pass.

A name in passing/<suite>.txt that no longer passes is a failure, and so is any crash or hang.
`--update` writes the lists anew from what passes now; `--suite NAME` runs one suite. The last line
reads 'N passed, M failed'.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
FATAL = re.compile(r"\b(crash: |hang: |CRASH: |TIMEOUT )")


def zip_names(name: str, *keys: str) -> set[str]:
    """Returns the groups that a runner counts in a file of cases."""
    with zipfile.ZipFile(HERE / name) as archive:
        cases = json.loads(archive.read("index.json"))["cases"]
    return {next(case[key] for key in keys if key in case) for case in cases}


def rng_names() -> set[str]:
    """Returns the recorded streams as rng.py prints them."""
    cases = json.loads((HERE / "rng.json").read_text())
    return {f"seed {case['seed']}: {case['expression']}" for case in cases}


def failed_of_groups(output: str, names: set[str]) -> set[str]:
    """Reads 'FAIL name: reason' lines; names may hold colons themselves."""
    failed = set()
    for line in output.splitlines():
        if line.startswith("FAIL "):
            rest = line[5:]
            matching = [name for name in names if rest.startswith(name + ": ")]
            failed.update(sorted(matching, key=len)[-1:])
    return failed


def outcome_of_reports(output: str) -> tuple[set[str], set[str]]:
    """Reads the 'case12 pass' and 'case12 FAIL' lines of bug_cases.py: all names, failed ones."""
    lines = re.findall(r"^(\w+) (pass|FAIL) ", output, re.MULTILINE)
    return {name for name, _ in lines}, {name for name, word in lines if word == "FAIL"}


SUITES: dict[str, tuple[list[str], Callable[[], set[str]] | None]] = {
    "opcases": (["opcases.zip"], lambda: zip_names("opcases.zip", "op")),
    "modcases": (["modcases.zip"], lambda: zip_names("modcases.zip", "class")),
    "rng": ([], rng_names),
    "bug_cases": ([], None),
}


def run_suite(suite: str, package: str) -> tuple[set[str], list[str], str]:
    """Runs one suite; returns the names that pass, the lines of crashes and hangs, the output."""
    files, names_of = SUITES[suite]
    command = [sys.executable, HERE / f"{suite}.py", package, *[HERE / file for file in files]]
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=HERE)
    output = result.stdout
    fatal = [line for line in output.splitlines() if FATAL.search(line)]
    if not re.search(r"^\d+ passed, \d+ failed$", output, re.MULTILINE):
        return set(), [f"{suite}.py did not finish: {result.stderr.strip()[-400:]}"], output
    if names_of is None:
        names, failed = outcome_of_reports(output)
    else:
        names = names_of()
        failed = failed_of_groups(output, names)
    return names - failed, fatal, output


def main() -> int:
    """Runs the suites and prints what got worse."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", default="facula")
    parser.add_argument("--suite", choices=list(SUITES), action="append")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print the runners' output too")
    arguments = parser.parse_args()
    passed = failed = 0
    for suite in arguments.suite or SUITES:
        passing, fatal, output = run_suite(suite, arguments.package)
        if arguments.verbose:
            print(output, end="")
        known_file = HERE / "passing" / f"{suite}.txt"
        if arguments.update and not fatal:
            known_file.parent.mkdir(exist_ok=True)
            known_file.write_text("".join(f"{name}\n" for name in sorted(passing)))
        known = set(known_file.read_text().splitlines()) if known_file.exists() else set()
        for name in sorted(known - passing):
            print(f"FAIL {suite}: {name} passed before")
        for line in fatal:
            print(f"FAIL {suite}: {line}")
        print(f"{suite}: {len(passing)} pass, {len(known)} of them required")
        passed += len(known & passing)
        failed += len(known - passing) + len(fatal)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
