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


def _rebuild_from_type(rebuild: Any, kind: type, args: tuple, state: dict) -> Any:
    """Make a tensor, give it its class and restore its attributes."""
    result = rebuild(*args)
    if type(result) is not kind:
        result = result.as_subclass(kind)
    if state:
        result.__setstate__(state)
    return result
