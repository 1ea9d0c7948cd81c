"""Events of a profile: single ones, averages of those of one name, and lists of them.

>>> import facula
>>> with facula.autograd.profiler.profile() as prof:
...     y = facula.ones(2, 3).exp()
>>> [event.name for event in prof.function_events]
['aten::ones', 'aten::exp']
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from facula.autograd import _profiler_table

__all__ = [
    "DeviceType",
    "EventList",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
]

MEMORY_EVENT_NAME = "[memory]"
_METRICS = (
    "self_cpu_time_total",
    "self_cuda_time_total",
    "self_xpu_time_total",
    "self_privateuse1_time_total",
)


class DeviceType(enum.Enum):
    """Where an event ran: always on the CPU."""

    CPU = 0
    CUDA = 1
    XPU = 12
    MTIA = 19
    PrivateUse1 = 20


class Interval:
    """A stretch of time in microseconds since the profile began."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """Return its length."""
        return self.end - self.start


class Kernel(NamedTuple):
    """What ran on an accelerator; nothing does."""

    name: str
    device: int
    duration: float


def _text_of(attribute: str) -> property:
    return property(
        lambda self: _profiler_table.format_time(getattr(self, attribute)),
        doc=f"`{attribute}` as a text with its unit.",
    )


class FormattedTimesMixin:
    """Averages of times, and times as texts."""

    count: int
    cpu_time_total: float
    device_time_total: float

    cpu_time_str = _text_of("cpu_time")
    device_time_str = _text_of("device_time")
    cpu_time_total_str = _text_of("cpu_time_total")
    device_time_total_str = _text_of("device_time_total")
    self_cpu_time_total_str = _text_of("self_cpu_time_total")
    self_device_time_total_str = _text_of("self_device_time_total")

    @property
    def cpu_time(self) -> float:
        """Microseconds a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Microseconds of an accelerator a call."""
        return self.device_time_total / self.count if self.count else 0.0

    cuda_time = device_time


class FunctionEvent(FormattedTimesMixin):
    """One call: of an operator, of a node of a backward pass, or of a marked block.

    Args:
        id: its number in the profile.
        name: "aten::add", "MulBackward0" or what `record_function` says.
        thread: the thread that it ran in.
        start_us, end_us: when it ran, in microseconds since the profile began.
        trace_name: its name in trace files; None keeps it out of them.
        input_shapes: a list of sizes for each argument, empty for what is no tensor.
        stack: where it was called, innermost first.
        scope: 0 of operators, 1 of backward nodes, 2 of functions of users, 7 of marked blocks.
        cpu_memory_usage: bytes that it allocated less those that it freed.
        sequence_nr: the number of the node that it recorded, or that ran; -1 without one.
        flops: floating-point operations, where they are known.
    """

    is_async = is_remote = is_legacy = is_python_function = False
    node_id = -1
    device_type = DeviceType.CPU
    device_index = 0
    use_device: str | None = None
    device_memory_usage = self_device_memory_usage = 0
    device_time_total = self_device_time_total = 0.0
    cuda_time_total = self_cuda_time_total = 0.0
    overload_name = ""
    count = 1

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        trace_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: list | None = None,
        structured_input_shapes: list | None = None,
        structured_input_strides: list | None = None,
        input_dtypes: list[str] | None = None,
        concrete_inputs: list | None = None,
        stack: list[str] | None = None,
        scope: int = 0,
        cpu_memory_usage: int = 0,
        sequence_nr: int = -1,
        flops: int = 0,
        is_user_annotation: bool = False,
    ) -> None:
        self.id, self.name, self.trace_name = id, name, trace_name
        self.thread, self.fwd_thread = thread, fwd_thread
        self.time_range = Interval(start_us, end_us)
        self.input_shapes = input_shapes or []
        self.structured_input_shapes = structured_input_shapes or []
        self.structured_input_strides = structured_input_strides or []
        self.input_dtypes = input_dtypes or []
        self.concrete_inputs = concrete_inputs or []
        self.kwinputs: dict[str, Any] = {}
        self.stack = stack or []
        self.scope, self.sequence_nr, self.flops = scope, sequence_nr, flops
        self.cpu_memory_usage = cpu_memory_usage
        self.is_user_annotation = is_user_annotation
        self.kernels: list[Kernel] = []
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    @property
    def key(self) -> str:
        """What events are grouped by: the name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:
        """Microseconds, with those of the events inside."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds, without those of the events inside."""
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes, without those of the events inside."""
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add an event that ran inside."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Set the event that it ran inside of."""
        self.cpu_parent = parent

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[c.id for c in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"seq_nr={self.sequence_nr}>"
        )


