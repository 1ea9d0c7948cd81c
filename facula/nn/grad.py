"""Gradients of convolutions by their operands, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula import _C
from facula._naming import named
from facula.nn import functional

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
    "conv3d_weight",
]  # fmt: skip

Tensor = _C.Tensor


def _gradient(function: Callable[[Tensor], Tensor], size: Any, grad_output: Tensor) -> Tensor:
    """The gradient of a linear function by its operand of shape `size`."""
    operand = grad_output.new_zeros(1).expand(size).requires_grad_()
    with facula.enable_grad():
        output = function(operand)
    create = facula.is_grad_enabled()
    return facula.autograd.grad(output, operand, grad_output, create_graph=create)[0]


def _by_input(dims: int, layout: str) -> Callable[..., Tensor]:
    """Make convNd_input, for inputs of `layout`."""
    name = f"conv{dims}d"
    convolve = getattr(functional, name)

    def gradient(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        options = (stride, padding, dilation, groups)
        return _gradient(lambda x: convolve(x, weight, None, *options), input_size, grad_output)

    doc = f"Give the gradient of {name} by its input of shape `input_size`, {layout}."
    return named(gradient, __name__, f"{name}_input", doc)


def _by_weight(dims: int) -> Callable[..., Tensor]:
    """Make convNd_weight."""
    name = f"conv{dims}d"
    convolve = getattr(functional, name)

    def gradient(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        options = (stride, padding, dilation, groups)
        return _gradient(lambda w: convolve(input, w, None, *options), weight_size, grad_output)

    doc = f"Give the gradient of {name} by its weight of shape `weight_size`."
    return named(gradient, __name__, f"{name}_weight", doc)


conv1d_input, conv1d_weight = _by_input(1, "(N, C, L)"), _by_weight(1)
conv2d_input, conv2d_weight = _by_input(2, "(N, C, H, W)"), _by_weight(2)
conv3d_input, conv3d_weight = _by_input(3, "(N, C, D, H, W)"), _by_weight(3)
