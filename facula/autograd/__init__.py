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
    def run(grads: Any, retain: bool) -> tuple:
        seeds = _seeds(grads, outputs, "grad")
        return _C._run_backward(outputs, seeds, retain, create_graph, inputs, allow_unused, False)

    if is_grads_batched:
        result = _batched_grad(run, grad_outputs, retain_graph)
    else:
        result = run(grad_outputs, retain_graph)
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


def _batched_grad(run: Any, grad_outputs: Any, retain_graph: bool) -> tuple:
    """Run one backward pass for each entry of the gradients' first dimension."""
    import facula

    grads = () if grad_outputs is None else _as_tuple(grad_outputs)
    counts = {g.shape[0] for g in grads if g is not None}
    if not counts:
        return run(grad_outputs, retain_graph)
    if len(counts) > 1:
        raise ValueError(
            "grad: with is_grads_batched=True expected grad_outputs of one size in the first "
            f"dimension, got sizes {sorted(counts)}"
        )
    (count,) = counts
    if count == 0:
        raise IndexError("grad: with is_grads_batched=True expected at least one gradient, got 0")
    rows = [
        run([None if g is None else g[i] for g in grads], retain_graph or i + 1 < count)
        for i in range(count)
    ]
    return tuple(_stacked(facula, column) for column in zip(*rows, strict=True))


def _stacked(facula: Any, grads: tuple) -> Tensor | None:
    """Stack gradients; those that are missing beside others are zeros."""
    some = next((g for g in grads if g is not None), None)
    if some is None:
        return None
    return facula.stack([some.new_zeros(some.shape) if g is None else g for g in grads])


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
