"""Functions that pickled tensors name: how parameters are rebuilt."""

from __future__ import annotations

from typing import Any


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    """Make a Parameter from its tensor."""
    from facula.nn.parameter import Parameter

    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Any, requires_grad: bool, backward_hooks: Any, state: dict
) -> Any:
    """Make a Parameter from its tensor and the attributes that a program has put on it."""
    param = _rebuild_parameter(data, requires_grad, backward_hooks)
    param.__dict__.update(state)
    return param
