"""The part of Module that changes its tensors: `to` and the casts, moves between devices,
`share_memory`, `to_empty`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import facula
from facula import _C, __future__
from facula.nn.parameter import Parameter


def _is_dtype(x: Any) -> bool:
    return isinstance(x, facula.dtype)


def _parse_to(args: tuple, kwargs: dict) -> tuple:
    """Sort the arguments of `to` into device, dtype, non_blocking and memory_format."""
    given = dict(kwargs)
    names = ["device", "dtype", "non_blocking"]
    if args and isinstance(args[0], facula.Tensor):
        given.setdefault("device", args[0].device)
        given.setdefault("dtype", args[0].dtype)
        names = ["tensor", "non_blocking"]
    elif args and _is_dtype(args[0]):
        names = ["dtype", "non_blocking"]
    if len(args) > len(names):
        raise TypeError(
            f"to() received an invalid combination of arguments: {len(args)} positional arguments"
        )
    given.update(zip(names, args, strict=False))
    tensor = given.pop("tensor", None)
    given.pop("copy", None)
    if tensor is not None:
        given["device"], given["dtype"] = tensor.device, tensor.dtype
    device, dtype = given.pop("device", None), given.pop("dtype", None)
    non_blocking, memory_format = given.pop("non_blocking", False), given.pop("memory_format", None)
    if given:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(given))}'")
    if dtype is not None and not _is_dtype(dtype):
        raise TypeError(
            _C._package_words(
                f"to(): argument 'dtype' must be facula.dtype, not {type(dtype).__name__}"
            )
        )
    return None if device is None else facula.device(device), dtype, non_blocking, memory_format


def _parse_to_arguments(*args: Any, **kwargs: Any) -> tuple:
    """Return device, dtype, non_blocking and memory format of the arguments of `to`."""
    return _parse_to(args, kwargs)


# Libraries call it by its place in PyTorch.
facula._C._nn._parse_to = _parse_to_arguments


class ConvertMixin:
    """The part of Module that moves and casts parameters and buffers."""

    __slots__ = ()

    def _apply(self, fn: Callable, recurse: bool = True) -> Any:
        """Replace every parameter, gradient and buffer `t`, here and below, by `fn(t)`; parameters
        keep their identity, unless `facula.__future__` says otherwise.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for key, param in self._parameters.items():
            if param is None:
                continue
            with facula.no_grad():
                applied = fn(param)
            kept, grad = param, param.grad
            if __future__.get_swap_module_params_on_conversion():
                param.grad = None
                facula.utils.swap_tensors(param, Parameter(applied, param.requires_grad))
            elif (
                applied.device.type == param.device.type
                and not __future__.get_overwrite_module_params_on_conversion()
            ):
                param.data = applied
            else:
                kept = self._parameters[key] = Parameter(applied, param.requires_grad)
            if grad is not None:
                with facula.no_grad():
                    grad_applied = fn(grad)
                kept.grad = grad_applied.requires_grad_(grad.requires_grad)
        for key, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[key] = fn(buffer)
        return self

    def _cast_floating(self, dtype: Any) -> Any:
        return self._apply(lambda t: t.to(dtype=dtype) if t.is_floating_point() else t)

    def cuda(self, device: Any = None) -> Any:
        """Move parameters and buffers to a GPU."""
        return self._apply(lambda t: t.cuda(device))

    def cpu(self) -> Any:
        """Move parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type: Any) -> Any:
        """Cast all parameters and buffers to `dst_type`."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Any:
        """Cast floating-point parameters and buffers to float32."""
        return self._cast_floating(facula.float32)

    def double(self) -> Any:
        """Cast floating-point parameters and buffers to float64."""
        return self._cast_floating(facula.float64)

    def half(self) -> Any:
        """Cast floating-point parameters and buffers to float16."""
        return self._cast_floating(facula.float16)

    def bfloat16(self) -> Any:
        """Cast floating-point parameters and buffers to bfloat16."""
        return self._cast_floating(facula.bfloat16)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Move to `device` without copying: the values are uninitialised memory."""
        return self._apply(lambda t: facula.empty_like(t, device=device), recurse=recurse)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move and cast: `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(tensor)`,
        `to(memory_format=...)`.

        A dtype must be floating point or complex, and only such tensors are cast.
        """
        device, dtype, non_blocking, memory_format = _parse_to(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )
        if dtype is not None and dtype.is_complex:
            warnings.warn(
                "Complex modules are not tested as widely as others: layers that compare or clamp "
                "values refuse complex parameters and inputs.",
                stacklevel=2,
            )

        def convert(t: facula.Tensor) -> facula.Tensor:
            options: dict = {}
            if device is not None:
                options["device"] = device
            if dtype is not None and (t.is_floating_point() or t.is_complex()):
                options["dtype"] = dtype
            if non_blocking:
                options["non_blocking"] = True
            if memory_format is not None and t.dim() in (4, 5):
                options["memory_format"] = memory_format
            return t.to(**options) if options else t

        return self._apply(convert)

    def share_memory(self) -> Any:
        """Move the memory of parameters and buffers to shared memory."""
        return self._apply(lambda t: t.share_memory_())

    def _replicate_for_data_parallel(self) -> Any:
        replica = self.__new__(type(self))
        replica.__dict__.update(self.__dict__)
        replica.__dict__.update(
            _parameters={},
            _buffers=dict(self._buffers),
            _modules=dict(self._modules),
            _is_replica=True,
        )
        return replica
