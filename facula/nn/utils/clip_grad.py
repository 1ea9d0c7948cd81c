"""Clipping of gradients by their total norm or by value."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import facula

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

Tensor = facula.Tensor


def _as_list(tensors: Any) -> list[Tensor]:
    found = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    for t in found:
        if not isinstance(t, Tensor):
            raise TypeError(f"expected a tensor or an iterable of them, got {type(t).__name__}")
    return found


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Give the norm of all elements of `tensors` together."""
    tensors = _as_list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return facula.tensor(0.0)
    with facula.no_grad():
        norms = [facula.linalg.vector_norm(t, norm_type) for t in tensors]
        total = facula.linalg.vector_norm(facula.stack(norms), norm_type)
    if error_if_nonfinite and not bool(facula.isfinite(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale all gradients in place by `max_norm / total_norm` where that is below 1."""
    grads = [p.grad for p in _as_list(parameters) if p.grad is not None]
    if not grads:
        return
    with facula.no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(factor.to(g.device) if g.device != factor.device else factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of `parameters` in place so that their total norm is at most `max_norm`;
    gives the norm before.
    """
    if not isinstance(parameters, Tensor):
        exhausted = iter(parameters) is parameters
        parameters = list(parameters)
        if exhausted and not parameters:
            warnings.warn(
                "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2
            )
    parameters = _as_list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Deprecated name of `clip_grad_norm_`."""
    warnings.warn(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clamp the gradients of `parameters` in place to [-clip_value, clip_value]."""
    clip_value = float(clip_value)
    with facula.no_grad():
        for p in _as_list(parameters):
            if p.grad is not None:
                p.grad.clamp_(min=-clip_value, max=clip_value)
