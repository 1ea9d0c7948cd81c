"""Names for annotations, as PyTorch's `types` module has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from facula._C import Size, Tensor, device, dtype

__all__ = ["Device", "Number", "Storage", "Tensor", "TensorOrTensors", "device", "dtype"]

Number = int | float | bool
Device = device | str | int | None
TensorOrTensors = Tensor | Sequence[Tensor]
_size = Size | list[int] | tuple[int, ...]
_int = int
_float = float
_bool = bool
_dtype = dtype
_device = device
Storage = Any
