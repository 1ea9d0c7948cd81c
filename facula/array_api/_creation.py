"""Creation functions of the array API standard."""

from __future__ import annotations

import builtins
import cmath

import facula
from facula.array_api._promotion import KINDS, Tensor, default_complex, is_beyond, promote_all

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

    from facula.array_api._promotion import Array, Number

    Shape = int | tuple[int, ...]

__all__ = (
    "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones "
    "ones_like tril triu zeros zeros_like"
).split()


def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: facula.dtype | None = None,
    device: Any = None,
) -> Array:
    """Give the numbers from `start` (included) to `stop` (excluded) by `step`, one dimension.

    With one argument, the numbers from 0 to it. Without `dtype` it is int64 for integers, else the
    default floating-point type. When the step leads away from `stop` there are none; a step of
    zero is a ValueError.

        >>> arange(1, 7, 2)
        tensor([1, 3, 5])
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: expected a step other than 0")
    if dtype is None:
        whole = all(isinstance(v, int) for v in (start, stop, step))
        dtype = facula.int64 if whole else facula.get_default_dtype()
    if (stop - start) * step <= 0:
        return facula.empty(0, dtype=dtype, device=device)
    if all(isinstance(v, int) for v in (start, stop, step)):
        numbers = range(start, stop, step)  # type: ignore[arg-type]
        if max(abs(numbers[0]), abs(numbers[-1]), abs(stop), abs(step)) >= 2**63:
            return facula.tensor(list(numbers), dtype=dtype, device=device)
    return facula.arange(start, stop, step, dtype=dtype, device=device)


def asarray(
    obj: Any,
    /,
    *,
    dtype: facula.dtype | None = None,
    device: Any = None,
    copy: builtins.bool | None = None,
) -> Array:
    """Turn an array, number, nested sequence, buffer or object with `__dlpack__` into an array.

    `copy=True` always copies, `copy=False` never does (ValueError where it would have to), None
    copies when needed. An integer that the dtype cannot hold is an OverflowError.

        >>> asarray([[1, 2], [3, 4]], dtype=facula.float64)
        tensor([[1., 2.],
                [3., 4.]], dtype=torch.float64)
    """
    if isinstance(obj, Tensor):
        same = (dtype is None or obj.dtype == dtype) and (
            device is None or obj.device == facula.device(device)
        )
        if copy is False and not same:
            raise ValueError("asarray: another dtype or device needs a copy, but copy is False")
        if same:
            return obj.clone() if copy else obj
        return obj.to(device=device, dtype=dtype)
    if isinstance(obj, (builtins.bool, int, float, complex, list, tuple)):
        if copy is False:
            raise ValueError("asarray: numbers and sequences are copied, but copy is False")
        if isinstance(obj, (list, tuple)) and _holds_arrays(obj):
            parts = [asarray(v, device=device) for v in obj]
            joined = facula.stack([v.to(promote_all([p.dtype for p in parts])) for v in parts])
            return joined if dtype is None else joined.to(dtype)
        _check_range(obj, facula.int64 if dtype is None else dtype)
        return facula.tensor(obj, dtype=dtype, device=device)
    return facula.asarray(obj, dtype=dtype, device=device, copy=copy)


def _holds_arrays(obj: Any) -> builtins.bool:
    """Say whether nested sequences hold an array."""
    return any(
        isinstance(v, Tensor) or (isinstance(v, (list, tuple)) and _holds_arrays(v)) for v in obj
    )


def _check_range(obj: Any, dtype: facula.dtype) -> None:
    """Raise OverflowError when an integer in nested sequences does not fit an integer dtype."""
    if dtype not in KINDS["integral"]:
        return
    info = facula.iinfo(dtype)
    low, high = info.min, info.max
    pending = [obj]
    while pending:
        item = pending.pop()
        if isinstance(item, (list, tuple)):
            pending.extend(item)
        elif isinstance(item, int) and not low <= item <= high:
            raise OverflowError(f"asarray: {dtype} cannot hold the number {item}")


def empty(shape: Shape, *, dtype: facula.dtype | None = None, device: Any = None) -> Array:
    """Give an array whose elements are not set yet."""
    return facula.empty(shape, dtype=dtype, device=device)


def empty_like(x: Array, /, *, dtype: facula.dtype | None = None, device: Any = None) -> Array:
    """Give an array of the shape of `x` whose elements are not set yet."""
    return facula.empty_like(x, dtype=dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: facula.dtype | None = None,
    device: Any = None,
) -> Array:
    """Give a matrix (n_rows, n_cols) with ones on its k-th diagonal (above the main for k > 0).

    >>> eye(2, 3, k=1)
    tensor([[0., 1., 0.],
            [0., 0., 1.]])
    """
    columns = n_rows if n_cols is None else n_cols
    result = facula.zeros((n_rows, columns), dtype=dtype, device=device)
    if -n_rows < k < columns:
        result.diagonal(k).fill_(1)
    return result


def from_dlpack(x: Any, /, *, device: Any = None, copy: builtins.bool | None = None) -> Array:
    """Give an array over the memory of an object with `__dlpack__`, or over a copy of it.

    BufferError when the object refuses, ValueError when `copy=False` and another device is asked.
    """
    result = facula.from_dlpack(x, copy=copy)
    if device is None or result.device == facula.device(device):
        return result
    if copy is False:
        raise ValueError(f"from_dlpack: moving to {device} needs a copy, but copy is False")
    return result.to(device)


def full(
    shape: Shape,
    fill_value: Number,
    *,
    dtype: facula.dtype | None = None,
    device: Any = None,
) -> Array:
    """Give an array of one value; its default dtype is that of the value's kind.

    A value beyond a floating-point type becomes infinite; an integer that an integer type cannot
    hold is an OverflowError.

        >>> full(2, 7, dtype=facula.uint8)
        tensor([7, 7], dtype=torch.uint8)
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if isinstance(fill_value, (float, complex)):
        default = (
            default_complex() if isinstance(fill_value, complex) else facula.get_default_dtype()
        )
        dtype = default if dtype is None else dtype
        exact = not is_beyond(fill_value, dtype)
    else:
        exact = dtype is None or not isinstance(fill_value, int)
    if exact:
        return facula.full(sizes, fill_value, dtype=dtype, device=device)
    _check_range(fill_value, dtype)
    # An integer of uint64, or a number beyond the type, is more than an operator fills with.
    value = facula.tensor(fill_value, dtype=dtype, device=device)
    return facula.empty(sizes, dtype=dtype, device=device).copy_(value)


