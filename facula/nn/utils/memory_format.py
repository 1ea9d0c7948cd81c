"""Conversion of convolution weights to a memory format."""

from __future__ import annotations

from typing import Any

import facula

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Any, memory_format: Any, kinds: tuple[type, ...]) -> Any:
    for child in module.modules():
        if isinstance(child, kinds):
            child.weight.data = child.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Lay the weights of all Conv2d and ConvTranspose2d below `module` out in `memory_format`.

    Example::

        >>> net = facula.nn.Conv2d(2, 4, 3)
        >>> convert_conv2d_weight_memory_format(net, facula.channels_last).weight.stride()
        (18, 1, 6, 2)
    """
    nn = facula.nn
    return _convert(module, memory_format, (nn.Conv2d, nn.ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Lay the weights of all Conv3d and ConvTranspose3d below `module` out in `memory_format`."""
    nn = facula.nn
    return _convert(module, memory_format, (nn.Conv3d, nn.ConvTranspose3d))
