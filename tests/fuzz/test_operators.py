"""Every public function under hostile arguments: it answers or refuses, and never crashes or hangs.

`fast` makes a slice of calls over all functions; `full` makes 100,000, each function its own.
"""

from __future__ import annotations

from functools import partial
from random import Random

import pytest
from fuzzing.generate import mutated, typed
from fuzzing.isolated import Report, batch, sanitized
from fuzzing.recorded import by_operator
from fuzzing.specs import Call
from fuzzing.targets import targets

SLICES, SLICE = 4, 1000  # of the fast level
SHARDS, CALLS = 48, 100_000  # of the full level
SEED = 20260


def functions() -> list[partial]:
    """What draws the calls of each function: by its types, and by its recorded cases."""
    by_types = [partial(typed, target=t) for t in targets().values()]
    return by_types + [partial(mutated, op=op) for op in by_operator()]


def setter(draw: partial) -> bool:
    """Whether the function sets an option of the process."""
    target = draw.keywords.get("target")
    return target is not None and target.path.rpartition(".")[2].startswith(("set_", "use_"))


def judged(report: Report, record_property) -> None:
    record_property("fuzz calls", report.calls)
    record_property("fuzz values", report.values)
    assert not report.findings, "\n".join(report.findings)
    # Calls that are all refused would test the refusals only.
    assert report.values > report.calls // 10


@pytest.mark.parametrize("part", range(SLICES))
def test_slice(part: int, record_property) -> None:
    # Functions that set something for the whole process come in test_every_function only.
    draws = [d for d in functions() if not setter(d)][part::SLICES]

    def draw(rnd: Random) -> Call:
        return rnd.choice(draws)(rnd)

    judged(batch(draw, SLICE, SEED + part), record_property)


@pytest.mark.full
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_function(shard: int, record_property) -> None:
    draws = functions()
    calls = -(-CALLS // len(draws)) // (8 if sanitized() else 1)
    total = Report()
    for i in range(shard, len(draws), SHARDS):
        total.add(batch(draws[i], calls, SEED + i))
    judged(total, record_property)


def test_crash_is_found_and_named() -> None:
    """The machinery itself: a call that kills the process, one that hangs, one that is fine."""

    class Deadly(Call):
        def run(self) -> tuple[bool, str]:
            import os
            import signal

            os.kill(os.getpid(), getattr(signal, self.path))
            return True, ""

    for name, words in (("SIGSEGV", "ends the process: SIGSEGV"), ("SIGALRM", "hangs")):
        report = batch(lambda rnd, name=name: Deadly(name, ["bait"]), 10, 1)
        assert len(report.findings) >= 1 and report.calls >= 1
        assert "bait" in report.findings[0] and words in report.findings[0]
    fine = batch(lambda rnd: Call("abs", [rnd.choice((-1.5, 2))]), 10, 1)
    assert fine.calls == 10 and not fine.findings
