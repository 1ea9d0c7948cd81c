"""Jacobians, Hessians and products with them, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula.autograd import grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensor = facula.Tensor


def _as_tuple(value: Any, what: str, where: str) -> tuple[bool, tuple]:
    """Make a tuple of one tensor or several; says whether it was a tuple already."""
    if isinstance(value, Tensor):
        return False, (value,)
    if not isinstance(value, tuple):
        raise TypeError(
            f"The {what} given to {where} must be either a Tensor or a tuple of Tensors but the "
            f"given value is of type {type(value)}"
        )
    for i, v in enumerate(value):
        if not isinstance(v, Tensor):
            raise TypeError(
                f"The {what} given to {where} must be either a Tensor or a tuple of Tensors but "
                f"the value at index {i} has type {type(v)}."
            )
    return True, value


def _prepare(inputs: tuple, create_graph: bool) -> tuple:
    """Make inputs to differentiate by: part of the caller's graph only under create_graph."""
    if create_graph:
        return tuple(
            t.view_as(t) if t.requires_grad else t.detach().requires_grad_() for t in inputs
        )
    return tuple(t.detach().clone().requires_grad_() for t in inputs)


def _finish(results: tuple, is_tuple: bool, create_graph: bool) -> Any:
    if not create_graph:
        results = tuple(
            tuple(r.detach() for r in t) if isinstance(t, tuple) else t.detach() for t in results
        )
    return results if is_tuple else results[0]


def _fill(grads: tuple, inputs: tuple, strict: bool, message: str) -> tuple:
    """Put zeros where an output does not depend on an input; an error under strict."""
    if strict and any(g is None for g in grads):
        raise RuntimeError(message)
    return tuple(
        facula.zeros_like(x) if g is None else g for g, x in zip(grads, inputs, strict=True)
    )


def _need_history(grads: tuple, strict: bool, create_graph: bool) -> None:
    """Refuse, under both flags, a Jacobian that is constant in an input."""
    if not (strict and create_graph):
        return
    for i, g in enumerate(grads):
        if not g.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}, which "
                "strict mode does not allow when create_graph=True."
            )


def _gradients(ys: tuple, xs: tuple, seeds: tuple, create_graph: bool) -> tuple:
    """Give the gradients of the outputs that have any; None where no output depends on an input."""
    linked = [(y, s) for y, s in zip(ys, seeds, strict=True) if y.requires_grad]
    if not linked:
        return (None,) * len(xs)
    outputs, vectors = zip(*linked, strict=True)
    return grad(outputs, xs, vectors, create_graph=create_graph, allow_unused=True)


_INDEPENDENT = "The output of the user-provided function is independent of an input in strict mode."


def _outputs(func: Callable, inputs: tuple, where: str) -> tuple[bool, tuple]:
    return _as_tuple(func(*inputs), "outputs of the user-provided function", where)


def vjp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Give the outputs, and the product of a vector with the Jacobian.

    Args:
        func: a function of tensors that gives a tensor or a tuple of tensors.
        inputs: one tensor or a tuple of them.
        v: the vector, of the shapes of the outputs; may be left out for one-element outputs.
        create_graph: record the computation, for higher derivatives.
        strict: raise where an output does not depend on an input.

    """
    with facula.enable_grad():
        many_in, xs = _as_tuple(inputs, "inputs", "vjp")
        xs = _prepare(xs, create_graph)
        many_out, ys = _outputs(func, xs, "vjp")
        seeds = _vector(v, ys, "vjp")
        grads = _gradients(ys, xs, seeds, create_graph)
        grads = _fill(grads, xs, strict, _INDEPENDENT)
        _need_history(grads, strict, create_graph)
    return _finish(ys, many_out, create_graph), _finish(grads, many_in, create_graph)


def _vector(v: Any, like: tuple, where: str) -> tuple:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the user-provided function of {where} returns a "
                "single Tensor with a single element."
            )
        return (facula.ones_like(like[0]),)
    _, vector = _as_tuple(v, "v", where)
    if len(vector) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: {len(vector)}, not {len(like)}")
    for i, (a, b) in enumerate(zip(vector, like, strict=True)):
        if a.shape != b.shape:
            raise RuntimeError(
                f"Entry {i} in v has invalid size: should be {b.shape} but got {a.shape}."
            )
    return vector


def jvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Give the outputs, and the product of the Jacobian with a vector (by two reverse passes).

    The arguments are those of `vjp`; `v` has the shapes of the inputs.
    """
    with facula.enable_grad():
        _, xs = _as_tuple(inputs, "inputs", "jvp")
        xs = _prepare(xs, create_graph)
        vector = _vector(v, xs, "jvp")
        many_out, ys = _outputs(func, xs, "jvp")
        dummies = tuple(facula.zeros_like(y).requires_grad_() for y in ys)
        grads = _gradients(ys, xs, dummies, True)
        grads = _fill(grads, xs, strict, _INDEPENDENT)
        products = _gradients(grads, dummies, vector, create_graph)
        products = _fill(products, ys, strict, _INDEPENDENT)
        _need_history(products, strict, create_graph)
    return _finish(ys, many_out, create_graph), _finish(products, many_out, create_graph)


