"""Lets the suites of this folder import their samples, and prints how much they checked."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def checked(record_property, request):
    """Counts checks: `checked(n)` after n of them; the operator is the test's parameter `op`."""
    record_property("operator", request.node.callspec.params["op"])

    def count(n: int = 1) -> None:
        record_property("operator checks", n)

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    operators, checks = set(), 0
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                found = report.user_properties
                operators |= {value for name, value in found if name == "operator"}
                checks += sum(value for name, value in found if name == "operator checks")
    if operators:
        terminalreporter.write_line(f"operators: {len(operators)}, checks of them: {checks:,}")
