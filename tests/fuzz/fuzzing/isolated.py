"""Runs calls in a forked child, so that one that crashes or hangs is found and named.

The child writes each call's text into shared memory before it makes it; what the parent finds
there when the child has died by a signal is the call that killed it. Memory is limited, and a
timer ends a call that takes too long.
"""

from __future__ import annotations

import faulthandler
import functools
import json
import mmap
import os
import re
import resource
import signal
import struct
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from hypothesis import HealthCheck, Phase, given, settings, strategies
from hypothesis import seed as seeded

NOTE = 1 << 14  # bytes of the current call's text
MEMORY = 1 << 31  # bytes that a child may map beyond what it has
SECONDS = 30  # that one call may take: machines are busy
A_SEED = 25  # calls that one generator of hypothesis makes
DEATHS = 3  # of children, after which a batch is given up
STACK = 3000  # characters of a dead child's stderr that are shown


@dataclass
class Report:
    """What came of a batch: calls made, those that returned a value, and what is wrong."""

    calls: int = 0
    values: int = 0
    findings: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        self.calls += other.calls
        self.values += other.values
        self.findings += other.findings


class Board:
    """Shared memory: the numbers of calls and values, and the text of the call under way."""

    def __init__(self) -> None:
        self.map = mmap.mmap(-1, NOTE + 16)

    def note(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")[: NOTE - 4]
        self.map[16 : 20 + len(data)] = struct.pack("<i", len(data)) + data

    def text(self) -> str:
        (n,) = struct.unpack("<i", self.map[16:20])
        return self.map[20 : 20 + n].decode()

    def count(self, which: int) -> None:
        at = 8 * which
        (n,) = struct.unpack("<q", self.map[at : at + 8])
        self.map[at : at + 8] = struct.pack("<q", n + 1)

    def counts(self) -> tuple[int, int]:
        return struct.unpack("<qq", self.map[:16])


def sanitized() -> bool:
    """Whether the process runs under AddressSanitizer, which maps terabytes."""
    return "libasan" in os.environ.get("LD_PRELOAD", "")


def limit() -> None:
    """Puts the limits of a child in place."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not sanitized():
        with open("/proc/self/statm") as f:
            mapped = int(f.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def in_child(work: Callable[[Any], None], seconds: float) -> tuple[int, list, str]:
    """Runs `work(tell)` in a forked child: (status, what it told, the end of its stderr)."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as told:
        folder = tempfile.TemporaryDirectory()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.chdir(folder.name)
                os.dup2(errors.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                faulthandler.enable(errors)
                limit()

                def tell(what: str) -> None:
                    os.write(told.fileno(), (json.dumps(what) + "\n").encode())

                work(tell)
                status = 0
            except BaseException:
                os.write(2, traceback.format_exc().encode("utf-8", "backslashreplace"))
            finally:
                os._exit(status)
        status = wait(child, seconds)
        folder.cleanup()
        told.seek(0)
        errors.seek(0)
        lines = [json.loads(line) for line in told.read().splitlines()]
        return status, lines, errors.read().decode(errors="replace")[-STACK:]


def wait(child: int, seconds: float) -> int:
    """The status of a child, which is killed when its time is over."""
    end = time.monotonic() + seconds
    pause = 0.001
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.05, pause * 2)


class Step(Protocol):
    """One thing to try; `run` says whether it gave a value, and what is wrong with it."""

    def run(self) -> tuple[bool, str]: ...


def make(call: Step, board: Board, tell: Callable[[str], None]) -> None:
    """Makes one call in a child and tells what is wrong with its outcome."""
    board.note(repr(call))
    board.count(0)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            returned, wrong = call.run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if returned:
        board.count(1)
    if wrong:
        tell(f"{call!r}\n    {wrong}")


def seeds(run: Callable[[Random], None], count: int, start: int) -> None:
    """Gives `run` as many generators of hypothesis, seeded anew from `start`."""
    test = given(strategies.randoms(use_true_random=True))(run)
    calm = settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck))
    seeded(start)(calm(test))()


@functools.cache
def warm() -> None:
    """Lets hypothesis do once, before the forks, what it does at its first use."""
    seeds(lambda rnd: None, 2, 0)


def batch(draw: Callable[[Random], Step], count: int, seed: int) -> Report:
    """Makes `count` calls that `draw` makes up, in as many children as die over it."""
    report = Report()
    warm()
    deaths = 0
    while report.calls < count and deaths < DEATHS:
        board = Board()
        rest = count - report.calls

        def work(tell: Callable, board: Board = board, rest: int = rest, start: int = seed) -> None:
            def run(rnd: Random) -> None:
                # hypothesis begins with the same generator every time: the seed tells them apart.
                own = Random(start << 64 | rnd.getrandbits(64))
                for _ in range(min(A_SEED, rest)):
                    make(draw(own), board, tell)

            seeds(run, -(-rest // A_SEED), start)

        status, told, errors = in_child(work, 60 + SECONDS + rest)
        made, values = board.counts()
        report.add(Report(made, values, unlike(told)))
        if status == 0:
            break
        report.findings.append(f"{board.text()}\n    {death(status)}\n{indented(errors)}")
        seed += 1_000_003
        deaths += 1
    return report


def unlike(findings: list[str]) -> list[str]:
    """One finding of each complaint."""
    return list({kind(f): f for f in reversed(findings)}.values())[::-1]


def kind(finding: str) -> str:
    """What a finding has in common with its like: where it was raised, or its text."""
    text = finding.split("\n", 1)[1]
    place = re.search(r"\(\S+, \S+:\d+\)$", text)
    return place.group() if place else text


def death(status: int) -> str:
    """How a child ended, in words."""
    if status == -signal.SIGALRM:
        return f"hangs: no result after {SECONDS} s"
    if status < 0:
        return f"ends the process: {signal.Signals(-status).name}"
    return f"ends the process with status {status}"


def indented(text: str) -> str:
    """What a dead child said, without the frames of the machinery."""
    lines = [line for line in text.splitlines() if line.strip()]
    own = ("hypothesis/", "tests/fuzz", "runpy", "Extension modules", "Current thread")
    lines = [line for line in lines if not any(part in line for part in own)]
    return "\n".join("    | " + line for line in lines[-25:])


def repeat(call: Step) -> Report:
    """Makes one call in a child of its own."""
    board = Board()

    def work(tell: Callable) -> None:
        make(call, board, tell)

    status, told, errors = in_child(work, 2 * SECONDS)
    made, values = board.counts()
    if status:
        told.append(f"{call!r}\n    {death(status)}\n{indented(errors)}")
    return Report(made, values, told)