def _check_options(create_graph: bool, strict: bool, vectorize: bool, strategy: str) -> None:
    """Refuse the combinations of options that PyTorch refuses."""
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f'expected strategy "reverse-mode" or "forward-mode", got {strategy!r}')
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError('create_graph=True needs strategy="reverse-mode"')
        if strict:
            raise RuntimeError('strict=True needs strategy="reverse-mode"')
        if not vectorize:
            raise NotImplementedError('strategy="forward-mode" needs vectorize=True')
    if strict and vectorize:
        raise RuntimeError("strict=True and vectorize=True are not supported together")


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Give the Jacobian: for each output and input a tensor of both their shapes.

    Args:
        func: a function of tensors that gives a tensor or a tuple of tensors.
        inputs: one tensor or a tuple of them.
        create_graph: record the computation, for higher derivatives.
        strict: raise where an output does not depend on an input.
        vectorize: rows are computed one after another all the same; not together with strict.
        strategy: "reverse-mode" or "forward-mode", which takes vectorize only; both give the same
            numbers.

    """
    _check_options(create_graph, strict, vectorize, strategy)
    with facula.enable_grad():
        many_in, xs = _as_tuple(inputs, "inputs", "jacobian")
        xs = _prepare(xs, create_graph)
        many_out, ys = _outputs(func, xs, "jacobian")
        blocks = []
        for y in ys:
            rows: list[list] = [[] for _ in xs]
            for element in y.reshape(-1):
                if element.requires_grad:
                    # A complex element has rows only where they are vectorised.
                    seed = facula.ones_like(element) if vectorize else None
                    grads = grad(
                        element,
                        xs,
                        seed,
                        retain_graph=True,
                        create_graph=create_graph,
                        allow_unused=True,
                    )
                else:
                    grads = (None,) * len(xs)
                grads = _fill(grads, xs, strict, _INDEPENDENT)
                _need_history(grads, strict, create_graph)
                for row, g in zip(rows, grads, strict=True):
                    row.append(g)
            block = tuple(
                facula.stack(row).reshape(y.shape + x.shape)
                if row
                else facula.zeros(y.shape + x.shape, dtype=x.dtype)
                for row, x in zip(rows, xs, strict=True)
            )
            blocks.append(_finish(block, many_in, create_graph))
    return tuple(blocks) if many_out else blocks[0]


def _scalar(func: Callable, where: str) -> Callable:
    def checked(*inputs: Tensor) -> Tensor:
        many, outs = _outputs(func, inputs, where)
        out = outs[0] if outs else None
        if many or out is None or out.numel() != 1:
            raise RuntimeError(f"The function given to {where} should return a single value")
        return out.reshape(())

    return checked


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Give the Hessian of a function with one value. The arguments are those of `jacobian`."""
    _check_options(create_graph, strict, vectorize, outer_jacobian_strategy)
    many_in, _ = _as_tuple(inputs, "inputs", "hessian")
    scalar = _scalar(func, "hessian")

    def gradient(*xs: Tensor) -> Any:
        rows = jacobian(scalar, xs, create_graph=True, strict=strict)
        return rows if many_in else rows[0]

    return jacobian(
        gradient,
        inputs,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )


def vhp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Give the value of a function, and the product of a vector with its Hessian."""
    with facula.enable_grad():
        many_in, xs = _as_tuple(inputs, "inputs", "vhp")
        xs = _prepare(xs, create_graph)
        vector = _vector(v, xs, "vhp")
        y = _scalar(func, "vhp")(*xs)
        first = grad(y, xs, create_graph=True, allow_unused=True)
        first = _fill(first, xs, strict, _INDEPENDENT)
        products = _gradients(first, xs, vector, create_graph)
        products = _fill(products, xs, strict, _INDEPENDENT)
    return _finish((y,), False, create_graph), _finish(products, many_in, create_graph)


def hvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Give the value of a function, and the product of its Hessian with a vector.

    The Hessian is symmetric, so this is `vhp`.
    """
    return vhp(func, inputs, v, create_graph, strict)
