"""Padding as modules: constant, zero, reflection, replication and circular, in one to three
dimensions.
"""

from __future__ import annotations

from typing import Any

import facula
from facula.nn import functional as F
from facula.nn.modules.module import Module
from facula.nn.modules.utils import _ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
    "ConstantPad3d", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
    "ZeroPad3d",
]  # fmt: skip

Tensor = facula.Tensor


class _PadNd(Module):
    """A padding of the last `_spatial` dimensions; `padding` lists (before, after), the last
    dimension first.
    """

    _spatial: int
    _mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._spatial)(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        low, high = self._spatial + 1, self._spatial + 2
        if input.dim() not in (low, high):
            raise ValueError(f"expected {low}D or {high}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")


class CircularPad1d(_CircularPadNd):
    """Pad (N, C, L) or (C, L) with values from the other end."""

    _spatial = 1


class CircularPad2d(_CircularPadNd):
    """Pad (N, C, H, W) or (C, H, W) with values from the other end."""

    _spatial = 2


class CircularPad3d(_CircularPadNd):
    """Pad (N, C, D, H, W) or (C, D, H, W) with values from the other end."""

    _spatial = 3


class _ConstantPadNd(_PadNd):
    _mode = "constant"
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pad the last dimension with `value`."""

    _spatial = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad the last two dimensions with `value`."""

    _spatial = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad the last three dimensions with `value`."""

    _spatial = 3


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pad (N, C, L) or (C, L) by reflection at the edge."""

    _spatial = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pad (N, C, H, W) or (C, H, W) by reflection at the edge."""

    _spatial = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pad (N, C, D, H, W) or (C, D, H, W) by reflection at the edge."""

    _spatial = 3


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pad (N, C, L) or (C, L) with the edge's value."""

    _spatial = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pad (N, C, H, W) or (C, H, W) with the edge's value."""

    _spatial = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pad (N, C, D, H, W) or (C, D, H, W) with the edge's value."""

    _spatial = 3


class _ZeroPad:
    """The constructor and line of the zero pads: a constant pad whose value is 0."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Pad the last dimension with zeros."""


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Pad the last two dimensions with zeros."""


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Pad the last three dimensions with zeros."""
