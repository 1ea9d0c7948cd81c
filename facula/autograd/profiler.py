"""Times of marked blocks: `profile` and `record_function`.

What a program marks with `record_function` is timed while a `profile` is entered; single operators
are not recorded.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = [
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "emit_itt",
    "emit_nvtx",
    "profile",
    "record_function",
]

_active: list[profile] = []
_lock = threading.Lock()


class FunctionEvent:
    """A marked block: its name, and when it ran, in microseconds since the profile began."""

    def __init__(self, name: str, start: float, end: float, thread: int) -> None:
        self.name = self.key = name
        self.start, self.end, self.thread = start, end, thread
        self.count = 1
        self.cpu_time_total = self.self_cpu_time_total = end - start
        self.device_time_total = self.self_device_time_total = 0.0
        self.cpu_memory_usage = self.device_memory_usage = 0
        self.input_shapes: list = []
        self.stack: list = []

    @property
    def cpu_time(self) -> float:
        """Microseconds a call."""
        return self.cpu_time_total / self.count

    def __repr__(self) -> str:
        return f"<FunctionEvent {self.name}: {self.count} calls, {self.cpu_time_total:.1f} us>"


class EventList(list):
    """A list of events that can be summed up by name and printed as a table."""

    def key_averages(self, *args: Any, **kwargs: Any) -> EventList:
        """Return one event a name, with the times of all its calls added."""
        found: dict[str, FunctionEvent] = {}
        for event in self:
            total = found.get(event.key)
            if total is None:
                total = found[event.key] = FunctionEvent(event.key, 0, 0, event.thread)
                total.count = 0
            total.count += event.count
            total.cpu_time_total += event.cpu_time_total
            total.self_cpu_time_total += event.self_cpu_time_total
        return EventList(found.values())

    def total_average(self) -> FunctionEvent:
        """Return one event with the times of all calls added."""
        result = FunctionEvent("Total", 0, 0, 0)
        result.count = sum(e.count for e in self)
        result.cpu_time_total = sum(e.cpu_time_total for e in self)
        return result

    def table(self, sort_by: str | None = None, row_limit: int = 100, **kwargs: Any) -> str:
        """Return a text table of names, calls and times, by `sort_by` or in order."""
        events = list(self)
        if sort_by:
            name = sort_by.replace("cuda", "device")
            events.sort(key=lambda e: getattr(e, name, 0), reverse=True)
        width = max([len(e.key) for e in events], default=4)
        lines = [f"{'Name':{width}}  {'Calls':>8}  {'CPU total':>12}  {'CPU a call':>12}"]
        for e in events[: row_limit if row_limit >= 0 else None]:
            total, each = f"{e.cpu_time_total:.1f}us", f"{e.cpu_time:.1f}us"
            lines.append(f"{e.key:{width}}  {e.count:8}  {total:>12}  {each:>12}")
        return "\n".join(lines) + "\n"

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a trace that chrome://tracing and Perfetto show."""
        import json

        events = [
            {"name": e.name, "ph": "X", "ts": e.start, "dur": e.end - e.start, "tid": e.thread,
             "pid": "CPU", "args": {}}
            for e in self
        ]  # fmt: skip
        with open(path, "w") as file:
            json.dump({"traceEvents": events}, file)

    def __str__(self) -> str:
        return self.table()


class profile:
    """A context that times the blocks which `record_function` marks in it."""

    def __init__(self, enabled: bool = True, **kwargs: Any) -> None:
        self.enabled = enabled
        self.function_events = EventList()

    def __enter__(self) -> profile:
        self._start = time.perf_counter()
        if self.enabled:
            with _lock:
                _active.append(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        if self.enabled:
            with _lock:
                _active.remove(self)

    def _add(self, name: str, start: float, end: float) -> None:
        origin, thread = self._start, threading.get_ident()
        event = FunctionEvent(name, (start - origin) * 1e6, (end - origin) * 1e6, thread)
        self.function_events.append(event)

    def key_averages(self, *args: Any, **kwargs: Any) -> EventList:
        """Return one event a name, with the times of all its calls added."""
        return self.function_events.key_averages()

    def total_average(self) -> FunctionEvent:
        """Return one event with the times of all calls added."""
        return self.function_events.total_average()

    def table(self, *args: Any, **kwargs: Any) -> str:
        """Return a text table of names, calls and times."""
        return self.function_events.table(*args, **kwargs)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a trace that chrome://tracing and Perfetto show."""
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write an empty file: stacks are not recorded."""
        with open(path, "w"):
            pass

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all marked blocks together."""
        return sum(e.self_cpu_time_total for e in self.function_events)

    def __str__(self) -> str:
        return self.table()


class record_function:
    """A context, or decorator, that gives a block a name in profiles."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        self._start = time.perf_counter() if _active else 0.0
        return self

    def __exit__(self, *exc: Any) -> None:
        if _active and self._start:
            end = time.perf_counter()
            for active in list(_active):
                active._add(self.name, self._start, end)

    def __call__(self, func: Callable) -> Callable:
        """Return the function, whose calls have this name in profiles."""

        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return func(*args, **kwargs)

        return wrapped


class KinetoStepTracker:
    """Counts steps of training for profilers."""

    _count = 0

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Count a step."""
        cls._count += 1
        return cls._count

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Accept who counts."""

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Accept that somebody stops counting."""
        return True


@contextlib.contextmanager
def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Run the block: marks for NVIDIA's profilers are not made."""
    yield


@contextlib.contextmanager
def emit_itt(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Run the block: marks for Intel's profilers are not made."""
    yield
