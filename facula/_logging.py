"""What PyTorch's compiler reports: settings are accepted."""

from __future__ import annotations

from typing import Any

__all__ = ["set_logs"]


def set_logs(**kwargs: Any) -> None:
    """Accept what should be reported: nothing is compiled."""


def warning_once(logger: Any, *args: Any, **kwargs: Any) -> None:
    """Write a warning to a logger."""
    logger.warning(*args, **kwargs)
