"""Utilities around modules: clipping, flat parameter vectors, packed sequences, norms of weights,
parametrisations.

The larger ones are imported at their first use.
"""

from __future__ import annotations

from typing import Any

from facula.nn.utils import rnn
from facula.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from facula.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from facula.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from facula.nn.utils.weight_norm import remove_weight_norm, weight_norm

_MODULES = frozenset(
    "fusion init memory_format parametrizations parametrize prune stateless".split()
)
_HOMES = {
    "convert_conv2d_weight_memory_format": "memory_format",
    "convert_conv3d_weight_memory_format": "memory_format",
    "fuse_conv_bn_eval": "fusion",
    "fuse_conv_bn_weights": "fusion",
    "fuse_linear_bn_eval": "fusion",
    "fuse_linear_bn_weights": "fusion",
    "skip_init": "init",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES or name in _HOMES:
        import importlib

        module = importlib.import_module(f"facula.nn.utils.{_HOMES.get(name, name)}")
        return module if name in _MODULES else getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
