"""Transforms by reverse mode: grad, vjp and jacrev."""

from __future__ import annotations

import functools
from collections.abc import Callable

import facula
from facula._functorch.vmap import vmap
from facula.func._leaves import Leaves, hide, show
from facula.utils._pytree import tree_flatten, tree_map, tree_unflatten

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

Tensor = facula.Tensor


def pick(args: tuple, argnums: int | tuple[int, ...], name: str) -> Any:
    """The arguments that `argnums` names. Errors: RuntimeError out of range or for another type."""
    if not isinstance(argnums, int) and not isinstance(argnums, tuple):
        raise RuntimeError(
            f"argnums must be int or Tuple[int, ...], got: {type(argnums).__name__} ({name})"
        )
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError(f"argnums must be non-empty ({name})")
    for i in numbers:
        if not -len(args) <= i < len(args):
            raise RuntimeError(f"Got argnum={i}, but only {len(args)} positional inputs ({name})")
    wrapped = [i % len(args) for i in numbers]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"argnums elements must be unique, got {argnums} ({name})")
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in numbers)


def put(args: tuple, argnums: int | tuple[int, ...], values: Any) -> tuple:
    """The arguments with those that `argnums` names replaced."""
    new = list(args)
    if isinstance(argnums, int):
        new[argnums] = values
    else:
        for i, v in zip(argnums, values, strict=True):
            new[i] = v
    return tuple(new)


def check_real(values: Any, what: str, name: str) -> None:
    """Refuse complex tensors in a tree: a Jacobian of these would need twice the entries."""
    for i, t in enumerate(tree_flatten(values)[0]):
        if isinstance(t, Tensor) and t.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received a complex tensor at "
                f"flattened index {i}"
            )


def split_aux(result: Any, name: str) -> tuple[Any, Any]:
    """(output, aux) of a function that was called with has_aux=True."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def grad_and_value(
    func: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable:
    """A function that gives the gradient of `func` and its value.

    Args:
        func: a function whose result is a tensor of one element, or (result, aux) under has_aux.
        argnums: which positional arguments (trees of tensors) to differentiate by.
        has_aux: whether `func` also gives something that is not differentiated.

    Returns:
        A function of the same arguments that gives (gradient, value) or (gradient, (value, aux)).

    >>> grad_and_value(lambda x: x**2)(facula.tensor(3.0))
    (tensor(6.), tensor(9.))

    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        ctx = Leaves("grad_and_value")
        chosen = pick(args, argnums, "grad_and_value")
        inputs, spec = ctx.add_tree(chosen, "the differentiated arguments")
        result = ctx.run(func, put(args, argnums, inputs), kwargs)
        aux = None
        if has_aux:
            result, aux = split_aux(result, "grad_and_value(f)(*args)")
        if not isinstance(result, Tensor):
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got "
                f"{type(result).__name__}"
            )
        if result.dim() != 0:
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor "
                f"with {result.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        check_real(result, "results", "grad_and_value(f)(*args)")
        ctx.set_outputs(result)
        aux = ctx.release(aux)
        seed = facula.ones_like(ctx.outputs[0].detach())
        record = ctx.wants_record([])
        kept = any(isinstance(t, Tensor) and t.requires_grad for t in tree_flatten(aux)[0])
        grads = ctx.pull([seed], retain=record or kept, record=record)
        grads = tree_unflatten([hide(g, ctx.levels) for g in grads], spec)
        value = ctx.released_outputs()
        return grads, (value, aux) if has_aux else value

    return wrapper


