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
        return tuple(t.view_as(t) if t.requires_grad else t.requires_grad_() for t in inputs)
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
        grads = grad(ys, xs, seeds, create_graph=create_graph, allow_unused=True)
        grads = _fill(grads, xs, strict, _INDEPENDENT)
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
        grads = grad(ys, xs, dummies, create_graph=True, allow_unused=True)
        grads = _fill(grads, xs, strict, _INDEPENDENT)
        linked = [(g, t) for g, t in zip(grads, vector, strict=True) if g.requires_grad]
        if linked:
            products = grad(
                tuple(g for g, _ in linked),
                dummies,
                tuple(t for _, t in linked),
                create_graph=create_graph,
                allow_unused=True,
            )
        else:
            products = (None,) * len(ys)
        products = _fill(products, ys, strict, _INDEPENDENT)
    return _finish(ys, many_out, create_graph), _finish(products, many_out, create_graph)


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
        vectorize: accepted; rows are computed one after another.
        strategy: "reverse-mode" or "forward-mode"; both give the same numbers.

    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f'expected strategy "reverse-mode" or "forward-mode", got {strategy!r}')
    with facula.enable_grad():
        many_in, xs = _as_tuple(inputs, "inputs", "jacobian")
        xs = _prepare(xs, create_graph)
        many_out, ys = _outputs(func, xs, "jacobian")
        blocks = []
        for y in ys:
            rows: list[list] = [[] for _ in xs]
            for element in y.reshape(-1):
                if element.requires_grad:
                    grads = grad(
                        element, xs, retain_graph=True, create_graph=create_graph, allow_unused=True
                    )
                else:
                    grads = (None,) * len(xs)
                for row, g in zip(rows, _fill(grads, xs, strict, _INDEPENDENT), strict=True):
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
        out = func(*inputs)
        if not isinstance(out, Tensor) or out.numel() != 1:
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
    many_in, _ = _as_tuple(inputs, "inputs", "hessian")
    scalar = _scalar(func, "hessian")

    def gradient(*xs: Tensor) -> Any:
        rows = jacobian(scalar, xs, create_graph=True, strict=strict)
        return rows if many_in else rows[0]

    return jacobian(gradient, inputs, create_graph=create_graph, strict=strict)


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
        linked = [(g, t) for g, t in zip(first, vector, strict=True) if g.requires_grad]
        products = (
            grad(
                tuple(g for g, _ in linked),
                xs,
                tuple(t for _, t in linked),
                create_graph=create_graph,
                allow_unused=True,
            )
            if linked
            else (None,) * len(xs)
        )
        products = _fill(products, xs, strict, _INDEPENDENT)
    return _finish((y,), False, create_graph), _finish(products, many_in, create_graph)


def hvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Give the value of a function, and the product of its Hessian with a vector.

    The Hessian is symmetric, so this is `vhp`.
    """
    return vhp(func, inputs, v, create_graph, strict)
