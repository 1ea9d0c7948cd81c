"""make_tensor: a random tensor of any type, within bounds."""

from __future__ import annotations

import math
from typing import Any

import facula

__all__ = ["make_tensor"]

_DEFAULT_BOUNDS = {"float": (-9, 9), "signed": (-9, 10), "uint8": (0, 10), "bool": (0, 2)}


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> facula.Tensor:
    """Return a tensor of values drawn evenly from `[low, high)`.

    `noncontiguous` makes every second element of a larger tensor; `exclude_zero` replaces zeros
    by the smallest positive value of the type (1 for integers).
    """
    if len(shape) == 1 and not isinstance(shape[0], int):
        shape = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    if low is not None and high is not None and low > high:
        raise ValueError(f"`low` must be less than or equal to `high`, but got {low} > {high}")
    inexact = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not inexact:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype}"
        )
    strided = noncontiguous and math.prod(shape) > 1
    full = (*shape[:-1], 2 * shape[-1]) if strided else shape
    kind = "float" if inexact else str(dtype).rpartition(".")[2]
    first, last = _DEFAULT_BOUNDS.get(kind, _DEFAULT_BOUNDS["signed"])
    if kind.startswith("uint"):
        first = 0
    low = first if low is None else low
    high = last if high is None else high
    with facula.no_grad():
        if dtype.is_complex:
            part = facula.float32 if dtype == facula.complex64 else facula.float64
            pair = facula.empty((*full, 2), dtype=part).uniform_(low, high)
            t = facula.view_as_complex(pair).to(dtype).clone()
        elif inexact:
            t = facula.empty(full, dtype=facula.float64).uniform_(low, high).to(dtype)
        else:
            low, high = math.ceil(low), math.ceil(high)
            high = max(high, low + 1)
            t = facula.randint(low, high, full, dtype=facula.int64).to(dtype)
        t = t.to(device)
        if exclude_zero:
            smallest = facula.finfo(dtype).tiny if inexact else 1
            t = facula.where(t == 0, facula.full_like(t, smallest), t)
        if strided:
            t = t[..., ::2]
        if memory_format is not None:
            t = t.clone(memory_format=memory_format)
    return t.requires_grad_(requires_grad) if requires_grad else t