def full_like(
    x: Array,
    /,
    fill_value: Number,
    *,
    dtype: facula.dtype | None = None,
    device: Any = None,
) -> Array:
    """Give an array of the shape of `x` and of one value; its default dtype is that of `x`."""
    return full(
        tuple(x.shape),
        fill_value,
        dtype=x.dtype if dtype is None else dtype,
        device=x.device if device is None else device,
    )


def linspace(
    start: int | float | complex,
    stop: int | float | complex,
    /,
    num: int,
    *,
    dtype: facula.dtype | None = None,
    device: Any = None,
    endpoint: builtins.bool = True,
) -> Array:
    """Give `num` evenly spaced numbers from `start` to `stop`, which `endpoint` includes.

    >>> linspace(0, 1, 4, endpoint=False)
    tensor([0.0000, 0.2500, 0.5000, 0.7500])
    """
    if dtype is None:
        is_complex = isinstance(start, complex) or isinstance(stop, complex)
        dtype = default_complex() if is_complex else facula.get_default_dtype()
    if num < 0:
        raise ValueError(f"linspace: expected a number of at least 0, got {num}")
    count = num if endpoint else num + 1
    if cmath.isinf(stop - start) and cmath.isfinite(start) and cmath.isfinite(stop):
        points = 2 * facula.linspace(start / 2, stop / 2, count, dtype=dtype, device=device)
    else:
        points = facula.linspace(start, stop, count, dtype=dtype, device=device)
    return points if endpoint else points[:-1].clone()


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Give the coordinates of a grid: for n arrays of one dimension, n arrays of n dimensions.

    With "xy" the first two dimensions are those of the second and the first array, with "ij" the
    order is that of the arrays. All must have one dtype (ValueError).
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid: expected indexing "xy" or "ij", got {indexing!r}')
    if len({x.dtype for x in arrays}) > 1:
        raise ValueError("meshgrid: expected arrays of one dtype")
    return list(facula.meshgrid(*arrays, indexing=indexing)) if arrays else []


def ones(shape: Shape, *, dtype: facula.dtype | None = None, device: Any = None) -> Array:
    """Give an array of ones."""
    return facula.ones(shape, dtype=dtype, device=device)


def ones_like(x: Array, /, *, dtype: facula.dtype | None = None, device: Any = None) -> Array:
    """Give an array of ones of the shape of `x`."""
    return facula.ones_like(x, dtype=dtype, device=device)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Keep what lies on and below the k-th diagonal of matrices (..., m, n); the rest is zero."""
    return facula.tril(x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Keep what lies on and above the k-th diagonal of matrices (..., m, n); the rest is zero."""
    return facula.triu(x, k)


def zeros(shape: Shape, *, dtype: facula.dtype | None = None, device: Any = None) -> Array:
    """Give an array of zeros."""
    return facula.zeros(shape, dtype=dtype, device=device)


def zeros_like(x: Array, /, *, dtype: facula.dtype | None = None, device: Any = None) -> Array:
    """Give an array of zeros of the shape of `x`."""
    return facula.zeros_like(x, dtype=dtype, device=device)
