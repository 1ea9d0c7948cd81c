"""`checkpoint`: memory for time. What a function saves for backward is computed again there.

The function runs without recording. In backward it runs again, with the generator's state and the
autocast state of the first time, and the gradients of the second run are those of the first. The
parameters of modules that the function is, is bound to, or closes over become inputs of the
checkpoint's node; gradients of other leaves are accumulated on the way.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from typing import Any

import facula
from facula._absent import absent_class, absent_function
from facula.utils._pytree import tree_flatten, tree_unflatten

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]


class CheckpointError(RuntimeError):
    """The second run of a function differs from the first."""


def detach_variable(inputs: tuple) -> tuple:
    """Return the values without history; tensors want a gradient as before."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: ",
            type(inputs).__name__,
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, facula.Tensor) else x
        for x in inputs
    )


def noop_context_fn() -> tuple[Any, Any]:
    """Return two contexts that change nothing: for the first and for the second run."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def _modules_of(function: Any) -> Iterable[Any]:
    """Give the modules whose parameters a function is known to use."""
    if isinstance(function, functools.partial):
        yield from _modules_of(function.func)
        for value in (*function.args, *function.keywords.values()):
            yield from _modules_of(value)
        return
    owner = getattr(function, "__self__", None)
    for value in (function, owner):
        if isinstance(value, facula.nn.Module):
            yield value
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # an empty cell
            value = cell.cell_contents
            if value is not function:
                yield from _modules_of(value)


def _autocast_state() -> Any:
    from facula.amp import autocast_mode as mode

    kinds = [k for k in ("cpu", "cuda") if mode.is_autocast_enabled(k)]
    states = [(k, mode.get_autocast_dtype(k)) for k in kinds]

    def again() -> Any:
        stack = contextlib.ExitStack()
        for kind, dtype in states:
            stack.enter_context(mode.autocast(kind, dtype=dtype))
        return stack

    return again


class _Run:
    """One call of a function: its arguments, and how to run it again."""

    def __init__(
        self, function: Callable, args: tuple, kwargs: dict, keep_state: bool, contexts: tuple
    ) -> None:
        self.function = function
        self.leaves, self.spec = tree_flatten((args, kwargs))
        self.places = [i for i, v in enumerate(self.leaves) if isinstance(v, facula.Tensor)]
        self.state = facula.get_rng_state() if keep_state else None
        self.autocast = _autocast_state()
        self.first, self.second = contexts
        self.output_spec: Any = None
        self.outputs: list[Any] = []

    def call(self, tensors: Iterable[Any]) -> list[Any]:
        """Run the function on tensors in place of its own; return the output's leaves."""
        leaves = list(self.leaves)
        for i, t in zip(self.places, tensors, strict=True):
            leaves[i] = t
        args, kwargs = tree_unflatten(leaves, self.spec)
        result, self.output_spec = tree_flatten(self.function(*args, **kwargs))
        return result

    def again(self, tensors: Iterable[Any]) -> list[Any]:
        """Run the function as the first time, recording."""
        with contextlib.ExitStack() as stack:
            if self.state is not None:
                stack.enter_context(facula.random.fork_rng())
                facula.set_rng_state(self.state)
            stack.enter_context(self.autocast())
            stack.enter_context(facula.enable_grad())
            stack.enter_context(self.second)
            return self.call(tensors)


