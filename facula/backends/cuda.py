"""CUDA: settings that programs make; this build has no CUDA."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def is_built() -> bool:
    """Say whether the build has CUDA."""
    return False


class _Matmul:
    """Settings of matrix products."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = False
    allow_bf16_reduced_precision_reduction = False


matmul = _Matmul()


class _Attention:
    """Which ways to compute attention programs have allowed; the CPU has one way."""

    flash = mem_efficient = math = cudnn = True


def is_flash_attention_available() -> bool:
    """Say that there are no kernels of CUDA for attention."""
    return False


def flash_sdp_enabled() -> bool:
    """Say whether flash attention is allowed."""
    return _Attention.flash


def mem_efficient_sdp_enabled() -> bool:
    """Say whether attention in little memory is allowed."""
    return _Attention.mem_efficient


def math_sdp_enabled() -> bool:
    """Say whether attention by its formula is allowed."""
    return _Attention.math


def cudnn_sdp_enabled() -> bool:
    """Say whether cuDNN's attention is allowed."""
    return _Attention.cudnn


def enable_flash_sdp(enabled: bool) -> None:
    """Allow flash attention or not."""
    _Attention.flash = bool(enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow attention in little memory or not."""
    _Attention.mem_efficient = bool(enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Allow attention by its formula or not."""
    _Attention.math = bool(enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow cuDNN's attention or not."""
    _Attention.cudnn = bool(enabled)


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Allow ways to compute attention while the block runs."""
    new = (enable_flash, enable_mem_efficient, enable_math, enable_cudnn)
    names = ("flash", "mem_efficient", "math", "cudnn")
    before = [getattr(_Attention, name) for name in names]
    for name, value in zip(names, new, strict=True):
        setattr(_Attention, name, value)
    try:
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(_Attention, name, value)


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """Say that there are no kernels of CUDA for attention."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention
