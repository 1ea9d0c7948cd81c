"""Helpers that optimisers written for PyTorch import from `optim.optimizer`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import facula
from facula.utils._foreach_utils import (  # noqa: F401
    _get_foreach_kernels_supported_devices,
)

ParamsT: TypeAlias = (
    Iterable[facula.Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, facula.Tensor]]
)

# Sentences about common options, which other libraries put into their docstrings.
_params_doc = "params (iterable): parameters, dicts of parameter groups, or named parameters"
_foreach_doc = "foreach (bool, optional): accepted; all parameters take one call anyway"
_fused_doc = "fused (bool, optional): accepted; all parameters take one call anyway"
_maximize_doc = "maximize (bool, optional): ascend instead of descending (default: False)"
_capturable_doc = "capturable (bool, optional): accepted, without effect on the CPU"
_differentiable_doc = "differentiable (bool, optional): let gradients flow through the steps"


def _get_value(x: Any) -> Any:
    """Give the number that a tensor of one element holds; other things as they are."""
    return x.item() if isinstance(x, facula.Tensor) else x


_to_scalar = _get_value


def _stack_if_compiling(x: Any) -> Any:
    return x


def _dispatch_sqrt(x: Any) -> Any:
    return x.sqrt() if isinstance(x, facula.Tensor) else x**0.5


def _default_to_fused_or_foreach(
    params: Any, differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Say that neither way of taking a step is preferred: there is one."""
    return False, False


def _get_scalar_dtype(is_fused: bool | None = None) -> facula.dtype:
    if is_fused:
        return facula.float32
    wide = facula.get_default_dtype() == facula.float64
    return facula.float64 if wide else facula.float32


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    return ["cuda", "xpu", "hpu", *(["xla"] if supports_xla else [])]


def _device_dtype_check_for_fused(p: facula.Tensor, cuda_unsupported: bool = False) -> None:
    if not p.is_floating_point():
        raise RuntimeError(
            f"`fused=True` requires all the params to be floating point Tensors, got {p.dtype}"
        )


def _view_as_real(params: list, *state_and_grads: list) -> None:
    """Replace complex tensors of parallel lists by views of their parts, in place."""
    for i, p in enumerate(params):
        if facula.is_complex(p):
            params[i] = facula.view_as_real(p)
            for tensors in state_and_grads:
                tensors[i] = facula.view_as_real(tensors[i])


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable:
    return lambda func: func


def _use_grad_for_differentiable(func: Callable) -> Callable:
    """Let a `step` record gradients only where the optimiser was made `differentiable`."""

    @functools.wraps(func)
    def stepped(*args: Any, **kwargs: Any) -> Any:
        recording = bool(args[0].defaults.get("differentiable", False))
        with facula.set_grad_enabled(recording):
            return func(*args, **kwargs)

    return stepped
