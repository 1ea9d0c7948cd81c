"""Functions that pickled tensors name: how tensors and parameters are rebuilt."""

from __future__ import annotations

from typing import Any


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    """Make a Parameter from its tensor."""
    from facula.nn.parameter import Parameter

    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Any, requires_grad: bool, backward_hooks: Any, state: dict
) -> Any:
    """Make a Parameter from its tensor and the attributes that a program has put on it."""
    param = _rebuild_parameter(data, requires_grad, backward_hooks)
    param.__dict__.update(state)
    return param


def _rebuild_tensor_from_bytes(
    content: bytes | None,
    dtype: Any,
    size: tuple,
    stride: tuple,
    requires_grad: bool,
    backward_hooks: Any,
) -> Any:
    """Make a tensor from the bytes of its elements in row-major order; strides are restored."""
    import facula

    if content is None:
        result = facula.empty(size, dtype=dtype, device="meta")
        return result.requires_grad_(requires_grad)
    storage = facula.UntypedStorage(content)
    result = facula.empty(0, dtype=dtype).set_(storage, 0, size)
    if result.numel() > 1 and result.stride() != stride and 0 not in stride:
        restored = facula.empty_strided(size, stride, dtype=dtype)
        restored.copy_(result)
        result = restored
    return result.requires_grad_(requires_grad)


def _rebuild_sparse_tensor(layout: Any, data: tuple) -> Any:
    """Make a sparse tensor of its parts and its size."""
    import facula

    if layout is facula.sparse_coo:
        indices, values, size, *merged = data
        return facula.sparse_coo_tensor(indices, values, size, is_coalesced=True in merged)
    return facula.sparse_compressed_tensor(*data, layout=layout)


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the number of a device; with `optional`, 0 for None."""
    import facula

    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if isinstance(device, str):
        device = facula.device(device)
    if isinstance(device, facula.device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        return -1 if device.type == "cpu" else device.index or 0
    if device is None and optional:
        return 0
    raise ValueError(f"Expected an index or a device, but got: {device}")


def _element_size(dtype: Any) -> int:
    """Return the bytes of an element."""
    return dtype.itemsize


def _flatten_dense_tensors(tensors: Any) -> Any:
    """Return one vector of the elements of all tensors."""
    import facula

    return facula.cat([t.contiguous().view(-1) for t in tensors], 0)


def _unflatten_dense_tensors(flat: Any, tensors: Any) -> tuple:
    """Return parts of a vector in the shapes of tensors."""
    result, at = [], 0
    for t in tensors:
        result.append(flat.narrow(0, at, t.numel()).view_as(t))
        at += t.numel()
    return tuple(result)


def _take_tensors(tensors: Any, size_limit: int) -> Any:
    """Give lists of tensors of the same dtype, each of at most `size_limit` bytes or one tensor."""
    waiting: dict[Any, tuple[list, int]] = {}
    for t in tensors:
        size = t.numel() * t.element_size()
        found, total = waiting.get(t.dtype, ([], 0))
        if found and total + size > size_limit:
            yield found
            found, total = [], 0
        waiting[t.dtype] = ([*found, t], total + size)
    for found, _ in waiting.values():
        yield found


def _rebuild_tensor(storage: Any, offset: int, size: tuple, stride: tuple) -> Any:
    """Make a tensor over a storage of elements."""
    import facula

    return facula.empty(0, dtype=storage.dtype).set_(storage._untyped_storage, offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any,
    offset: int,
    size: tuple,
    stride: tuple,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    """Make a tensor over a storage of elements that may want a gradient."""
    return _rebuild_tensor(storage, offset, size, stride).requires_grad_(requires_grad)


class ExceptionWrapper:
    """An exception of another thread or process, to be raised here."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        import sys
        import traceback

        info = exc_info or sys.exc_info()
        self.exc_type, self.where = info[0], where
        self.exc_msg = "".join(traceback.format_exception(*info))

    def reraise(self) -> None:
        """Raise an exception of the same type with the other's traceback in its text."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(text)
        try:
            error = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        raise error


def _rebuild_from_type(rebuild: Any, kind: type, args: tuple, state: dict) -> Any:
    """Make a tensor, give it its class and restore its attributes."""
    result = rebuild(*args)
    if type(result) is not kind:
        result = result.as_subclass(kind)
    if state:
        result.__setstate__(state)
    return result


def _get_available_device_type() -> str | None:
    """Give the kind of the accelerator: there is none."""
    return None


def _get_device_module(device_type: str) -> Any:
    """Give the module of a kind of device: `facula.cpu` for "cpu"."""
    import facula

    module = getattr(facula, device_type, None)
    if module is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module.")
    return module


def _get_async_or_non_blocking(name: str, non_blocking: bool, kwargs: dict) -> bool:
    """Read the old keyword `async` of a copy in place of `non_blocking`."""
    if not kwargs:
        return non_blocking
    if len(kwargs) != 1 or "async" not in kwargs:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
    return kwargs["async"]
