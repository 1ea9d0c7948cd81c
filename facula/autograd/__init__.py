"""Automatic differentiation: backward, grad, custom Functions and the modes of recording."""

from __future__ import annotations

import importlib as _importlib
from collections.abc import Sequence

from facula import _C
from facula.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from facula.autograd.function import Function
from facula.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from facula.autograd.variable import Variable  # noqa: F401

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "Function",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

Tensor = _C.Tensor


def _as_tuple(value: Any) -> tuple:
    """Make a tuple of one tensor (or gradient edge) or of a sequence of them."""
    if isinstance(value, Tensor) or hasattr(value, "node"):
        return (value,)
    return tuple(value)


def _seeds(grads: Any, outputs: tuple, what: str) -> tuple:
    if grads is None:
        return (None,) * len(outputs)
    grads = (grads,) if isinstance(grads, Tensor) else tuple(grads)
    if len(grads) != len(outputs):
        raise RuntimeError(
            f"got {len(outputs)} tensors and {len(grads)} gradients"
            if what == "backward"
            else f"grad_outputs: expected {len(outputs)} gradients, got {len(grads)}"
        )
    for i, (g, out) in enumerate(zip(grads, outputs, strict=True)):
        if g is None:
            continue
        if not isinstance(g, Tensor):
            raise TypeError(
                "gradients can be either Tensors or None, but got " + type(g).__name__
            )
        if isinstance(out, Tensor) and g.shape != out.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] "
                f"has a shape of {out.shape}."
            )
    return grads


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the gradients of `tensors` and add them to the leaves, or to `inputs` only.

    Args:
        tensors: the tensors to differentiate.
        grad_tensors: the gradients to start with; None for tensors of one element means ones.
        retain_graph: keep what the graph saved for another backward; default: `create_graph`.
        create_graph: record the computation of the gradients, for higher derivatives.
        grad_variables: the old name of `grad_tensors`.
        inputs: the leaves to add to; default: all.

    """
    if inputs is not None and not isinstance(inputs, Tensor) and len(inputs) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _as_tuple(tensors)
    if grad_tensors is None:
        grad_tensors = grad_variables
    seeds = _seeds(grad_tensors, tensors, "backward")
    if retain_graph is None:
        retain_graph = create_graph
    wanted = None if inputs is None else _as_tuple(inputs)
    _C._run_backward(tensors, seeds, retain_graph, create_graph, wanted, True, True)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Compute and return the gradients of `outputs` with respect to `inputs`.

    Args:
        outputs: the tensors to differentiate.
        inputs: the tensors to differentiate by.
        grad_outputs: the gradients to start with; None for tensors of one element means ones.
        retain_graph: keep what the graph saved for another backward; default: `create_graph`.
        create_graph: record the computation of the gradients, for higher derivatives.
        only_inputs: has no effect; gradients of other leaves are never accumulated.
        allow_unused: give None for inputs that the outputs do not depend on, instead of an error.
        is_grads_batched: the first dimension of `grad_outputs` counts separate computations.
        materialize_grads: give zeros instead of None for unused inputs.

    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    if retain_graph is None:
        retain_graph = create_graph
    if is_grads_batched:
        return _batched_grad(outputs, inputs, grad_outputs, create_graph, allow_unused)
    seeds = _seeds(grad_outputs, outputs, "grad")
    result = _C._run_backward(
        outputs, seeds, retain_graph, create_graph, inputs, allow_unused, False
    )
    if materialize_grads:
        result = tuple(
            _zeros_like(x) if g is None else g for g, x in zip(result, inputs, strict=True)
        )
    return result


def _zeros_like(x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    return x.detach().new_zeros(x.shape)


def _batched_grad(
    outputs: tuple, inputs: tuple, grad_outputs: Any, create_graph: bool, allow_unused: bool
) -> tuple:
    """Run one backward pass for each entry of the gradients' first dimension."""
    import facula

    grads = _as_tuple(grad_outputs)
    rows = []
    for i in range(grads[0].shape[0]):
        seeds = _seeds(tuple(None if g is None else g[i] for g in grads), outputs, "grad")
        rows.append(
            _C._run_backward(outputs, seeds, True, create_graph, inputs, allow_unused, False)
        )
    return tuple(
        None if column[0] is None else facula.stack(column) for column in zip(*rows, strict=True)
    )


def is_tensor_like(x: Any) -> bool:
    """Say whether an object behaves as a tensor."""
    return isinstance(x, Tensor) or hasattr(x, "__torch_function__")


_LAZY = {
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "functional": None,
    "graph": None,
    "forward_ad": None,
    "profiler": None,
    "profiler_util": None,
    "DeviceType": "profiler_util",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "facula.autograd." + (_LAZY[name] or name)
    try:
        module = _importlib.import_module(home)
    except ModuleNotFoundError as error:
        if error.name != home:
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(module, name) if _LAZY[name] else module
    globals()[name] = value
    return value


def variable(data: Sequence, **kwargs: Any) -> Tensor:
    """Make a tensor: the old spelling of facula.tensor."""
    return _C.tensor(data, **kwargs)


def _profiler_enabled() -> bool:
    """Say whether a profile is being taken in this thread."""
    return _C._profiler_running()


def _disable_profiler() -> None:
    """End the last profile of this thread; RuntimeError where none runs."""
    _C._profiler_stop(None)
