"""Names of the `facula` namespace that few programs need: checks, symbolic numbers, types of
numbers that tensors cannot have yet. They are looked up here at their first use.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from facula import _C, _absent

# Checks that stay in programs.


def _raise_unless(cond: Any, message: Any, kind: type[Exception]) -> None:
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        text = "Expected cond to be True, but got False."
    else:
        text = str(message() if callable(message) else message)
    raise kind(text)


def _check_with(
    error_type: type[Exception], cond: Any, message: Callable[[], Any] | str | None
) -> None:
    """Raise an error of the given type with `message`, a text or what gives it, unless `cond`."""
    _raise_unless(cond, message, error_type)


def _check(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError with `message()` unless a condition holds."""
    _raise_unless(cond, message, RuntimeError)


def _check_index(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise IndexError with `message()` unless a condition holds."""
    _raise_unless(cond, message, IndexError)


def _check_value(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise ValueError with `message()` unless a condition holds."""
    _raise_unless(cond, message, ValueError)


def _check_type(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise TypeError with `message()` unless a condition holds."""
    _raise_unless(cond, message, TypeError)


def _check_not_implemented(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise NotImplementedError with `message()` unless a condition holds."""
    _raise_unless(cond, message, NotImplementedError)


def _check_tensor_all(cond: _C.Tensor, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError with `message()` unless all elements are true."""
    _raise_unless(bool(cond.all().item()), message, RuntimeError)


def _check_tensor_all_with(
    error_type: type[Exception], cond: _C.Tensor, message: Callable[[], Any] | str | None = None
) -> None:
    """Raise an error of the given type with `message` unless all elements are true."""
    _raise_unless(bool(cond.all().item()), message, error_type)


def _check_is_size(i: int, message: Callable[[], str] | None = None, *, max: Any = None) -> None:
    """Raise RuntimeError with `message()` unless a number can be a size."""
    _check(i >= 0 and (max is None or i <= max), message)


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def _assert_async(input: _C.Tensor, assert_msg: str | None = None) -> None:
    """Raise RuntimeError unless the only element of a tensor is not zero."""
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


# Symbolic numbers: sizes are numbers here, so these are only for isinstance().

_WHY = "sizes are numbers"
SymInt = _absent.absent_class("facula.SymInt", _WHY)
SymFloat = _absent.absent_class("facula.SymFloat", _WHY)
SymBool = _absent.absent_class("facula.SymBool", _WHY)


def sym_int(a: Any) -> int:
    """Return a number without what is behind its point."""
    return math.trunc(a)


def sym_float(a: Any) -> float:
    """Return a number as a float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """Return whether a condition does not hold."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """Return the larger of two numbers; a float when one of them is."""
    result = max(a, b)
    return float(result) if isinstance(a, float) or isinstance(b, float) else result


def sym_min(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers; a float when one of them is."""
    result = min(a, b)
    return float(result) if isinstance(a, float) or isinstance(b, float) else result


def sym_sqrt(a: Any) -> float:
    """Return the square root of a number."""
    return math.sqrt(a)


def sym_sum(args: Any) -> Any:
    """Return the sum of numbers."""
    return sum(args)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """Return one of two values."""
    return t if b else f


def sym_fresh_size(expr: Any) -> Any:
    """Raise: sizes are numbers."""
    raise _absent.missing("facula.sym_fresh_size", _WHY)


# Types of numbers that tensors do not have. Programs name them in tables; functions that are asked
# for such tensors raise NotImplementedError with the name.

# bits, epsilon, largest and smallest number, smallest normal number (OCP's specification of 8-bit
# types; "fnuz" has no negative zero, "e8m0fnu" is a scale: powers of two)
_EIGHT_BITS = {
    "e4m3fn": (8, 2.0**-3, 448.0, -448.0, 2.0**-6),
    "e5m2": (8, 2.0**-2, 57344.0, -57344.0, 2.0**-14),
    "e4m3fnuz": (8, 2.0**-3, 240.0, -240.0, 2.0**-7),
    "e5m2fnuz": (8, 2.0**-2, 57344.0, -57344.0, 2.0**-15),
    "e8m0fnu": (8, 1.0, 2.0**127, 2.0**-127, 2.0**-127),
}
for _name in _EIGHT_BITS:
    globals()["float8_" + _name] = _C._missing_dtype("float8_" + _name, 1, "f")
float4_e2m1fn_x2 = _C._missing_dtype("float4_e2m1fn_x2", 1, "f")
complex32 = chalf = _C._missing_dtype("complex32", 4, "c")
for _name in "quint8 qint8 quint4x2 quint2x4 bits8 bits1x8 bits2x4 bits4x2".split():
    globals()[_name] = _C._missing_dtype(_name, 1, "s" if _name == "qint8" else "u")
qint32 = _C._missing_dtype("qint32", 4, "s")
bits16 = _C._missing_dtype("bits16", 2, "u")
for _bits in range(1, 8):
    globals()[f"uint{_bits}"] = _C._missing_dtype(f"uint{_bits}", 1, "u")
    globals()[f"int{_bits}"] = _C._missing_dtype(f"int{_bits}", 1, "s")

per_tensor_affine, per_channel_affine = "per_tensor_affine", "per_channel_affine"
per_tensor_symmetric, per_channel_symmetric = "per_tensor_symmetric", "per_channel_symmetric"
per_channel_affine_float_qparams = "per_channel_affine_float_qparams"
qscheme = str
legacy_contiguous_format = _C.contiguous_format

# Streams and events of devices.

Stream = _absent.absent_class("facula.Stream", "there is no accelerator")
Event = _absent.absent_class("facula.Event", "there is no accelerator")
PyTorchFileReader = _absent.absent_class(
    "facula.PyTorchFileReader", "facula.load reads checkpoints"
)
PyTorchFileWriter = _absent.absent_class(
    "facula.PyTorchFileWriter", "facula.save writes checkpoints"
)
Tag = _absent.absent_class("facula.Tag", "operators have no tags")
for _name in (
    "while_loop cond _scaled_mm _scaled_grouped_mm empty_quantized quantize_per_tensor "
    "quantize_per_channel quantize_per_tensor_dynamic dequantize fake_quantize_per_tensor_affine "
    "fake_quantize_per_channel_affine _make_per_tensor_quantized_tensor int_repr parse_schema"
).split():
    globals()[_name] = _absent.absent_function(f"facula.{_name}")
for _name in (
    "AnyType BoolType ClassType DeviceObjType DictType ErrorReport FloatType FunctionSchema "
    "FutureType Graph InterfaceType IntType ListType Node NoneType NumberType OptionalType "
    "StringType TensorType TupleType Type UnionType Value JITException"
).split():
    globals()[_name] = _absent.absent_class(f"facula.{_name}", "TorchScript is not built")
has_lapack = has_openmp = True
has_mkl = has_spectral = False


def _disable_dynamo(fn: Any = None, recursive: bool = True) -> Any:
    """Return the function itself: programs are not captured."""
    return fn if fn is not None else lambda f: f


def _shape_as_tensor(x: _C.Tensor) -> _C.Tensor:
    """Return the shape as a tensor of int64."""
    return _C.tensor(list(x.shape), dtype=_C.int64)


def _wide(*tensors: _C.Tensor) -> list[_C.Tensor]:
    """The tensors, those of 16 bits as float32: a sum of many would lose its last digits."""
    short = (_C.float16, _C.bfloat16)
    return [t.float() if t.dtype in short else t for t in tensors]


def _softmax_backward_data(
    grad_output: _C.Tensor, output: _C.Tensor, dim: int, input_dtype: Any
) -> _C.Tensor:
    """Return the gradient of what softmax was given, from that of its result."""
    grad_output, output = _wide(grad_output, output)
    part = grad_output * output
    return (part - output * part.sum(dim, keepdim=True)).to(input_dtype)


def _log_softmax_backward_data(
    grad_output: _C.Tensor, output: _C.Tensor, dim: int, input_dtype: Any
) -> _C.Tensor:
    """Return the gradient of what log_softmax was given, from that of its result."""
    grad_output, output = _wide(grad_output, output)
    return (grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype)


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Say whether results that are not deterministic only warn; there are none."""
    return get_deterministic_debug_mode() == 1


def get_deterministic_debug_mode() -> int:
    """Return the level that was asked for: 0, 1 (warn) or 2 (error)."""
    from facula import _functions

    return _functions._deterministic


def is_warn_always_enabled() -> bool:
    """Say whether operators give at every call the warnings that they otherwise give once."""
    from facula import _functions

    return _functions._warn_always


def _is_functional_tensor(t: Any) -> bool:
    return False


def get_file_path(*path_components: str) -> str:
    """Return a path below the package's folder."""
    import os

    import facula

    return os.path.join(os.path.dirname(facula.__file__), *path_components)


def prepare_multiprocessing_environment(path: str) -> None:
    """Do nothing: processes need no preparation."""
