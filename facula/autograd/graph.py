"""Graph nodes as Python sees them, gradient edges, and what may be done with saved tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from facula import _C

__all__ = [
    "GradientEdge",
    "Node",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

Node = _C._NodeBase


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor goes: a node, and which of its outputs the tensor is."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Give the edge that the gradient of a tensor flows along."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(*_C._gradient_edge(tensor))


def increment_version(tensor: Any) -> None:
    """Count a write that autograd has not seen."""
    tensors = (tensor,) if isinstance(tensor, _C.Tensor) else tuple(tensor)
    for t in tensors:
        t._bump_version()


class _Handles:
    def __init__(self, handles: Sequence) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove all hooks."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence, fn: Callable, *, mode: str = "all"
) -> _Handles:
    """Call `fn` once a backward pass has the gradients of all tensors, or of the first one."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    grads: list = [None] * len(tensors)
    seen = 0

    def hook_for(index: int) -> Callable:
        def hook(grad: Any) -> None:
            nonlocal seen
            if mode == "any":
                seen += 1
                if seen == 1:
                    fn(grad)
                if seen == len(tensors):
                    seen = 0
                return
            grads[index] = grad
            seen += 1
            if seen == len(tensors):
                given = list(grads)
                seen = 0
                grads[:] = [None] * len(tensors)
                fn(given)

        return hook

    return _Handles([t.register_hook(hook_for(i)) for i, t in enumerate(tensors)])


@contextlib.contextmanager
def saved_tensors_hooks(pack_hook: Callable, unpack_hook: Callable) -> Iterator[None]:
    """Raise: hooks on saved tensors are not built."""
    raise NotImplementedError("autograd.graph.saved_tensors_hooks is not built")
    yield


@contextlib.contextmanager
def save_on_cpu(pin_memory: bool = False, device_type: str = "cuda") -> Iterator[None]:
    """Keep saved tensors in the CPU's memory, where they are anyway in builds without CUDA."""
    yield


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[None]:
    """Raise: clones of saved tensors before a write are not built."""
    raise NotImplementedError("autograd.graph.allow_mutation_on_saved_tensors is not built")
    yield
