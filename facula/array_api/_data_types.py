"""Data types of the array API standard and the functions that ask about them."""

from __future__ import annotations

import builtins

import facula
from facula.array_api._promotion import (
    KINDS,
    Tensor,
    beside_number,
    promote,
    promote_all,
)

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

    from facula.array_api._promotion import Array, Number

__all__ = (
    "astype bool can_cast complex64 complex128 finfo float32 float64 iinfo int8 int16 int32 int64 "
    "isdtype result_type uint8 uint16 uint32 uint64"
).split()

bool = facula.bool
int8, int16, int32, int64 = facula.int8, facula.int16, facula.int32, facula.int64
uint8, uint16, uint32, uint64 = facula.uint8, facula.uint16, facula.uint32, facula.uint64
float32, float64 = facula.float32, facula.float64
complex64, complex128 = facula.complex64, facula.complex128


def astype(
    x: Array, dtype: facula.dtype, /, *, copy: builtins.bool = True, device: Any = None
) -> Array:
    """Convert to a dtype, and to a device when one is given.

    With `copy=False` the array itself is given when it has that dtype and device already. Complex
    numbers are not converted to real ones (TypeError); take `real` or `imag`.
    """
    if x.dtype.is_complex and not dtype.is_complex and dtype != bool:
        raise TypeError(f"astype: a complex array is not converted to {dtype}; use real or imag")
    return x.to(device=device, dtype=dtype, copy=copy)


def can_cast(from_: facula.dtype | Array, to: facula.dtype, /) -> builtins.bool:
    """Say whether `to` is the dtype of a result of `from_` and `to`: whether nothing is lost."""
    source = from_.dtype if isinstance(from_, Tensor) else from_
    try:
        return promote(source, to) == to
    except TypeError:
        return False


class finfo_object:
    """What is known of a floating-point type: of a complex type, that of its parts."""

    def __init__(self, dtype: facula.dtype) -> None:
        known = facula.finfo(dtype)
        self.bits: int = known.bits
        self.eps: float = known.eps
        self.max: float = known.max
        self.min: float = known.min
        self.smallest_normal: float = known.smallest_normal
        self.dtype: facula.dtype = dtype.to_real()

    def __repr__(self) -> str:
        return f"finfo(bits={self.bits}, eps={self.eps}, dtype={self.dtype})"


class iinfo_object:
    """What is known of an integer type."""

    def __init__(self, dtype: facula.dtype) -> None:
        known = facula.iinfo(dtype)
        self.bits: int = known.bits
        self.max: int = known.max
        self.min: int = known.min
        self.dtype: facula.dtype = dtype

    def __repr__(self) -> str:
        return f"iinfo(bits={self.bits}, min={self.min}, max={self.max}, dtype={self.dtype})"


def finfo(type: facula.dtype | Array, /) -> finfo_object:
    """Give bits, eps, max, min, smallest_normal and dtype of a floating-point type or array.

    >>> finfo(facula.complex128).dtype
    torch.float64
    """
    return finfo_object(type.dtype if isinstance(type, Tensor) else type)


def iinfo(type: facula.dtype | Array, /) -> iinfo_object:
    """Give bits, max, min and dtype of an integer type or array.

    >>> iinfo(facula.int8).max
    127
    """
    return iinfo_object(type.dtype if isinstance(type, Tensor) else type)


def isdtype(
    dtype: facula.dtype, kind: facula.dtype | str | tuple[facula.dtype | str, ...]
) -> builtins.bool:
    """Say whether a dtype is another one, of a kind such as "integral", or any of a tuple of them.

    An unknown name of a kind is a ValueError.

        >>> isdtype(facula.int8, ("bool", "integral"))
        True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype: expected one of {', '.join(KINDS)}, got {kind!r}")
        return dtype in KINDS[kind]
    if not isinstance(kind, facula.dtype):
        raise TypeError(f"isdtype: expected a dtype or the name of a kind, got {kind!r}")
    return dtype == kind


def result_type(*arrays_and_dtypes: Array | Number | facula.dtype) -> facula.dtype:
    """Give the dtype of a result of arrays, dtypes and Python numbers.

    At least one array or dtype is needed (ValueError). Numbers matter only by their kind.

        >>> result_type(facula.int8, facula.uint8, 1)
        torch.int16
    """
    numbers = [v for v in arrays_and_dtypes if not isinstance(v, (Tensor, facula.dtype))]
    dtypes = [v.dtype if isinstance(v, Tensor) else v for v in arrays_and_dtypes
              if isinstance(v, (Tensor, facula.dtype))]  # fmt: skip
    if not dtypes:
        raise ValueError("result_type: expected at least one array or dtype")
    result = promote_all(dtypes)
    for number in numbers:
        result = beside_number(result, number)
    return result
