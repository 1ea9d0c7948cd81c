"""detect_anomaly: checks every gradient for NaN and names the forward call behind it."""

from __future__ import annotations

import warnings

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["detect_anomaly", "set_detect_anomaly"]

_check_nan = True


def _set(mode: bool, check_nan: bool) -> None:
    global _check_nan
    _check_nan = check_nan
    _C.set_anomaly_enabled(mode, check_nan)


class set_detect_anomaly:
    """Switch anomaly detection on or off: at once, and until the end of a block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _C.is_anomaly_enabled(), _check_nan
        _set(bool(mode), bool(check_nan))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        _set(*self.prev)


class detect_anomaly:
    """Check gradients for NaN inside a block; an error names the forward call."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self.prev = _C.is_anomaly_enabled(), _check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.prev = _C.is_anomaly_enabled(), _check_nan
        _set(True, self.check_nan)

    def __exit__(self, *exc: Any) -> None:
        _set(*self.prev)
