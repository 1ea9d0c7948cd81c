"""`checkpoint`: memory for time. What a function saves for backward is computed again there.

There are two ways. Without `use_reentrant` the function runs once with hooks that keep a place for
each tensor that would be saved; the first place that backward asks for makes the function run
again, which fills the places. With it the function runs without recording and its node runs it
again in backward, followed by a backward pass of its own.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import facula
from facula import _C
from facula._absent import absent_class, absent_function
from facula.autograd.graph import saved_tensors_hooks
from facula.utils._pytree import tree_flatten, tree_unflatten

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Tensor = facula.Tensor

_early_stop: bool | None = None  # set by set_checkpoint_early_stop
_debug: bool | None = None  # set by set_checkpoint_debug_enabled


class CheckpointError(RuntimeError):
    """The second run of a function differs from the first."""


class _Stop(Exception):  # noqa: N818 - no error: the second run has made all that is needed
    pass


class DefaultDeviceType:
    """The kind of device whose generators are kept when no argument says one."""

    _default = "cuda"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the kind."""
        DefaultDeviceType._default = device

    @staticmethod
    def get_device_type() -> str:
        """Return the kind."""
        return DefaultDeviceType._default


def detach_variable(inputs: tuple) -> tuple:
    """Return the values without history; tensors want a gradient as before."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: ",
            type(inputs).__name__,
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: Any) -> None:
    """Warn if no tensor among the inputs wants a gradient."""
    if not any(t.requires_grad for t in inputs if isinstance(t, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Return the devices of the arguments besides the CPU, of which there are none, and the states
    of their generators.
    """
    return [], []


def set_device_states(devices: list[int], states: list[Tensor], *, device_type: Any = None) -> None:
    """Restore what `get_device_states` returned."""


def noop_context_fn() -> tuple[Any, Any]:
    """Return two contexts that change nothing: for the first and for the second run."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def _autocast_state() -> Callable[[], Any]:
    from facula.amp import autocast_mode as mode

    kinds = [k for k in ("cpu", "cuda") if mode.is_autocast_enabled(k)]
    states = [(k, mode.get_autocast_dtype(k)) for k in kinds]

    def again() -> Any:
        stack = contextlib.ExitStack()
        for kind, dtype in states:
            stack.enter_context(mode.autocast(kind, dtype=dtype))
        return stack

    return again


class _Call:
    """A call of a function that can be made again, with the generator's and the autocast state."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict, keep_state: bool) -> None:
        self.function = function
        self.leaves, self.spec = tree_flatten((args, kwargs))
        self.places = [i for i, v in enumerate(self.leaves) if isinstance(v, Tensor)]
        self.state = facula.get_rng_state() if keep_state else None
        self.autocast = _autocast_state()

    def take_tensors(self) -> list[Tensor]:
        """Return the tensors among the arguments, and keep the other arguments only."""
        tensors = [self.leaves[i] for i in self.places]
        for i in self.places:
            self.leaves[i] = None
        return tensors

    def run(self, tensors: Any) -> Any:
        """Call the function with these tensors."""
        leaves = list(self.leaves)
        for i, t in zip(self.places, tensors, strict=True):
            leaves[i] = t
        args, kwargs = tree_unflatten(leaves, self.spec)
        return self.function(*args, **kwargs)

    def again(self, tensors: Any, context: Any) -> Any:
        """Call the function as the first time, recording."""
        with contextlib.ExitStack() as stack:
            if self.state is not None:
                stack.enter_context(facula.random.fork_rng())
                facula.set_rng_state(self.state)
            stack.enter_context(self.autocast())
            stack.enter_context(facula.enable_grad())
            stack.enter_context(context)
            return self.run(tensors)


# ---- by hooks on what is saved


class _Place:
    """Stands in the graph for a tensor that would have been saved."""

    __slots__ = ("__weakref__", "index", "metadata")

    def __init__(self, index: int, metadata: Any) -> None:
        self.index, self.metadata = index, metadata


