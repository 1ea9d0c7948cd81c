"""Functions of the `facula` namespace that are no operators: conversions and settings."""

from __future__ import annotations

import warnings

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

Tensor = _C.Tensor


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Turn an object into a tensor, sharing memory if `copy` allows and the object does.

    With `copy=False` a copy that cannot be avoided is a ValueError. A tensor keeps its history
    unless `requires_grad` is False.
    """
    source = obj
    foreign = not isinstance(obj, Tensor) and type(obj).__name__ != "ndarray"
    if foreign and hasattr(obj, "__dlpack__"):
        source = from_dlpack(obj)
    if isinstance(source, Tensor):
        same = (dtype is None or source.dtype == dtype) and (
            device is None or source.device == _C.device(device)
        )
        if copy is False and not same:
            raise ValueError("can't alias tensor with dtype or device that differ")
        result = source if same else source.to(device=device, dtype=dtype)
        if copy and same:
            result = source.clone()
        if requires_grad is None and obj is source and source.requires_grad:
            warnings.warn(
                _C._package_words(
                    "facula.asarray: unspecified requires_grad now defaults to obj.requires_grad "
                    "instead of False. Pass requires_grad=False for a tensor without history."
                ),
                stacklevel=2,
            )
        if requires_grad is None or result.requires_grad == requires_grad:
            return result
        return result.detach().requires_grad_(requires_grad)
    requires_grad = bool(requires_grad)
    if copy is False:
        is_array = type(obj).__name__ == "ndarray"
        if not is_array and not _has_buffer(obj):
            raise ValueError("can't alias arbitrary sequence into a tensor.")
    if copy is not True and not isinstance(obj, (list, tuple)) and _has_buffer(obj):
        if type(obj).__name__ != "ndarray":
            result = _from_buffer(obj, dtype)
            return result.requires_grad_(requires_grad)
    make = _C.tensor if copy else _C.as_tensor
    result = make(obj, dtype=dtype, device=device)
    if copy is False and dtype is not None and _C.as_tensor(obj).dtype != dtype:
        raise ValueError("can't alias NumPy array with a different dtype")
    return result.requires_grad_(requires_grad) if requires_grad else result


# Codes of the struct module, by the kind of number.
_SIGNED, _UNSIGNED, _FLOATS = "bhilqn", "BHILQN", {"e": "float16", "f": "float32", "d": "float64"}


def _from_buffer(obj: Any, dtype: Any) -> Tensor:
    """Make a tensor of the shape and numbers that the buffer of an object says it has."""
    if dtype is not None:
        return _C.frombuffer(obj, dtype=dtype)
    with memoryview(obj) as view:
        code, size, shape = view.format.lstrip("@=<|"), view.itemsize, view.shape
        if not view.c_contiguous:
            raise ValueError("asarray: expected a contiguous buffer, got strides of its own")
    if code in _SIGNED or code in _UNSIGNED:
        name = f"{'' if code in _SIGNED else 'u'}int{8 * size}"
    else:
        name = {"?": "bool", "Zf": "complex64", "Zd": "complex128", **_FLOATS}.get(code, "")
    if not name:
        raise TypeError(f"asarray: expected a buffer of numbers, got items of format {code!r}")
    return _C.frombuffer(obj, dtype=getattr(_C, name)).view(shape)


def _has_buffer(obj: Any) -> bool:
    if isinstance(obj, (str, int, float, complex, bool)):
        return False
    try:
        memoryview(obj).release()
    except (TypeError, ValueError, BufferError):
        return False
    return True


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Make a tensor over the memory of an object with `__dlpack__`, or of a DLPack capsule."""
    if hasattr(ext_tensor, "__dlpack__"):
        options: dict[str, Any] = {}
        if copy is not None:
            options["copy"] = copy
        try:
            capsule = ext_tensor.__dlpack__(max_version=(1, 0), **options)
        except TypeError:
            capsule = ext_tensor.__dlpack__(**options)
    else:
        capsule = ext_tensor
    result = _C._from_dlpack(capsule)
    return result if device is None else result.to(device)


