"""Times of operators, backward nodes and marked blocks: `profile` and `record_function`.

Inside `with profile():` every operator that the thread calls is noted, with those that it consists
of, the nodes that backward passes run, and what `record_function` marks. Other threads are not
seen. A program that is not being profiled pays nothing.

>>> import facula
>>> with facula.autograd.profiler.profile() as prof:
...     y = facula.ones(2, 3) @ facula.ones(3, 4)
>>> [e.key for e in prof.key_averages()]
['aten::ones', 'aten::mm']
"""

from __future__ import annotations

import contextlib
import functools
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from facula import _C
from facula.autograd import _profiler_events, _profiler_trace
from facula.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "KinetoStepTracker",
    "emit_itt",
    "emit_nvtx",
    "profile",
    "record_function",
]


class profile:
    """A context that notes what the thread does in it.

    Args:
        enabled: False makes it do nothing.
        use_device: ignored but for a warning: there is nothing but the CPU.
        record_shapes: note the shapes and dtypes of what operators are given.
        with_flops: count the floating-point operations of products and convolutions, and of `add`
            and `mul`.
        profile_memory: note how much memory was allocated and freed, with what tensors need beside
            their elements.
        with_stack: note where operators were called.
        acc_events: keep the events of earlier uses of this object.

    Profiles may nest: each has what began in its time. RuntimeError if the object is entered twice,
    and where another thread leaves it.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        **options: Any,
    ) -> None:
        self.enabled, self.use_device = enabled, None
        self.record_shapes = record_shapes or with_flops
        self.with_flops, self.profile_memory = with_flops, profile_memory
        self.with_stack, self.with_modules, self.acc_events = with_stack, with_modules, acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.entered = self._ended = False
        self.trace_id = ""
        self._number = 0
        self._raw: list = []
        self._events: EventList | None = None
        self._earlier: list[FunctionEvent] = []
        if use_device is not None:
            _warn_of_device(use_device)

    def _start(self) -> None:
        make = self.custom_trace_id_callback or (lambda: f"{uuid.uuid4().int:032X}")
        self.trace_id = make()
        self._number = _C._profiler_start(self.record_shapes, self.profile_memory, self.with_stack)
        self.entered = True

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._start()
        return self

    def __exit__(self, *exc: Any) -> bool | None:
        if not self.enabled:
            return None
        if self.acc_events:
            self._earlier = list(self.function_events)
        self._raw = _C._profiler_stop(self._number)
        self._events, self._ended = None, True
        return False

    @property
    def function_events(self) -> EventList:
        """The events, by their beginning; none before the profile has ended."""
        if self._events is None:
            events = _profiler_events.events_of(
                self._raw,
                shapes=self.record_shapes,
                flops=self.with_flops,
                memory=self.profile_memory,
                stacks=self.with_stack,
            )
            self._events = EventList(
                events, profile_memory=self.profile_memory, with_flops=self.with_flops
            )
            self._events._build_tree()
            self._events.extend(self._earlier)
            self._raw = []
        return self._events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        """Return the sums over the events of one name: see `EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """Return the sums over all events."""
        return self.function_events.total_average()

    def table(self, *args: Any, **kwargs: Any) -> str:
        """Return a text table of the events: see `EventList.table`."""
        return self.function_events.table(*args, **kwargs)

    def export_chrome_trace(self, path: str, metadata: dict | None = None, **options: Any) -> None:
        """Write the events as a trace that chrome://tracing, Perfetto and TensorBoard show."""
        _profiler_trace.write(path, self.function_events, metadata or {}, self.trace_id)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks of events, weighed by a metric, as flame graphs take them."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable) -> None:
        """Stop noting what comes, or go on: of activities that hold the CPU."""
        if any(getattr(a, "name", "") == "CPU" for a in activities):
            _C._profiler_pause(not enabled)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events together."""
        return self.function_events.self_cpu_time_total

    def __repr__(self) -> str:
        return repr(self.function_events) if self._ended else "<unfinished torch.autograd.profile>"

    def __str__(self) -> str:
        return str(self.function_events) if self._ended else "<unfinished torch.autograd.profile>"


def _warn_of_device(name: str) -> None:
    import warnings

    if name in ("cuda", "xpu", "hpu"):
        text = f"{name.upper()} is not available, disabling {name.upper()} profiling"
    else:
        text = f"The {name} is not a valid device option."
    warnings.warn(text, stacklevel=3)


class record_function:
    """A context, or decorator, that gives a block a name in profiles.

    >>> with profile() as prof, record_function("block"):
    ...     pass
    >>> prof.function_events[0].name
    'block'
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._token: int | None = None

    def __enter__(self) -> record_function:
        self._token = _C._profiler_begin(self.name, False)
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._token is not None:
            _C._profiler_end(self._token)
            self._token = None

    def __call__(self, func: Callable) -> Callable:
        """Return the function, whose calls have this name in profiles."""

        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return func(*args, **kwargs)

        return wrapped


class KinetoStepTracker:
    """Counts steps of training for profilers: the highest count of those who count."""

    _current_step = 0
    _steps: dict[str, int] = {}

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Begin to count for somebody."""
        cls._steps[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """End it; whether somebody of this name was counting."""
        return cls._steps.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Count a step of somebody's."""
        if requester not in cls._steps:
            cls.init_step_count(requester)
        cls._steps[requester] += 1
        cls._current_step = max(cls._steps.values())
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """Return the highest count."""
        return cls._current_step


@contextlib.contextmanager
def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Run the block: marks for NVIDIA's profilers are not made."""
    yield


@contextlib.contextmanager
def emit_itt(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Run the block: marks for Intel's profilers are not made."""
    yield
