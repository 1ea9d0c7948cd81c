"""assert_close: are two values, or two containers of values, equal up to a tolerance?"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import facula

__all__ = ["assert_allclose", "assert_close"]

_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
    "float": (1e-7, 1e-7),
    "complex": (1e-7, 1e-7),
}


@dataclass
class _Options:
    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, *types: str) -> tuple[float, float]:
        """Return rtol and atol: as given, or the larger ones of the types' defaults."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        defaults = [_TOLERANCES.get(name, (0.0, 0.0)) for name in types]
        return max(d[0] for d in defaults), max(d[1] for d in defaults)


class _MismatchError(AssertionError):
    """A difference found inside containers at `where`, a text like "[1]['a']"."""

    def __init__(self, message: str, where: str = "") -> None:
        if where:
            message += f"\n\nThe failure occurred for item {where}"
        super().__init__(message)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless `|actual - expected| <= atol + rtol * |expected|` everywhere.

    Takes tensors, NumPy arrays, numbers, None, and sequences and mappings of these. Without
    tolerances they depend on the types; integers must be equal. `msg` replaces the message, or is
    a function that is given it.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        )
    options = _Options(
        allow_subclasses,
        rtol,
        atol,
        equal_nan,
        check_device,
        check_dtype,
        check_layout,
        check_stride,
    )
    try:
        for compare in list(_pairs(actual, expected, options, "")):
            compare()
    except _MismatchError as error:
        text = str(error)
        if msg is not None:
            text = msg(text) if callable(msg) else msg
    else:
        return
    raise AssertionError(text)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Compare as `assert_close` does, but without checking device, dtype and stride."""
    if not isinstance(actual, facula.Tensor):
        actual = facula.tensor(actual)
    if not isinstance(expected, facula.Tensor):
        expected = facula.tensor(expected, dtype=actual.dtype)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )


def _is_array(value: Any) -> bool:
    cls = type(value)
    return cls.__module__ == "numpy" and cls.__name__ == "ndarray"


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _is_number(value: Any) -> bool:
    numpy_scalar = type(value).__module__ == "numpy" and hasattr(value, "item")
    return isinstance(value, (int, float, complex)) or (numpy_scalar and not _is_array(value))


def _pairs(
    actual: Any, expected: Any, options: _Options, where: str
) -> Iterator[Callable[[], None]]:
    """Find the comparisons to make; raises TypeError for values that cannot be compared."""
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise _MismatchError(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", where
            )
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(a, e, options, f"{where}[{i!r}]")
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        _check_keys(actual, expected, where)
        for key in _ordered(actual):
            yield from _pairs(actual[key], expected[key], options, f"{where}[{key!r}]")
    elif actual is None or expected is None:
        yield lambda: _check_none(actual, expected, where)
    elif _is_bool(actual) and _is_bool(expected):
        yield lambda: _check_bools(bool(actual), bool(expected), where)
    elif _is_number(actual) and _is_number(expected):
        yield lambda: _check_numbers(actual, expected, options, where)
    elif _related(actual, expected, options):
        a, e = _as_tensor(actual), _as_tensor(expected)
        yield lambda: _check_tensors(a, e, options, where)
    else:
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(actual)} and "
            f"{type(expected)}."
        )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _ordered(mapping: Mapping) -> list:
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def _related(actual: Any, expected: Any, options: _Options) -> bool:
    for value in (actual, expected):
        if not isinstance(value, facula.Tensor) and not _is_array(value):
            return False
    if options.allow_subclasses:
        return isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    return type(actual) is type(expected)


def _as_tensor(value: Any) -> facula.Tensor:
    return value.detach() if isinstance(value, facula.Tensor) else facula.as_tensor(value)


def _check_keys(actual: Mapping, expected: Mapping, where: str) -> None:
    missing = [key for key in expected if key not in actual]
    additional = [key for key in actual if key not in expected]
    if missing or additional:
        raise _MismatchError(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {missing}\n"
            f"Additional keys in the actual mapping: {additional}",
            where,
        )


def _check_none(actual: Any, expected: Any, where: str) -> None:
    if actual is not expected:
        raise _MismatchError(f"None mismatch: {actual} is not {expected}", where)


def _check_bools(actual: bool, expected: bool, where: str) -> None:
    if actual is not expected:
        raise _MismatchError(f"Booleans mismatch: {actual} is not {expected}", where)


def _difference(kind: str, value: Any, limit: float, exact: bool, index: Any = None) -> str:
    """Return "Absolute difference: 1.0 (up to 0.1 allowed)" or the like with an index."""
    text = f"{kind.capitalize()} difference: {value}"
    if index is not None:
        text = f"Greatest {kind} difference: {value} at index {index}"
    return text if exact else f"{text} (up to {limit} allowed)"


def _check_numbers(actual: Any, expected: Any, options: _Options, where: str) -> None:
    actual, expected = (v.item() if hasattr(v, "item") else v for v in (actual, expected))
    if options.check_dtype and type(actual) is not type(expected):
        raise _MismatchError(
            f"The (d)types do not match: {type(actual)} != {type(expected)}.", where
        )
    rtol, atol = options.tolerances(type(actual).__name__, type(expected).__name__)
    if actual == expected:
        return
    if options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
        return
    diff = abs(actual - expected)
    if cmath.isfinite(diff) and diff <= atol + rtol * abs(expected):
        return
    _raise_scalars(actual, expected, rtol, atol, where)


def _raise_scalars(actual: Any, expected: Any, rtol: float, atol: float, where: str) -> None:
    exact = rtol == 0 and atol == 0
    diff = abs(actual - expected)
    relative = diff / abs(expected) if expected != 0 else float("inf")
    raise _MismatchError(
        f"Scalars are not {'equal' if exact else 'close'}!\n\n"
        f"Expected {expected} but got {actual}.\n"
        + _difference("absolute", diff, atol, exact)
        + "\n"
        + _difference("relative", relative, rtol, exact),
        where,
    )


def _check_attributes(a: facula.Tensor, e: facula.Tensor, options: _Options, where: str) -> None:
    def check(name: str, left: Any, right: Any) -> None:
        if left != right:
            raise _MismatchError(
                f"The values for attribute '{name}' do not match: {left} != {right}.", where
            )

    check("shape", a.shape, e.shape)
    if options.check_layout:
        check("layout", a.layout, e.layout)
    if options.check_device:
        check("device", a.device, e.device)
    if options.check_dtype:
        check("dtype", a.dtype, e.dtype)
    if options.check_stride and a.layout == e.layout == facula.strided:
        check("stride()", a.stride(), e.stride())


def _is_sparse(t: facula.Tensor) -> bool:
    return t.layout not in (facula.strided, facula.jagged)


def _check_tensors(a: facula.Tensor, e: facula.Tensor, options: _Options, where: str) -> None:
    _check_attributes(a, e, options, where)
    if a.device.type == "meta" or e.device.type == "meta":
        return
    names = [str(t.dtype).rpartition(".")[2] for t in (a, e)]
    rtol, atol = options.tolerances(*names)
    with facula.no_grad():
        a, e = (t.to_dense() if _is_sparse(t) else t for t in (a.cpu(), e.cpu()))
        if a.dtype != e.dtype:
            common = facula.promote_types(a.dtype, e.dtype)
            a, e = a.to(common), e.to(common)
        if not (a.is_floating_point() or a.is_complex()):
            a, e = a.to(facula.int64), e.to(facula.int64)
        close = facula.isclose(a, e, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
        if bool(close.all()):
            return
        if a.dim() == 0:
            _raise_scalars(a.item(), e.item(), rtol, atol, where)
        _raise_tensors(a, e, close, rtol, atol, where)


def _raise_tensors(
    a: facula.Tensor, e: facula.Tensor, close: facula.Tensor, rtol: float, atol: float, where: str
) -> None:
    exact = rtol == 0 and atol == 0
    total = a.numel()
    wrong = total - int(close.sum().item())
    absolute = (a - e).abs()
    relative = absolute / e.abs()
    lines = [
        f"Tensor-likes are not {'equal' if exact else 'close'}!\n",
        f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})",
    ]
    for kind, values, limit in (("absolute", absolute, atol), ("relative", relative, rtol)):
        flat = values.masked_fill(close, 0).reshape(-1)
        position = int(flat.argmax().item())
        index = _unravel(position, a.shape)
        lines.append(_difference(kind, flat[position].item(), limit, exact, index))
    raise _MismatchError("\n".join(lines), where)


def _unravel(position: int, shape: Any) -> tuple[int, ...]:
    index = []
    for size in reversed(shape):
        position, rest = divmod(position, size)
        index.append(rest)
    return tuple(reversed(index))
