"""`profile`: runs a schedule of waiting, warming up and recording over the steps of a program."""

from __future__ import annotations

import enum
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

from facula import _absent
from facula.autograd import profiler as _blocks

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(enum.Enum):
    """What is recorded: here always the blocks that run on the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


ExecutionTraceObserver = _absent.absent_class("facula.profiler.ExecutionTraceObserver")


def supported_activities() -> set[ProfilerActivity]:
    """Return what can be recorded."""
    return {ProfilerActivity.CPU}


def _default_schedule_fn(_: int) -> ProfilerAction:
    """Record every step."""
    return ProfilerAction.RECORD


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, **kwargs: Any
) -> Callable[[int], ProfilerAction]:
    """Return a function of the step: cycles of waiting, warming up and recording."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        length = wait + warmup + active
        if step < 0 or (repeat > 0 and step >= repeat * length):
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """Return a handler that writes each recorded cycle as a trace file into a folder."""

    def write(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(
            os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json")
        )

    return write


class profile:
    """A context that records marked blocks by a schedule; `step()` ends a step of the program.

    `on_trace_ready` is called with this object whenever a cycle of recording ends.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.activities = set(activities) if activities else supported_activities()
        self.schedule = schedule or _default_schedule_fn
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.profiler: Any = None

    def start(self) -> None:
        """Begin the first step."""
        self._begin()

    def stop(self) -> None:
        """End the last step and hand out what was recorded."""
        recording = self._recording()
        self._end()
        if recording and self.on_trace_ready:
            self.on_trace_ready(self)

    def step(self) -> None:
        """End a step and begin the next one."""
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._end()
            if self.on_trace_ready:
                self.on_trace_ready(self)
        if not self._recording():
            self._end()
        elif self.profiler is None or before is ProfilerAction.RECORD_AND_SAVE:
            self._begin()

    def _recording(self) -> bool:
        return self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    def _begin(self) -> None:
        if self._recording():
            self._running = self.profiler = _blocks.profile()
            self._running.__enter__()

    _running: Any = None

    def _end(self) -> None:
        if self._running is not None:
            self._running.__exit__(None, None, None)
            self._running = None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()

    def events(self) -> Any:
        """Return the recorded blocks."""
        return _blocks.EventList() if self.profiler is None else self.profiler.function_events

    def key_averages(self, *args: Any, **kwargs: Any) -> Any:
        """Return one event a name, with the times of all its calls added."""
        return self.events().key_averages()

    def export_chrome_trace(self, path: str) -> None:
        """Write the recorded blocks as a trace file."""
        self.events().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write an empty file: stacks are not recorded."""
        with open(path, "w"):
            pass

    def add_metadata(self, key: str, value: str) -> None:
        """Accept a remark for the trace."""

    add_metadata_json = add_metadata
