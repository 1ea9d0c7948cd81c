"""`profile`: runs a schedule of waiting, warming up and recording over the steps of a program."""

from __future__ import annotations

import enum
import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from facula import _absent
from facula.autograd import profiler as _profiles

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

PROFILER_STEP_NAME = "ProfilerStep"


class ProfilerActivity(enum.Enum):
    """What is recorded: here always what runs on the CPU."""

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


_RECORDS = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

ExecutionTraceObserver = _absent.absent_class("facula.profiler.ExecutionTraceObserver")


def supported_activities() -> set[ProfilerActivity]:
    """Return what can be recorded."""
    return {ProfilerActivity.CPU}


def _default_schedule_fn(_: int) -> ProfilerAction:
    """Record every step."""
    return ProfilerAction.RECORD


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Return a function of the step: cycles of waiting, warming up and recording.

    Args:
        wait, warmup, active: steps of each kind in a cycle.
        repeat: how many cycles; 0 for no end.
        skip_first: steps before the first cycle.
        skip_first_wait: not 0 leaves out the waiting of the first cycle.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn(
            "Profiler won't be using warmup, this can skew profiler results", stacklevel=2
        )
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        if repeat > 0 and step >= repeat * length:
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[Any], None]:
    """Return a handler that writes each recorded cycle as a trace file into a folder."""

    def write(prof: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return write


class _KinetoProfile:
    """A profile that is started and stopped by calls, without steps.

    Args:
        activities: what to record; there is nothing but the CPU.
        record_shapes, profile_memory, with_stack, with_flops: what to note of each event, as for
            `facula.autograd.profiler.profile`.
        acc_events: keep the events of earlier cycles.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.activities = supported_activities() if activities is None else set(activities)
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops = with_stack, with_flops
        self.with_modules, self.acc_events = with_modules, acc_events
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.custom_trace_id_callback = custom_trace_id_callback
        self.profiler: _profiles.profile | None = None
        self.preset_metadata: dict[str, str] = {}
        self._metadata: dict[str, str] = {}
        self.use_device = None

    def start(self) -> None:
        """Begin to record."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """End it."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Make ready what records."""
        if self.profiler is None or not self.acc_events:
            self.profiler = _profiles.profile(
                record_shapes=self.record_shapes,
                with_flops=self.with_flops,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                acc_events=self.acc_events,
                custom_trace_id_callback=self.custom_trace_id_callback,
            )

    def _made(self, what: str) -> _profiles.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {what}")
        return self.profiler

    def start_trace(self) -> None:
        """Begin to record with what was made ready."""
        profiler = self._made("starting trace")
        profiler._start()
        for option in ("profile_memory", "with_stack", "record_shapes", "with_flops"):
            if getattr(self, option):
                self.add_metadata_json(option, "1")
        self._metadata.update(self.preset_metadata)

    def stop_trace(self) -> None:
        """End the recording."""
        self._made("stopping trace").__exit__(None, None, None)

    def events(self) -> _profiles.EventList:
        """Return the recorded events."""
        return self._made("accessing events").function_events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> _profiles.EventList:
        """Return the sums over the events of one name, and of the same shapes and stacks."""
        profiler = self._made("getting key averages")
        return profiler.key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str, **options: Any) -> None:
        """Write the recorded events as a trace file, compressed if the path ends in ".gz"."""
        self._made("exporting chrome trace").export_chrome_trace(path, self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks of events, weighed by a metric, as flame graphs take them."""
        self._made("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Raise NotImplementedError: what memory is used for is not recorded."""
        raise _absent.missing("facula.profiler.profile.export_memory_timeline")

    def toggle_collection_dynamic(
        self, enable: bool, activities: Iterable[ProfilerActivity]
    ) -> None:
        """Stop recording what comes, or go on: of activities that hold the CPU."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the trace file."""
        self._metadata[key] = json.dumps(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a value, given as JSON, to the trace file."""
        self._metadata[key] = value

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a value, given as JSON, to the trace files of recordings that begin later."""
        self.preset_metadata[key] = value


class profile(_KinetoProfile):
    """A context that records by a schedule; `step()` ends a step of the program.

    `on_trace_ready` is called with this object whenever a cycle of recording ends. With a schedule
    each step is an event too. Further arguments are those of `_KinetoProfile`.

    >>> import facula
    >>> with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    ...     y = facula.ones(2, 3).exp()
    >>> [(e.key, e.input_shapes) for e in prof.key_averages(group_by_input_shape=True)][1]
    ('aten::exp', [[2, 3]])
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        activities = supported_activities() if activities is None else set(activities)
        if not activities:
            raise AssertionError("No valid profiler activities found")
        use_cuda = options.pop("use_cuda", None)
        if use_cuda is not None:
            warnings.warn(
                "`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, 2
            )
        super().__init__(activities=activities, **options)
        self.record_steps = schedule is not None
        self.schedule = schedule or _default_schedule_fn
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.step_rec_fn: _profiles.record_function | None = None
        self._running = False
        _profiles.KinetoStepTracker.init_step_count(PROFILER_STEP_NAME)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()
        _profiles.KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)

    def start(self) -> None:
        """Begin the first step."""
        self._go_to(ProfilerAction.NONE, self.current_action)
        self._mark_step()

    def stop(self) -> None:
        """End the last step and hand out what was recorded."""
        self._end_step()
        if self._running:
            self._end_cycle(self.current_action in _RECORDS)

    def step(self) -> None:
        """End a step and begin the next one."""
        self._end_step()
        following = self.schedule(self.step_num + 1)
        before, self.current_action = self.current_action, following
        self.step_num += 1
        self._go_to(before, following)
        self._mark_step()

    def _mark_step(self) -> None:
        if self.record_steps:
            name = f"{PROFILER_STEP_NAME}#{self.step_num}"
            self.step_rec_fn = _profiles.record_function(name)
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _go_to(self, before: ProfilerAction, action: ProfilerAction) -> None:
        records = action in _RECORDS
        if self._running and (before is ProfilerAction.RECORD_AND_SAVE or not records):
            if before is ProfilerAction.RECORD:
                warnings.warn(f"Incorrect schedule: RECORD followed by {action.name}", stacklevel=3)
            self._end_cycle(before is ProfilerAction.RECORD_AND_SAVE)
        elif before is ProfilerAction.WARMUP and action is ProfilerAction.NONE:
            warnings.warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=3)
        if action is ProfilerAction.WARMUP or (records and not self._running):
            self.prepare_trace()
        if records and not self._running:
            self.start_trace()
            self._running = True

    def _end_cycle(self, ready: bool) -> None:
        self._running = False
        self.stop_trace()
        if ready and self.on_trace_ready:
            self.on_trace_ready(self)

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Make a function give the identity of each recording."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """Return the identity of the recording."""
        return None if self.profiler is None else self.profiler.trace_id
