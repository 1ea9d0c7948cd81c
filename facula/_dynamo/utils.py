"""Questions about captured programs, for libraries that ask them when they are imported."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import facula

counters: defaultdict[str, Counter] = defaultdict(Counter)


def is_compile_supported(device_type: Any) -> bool:
    """Say that programs are not compiled for this kind of device."""
    return False


def compile_times(repr: str = "str", aggregate: bool = False) -> Any:
    """Return how long compiling took: no time at all."""
    return "" if repr == "str" else ([], [])


def clone_input(x: Any) -> Any:
    """Return a copy of a tensor that wants a gradient if the original does."""
    return x.detach().clone().requires_grad_(x.requires_grad)


def clone_inputs(example_inputs: Any) -> Any:
    """Return copies of tensors in a list or a dict."""
    if isinstance(example_inputs, dict):
        return {k: clone_inputs(v) for k, v in example_inputs.items()}
    if isinstance(example_inputs, facula.Tensor):
        return clone_input(example_inputs)
    return [clone_input(x) if isinstance(x, facula.Tensor) else x for x in example_inputs]
