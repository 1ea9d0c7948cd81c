"""Graph nodes as Python sees them, gradient edges, and what may be done with saved tensors."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from facula import _C

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "queue_callback",
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


def queue_callback(callback: Callable[[], None]) -> None:
    """Call a function once the backward pass that runs has finished; RuntimeError outside one."""
    _C._queue_callback(callback)


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
    if mode == "any":
        return _Handles(_hooks_of_first(tensors, fn))
    places = [_place_of(t) for t in tensors]
    # By pass: how many gradients are to come, and those that came.
    passes: dict[int, tuple[int, list]] = {}
    lock = threading.Lock()

    def hook_for(index: int) -> Callable:
        def hook(grad: Any) -> None:
            number = _C._current_graph_task_id()
            with lock:
                if number not in passes:
                    coming = sum(_will_be_reached(place) for place in places)
                    passes[number] = (coming, [None] * len(places))
                coming, grads = passes[number]
                grads[index] = grad
                if coming > 1:
                    passes[number] = (coming - 1, grads)
                    return
                del passes[number]
            fn(grads)

        return hook

    return _Handles([t.register_hook(hook_for(i)) for i, t in enumerate(tensors)])


# A hook must not hold the node that holds it: leaves are kept weakly, nodes of calls by number.
def _place_of(tensor: Any) -> Any:
    node = get_gradient_edge(tensor).node
    return weakref.ref(tensor) if tensor.is_leaf else node._sequence_nr()


def _will_be_reached(place: Any) -> bool:
    if isinstance(place, weakref.ref):
        tensor = place()
        return tensor is not None and _C._will_engine_execute_node(get_gradient_edge(tensor).node)
    return _C._will_engine_execute_node(place)


def _hooks_of_first(tensors: Sequence, fn: Callable) -> list:
    last = -1
    lock = threading.Lock()

    def hook(grad: Any) -> None:
        nonlocal last
        with lock:
            number = _C._current_graph_task_id()
            if number == last:
                return
            last = number
        fn(grad)

    return [t.register_hook(hook) for t in tensors]


_refusals = threading.local()  # the messages of disable_saved_tensors_hooks in force


class saved_tensors_hooks:  # noqa: N801 - the name that programs know
    """A context in which what is saved for backward goes through a pair of functions.

    `pack_hook(tensor)` is called when a call is recorded and returns any object, which the graph
    keeps in place of the tensor; `unpack_hook(object)` gives a tensor of the same content back in
    backward. The innermost pair applies. The pack hook runs without recording and may not write to
    its argument (RuntimeError); an unpack hook that returns no tensor raises TypeError.

    Example::

        >>> with saved_tensors_hooks(lambda t: t.numpy(), facula.from_numpy):
        ...     y = x * x
    """

    def __init__(
        self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        messages = getattr(_refusals, "messages", None)
        if messages:
            raise RuntimeError(messages[-1])
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)
        _refusals.active = getattr(_refusals, "active", 0) + 1

    def __exit__(self, *exc: Any) -> None:
        _C._pop_saved_tensors_hooks()
        _refusals.active -= 1


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Refuse `saved_tensors_hooks` inside the block: entering it raises RuntimeError with
    `error_message`, as does this context where hooks are on.
    """
    if getattr(_refusals, "active", 0):
        raise RuntimeError(error_message)
    messages = _refusals.__dict__.setdefault("messages", [])
    messages.append(error_message)
    try:
        yield
    finally:
        messages.pop()


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - the name that programs know
    """A context in which what is saved for backward is kept in the CPU's memory.

    A tensor of another device is copied there, into pinned memory with `pin_memory`, and back in
    backward; one that lies in the CPU's memory is kept as it is.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Any) -> tuple[Any, Any]:
            if tensor.device.type == "cpu":
                return tensor.device, tensor
            kept = _C._functions.empty(
                tensor.size(), dtype=tensor.dtype, layout=tensor.layout, pin_memory=pin_memory
            )
            return tensor.device, kept.copy_(tensor)

        def unpack(packed: tuple[Any, Any]) -> Any:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[None]:
    """Raise: clones of saved tensors before a write are not built."""
    raise NotImplementedError("autograd.graph.allow_mutation_on_saved_tensors is not built")
    yield
