"""Profiles as trace files in Chrome's format, with the fields that PyTorch's tools read."""

from __future__ import annotations

import gzip
import json
import os
from typing import Any

from facula.autograd.profiler_util import EventList, FunctionEvent

__all__ = ["write"]


def _arguments(event: FunctionEvent) -> dict[str, Any]:
    found: dict[str, Any] = {"External id": event.id}
    if event.sequence_nr >= 0:
        found["Sequence number"] = event.sequence_nr
        found["Fwd thread id"] = event.fwd_thread or 0
    if event.input_shapes:
        found["Input Dims"] = event.structured_input_shapes
        found["Input Strides"] = event.structured_input_strides
        found["Input type"] = event.input_dtypes
        found["Concrete Inputs"] = [
            "" if value is None else str(value) for value in event.concrete_inputs
        ]
    if event.stack:
        found["Call stack"] = ";".join(reversed(event.stack))
    if event.flops:
        found["Flops"] = event.flops
    return found


def _slices(events: EventList, process: int) -> list[dict[str, Any]]:
    shown = []
    for event in events:
        common = {"pid": process, "tid": event.thread, "ts": event.time_range.start}
        if event.trace_name is not None:
            category = "user_annotation" if event.is_user_annotation else "cpu_op"
            shown.append(
                {
                    "ph": "X",
                    "cat": category,
                    "name": event.trace_name,
                    **common,
                    "dur": event.time_range.elapsed_us(),
                    "args": _arguments(event),
                }
            )
        else:
            what = {"Device Type": 0, "Device Id": -1, "Bytes": event.cpu_memory_usage}
            shown.append(
                {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": event.name, **common,
                 "args": what}
            )  # fmt: skip
    return shown


def _arrows(events: EventList, process: int) -> list[dict[str, Any]]:
    """Draw an arrow from each call that recorded a node to the run of the node."""
    calls: dict[int, FunctionEvent] = {}
    for event in events:
        if event.scope == 0 and event.sequence_nr >= 0:
            calls.setdefault(event.sequence_nr, event)
    arrows: list[dict[str, Any]] = []
    for event in events:
        call = calls.get(event.sequence_nr) if event.scope == 1 else None
        # The node's formulas, not all that the engine does for it.
        if call is None or event.cpu_parent is None or event.cpu_parent.scope != 1:
            continue
        common = {"id": len(arrows) // 2 + 1, "pid": process, "cat": "fwdbwd", "name": "fwdbwd"}
        start, end = call.time_range.start, event.time_range.start
        arrows.append({"ph": "s", **common, "tid": call.thread, "ts": start})
        arrows.append({"ph": "f", **common, "tid": event.thread, "ts": end, "bp": "e"})
    return arrows


def write(path: str, events: EventList, metadata: dict[str, str], trace_id: str) -> None:
    """Write a trace file, compressed if the path ends in ".gz".

    Args:
        path: of the file.
        events: those of a profile.
        metadata: further entries by name, each as JSON.
        trace_id: of the profile.
    """
    process = os.getpid()
    name = {"ph": "M", "pid": process, "tid": 0, "ts": 0, "name": "process_name"}
    label = {**name, "name": "process_labels"}
    trace = {
        "schemaVersion": 1,
        "deviceProperties": [],
        "trace_id": trace_id,
        **{key: json.loads(value) for key, value in metadata.items()},
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": 0,
        "traceEvents": [
            {**name, "args": {"name": "python"}},
            {**label, "args": {"labels": "CPU"}},
            *_slices(events, process),
            *_arrows(events, process),
        ],
        "traceName": path,
    }
    opened = gzip.open(path, "wt") if str(path).endswith(".gz") else open(path, "w")
    with opened as file:
        json.dump(trace, file, default=str)