class _KeepInputs(facula.autograd.Function):
    """A node that only keeps the inputs. They are saved like any other tensor, so that an enclosing
    checkpoint computes them again.
    """

    @staticmethod
    def forward(ctx: Any, _: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return facula.empty(0)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("nothing flows back through the inputs that a checkpoint keeps")


def _metadata(t: Tensor) -> dict[str, Any]:
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


class _Frame:
    """One checkpointed call: its places, and how to fill them."""

    def __init__(self, call: _Call, second: Any, check: bool, early_stop: bool) -> None:
        self.call, self.second = call, second
        self.check, self.early_stop = check, early_stop
        self.places: list[weakref.ref] = []
        self.found: dict[int, Tensor] = {}
        with facula.enable_grad():
            dummy = facula.empty(0, requires_grad=True)
            self.inputs = _KeepInputs.apply(dummy, *call.take_tensors()).grad_fn

    def pack(self, t: Tensor) -> _Place:
        """Keep a place for a tensor that the first run saves."""
        place = _Place(len(self.places), _metadata(t) if self.check else None)
        self.places.append(weakref.ref(place))
        return place

    def unpack(self, place: _Place) -> Tensor:
        """Give the tensor of a place; the first one makes the function run again."""
        if place.index not in self.found:
            self.fill()
        return self.found.pop(place.index)

    def fill(self) -> None:
        """Run the function again until all places are filled."""
        count, total = 0, len(self.places)
        self.found = {}
        wrong: list[str] = []

        def pack(t: Tensor) -> Tensor:
            nonlocal count
            if count >= total:
                raise CheckpointError(
                    "checkpoint: trying to save more tensors during recomputation than during the "
                    f"original forward pass, which saved {total}"
                )
            place = self.places[count]()
            if place is not None:
                if place.metadata is not None and place.metadata != _metadata(t):
                    wrong.append(
                        f"tensor at position {count}:\nsaved metadata: {place.metadata}\n"
                        f"recomputed metadata: {_metadata(t)}"
                    )
                self.found[count] = t.detach()
            count += 1
            if self.early_stop and count == total:
                raise _Stop
            return t.detach()

        inputs = detach_variable(tuple(self.inputs.saved_tensors))
        with saved_tensors_hooks(pack, lambda t: t), contextlib.suppress(_Stop):
            self.call.again(inputs, self.second)
        if count != total:
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the original forward "
                f"and recomputation.\nNumber of tensors saved during forward: {total}\n"
                f"Number of tensors saved during recomputation: {count}."
            )
        if wrong:
            raise CheckpointError(
                "checkpoint: Recomputed values for the following tensors have different metadata "
                "than during the forward pass.\n" + "\n".join(wrong)
            )


def _checkpoint_by_hooks(
    call: _Call, contexts: tuple[Any, Any], check: bool, early_stop: bool
) -> Any:
    first, second = contexts
    tensors = [call.leaves[i] for i in call.places]
    if not facula.is_grad_enabled():
        with first:
            return call.run(tensors)
    frame = _Frame(call, second, check, early_stop)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return call.run(tensors)


# ---- by a node that runs the function again


