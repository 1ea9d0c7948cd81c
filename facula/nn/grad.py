"""Gradients of convolutions by their operands, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula import _C
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


def _by_input(
    convolve: Callable, size: Any, weight: Tensor, grad_output: Tensor, options: tuple
) -> Tensor:
    return _gradient(lambda input: convolve(input, weight, None, *options), size, grad_output)


def _by_weight(
    convolve: Callable, input: Tensor, size: Any, grad_output: Tensor, options: tuple
) -> Tensor:
    return _gradient(lambda weight: convolve(input, weight, None, *options), size, grad_output)


def conv1d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Give the gradient of conv1d by its input of shape `input_size`, (N, C, L)."""
    options = (stride, padding, dilation, groups)
    return _by_input(functional.conv1d, input_size, weight, grad_output, options)


def conv1d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Give the gradient of conv1d by its weight of shape `weight_size`."""
    options = (stride, padding, dilation, groups)
    return _by_weight(functional.conv1d, input, weight_size, grad_output, options)


def conv2d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Give the gradient of conv2d by its input of shape `input_size`, (N, C, H, W)."""
    options = (stride, padding, dilation, groups)
    return _by_input(functional.conv2d, input_size, weight, grad_output, options)


def conv2d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Give the gradient of conv2d by its weight of shape `weight_size`."""
    options = (stride, padding, dilation, groups)
    return _by_weight(functional.conv2d, input, weight_size, grad_output, options)


def conv3d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Give the gradient of conv3d by its input of shape `input_size`, (N, C, D, H, W)."""
    options = (stride, padding, dilation, groups)
    return _by_input(functional.conv3d, input_size, weight, grad_output, options)


def conv3d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Give the gradient of conv3d by its weight of shape `weight_size`."""
    options = (stride, padding, dilation, groups)
    return _by_weight(functional.conv3d, input, weight_size, grad_output, options)
