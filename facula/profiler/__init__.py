"""Profiling a program: `profile` with a schedule of steps, over `facula.autograd.profiler`."""

from facula.autograd.profiler import record_function
from facula.autograd.profiler_util import DeviceType
from facula.profiler.profiler import (
    ExecutionTraceObserver,
    ProfilerAction,
    ProfilerActivity,
    _KinetoProfile,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "DeviceType",
    "ExecutionTraceObserver",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def kineto_available() -> bool:
    """Say that profiles can be taken."""
    return True
