"""./dev test: the levels, their steps, and the count at the end.

A level is a list of steps; a step returns what passed and failed. A step that ends with an error
without having counted a failure counts as one. Reports lie in build/reports.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from building import compile_preset
from shell import BUILD, PYTHON, ROOT, environment, run, say
from twins import compare_twins

REPORTS = BUILD / "reports"
PYTHON_TESTS = ["tests/python", "tests/ops", "tests/tools", "tests/fuzz"]


class Tally(NamedTuple):
    """How many checks of a step passed and failed."""

    passed: int
    failed: int


def counted(code: int, passed: int, failed: int) -> Tally:
    """Returns a tally in which an error that no test accounts for is a failure."""
    return Tally(passed, failed or int(code != 0))


def read_junit(files: list[Path]) -> tuple[int, int]:
    """Returns how many tests passed and failed according to JUnit files."""
    passed = failed = 0
    for file in files:
        for suite in ElementTree.parse(file).getroot().iter("testsuite"):
            bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped = int(suite.get("skipped") or 0) + int(suite.get("disabled") or 0)
            failed += bad
            passed += int(suite.get("tests", 0)) - bad - skipped
    return passed, failed


def read_last_line(command: list[str | Path], **extra: str) -> Tally:
    """Runs a program that closes with 'N passed, M failed' and shows what it prints."""
    result = subprocess.run([str(c) for c in command], cwd=ROOT, env=environment(**extra),
                            stdout=subprocess.PIPE, text=True)
    print(result.stdout, end="", flush=True)
    found = re.findall(r"^(\d+) passed, (\d+) failed$", result.stdout, re.MULTILINE)
    passed, failed = map(int, found[-1]) if found else (0, 0)
    return counted(result.returncode, passed, failed)


def cpp_tests(preset: str, only: str = "", **extra: str) -> Tally:
    """Runs the C++ tests of a preset through CTest."""
    reports = REPORTS / f"cpp-{preset}"
    shutil.rmtree(reports, ignore_errors=True)
    select = ["-R", only] if only else []
    code = run("ctest", "--test-dir", BUILD / preset, "--output-on-failure", "--no-tests=error",
               "--timeout", "900", *select, check=False, GTEST_OUTPUT=f"xml:{reports}/", **extra)
    return counted(code, *read_junit(sorted(reports.glob("*.xml"))))


def python_tests(
    *options: str, name: str = "python", files: list[str] = PYTHON_TESTS, **extra: str
) -> Tally:
    """Runs the Python tests with pytest on both cores; a selection may hold no test."""
    folders = [folder for folder in files if (ROOT / folder).exists()]
    if not folders:
        return Tally(0, 0)
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    code = run(PYTHON, "-P", "-m", "pytest", *folders, f"--junitxml={report}", "-n", "2",
               "--dist", "worksteal", "--timeout=600", *options, check=False, **extra)
    code = 0 if code == 5 else code  # pytest's status for "no tests were selected"
    return counted(code, *read_junit([report] if report.exists() else []))


def lints() -> Tally:
    """Runs the lints that say something about the code; ./dev lint looks at its layout too."""
    names = ["layers", "sizes", "mirrors", "spelling", "ruff"]
    return read_last_line([PYTHON, ROOT / "tools" / "lint", *names])


def build_times() -> Tally:
    """Compares the compile times with one and a half times the budget: machines differ."""
    limits = ["--budget", "1800", "--step-budget", "120"]
    code = run(PYTHON, ROOT / "tools" / "ledger", *limits, check=False)
    return Tally(int(code == 0), int(code != 0))


def show_build_times() -> Tally:
    """Prints the compile times; wall times on a busy machine are no reason to fail."""
    run(PYTHON, ROOT / "tools" / "ledger", check=False)
    return Tally(0, 0)


def programs() -> Tally:
    """Runs programs that are written for PyTorch through the alias."""
    return python_tests("--dist", "loadgroup", name="programs", files=["tests/programs"])


def conformance() -> Tally:
    """Runs the recorded cases."""
    if not (ROOT / "facula" / "__init__.py").exists():
        return Tally(0, 0)
    return read_last_line([PYTHON, ROOT / "tests" / "conformance" / "check.py"])


def python_examples() -> Tally:
    """Runs every example with --quick: few steps, the same code."""
    passed = failed = 0
    for example in sorted((ROOT / "examples").glob("*.py")):
        say(f"examples/{example.name}")
        code = run(PYTHON, "-P", example, "--quick", check=False, FACULA_EXAMPLE_OUT=str(REPORTS))
        passed, failed = passed + (code == 0), failed + (code != 0)
    return Tally(passed, failed)


def cpp_examples() -> Tally:
    """Installs the C++ library, builds examples/cpp against it with find_package, runs them and
    compares their losses with those of the Python examples.
    """
    prefix, folder = BUILD / "prefix", BUILD / "examples"
    source = ROOT / "examples" / "cpp"
    if not list(source.glob("*.cpp")):
        return Tally(0, 0)
    shutil.rmtree(prefix, ignore_errors=True)
    for command in (
        ["cmake", "--install", BUILD / "dev", "--component", "cpp", "--prefix", prefix],
        ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_PREFIX_PATH={prefix}", "--log-level=WARNING"],
        ["cmake", "--build", folder],
    ):
        if run(*command, check=False) != 0:
            return Tally(0, 1)
    code = run("ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error",
               "--output-junit", REPORTS / "examples.xml", check=False)
    ran = counted(code, *read_junit([REPORTS / "examples.xml"]))
    same, different = compare_twins(folder, REPORTS)
    return Tally(ran.passed + same, ran.failed + different)


# Impossible sizes are tested: they must come back as null, not end the process.
NULL_ALLOWED = "allocator_may_return_null=1"


def sanitized_cpp() -> Tally:
    """Runs the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer."""
    compile_preset("asan")
    return cpp_tests("asan", ASAN_OPTIONS=f"detect_leaks=1:strict_string_checks=1:{NULL_ALLOWED}",
                     UBSAN_OPTIONS="print_stacktrace=1")


def with_sanitizers() -> dict[str, str]:
    """Installs the instrumented package; returns the environment in which Python loads it. The
    interpreter itself is not instrumented.
    """
    prefix = BUILD / "asan" / "prefix"
    shutil.rmtree(prefix, ignore_errors=True)
    run("cmake", "--install", BUILD / "asan", "--component", "python", "--prefix", prefix)
    libraries = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so")
    ]
    return {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONPATH": str(prefix),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": f"detect_leaks=0:{NULL_ALLOWED}",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def sanitized_python() -> Tally:
    """Runs the Python tests under the same, but for those that measure time or memory."""
    return python_tests("-m", "not full and not costs", name="python-asan",
                        files=["tests/python", "tests/ops"], **with_sanitizers())


def sanitized_conformance() -> Tally:
    """Runs the recorded cases under the same."""
    check = ROOT / "tests" / "conformance" / "check.py"
    return read_last_line([PYTHON, "-P", check], **with_sanitizers())


def threads_sanitized() -> Tally:
    """Runs the C++ tests under ThreadSanitizer."""
    compile_preset("tsan")
    return cpp_tests("tsan", TSAN_OPTIONS="halt_on_error=1:report_thread_leaks=0")


def package() -> Tally:
    """Installs the package into a new virtual environment and uses it from another folder."""
    return read_last_line([PYTHON, ROOT / "tests" / "package" / "check.py"])


TINY_TESTS = [
    "tests/python/test_tensor.py",
    "tests/python/test_tensor_index.py",
    "tests/python/autograd/test_autograd.py",
]

Step = tuple[str, Callable[[], Tally]]

TINY: list[Step] = [
    ("C++ tests", lambda: cpp_tests("dev", "^(base|core)$")),
    ("Python tests", lambda: python_tests("-n", "0", files=TINY_TESTS)),
]
FAST: list[Step] = [
    ("lints", lints),
    ("compile times", show_build_times),
    ("C++ tests", lambda: cpp_tests("dev")),
    ("Python tests", lambda: python_tests("-m", "not full")),
    ("programs", programs),
    ("conformance", conformance),
]
EXAMPLES: list[Step] = [("Python examples", python_examples), ("C++ examples", cpp_examples)]
FULL: list[Step] = [
    ("compile times within budget", build_times),
    ("long Python tests", lambda: python_tests("-m", "full", name="python-full")),
    ("C++ tests with ASan and UBSan", sanitized_cpp),
    ("Python tests with ASan and UBSan", sanitized_python),
    ("conformance with ASan and UBSan", sanitized_conformance),
    ("C++ tests with TSan", threads_sanitized),
    ("package", package),
]
LEVELS: dict[str | None, list[Step]] = {
    "tiny": TINY,
    "fast": FAST,
    None: FAST + EXAMPLES,
    "full": FAST + EXAMPLES + FULL,
}


def run_level(level: str | None) -> int:
    """Builds, runs the steps of a level, prints the count; returns the exit status."""
    started = time.monotonic()
    compile_preset("dev")
    REPORTS.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, step in LEVELS[level]:
        say(name)
        began = time.monotonic()
        tally = step()
        rows.append((name, tally, time.monotonic() - began))
    print()
    for name, tally, seconds in rows:
        print(f"{name:36} {tally.passed:6} passed {tally.failed:4} failed {seconds:8.1f} s")
    passed = sum(tally.passed for _, tally, _ in rows)
    failed = sum(tally.failed for _, tally, _ in rows)
    print(f"in {time.monotonic() - started:.0f} s")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0
