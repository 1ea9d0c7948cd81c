"""Transforms by forward mode: jvp, jacfwd, hessian and linearize.

`jvp` carries tangents along while the function runs, and `jacfwd` all unit vectors at once.
`linearize`, whose tangents come after the evaluation, carries leaves along: the tangents of the
outputs are linear in them, and for given ones they are computed by two reverse passes. The first,
for gradients u of the outputs, is linear in u; its gradient by u in the direction of the tangents
is the product. The same two passes over the function itself are what is left where forward mode
did not see a call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import facula
from facula import _C
from facula._functorch.vmap import vmap
from facula.func._leaves import Leaves, hide, show
from facula.func._reverse import _basis, check_real, jacrev, pick, pullback, put
from facula.utils._pytree import tree_flatten, tree_unflatten

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

Tensor = facula.Tensor


class Pushforward:
    """The linear map from tangents of leaves to tangents of outputs.

    Where both are those of another function than `ctx` ran, they are given.
    """

    def __init__(
        self,
        ctx: Leaves,
        leaves: list[Tensor] | None = None,
        outputs: list[Tensor] | None = None,
    ) -> None:
        self.ctx = ctx
        self.outputs = ctx.outputs if outputs is None else outputs
        leaves = ctx.leaves if leaves is None else leaves
        self.used = [i for i, o in enumerate(self.outputs) if o.requires_grad]
        roots = [self.outputs[i] for i in self.used]
        self.seeds = [facula.zeros_like(o.detach()).requires_grad_() for o in roots]
        self.grads: tuple = (None,) * len(leaves)
        if roots:
            with facula.enable_grad():
                self.grads = _C._run_backward(roots, self.seeds, True, True, leaves, True, False)

    def push(self, tangents: list[Tensor | None]) -> list[Tensor]:
        """The tangents of the outputs, plain; None stands for a tangent of zeros."""
        pairs = [
            (g, t)
            for g, t in zip(self.grads, tangents, strict=True)
            if g is not None and t is not None and g.requires_grad
        ]
        found: tuple = (None,) * len(self.seeds)
        if pairs:
            roots, given = zip(*pairs, strict=True)
            record = self.ctx.wants_record(list(given))
            found = _C._run_backward(roots, given, True, record, self.seeds, True, False)
        out: list = [None] * len(self.outputs)
        for i, t in zip(self.used, found, strict=True):
            out[i] = t
        return [
            facula.zeros_like(o.detach()) if t is None else t
            for t, o in zip(out, self.outputs, strict=True)
        ]


def _check_tangents(primals: Any, tangents: Any) -> list[Tensor]:
    flat_p, spec_p = tree_flatten(primals)
    flat_t, spec_t = tree_flatten(tangents)
    if spec_p != spec_t:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
            f"structure. For example, if primals is a tuple of 3 tensors, tangents also must be. "
            f"Got primals with structure {spec_p} and tangents with structure {spec_t}"
        )
    for p, t in zip(flat_p, flat_t, strict=True):
        if not isinstance(p, Tensor) or not isinstance(t, Tensor):
            raise RuntimeError(
                "jvp(f, primals, tangents): Expected all primals and tangents to be Tensors"
            )
        if p.shape != t.shape:
            raise RuntimeError(
                "jvp(f, primals, tangents): Expected primals and tangents to have the same shape, "
                f"got {tuple(p.shape)} and {tuple(t.shape)}"
            )
    return flat_t


def jvp(
    func: Callable, primals: tuple, tangents: tuple, *, strict: bool = False, has_aux: bool = False
) -> tuple:
    """The value of `func` at the primals and its derivative in the direction of the tangents.

    Args:
        func: a function of trees of tensors that gives a tree of tensors.
        primals: where it is evaluated, a tuple.
        tangents: the direction, shaped as the primals.
        strict: refuse outputs that do not depend on the primals.
        has_aux: whether `func` gives (output, aux).

    Returns:
        (output, tangent of the output) or (output, tangent, aux).

    >>> jvp(facula.sin, (facula.tensor(0.0),), (facula.tensor(2.0),))
    (tensor(0.), tensor(2.))

    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should "
            f"be valid to "
            f"call f(*primals). Got {type(primals).__name__}"
        )
    if not primals:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be non-empty")
    flat = _check_tangents(primals, tangents)
    ctx, _, aux = pullback(func, primals, has_aux, "jvp", tangents=flat)
    if strict and not all(o.requires_grad for o in ctx.outputs):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
            "This is not allowed with strict=True."
        )
    pushed = ctx.tangents
    if pushed is None:
        pushed = Pushforward(ctx).push([show(t, ctx.levels) for t in flat])
    out = tree_unflatten([hide(t, ctx.levels) for t in pushed], ctx.output_spec)
    value = ctx.released_outputs()
    return (value, out, ctx.release(aux)) if has_aux else (value, out)