def _other_leaves(outputs: list[Any], known: set[int]) -> list[Any]:
    """Return the leaves below outputs that are not known, found by walking the graph."""
    found, seen, stack = [], set(), [t.grad_fn for t in outputs if t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        leaf = getattr(node, "variable", None)
        if leaf is not None and id(leaf) not in known:
            known.add(id(leaf))
            found.append(leaf)
        stack += [n for n, _ in node.next_functions if n is not None]
        _keep.append(node)
    _keep.clear()
    return found


_keep: list[Any] = []  # nodes stay alive while they are known by their id


class CheckpointFunction(facula.autograd.Function):
    """The node of a checkpoint. Its inputs are the function's tensors and known parameters."""

    @staticmethod
    def forward(ctx: Any, run: _Run, count: int, _: Any, *tensors: Any) -> Any:
        """Run the function without recording; return the tensors of its output."""
        ctx.run, ctx.count = run, count
        ctx.save_for_backward(*tensors)
        with facula.no_grad(), run.first:
            run.outputs = run.call(tensors[:count])
        results = [v for v in run.outputs if isinstance(v, facula.Tensor)]
        # An input that comes back as an output is handed out as a new tensor.
        given = {id(t) for t in tensors}
        return tuple(t.view_as(t) if id(t) in given else t for t in results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again and give its gradients."""
        run, count = ctx.run, ctx.count
        tensors = ctx.saved_tensors
        inputs = detach_variable(tuple(tensors[:count]))
        outputs = [v for v in run.again(inputs) if isinstance(v, facula.Tensor)]
        if len(outputs) != len(grads):
            raise CheckpointError(
                f"checkpoint: the second run gave {len(outputs)} tensors, the first {len(grads)}"
            )
        for i, t in enumerate(outputs):
            if t.requires_grad and grads[i] is not None and t.shape != grads[i].shape:
                raise CheckpointError(
                    f"checkpoint: output {i} has shape {tuple(t.shape)} in the second run, "
                    f"{tuple(grads[i].shape)} in the first"
                )
        pairs = [
            (t, g)
            for t, g in zip(outputs, grads, strict=True)
            if t.requires_grad and g is not None
        ]
        wanted = [t for t in (*inputs, *tensors[count:]) if t.requires_grad]
        others = _other_leaves([t for t, _ in pairs], {id(t) for t in wanted})
        found: tuple = ()
        if pairs:
            heads, seeds = zip(*pairs, strict=True)
            found = facula.autograd.grad(heads, [*wanted, *others], seeds, allow_unused=True)
        for leaf, grad in zip(others, found[len(wanted) :], strict=False):
            if grad is not None:
                leaf.grad = grad if leaf.grad is None else leaf.grad + grad
        gradients = {id(t): g for t, g in zip(wanted, found, strict=False)}
        return (
            None,
            None,
            None,
            *(gradients.get(id(t)) for t in (*inputs, *tensors[count:])),
        )


def checkpoint(
    function: Callable,
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

    Inputs and outputs may be nested in containers. `context_fn` gives contexts for the two runs.
    The other options are accepted: both of PyTorch's variants are this one.

    Example:
        >>> y = facula.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    """
    run = _Run(function, args, kwargs, preserve_rng_state, context_fn())
    if not facula.is_grad_enabled():
        with run.first:
            return tree_unflatten(run.call([run.leaves[i] for i in run.places]), run.output_spec)
    tensors = [run.leaves[i] for i in run.places]
    modules = list(_modules_of(function))
    parameters: dict[int, Any] = {}
    for module in modules:
        parameters.update((id(p), p) for p in module.parameters() if p.requires_grad)
    known = [*tensors, *parameters.values()]
    if modules and not any(t.requires_grad for t in known):
        with run.first:
            return tree_unflatten(run.call(tensors), run.output_spec)
    # Where the parameters are not known, an empty tensor makes sure that a node is made.
    dummy = facula.empty(0, requires_grad=not modules)
    results = iter(CheckpointFunction.apply(run, len(tensors), dummy, *known))
    leaves = [next(results) if isinstance(v, facula.Tensor) else v for v in run.outputs]
    run.outputs = []
    return tree_unflatten(leaves, run.output_spec)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run a Sequential, or list, in `segments` parts, all but the last of them checkpointed."""
    if isinstance(functions, facula.nn.Sequential):
        functions = list(functions.children())
    size = len(functions) // segments

    def part(start: int, end: int) -> Callable:
        sequence = functions[start:end]
        if all(isinstance(f, facula.nn.Module) for f in sequence):
            return facula.nn.Sequential(*sequence)

        def run(x: Any) -> Any:
            for f in sequence:
                x = f(x)
            return x

        return run

    end = 0
    for _ in range(segments - 1):
        input = checkpoint(part(end, end + size), input, use_reentrant=use_reentrant, **kwargs)
        end += size
    return part(end, len(functions))(input)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Any:
    """Accept whether the second run may stop early."""
    yield


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """Accept whether a difference of the runs is explained at length."""
    yield


CheckpointPolicy = absent_class(
    "facula.utils.checkpoint.CheckpointPolicy", "all that a function saves is computed again"
)
create_selective_checkpoint_contexts = absent_function(
    "facula.utils.checkpoint.create_selective_checkpoint_contexts",
    "all that a function saves is computed again",
)
