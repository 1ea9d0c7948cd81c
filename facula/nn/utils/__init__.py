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

_HOMES = {
    "parametrizations": None,
    "parametrize": None,
    "stateless": None,
    "fusion": None,
    "weight_norm": "norm_hooks",
    "remove_weight_norm": "norm_hooks",
    "spectral_norm": "norm_hooks",
    "remove_spectral_norm": "norm_hooks",
    "fuse_conv_bn_eval": "fusion",
    "fuse_conv_bn_weights": "fusion",
    "fuse_linear_bn_eval": "fusion",
    "fuse_linear_bn_weights": "fusion",
    "skip_init": "fusion",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        home = _HOMES[name]
        module = importlib.import_module(f"facula.nn.utils.{home or name}")
        return module if home is None else getattr(module, name)
    raise AttributeError(f"module 'facula.nn.utils' has no attribute '{name}'")
