"""Tensors without data that stand for others: not built; no tensor is one."""

from __future__ import annotations

from typing import Any

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "FakeCopyMode FakeTensor FakeTensorMode FakeTensorConverter",
    "tensors on the device 'meta' have shapes without data",
)


class DynamicOutputShapeException(RuntimeError):
    """An operator whose output's size depends on data."""


class DataDependentOutputException(RuntimeError):
    """An operator whose output depends on data."""


def is_fake(x: Any) -> bool:
    """Say that a tensor is real."""
    return False
