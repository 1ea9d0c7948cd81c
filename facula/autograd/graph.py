"""Graph nodes as Python sees them, gradient edges, and what may be done with saved tensors."""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from facula import _C

TYPE_CHECKING = False  # hooks of modules load after autograd
if TYPE_CHECKING:
    from facula.utils.hooks import RemovableHandle

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


def register_multi_grad_hook(
    tensors: Sequence, fn: Callable, *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once a backward pass has the gradients of all tensors, or of the first one."""
    from facula.utils.hooks import JointHandle

    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        return JointHandle(_hooks_of_first(tensors, fn))
    places = [_place_of(t) for t in tensors]
    owner = object()

    def create() -> _Gathered:
        return _Gathered(fn, sum(map(_will_be_reached, places)), len(places))

    def hook_for(index: int) -> Callable:
        return lambda grad: _of_pass(owner, create).take(index, grad)

    return JointHandle([t.register_hook(hook_for(i)) for i, t in enumerate(tensors)])


_running = threading.local()  # by pass: the depth of its caller, and what hooks keep until its end


def _of_pass(owner: object, create: Callable[[], Any]) -> Any:
    """What the hooks of one registration keep for the pass that runs."""
    number = _C._current_graph_task_id()
    passes: dict[int, tuple[int, dict]] = _running.__dict__.setdefault("passes", {})
    if number not in passes:
        # Nobody tells of passes that fail. Those that still run were called further out.
        depth = len([*_frames()])
        for other in [n for n, (outer, _) in passes.items() if outer >= depth]:
            del passes[other]
        passes[number] = (depth, {})
        queue_callback(lambda: _finish(number))
    kept = passes[number][1]
    if owner not in kept:
        kept[owner] = create()
    return kept[owner]


def _frames() -> Iterator:
    frame = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _finish(number: int) -> None:
    for kept in _running.passes.pop(number, (0, {}))[1].values():
        kept.settle()


class _Gathered:
    """The gradients of one pass that came, given to `fn` with the last that is to come."""

    def __init__(self, fn: Callable, coming: int, places: int) -> None:
        self.fn, self.coming = fn, coming
        self.grads: list | None = [None] * places

    def take(self, index: int, grad: Any) -> None:
        if self.grads is None:
            return
        self.grads[index] = grad
        self.coming -= 1
        if self.coming <= 0:
            self.settle()

    def settle(self) -> None:
        """Call `fn` unless it was: at the end of the pass, what has not come is None."""
        grads, self.grads = self.grads, None
        if grads is not None:
            self.fn(grads)


# A hook must not hold the node that holds it: leaves are kept weakly, nodes of calls by number.
def _place_of(tensor: Any) -> Any:
    node = get_gradient_edge(tensor).node
    return weakref.ref(tensor) if tensor.is_leaf else node._sequence_nr()


def _will_be_reached(place: Any) -> bool:
    if isinstance(place, weakref.ref):
        tensor = place()
        # A leaf may have been frozen since.
        if tensor is None or not tensor.requires_grad:
            return False
        return _C._will_engine_execute_node(get_gradient_edge(tensor).node)
    return _C._will_engine_execute_node(place)


class _First:
    """Calls `fn` with the first gradient of one pass."""

    def __init__(self, fn: Callable) -> None:
        self.fn: Callable | None = fn

    def take(self, grad: Any) -> None:
        fn, self.fn = self.fn, None
        if fn is not None:
            fn(grad)

    def settle(self) -> None:
        """Do nothing: there is nothing left to give."""


def _hooks_of_first(tensors: Sequence, fn: Callable) -> list:
    owner = object()
    return [
        t.register_hook(lambda grad: _of_pass(owner, lambda: _First(fn)).take(grad))
        for t in tensors
    ]


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

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
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
