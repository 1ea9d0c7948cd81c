"""Timing a statement: `Timer`, with `timeit` and `blocked_autorange`."""

from __future__ import annotations

import statistics
import timeit as _timeit
from typing import Any

__all__ = ["Measurement", "Timer"]


class Measurement:
    """Times of a statement: `times` holds seconds a run, one entry a repetition."""

    def __init__(self, number: int, raw: list[float], label: str = "") -> None:
        self.number_per_run, self.raw_times, self.label = number, raw, label

    @property
    def times(self) -> list[float]:
        """Seconds a run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of `times`."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of `times`."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The range of the middle half of `times`."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4)
        return high - low

    def __repr__(self) -> str:
        return f"<Measurement {self.label}: median {self.median * 1e6:.2f} us>"


class Timer:
    """Times a statement in seconds."""

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Any = _timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        num_threads: int = 1,
        **kwargs: Any,
    ) -> None:
        names = dict(globals or {})
        self._timer = _timeit.Timer(stmt, setup, timer=timer, globals=names)
        self._label, self._threads = label or stmt, num_threads

    def _time(self, number: int) -> float:
        import facula

        before = facula.get_num_threads()
        facula.set_num_threads(self._threads)
        try:
            return self._timer.timeit(number)
        finally:
            facula.set_num_threads(before)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement `number` times."""
        self._time(max(number // 100, 1))
        return Measurement(number, [self._time(number)], self._label)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Run the statement in blocks until `min_run_time` seconds have passed."""
        number = 1
        while (taken := self._time(number)) < min_run_time / 100 and number < 1 << 30:
            number *= 10 if taken < min_run_time / 1000 else 2
        raw: list[float] = []
        while sum(raw) < min_run_time:
            raw.append(self._time(number))
            if callback is not None:
                callback(number, raw[-1])
        return Measurement(number, raw, self._label)
