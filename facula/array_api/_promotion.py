"""Type promotion by the tables of the standard, and the preparation of operands that follows it.

The standard promotes by dtype alone: an array without dimensions counts as much as any other, and
only Python numbers take the dtype of the array beside them. Operators of Tensor follow PyTorch
instead, where an array without dimensions yields to one that has some.
"""

from __future__ import annotations

import builtins

import facula

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Array: TypeAlias = facula.Tensor
    Number: TypeAlias = builtins.bool | int | float | complex

Tensor = facula.Tensor

SIGNED = (facula.int8, facula.int16, facula.int32, facula.int64)
UNSIGNED = (facula.uint8, facula.uint16, facula.uint32, facula.uint64)
REAL_FLOATING = (facula.float32, facula.float64)
COMPLEX = (facula.complex64, facula.complex128)

#: The dtypes of each kind that the standard names.
KINDS = {
    "bool": (facula.bool,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": SIGNED + UNSIGNED,
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX,
    "numeric": SIGNED + UNSIGNED + REAL_FLOATING + COMPLEX,
}


def promote(a: facula.dtype, b: facula.dtype) -> facula.dtype:
    """Give the dtype of a result of two dtypes; of mixed kinds, one of the higher kind.

    Integers of mixed sign need a signed type that holds both; uint64 beside a signed type has
    none, which is a TypeError.
    """
    try:
        return facula.promote_types(a, b)
    except RuntimeError:
        raise TypeError(f"no integer type holds the values of both {a} and {b}") from None


def promote_all(dtypes: list[facula.dtype]) -> facula.dtype:
    """Give the dtype of a result of one or more dtypes."""
    result = dtypes[0]
    for other in dtypes[1:]:
        result = promote(result, other)
    return result


def of_one_dtype(*arrays: Array) -> list[Array]:
    """Give one or more arrays in the dtype of a result of all of them."""
    dtype = promote_all([x.dtype for x in arrays])
    return [x.to(dtype) for x in arrays]


def default_complex() -> facula.dtype:
    """Give the complex type whose parts have the default floating-point type."""
    wide = facula.get_default_dtype() == facula.float64
    return facula.complex128 if wide else facula.complex64


def beside_number(dtype: facula.dtype, number: Number) -> facula.dtype:
    """Give the dtype of a result of an array and a Python number.

    It is the array's, unless the number is of a higher kind, which the standard leaves open: then
    it is the default type of that kind (for a complex number the type whose parts are the array's).
    """
    if isinstance(number, builtins.bool):
        return dtype
    if isinstance(number, int):
        return facula.int64 if dtype == facula.bool else dtype
    if isinstance(number, float):
        inexact = dtype.is_floating_point or dtype.is_complex
        return dtype if inexact else facula.get_default_dtype()
    if isinstance(number, complex):
        if dtype.is_complex:
            return dtype
        return dtype.to_complex() if dtype.is_floating_point else default_complex()
    raise TypeError(f"expected an array or a Python number, got {type(number).__name__}")


def is_beyond(number: Number, dtype: facula.dtype) -> builtins.bool:
    """Say whether a floating-point type has nothing but an infinity for a number."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return False
    largest = facula.finfo(dtype).max
    return builtins.max(abs(number.real), abs(number.imag)) > largest


def constant(number: Number, dtype: facula.dtype, device: Any) -> Array:
    """Give an array without dimensions; OverflowError when an integer type cannot hold it.

    A number beyond a floating-point type becomes infinite, as beside operators of Tensor.
    """
    if isinstance(number, int) and dtype in KINDS["integral"]:
        info = facula.iinfo(dtype)
        if not info.min <= number <= info.max:
            raise OverflowError(f"{dtype} cannot hold the number {number}")
        return facula.tensor(number, dtype=dtype, device=device)
    if is_beyond(number, dtype):
        return facula.tensor(number, dtype=dtype, device=device)
    return facula.full((), number, dtype=dtype, device=device)


def operands(x1: Array | Number, x2: Array | Number) -> tuple[Array, Array]:
    """Bring two operands, one of which may be a Python number, to one dtype."""
    if isinstance(x1, Tensor):
        if isinstance(x2, Tensor):
            if x1.dtype == x2.dtype:
                return x1, x2
            dtype = promote(x1.dtype, x2.dtype)
            return x1.to(dtype), x2.to(dtype)
        dtype = beside_number(x1.dtype, x2)
        return x1.to(dtype), constant(x2, dtype, x1.device)
    if not isinstance(x2, Tensor):
        raise TypeError(
            f"expected at least one array, got {type(x1).__name__} and {type(x2).__name__}"
        )
    dtype = beside_number(x2.dtype, x1)
    return constant(x1, dtype, x2.device), x2.to(dtype)


def normalized(axis: int, ndim: int) -> int:
    """Give an axis counted from the first; IndexError when there is no such axis."""
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of range for an array with {ndim} dimensions")
    return axis % ndim


def normalized_axes(axis: int | tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    """Give the axes that `axis` means (None: all), counted from the first, each once."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(normalized(a, ndim) for a in (axis if isinstance(axis, tuple) else (axis,)))
    if len(set(axes)) != len(axes):
        raise ValueError(f"an axis occurs more than once in {axis}")
    return axes
