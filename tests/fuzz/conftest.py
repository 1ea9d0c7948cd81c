"""Lets the tests of this folder import `fuzzing`, and prints how much was tried in all."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

COUNTS = {"fuzz calls": "hostile calls", "fuzz values": "of them gave a value"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    totals = dict.fromkeys(COUNTS, 0)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                for name, number in report.user_properties:
                    if name in totals:
                        totals[name] += number
    if any(totals.values()):
        said = ", ".join(f"{totals[name]:,} {words}" for name, words in COUNTS.items())
        terminalreporter.write_line(f"fuzz: {said}")