class CheckpointFunction(facula.autograd.Function):
    """The node of a checkpoint that runs the function again in its backward."""

    @staticmethod
    def forward(ctx: Any, call: _Call, result: list, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Run the function without recording; the tensors of its output are the results, its
        structure is put into `result`.
        """
        ctx.call = call
        ctx.save_for_backward(*tensors)
        with facula.no_grad():
            leaves, spec = tree_flatten(call.run(tensors))
        result += [leaves, spec]
        given = {id(t) for t in tensors}
        outputs = [v for v in leaves if isinstance(v, Tensor)]
        # An input that comes back as an output is handed out as a new tensor.
        return tuple(t.view_as(t) if id(t) in given else t for t in outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again, and backward through it."""
        if facula._C._wants_some_gradients():
            raise RuntimeError(
                "checkpoint: with use_reentrant=True it is incompatible with .grad() or passing an "
                "`inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        inputs = detach_variable(tuple(ctx.saved_tensors))
        leaves, _ = tree_flatten(ctx.call.again(inputs, contextlib.nullcontext()))
        outputs = [v for v in leaves if isinstance(v, Tensor)]
        if len(outputs) != len(grads):
            raise CheckpointError(
                f"checkpoint: the second run gave {len(outputs)} tensors, the first {len(grads)}"
            )
        pairs = [
            (t, g)
            for t, g in zip(outputs, grads, strict=True)
            if t.requires_grad and g is not None
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        facula.autograd.backward(*zip(*pairs, strict=True))
        return (None, None, *(t.grad for t in inputs))


def _checkpoint_by_node(call: _Call) -> Any:
    tensors = call.take_tensors()
    check_backward_validity(tensors)
    result: list[Any] = []
    outputs = iter(CheckpointFunction.apply(call, result, *tensors))
    leaves, spec = result
    return tree_unflatten([next(outputs) if isinstance(v, Tensor) else v for v in leaves], spec)


def _warn_unsaid(name: str) -> None:
    warnings.warn(
        _C._package_words(
            f"facula.utils.checkpoint.{name}: the use_reentrant parameter should be passed "
            "explicitly. use_reentrant=False is recommended; without the parameter it is True."
        ),
        stacklevel=3,
    )


def checkpoint(
    function: Callable | None = None,
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function(*args, **kwargs)` and compute it again in backward instead of saving.

    Without `function` it returns a decorator, whose functions are called so each time.

    Args:
        use_reentrant: False for the way by hooks: any gradient can be asked for, keyword arguments,
            nested checkpoints and containers are allowed. True for the way by a node.
        preserve_rng_state: give the second run the random numbers of the first one.
        context_fn: gives two contexts, for the two runs.
        determinism_check: "default" compares shapes, dtypes and devices of the two runs, "none"
            does not.
        debug: accepted; the errors name the tensors that differ in any case.
        early_stop: end the second run as soon as it has made all that is needed.

    Raises:
        CheckpointError: in backward, when the second run differs from the first.

    Example:
        >>> y = facula.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    """
    if function is None:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        options = {
            "use_reentrant": use_reentrant,
            "preserve_rng_state": preserve_rng_state,
            "context_fn": context_fn,
            "determinism_check": determinism_check,
            "debug": debug,
            "early_stop": early_stop,
        }
        return lambda f: functools.wraps(f)(
            lambda *args, **given: checkpoint(f, *args, **options, **given)
        )
    if use_reentrant is None:
        _warn_unsaid("checkpoint")
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return _checkpoint_by_node(_Call(function, args, {}, preserve_rng_state))
    if determinism_check not in ("default", "none"):
        raise ValueError(
            "determinism_check should be one of ['default', 'none'], "
            f"but got {determinism_check}"
        )
    call = _Call(function, args, kwargs, preserve_rng_state)
    stop = early_stop if _early_stop is None else _early_stop
    return _checkpoint_by_hooks(call, context_fn(), determinism_check == "default", stop)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run a Sequential, or a list of functions, in `segments` parts, all but the last of them
    checkpointed.

    Example:
        >>> y = checkpoint_sequential(net, 2, x, use_reentrant=False)
    """
    if use_reentrant is None:
        _warn_unsaid("checkpoint_sequential")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if isinstance(functions, facula.nn.Sequential):
        functions = list(functions.children())
    size = len(functions) // segments

    def part(start: int, end: int) -> Callable:
        def run(x: Any) -> Any:
            for f in functions[start:end]:
                x = f(x)
            return x

        return run

    end = 0
    for _ in range(segments - 1):
        run = part(end, end + size)
        input = checkpoint(
            run, input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
        end += size
    return part(end, len(functions))(input)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Say for all checkpoints made inside whether their second runs end early."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Accept whether differences are explained at length; the errors always name the tensors."""
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


CheckpointPolicy = absent_class(
    "facula.utils.checkpoint.CheckpointPolicy", "all that a function saves is computed again"
)
create_selective_checkpoint_contexts = absent_function(
    "facula.utils.checkpoint.create_selective_checkpoint_contexts",
    "all that a function saves is computed again",
)
