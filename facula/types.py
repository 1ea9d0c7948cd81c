"""Names for annotations, as PyTorch's `types` module has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from facula._C import Size, Tensor, device, dtype

__all__ = ["Device", "Number", "Storage", "Tensor", "TensorOrTensors", "device", "dtype"]

Number = Union[int, float, bool]
Device = Union[device, str, int, None]
TensorOrTensors = Union[Tensor, Sequence[Tensor]]
_size = Union[Size, list[int], tuple[int, ...]]
_int = int
_float = float
_bool = bool
_dtype = dtype
_device = device
Storage = Any
