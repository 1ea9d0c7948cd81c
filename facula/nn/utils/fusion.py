"""Folding of batch norms into the convolution or linear map before them."""

from __future__ import annotations

import copy
from typing import Any

import facula
from facula.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]

Tensor = facula.Tensor


def _fused(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    bn_weight: Tensor | None,
    bn_bias: Tensor | None,
    channel_dim: int,
) -> tuple[Parameter, Parameter]:
    bias = facula.zeros_like(mean) if bias is None else bias
    scale = facula.rsqrt(var + eps)
    if bn_weight is not None:
        scale = scale * bn_weight
    shape = [1] * weight.dim()
    shape[channel_dim] = -1
    new_bias = (bias - mean) * scale
    if bn_bias is not None:
        new_bias = new_bias + bn_bias
    learns = weight.requires_grad
    fused_weight = (weight * scale.reshape(shape)).to(dtype=weight.dtype)
    return Parameter(fused_weight.detach(), learns), Parameter(new_bias.detach(), learns)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Give weight and bias of the convolution that does what convolution and batch norm do."""
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Give one convolution for a convolution and the batch norm after it, both in eval mode."""
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Give weight and bias of the linear map that does what linear map and batch norm do."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Give one linear map for a linear map and the batch norm after it, both in evaluation mode."""
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "linear and batch norm do not fit: expected bn.num_features to be 1 or "
            f"linear.out_features={linear.out_features}, got {bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