def linearize(func: Callable, *primals: Any) -> tuple:
    """The value of `func` at the primals, and the linear function of tangents there.

    The function is evaluated once; the linear function may be called for many tangents.

    >>> y, push = linearize(lambda x: x**2, facula.tensor(3.0))
    >>> push(facula.tensor(1.0))
    tensor(6.)

    """
    ctx, spec, push = _linear_part(func, primals)

    def jvp_fn(*tangents: Any) -> Any:
        flat, got = tree_flatten(tangents)
        if got != spec:
            raise RuntimeError(
                f"linearize: expected tangents shaped as the primals, {spec}, got {got}"
            )
        for t, x in zip(flat, tree_flatten(primals)[0], strict=True):
            if t.shape != x.shape or t.dtype != x.dtype:
                raise RuntimeError(
                    f"linearize: expected a tangent of shape {tuple(x.shape)} and {x.dtype}, got "
                    f"{tuple(t.shape)} and {t.dtype}"
                )
        pushed = push.push([show(t, ctx.levels) for t in flat])
        return tree_unflatten([hide(t, ctx.levels) for t in pushed], ctx.output_spec)

    return ctx.released_outputs(), jvp_fn


def _linear_part(func: Callable, primals: tuple) -> tuple[Leaves, Any, Pushforward]:
    """Run a function with tangents that are leaves: those of its outputs are linear in them."""
    recorded = facula.is_grad_enabled()
    levels = Leaves("linearize").levels
    seeds = [
        facula.zeros_like(show(x, levels).detach()).requires_grad_()
        for x in tree_flatten(primals)[0]
    ]
    with facula.enable_grad():
        tangents = [hide(t, levels) for t in seeds]
        ctx, spec, _ = pullback(func, primals, False, "linearize", tangents=tangents)
    ctx.recorded = recorded
    if ctx.tangents is None:
        return ctx, spec, Pushforward(ctx)
    return ctx, spec, Pushforward(ctx, seeds, ctx.tangents)


def jacfwd(
    func: Callable,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable:
    """A function that gives the Jacobian of `func`, computed column by column (forward mode).

    It gives what `jacrev` gives, and is the better choice where there are more outputs than inputs.

    Args:
        func: a function of tensors that gives a tree of tensors.
        argnums: which positional arguments to differentiate by.
        has_aux: whether `func` gives (output, aux).
        randomness: what random operators do: "error" refuses them; otherwise they draw once, as the
            function is evaluated once, for all columns.

    >>> jacfwd(lambda x: x * x)(facula.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])

    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = pick(args, argnums, "jacfwd")
        check_real(chosen, "inputs", "jacfwd")
        chosen = (chosen,) if isinstance(argnums, int) else chosen
        flat_in, in_spec = tree_flatten(chosen)

        def of_chosen(*values: Any) -> Any:
            values = values[0] if isinstance(argnums, int) else values
            return func(*put(args, argnums, values), **kwargs)

        # Different draws for each column would make the outputs themselves differ by column.
        columns_at = None if randomness == "different" else randomness
        ctx, _, aux = pullback(of_chosen, chosen, has_aux, "jacfwd", columns=columns_at)
        check_real(ctx.outputs, "outputs", "jacfwd")
        if ctx.tangents is not None:
            columns = _split_columns([hide(t, ctx.levels) for t in ctx.tangents], flat_in)
        else:
            push = Pushforward(ctx)
            columns = [_columns(push, k, flat_in) for k in range(len(flat_in))]
        outputs = []
        for i in range(len(ctx.outputs)):
            per_input = tree_unflatten([c[i] for c in columns], in_spec)
            outputs.append(per_input[0] if isinstance(argnums, int) else per_input)
        jacobians = tree_unflatten(outputs, ctx.output_spec)
        return (jacobians, ctx.release(aux)) if has_aux else jacobians

    return wrapper


def _split_columns(tangents: list[Tensor], inputs: list[Tensor]) -> list[list[Tensor]]:
    """The derivatives of all outputs, [*output, unit vectors] each, by input, as `_columns`."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for t in tangents:
        parts = t.split([x.numel() for x in inputs], -1)
        for k, (part, x) in enumerate(zip(parts, inputs, strict=True)):
            columns[k].append(part.reshape(*part.shape[:-1], *x.shape))
    return columns


def _columns(push: Pushforward, k: int, inputs: list[Tensor]) -> list[Tensor]:
    """The derivatives of all outputs by input k, [*output, *input] each."""
    ctx = push.ctx

    def column(unit: Tensor) -> tuple[Tensor, ...]:
        tangents = [show(unit, ctx.levels) if i == k else None for i in range(len(inputs))]
        return tuple(hide(t, ctx.levels) for t in push.push(tangents))

    x = inputs[k]
    found = vmap(column, out_dims=-1)(_basis(x.detach()))
    return [t.reshape(*t.shape[:-1], *x.shape) for t in found]


def hessian(func: Callable, argnums: int | tuple[int, ...] = 0) -> Callable:
    """A function that gives the matrix of second derivatives of `func`: jacfwd of jacrev.

    >>> hessian(lambda x: (x**3).sum())(facula.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])

    """
    return jacfwd(jacrev(func, argnums), argnums)