class FunctionEventAvg(FormattedTimesMixin):
    """The sums over events of one key, and their averages a call."""

    _SUMS = (
        "count",
        "cpu_time_total",
        "self_cpu_time_total",
        "device_time_total",
        "self_device_time_total",
        "cpu_memory_usage",
        "self_cpu_memory_usage",
        "device_memory_usage",
        "self_device_memory_usage",
        "flops",
    )
    _KEPT = (
        "key",
        "node_id",
        "is_async",
        "is_remote",
        "is_legacy",
        "use_device",
        "device_type",
        "overload_name",
        "input_shapes",
        "stack",
        "scope",
        "cpu_parent",
        "cpu_children",
        "is_user_annotation",
    )

    key: str | None
    self_cpu_time_total: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    input_shapes: list | None
    stack: list | None

    def __init__(self) -> None:
        for name in self._SUMS:
            setattr(self, name, 0)
        for name in self._KEPT:
            setattr(self, name, None)

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add an event, or the sums over others, of the same key."""
        if self.key is None:
            for name in self._KEPT:
                setattr(self, name, getattr(other, name))
        if not isinstance(other, FunctionEvent | FunctionEventAvg):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in self._SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list):
    """A list of events that can be summed up by name and printed as a table."""

    def __init__(
        self,
        events: Iterable = (),
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(events)
        self._use_device, self._profile_memory = use_device, profile_memory
        self._with_flops = with_flops

    def _build_tree(self) -> None:
        """Find out which events ran inside of which: of those that began before and had not ended,
        the last one. An event that outlives another is not inside of it.
        """
        for event in self:
            event.cpu_children, event.cpu_parent = [], None
        running: dict[int, list[FunctionEvent]] = {}
        for event in self:
            outer = running.setdefault(event.thread, [])
            while outer and (
                event.time_range.start > outer[-1].time_range.end
                or event.time_range.end > outer[-1].time_range.end
            ):
                outer.pop()
            if outer:
                outer[-1].append_cpu_child(event)
                event.set_cpu_parent(outer[-1])
            outer.append(event)
        self._give_stacks_to_backward()

    def _give_stacks_to_backward(self) -> None:
        """Give what a backward node did the stack of the call that recorded the node."""
        forward: dict[int, list[str]] = {}
        node_of: dict[int, FunctionEvent | None] = {}
        for event in self:
            outer = event.cpu_parent
            node = event if event.scope == 1 else node_of[id(outer)] if outer else None
            node_of[id(event)] = node
            if node is None and event.sequence_nr >= 0:
                forward.setdefault(event.sequence_nr, event.stack)
        for event in self:
            node = node_of[id(event)]
            if node is not None:
                event.stack = forward.get(node.sequence_nr, [])

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events together."""
        return sum(event.self_cpu_time_total for event in self)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Return a text table of the events.

        Args:
            sort_by: the attribute to sort by, largest first: "cpu_time_total", "count" ...
            row_limit: how many rows at most; -1 for all.
            max_src_column_width, max_name_column_width, max_shapes_column_width: widths of columns.
            header: a line above the table.
            top_level_events_only: leave out what ran inside of others.
            time_unit: "s", "ms" or "us" for all times.
        """
        return _profiler_table.table(
            self,
            sort_by=sort_by,
            row_limit=row_limit,
            source_width=max_src_column_width,
            name_width=max_name_column_width,
            shapes_width=max_shapes_column_width,
            header=header,
            top_level_only=top_level_events_only,
            time_unit=time_unit,
            memory=self._profile_memory,
            flops=self._with_flops,
        )

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a trace that chrome://tracing and Perfetto show."""
        events = [
            {
                "name": e.trace_name,
                "ph": "X",
                "ts": e.time_range.start,
                "dur": e.time_range.elapsed_us(),
                "tid": e.thread,
                "pid": "CPU functions",
                "args": {},
            }
            for e in self
            if e.trace_name is not None
        ]
        with open(path, "w") as file:
            json.dump(events, file)

    def supported_export_stacks_metrics(self) -> list[str]:
        """Return what `export_stacks` can weigh stacks by."""
        return list(_METRICS)

    def export_stacks(self, path: str, metric: str) -> None:
        """Write a line for each event with a stack: its frames, outermost first, and the metric."""
        if metric not in _METRICS:
            raise ValueError(f"metric should be one of: {list(_METRICS)}")
        for accelerator in ("cuda", "xpu", "privateuse1"):
            metric = metric.replace(accelerator, "device")
        blanks = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as file:
            for event in self:
                weight = int(getattr(event, metric))
                if event.stack and weight > 0:
                    frames = ";".join(f.translate(blanks) for f in reversed(event.stack))
                    file.write(f"{frames} {weight}\n")

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        """Return the sums over the events of one name; with `group_by_input_shapes` and
        `group_by_stack_n` over those with the same shapes and innermost `n` frames of the stack.
        """
        found: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            key: tuple = (event.key, event.is_user_annotation)
            if group_by_input_shapes:
                key += (str(event.input_shapes),)
            if group_by_stack_n > 0:
                key += tuple(event.stack[:group_by_stack_n])
            found.setdefault(key, FunctionEventAvg()).add(event)
        for average in found.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = []
        return EventList(
            found.values(),
            use_device=self._use_device,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )

    def total_average(self) -> FunctionEventAvg:
        """Return the sums over all events."""
        total = FunctionEventAvg()
        for event in self:
            total.key = event.key  # whatever it is
            total.add(event)
        total.key = "Total"
        return total

    def __str__(self) -> str:
        return self.table()