def grad(func: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable:
    """A function that gives the gradient of `func`, or (gradient, aux) under has_aux.

    It may be applied repeatedly, for higher derivatives, and inside or around the other transforms.

    >>> grad(grad(facula.sin))(facula.tensor(1.0))
    tensor(-0.8415)

    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


def pullback(
    func: Callable,
    primals: tuple,
    has_aux: bool,
    name: str,
    kwargs: dict | None = None,
    tangents: list[Tensor] | None = None,
    columns: str | None = None,
) -> tuple[Leaves, Any, Any]:
    """Run a function on leaves; gives these and its outputs, the shape of the primals, and aux.

    With tangents of the primals, those of the outputs are carried along as far as that goes; with
    `columns`, which names a randomness, those of all unit vectors of the primals, one beside the
    other.
    """
    ctx = Leaves(name)
    inputs, spec = ctx.add_tree(primals, "the primals")
    try:
        if tangents is not None:
            ctx.start_forward(tangents)
        if columns is not None:
            ctx.start_columns(columns)
        result = ctx.run(func, inputs, kwargs or {})
        aux = None
        if has_aux:
            result, aux = split_aux(result, f"{name}(f, *primals)")
        ctx.set_outputs(result)
    finally:
        ctx.end_forward()
    return ctx, spec, aux


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of `func` at the primals, and the function of vector-Jacobian products there.

    Args:
        func: a function of trees of tensors that gives a tree of tensors.
        primals: where it is evaluated.
        has_aux: whether `func` gives (output, aux).

    Returns:
        (output, vjp_fn) or (output, vjp_fn, aux); vjp_fn takes gradients shaped as the output and
        gives one gradient for each primal.

    >>> y, pull = vjp(facula.sin, facula.tensor(0.0))
    >>> pull(facula.tensor(2.0))
    (tensor(2.),)

    """
    ctx, spec, aux = pullback(func, primals, has_aux, "vjp")
    if not ctx.outputs:
        raise RuntimeError("vjp(f, *primals): Expected f to have a non-empty output")

    def vjp_fn(
        *cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        flat, got = tree_flatten(given)
        if got != ctx.output_spec and not (len(flat) == 1 and ctx.output_spec.num_leaves == 1):
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {got}, primal output: {ctx.output_spec}"
            )
        seeds = [show(c, ctx.levels) for c in flat]
        for c, o in zip(seeds, ctx.outputs, strict=True):
            if c.shape != o.shape:
                raise RuntimeError(
                    f"vjp: a cotangent has shape {tuple(c.shape)} where the output of the function "
                    f"has shape {tuple(o.shape)}"
                )
        record = ctx.wants_record(seeds) if create_graph is None else create_graph
        grads = ctx.pull(seeds, retain=retain_graph, record=record)
        return tree_unflatten([hide(g, ctx.levels) for g in grads], spec)

    value = ctx.released_outputs()
    return (value, vjp_fn, ctx.release(aux)) if has_aux else (value, vjp_fn)


def _basis(t: Tensor) -> Tensor:
    """The unit vectors of a tensor's shape, [numel, *shape]."""
    n = t.numel()
    return facula.eye(n, dtype=t.dtype, device=t.device).reshape(n, *t.shape)


def jacrev(
    func: Callable,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable:
    """A function that gives the Jacobian of `func`, computed row by row (reverse mode).

    Args:
        func: a function of tensors that gives a tree of tensors.
        argnums: which positional arguments to differentiate by.
        has_aux: whether `func` gives (output, aux).
        chunk_size: how many rows are computed at once; all by default.

    Returns:
        A function that gives, for each output, a tensor of shape [*output, *input] for each chosen
        input (or (that, aux)).

    >>> jacrev(facula.sin)(facula.tensor([0.0, 0.0]))
    tensor([[1., 0.],
            [0., 1.]])

    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = pick(args, argnums, "jacrev")
        check_real(chosen, "inputs", "jacrev")

        def of_chosen(values: Any) -> Any:
            return func(*put(args, argnums, values), **kwargs)

        result = vjp(of_chosen, chosen, has_aux=has_aux)
        output, vjp_fn = result[0], result[1]
        flat_out, out_spec = tree_flatten(output)
        if isinstance(output, tuple) and not flat_out:
            raise RuntimeError("jacrev: Expected at least one output of the function")
        check_real(output, "outputs", "jacrev")

        def rows_of(k: int) -> Any:
            def row(unit: Tensor) -> Any:
                seeds = [
                    unit if i == k else facula.zeros_like(o.detach())
                    for i, o in enumerate(flat_out)
                ]
                return vjp_fn(tree_unflatten(seeds, out_spec))[0]

            rows = vmap(row, chunk_size=chunk_size)(_basis(flat_out[k].detach()))
            return tree_map(lambda r: r.reshape(*flat_out[k].shape, *r.shape[1:]), rows)

        jacobians = tree_unflatten([rows_of(k) for k in range(len(flat_out))], out_spec)
        return (jacobians, result[2]) if has_aux else jacobians

    return wrapper
