"""Profiles as text: times, sizes of memory, and the table of events."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = ["format_memory", "format_time", "table"]

_SECOND, _MILLISECOND = 1e6, 1e3  # in microseconds
_UNITS = {"s": _SECOND, "ms": _MILLISECOND, "us": 1.0}
_COLUMN = 12
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def format_time(microseconds: float, unit: str | None = None) -> str:
    """Write a time in the largest unit in which it is at least 1, or in a given one."""
    if unit not in _UNITS:
        unit = next((u for u, size in _UNITS.items() if microseconds >= size), "us")
    return f"{microseconds / _UNITS[unit]:.3f}{unit}"


def format_share(part: float, whole: float) -> str:
    """Write a part in percent."""
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


def format_memory(count: int) -> str:
    """Write a number of bytes in the largest unit of 1024 in which it is at least 1."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(count) >= 1024**power:
            return f"{count / 1024**power:.2f} {unit}"
    return f"{count} B"


class _Column:
    """A column: its title, width, and what it shows of an event."""

    def __init__(
        self, title: str, show: Callable[[Any], str], width: int = _COLUMN, left: bool = False
    ) -> None:
        self.title, self.show, self.width, self.left = title, show, width, left

    def cell(self, text: str) -> str:
        """Write a text in the column's width."""
        return text.ljust(self.width) if self.left else text.rjust(self.width)


def _shortened(text: str, width: int | None) -> str:
    if width is None or len(text) < width - 3:
        return text
    return text[: width - 3] + "..."


def _tail(text: str, width: int) -> str:
    return text if len(text) <= width else ("..." + text[len(text) - width + 3 :])


def _width(texts: list[str], limit: int | None) -> int:
    width = max(map(len, texts), default=0) + 4
    return width if limit is None else min(width, limit)


def _columns(
    events: list, name_width: int | None, unit: str | None, memory: bool, total: float
) -> list[_Column]:
    def time_of(attribute: str) -> Callable[[Any], str]:
        return lambda e: format_time(getattr(e, attribute), unit)

    columns = [
        _Column(
            "Name",
            lambda e: _shortened(e.key, name_width),
            _width([e.key for e in events], name_width),
        ),
        _Column("Self CPU %", lambda e: format_share(e.self_cpu_time_total, total)),
        _Column("Self CPU", time_of("self_cpu_time_total")),
        _Column("CPU total %", lambda e: format_share(e.cpu_time_total, total)),
        _Column("CPU total", time_of("cpu_time_total")),
        _Column("CPU time avg", time_of("cpu_time")),
    ]
    if memory:
        columns += [
            _Column("CPU Mem", lambda e: format_memory(e.cpu_memory_usage)),
            _Column("Self CPU Mem", lambda e: format_memory(e.self_cpu_memory_usage)),
        ]
    return [*columns, _Column("# of Calls", lambda e: str(e.count))]


def _flops_column(events: list) -> list[_Column]:
    least = min((e.flops for e in events if e.flops > 0), default=0)
    if not least:
        return []
    step = min(int(math.log10(least) / 3), len(_FLOPS) - 1)
    return [
        _Column(
            f"Total {_FLOPS[step]}",
            lambda e: f"{e.flops / 1000**step:.3f}" if e.flops > 0 else "--",
        )
    ]


def table(
    events: Any,
    *,
    sort_by: str | None,
    row_limit: int,
    source_width: int | None,
    name_width: int | None,
    shapes_width: int | None,
    header: str | None,
    top_level_only: bool,
    time_unit: str | None,
    memory: bool,
    flops: bool,
) -> str:
    """Write events, or averages of events, as a table; an empty text where there are none."""
    if not len(events):
        return ""
    total = sum(e.self_cpu_time_total for e in events)
    rows = list(events)
    if sort_by is not None:
        for accelerator in ("cuda", "xpu", "privateuse1"):
            sort_by = sort_by.replace(accelerator, "device")
        rows.sort(key=lambda e: getattr(e, sort_by), reverse=True)
    columns = _columns(rows, name_width, time_unit, memory, total)
    if any(e.input_shapes for e in rows):
        width = _width([str(e.input_shapes) for e in rows], shapes_width)
        columns.append(_Column("Input Shapes", lambda e: str(e.input_shapes)[:width], width))
    if flops:
        columns += _flops_column(rows)
    stacks = any(e.stack for e in rows)
    if stacks:
        # The innermost frame; the others follow below.
        width = _width([frame for e in rows for frame in e.stack], source_width)
        columns.append(
            _Column("Source Location", lambda e: _tail((e.stack or [""])[0], width), width, True)
        )
    if top_level_only:
        rows = [e for e in rows if e.cpu_parent is None]
    if row_limit >= 0:
        rows = rows[:row_limit]
    body: list[str] = []
    for event in rows:
        body.append("  ".join(c.cell(c.show(event)) for c in columns))
        if stacks:
            source = columns[-1]
            indent = "  ".join(" " * c.width for c in columns[:-1]) + "  "
            body += [indent + source.cell(_tail(f, source.width)) for f in event.stack[1:]]
            body.append("")
    return _framed(columns, body, header, top_level_only, format_time(total, time_unit))


def _framed(
    columns: list[_Column], body: list[str], header: str | None, top_level_only: bool, total: str
) -> str:
    rule = "  ".join("-" * c.width for c in columns) + "  "
    lines: list[str] = []
    if header is not None:
        lines += ["=" * (len(rule) - 2), header]
    if top_level_only:
        lines += ["=" * (len(rule) - 2), "This report only display top-level ops statistics"]
    titles = "  ".join(c.cell(c.title) for c in columns)
    lines += [rule, titles, rule, *body, rule, f"Self CPU time total: {total}"]
    return "\n".join(lines) + "\n"
