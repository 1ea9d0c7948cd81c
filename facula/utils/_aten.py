"""Operators of PyTorch's library that have no function of their name in Facula, which programs
reach as `facula.ops.aten.NAME`: halves of backward passes and layers, and what calls of tensor
classes with a `__torch_dispatch__` are named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import facula

Tensor = facula.Tensor


def _slice(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]


def _to_copy(x: Tensor, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return x.to(device=device or x.device, dtype=dtype or x.dtype, copy=True)


def _safe_softmax(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Softmax that is 0 where a whole row is minus infinity."""
    if dtype is not None:
        x = x.to(dtype)
    if not x.is_floating_point():
        return facula.softmax(x, dim)
    empty = (x == -math.inf).all(dim, keepdim=True)
    return facula.softmax(x.masked_fill(empty, 0), dim).masked_fill(empty, 0)


def _native_dropout_backward(grad: Tensor, mask: Tensor, scale: float) -> Tensor:
    return grad * (mask.to(grad.dtype) * scale)


def _batch_norm_with_update(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    parts = facula.native_batch_norm(
        x, weight, bias, running_mean, running_var, True, momentum, eps
    )
    return (*parts, facula.empty(0, dtype=facula.uint8, device=x.device))


def _ratio(n: int, size: int) -> float:
    """The scale from n elements to `size` that int(n * scale) takes back to `size`."""
    ratio = size / n
    return ratio if int(n * ratio) == size else math.nextafter(ratio, math.inf)


def _antialiased(mode: str) -> Callable[..., Tensor]:
    def upsample(
        x: Tensor,
        output_size: Sequence[int] | None,
        align_corners: bool,
        scale_factors: Sequence[float] | float | None = None,
        scales_w: float | None = None,
        *,
        scales_h: float | None = None,
    ) -> Tensor:
        if output_size is not None:
            # Here scales_h stands in the place of scale_factors.
            scales = (scale_factors if scales_h is None else scales_h, scales_w)
            sides = zip(x.shape[-2:], scales, output_size, strict=True)
            if any(s is not None and int(n * s) != size for n, s, size in sides):
                raise NotImplementedError(
                    facula._C._package_words(
                        f"facula.ops.aten._upsample_{mode}2d_aa: scales of another output size"
                    )
                )
            scale_factors = None
            if scales != (None, None):
                sides = zip(x.shape[-2:], scales, output_size, strict=True)
                scale_factors = [_ratio(n, size) if s is None else s for n, s, size in sides]
            output_size = list(output_size) if scale_factors is None else None
        return facula.nn.functional.interpolate(
            x,
            size=output_size,
            scale_factor=scale_factors,
            mode=mode,
            align_corners=align_corners,
            antialias=True,
        )

    return upsample


def _max_pool2d_with_indices_backward(
    grad: Tensor,
    x: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    flat = facula.zeros(*x.shape[:-2], x.shape[-2] * x.shape[-1], dtype=x.dtype, device=x.device)
    return flat.scatter_add(-1, indices.flatten(-2), grad.flatten(-2)).view(x.shape)


def _attention_for_cpu(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    if dropout_p:
        raise NotImplementedError(
            facula._C._package_words(
                "facula.ops.aten._scaled_dot_product_flash_attention_for_cpu: dropout_p must be "
                f"0, got {dropout_p}"
            )
        )
    out = facula.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask, 0.0, is_causal, scale=scale
    )
    with facula.no_grad():
        wide = facula.float64 if query.dtype == facula.float64 else facula.float32
        factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
        scores = query.to(wide) @ key.to(wide).transpose(-2, -1) * factor
        if attn_mask is not None and attn_mask.dtype == facula.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        elif attn_mask is not None:
            scores = scores + attn_mask
        if is_causal:
            seen = facula.ones(scores.shape[-2:], dtype=facula.bool).tril()
            scores = scores.masked_fill(~seen, -math.inf)
        return out, scores.logsumexp(-1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_to_copy": _to_copy,
    "_local_scalar_dense": lambda x: x.item(),
    "_softmax": lambda x, dim, half_to_float=False: facula.softmax(x, dim),
    "_log_softmax": lambda x, dim, half_to_float=False: facula.log_softmax(x, dim),
    "alias": lambda x: x.view(x.shape),
    "log_sigmoid": lambda x: facula.nn.functional.logsigmoid(x),
    "view": lambda x, size: x.view(size),
    "expand": lambda x, size: x.expand(size),
    "new_empty": lambda x, size, **options: x.new_empty(size, **options),
    "slice": _slice,
    "select": lambda x, dim, index: x.select(dim, index),
    "lift_fresh": lambda x: x,
    "_softmax_backward_data": facula._softmax_backward_data,
    "_log_softmax_backward_data": facula._log_softmax_backward_data,
    "_safe_softmax": _safe_softmax,
    "native_dropout_backward": _native_dropout_backward,
    "_batch_norm_with_update": _batch_norm_with_update,
    "_upsample_bilinear2d_aa": _antialiased("bilinear"),
    "_upsample_bicubic2d_aa": _antialiased("bicubic"),
    "max_pool2d_with_indices_backward": _max_pool2d_with_indices_backward,
    "_scaled_dot_product_flash_attention_for_cpu": _attention_for_cpu,
}
