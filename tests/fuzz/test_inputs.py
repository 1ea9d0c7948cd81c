"""Foreign bytes: damaged checkpoints, memory that others own, and subscripts of every kind."""

from __future__ import annotations

import pytest
from fuzzing.files import damaged
from fuzzing.imports import imported
from fuzzing.isolated import batch
from fuzzing.subscripts import subscript

DRAWS = {"files": (damaged, 300), "imports": (imported, 1500), "subscripts": (subscript, 2500)}
LONGER = 10  # times as many in the full level


def judged(kind: str, times: int, seed: int, record_property) -> None:
    draw, count = DRAWS[kind]
    report = batch(draw, times * count, seed)
    record_property("fuzz calls", report.calls)
    record_property("fuzz values", report.values)
    assert not report.findings, "\n".join(report.findings)
    assert report.values > report.calls // 20


@pytest.mark.parametrize("kind", DRAWS)
def test_inputs(kind: str, record_property) -> None:
    judged(kind, 1, 7, record_property)


@pytest.mark.full
@pytest.mark.parametrize("kind", DRAWS)
def test_more_inputs(kind: str, record_property) -> None:
    judged(kind, LONGER, 8, record_property)
