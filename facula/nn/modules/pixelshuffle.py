"""Channels into pixels and back: PixelShuffle and PixelUnshuffle."""

from __future__ import annotations

import facula
from facula.nn import functional as F
from facula.nn.modules.module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]

Tensor = facula.Tensor


class PixelShuffle(Module):
    """(N, C * r**2, H, W) to (N, C, H * r, W * r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(N, C, H * r, W * r) to (N, C * r**2, H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