def is_storage(obj: Any) -> bool:
    """Say whether an object is a storage."""
    return isinstance(obj, _C.UntypedStorage) or hasattr(obj, "_untyped_storage")


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """Give the dtype of an arithmetic operation on two tensors or numbers."""
    if isinstance(tensor1, Tensor) or isinstance(tensor2, Tensor):
        left = tensor1 if not isinstance(tensor1, Tensor) else _empty_like_shape(tensor1)
        right = tensor2 if not isinstance(tensor2, Tensor) else _empty_like_shape(tensor2)
        return (left + right).dtype
    return _C.promote_types(_C.tensor(tensor1).dtype, _C.tensor(tensor2).dtype)


def _empty_like_shape(t: Tensor) -> Tensor:
    """Give a tiny tensor that promotes as `t` does: its dtype, and whether it has dimensions."""
    shape = (1,) if t.dim() else ()
    return _C._functions.zeros(shape, dtype=t.dtype)


def typename(obj: Any) -> str:
    """Give the qualified name of an object's type; "facula.FloatTensor" for tensors."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = getattr(kind, "__module__", "") or ""
    if module in ("builtins", "__builtin__", ""):
        return kind.__qualname__
    return f"{module}.{kind.__qualname__}"


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype by a legacy tensor type, or by its name.

    Raises TypeError for all but legacy types of floating-point tensors.
    """
    named = t
    if isinstance(t, str):
        import facula

        named = getattr(facula, t.rsplit(".", 1)[-1], None)
    dtype = getattr(named, "dtype", None)
    if not isinstance(named, type) or not isinstance(dtype, _C.dtype):
        raise TypeError(
            "set_default_tensor_type: invalid type object: expected a floating-point tensor type "
            f"such as FloatTensor, got {t!r}"
        )
    import warnings

    warnings.warn(
        "set_default_tensor_type() is deprecated: use set_default_dtype() and set_default_device()",
        stacklevel=2,
    )
    _C.set_default_dtype(dtype)


_deterministic = 0  # 1: only warn, 2: an error
_precision = "highest"
_warn_always = False


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for deterministic results. All operators give them already; the flag is only kept."""
    global _deterministic
    _deterministic = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled() -> bool:
    """Say what use_deterministic_algorithms was last given."""
    return _deterministic > 0


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Ask for deterministic results by level: "default", "warn" or "error", or 0, 1 or 2.

    TypeError or RuntimeError for other values.
    """
    global _deterministic
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    levels = ("default", "warn", "error")
    if debug_mode not in (*levels, 0, 1, 2):
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`, 0, 1, 2, "
            f"but got {debug_mode}"
        )
    _deterministic = levels.index(debug_mode) if isinstance(debug_mode, str) else int(debug_mode)


def get_float32_matmul_precision() -> str:
    """Give the precision of float32 matrix products: always full on the CPU."""
    return _precision


def set_float32_matmul_precision(precision: str) -> None:
    """Set the precision that is allowed for float32 matrix products."""
    global _precision
    if precision not in ("highest", "high", "medium"):
        raise ValueError(
            f"set_float32_matmul_precision: expected highest, high or medium, got {precision}"
        )
    _precision = precision


def get_num_interop_threads() -> int:
    """Give the number of threads that run operators side by side: one."""
    return 1


def set_num_interop_threads(n: int) -> None:
    """Accept a positive number; operators run one after another in the calling thread."""
    if not isinstance(n, int) or n <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")


def set_warn_always(b: bool) -> None:
    """Set whether operators give at every call the warnings that they otherwise give once."""
    global _warn_always
    if not isinstance(b, bool):
        raise TypeError(f"set_warn_always: expected a bool, got {type(b).__name__}")
    _C._set_warnings_repeat(b)
    _warn_always = b


def compiled_with_cxx11_abi() -> bool:
    """Say that the library uses the C++11 ABI."""
    return True


def get_device_module(device: Any = None) -> Any:
    """Give the module of a kind of device, such as facula.cpu."""
    import facula

    kind = "cpu" if device is None else _C.device(device).type
    if kind == "meta":
        raise RuntimeError("get_device_module: the device meta has no module")
    return getattr(facula, kind)
