"""What gradcheck asks of tangents and of vmap.

Gradients and tangents that are computed for several directions at once, inside vmap, must be those
of one direction at a time; and an input without a tangent must count as one whose tangent is zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import facula
from facula.autograd import forward_ad

Tensor = facula.Tensor
_COUNT = 2  # directions at once


def batched_gradients(
    outputs: tuple, inputs: list[Tensor], draw: Callable[[Tensor], Tensor]
) -> str | None:
    """Compare gradients of all directions at once with single ones; say what differs."""
    for o, output in enumerate(outputs):

        def pull(weight: Tensor, output: Tensor = output) -> tuple:
            found = facula.autograd.grad(
                output, inputs, weight, retain_graph=True, allow_unused=True
            )
            return tuple(
                facula.zeros_like(x.detach()) if g is None else g
                for x, g in zip(inputs, found, strict=True)
            )

        where = f"gradients of output {o} with respect to input"
        problem = _compare(pull, [draw(output) for _ in range(_COUNT)], where)
        if problem:
            return problem
    return None


def batched_tangents(
    func: Callable, inputs: tuple, i: int, draw: Callable[[Tensor], Tensor]
) -> str | None:
    """Compare tangents for all directions of input `i` at once with single ones."""

    def push(tangent: Tensor) -> tuple:
        return tuple(pushed(func, inputs, {i: tangent}))

    where = f"tangents for input {i} of output"
    return _compare(push, [draw(inputs[i]) for _ in range(_COUNT)], where)


def absent_tangents(
    func: Callable, inputs: tuple, wanted: list[int], draw: Callable[[Tensor], Tensor]
) -> str | None:
    """Compare the tangents of outputs where one input has none with those where it is zero."""
    steps = {i: draw(inputs[i]) for i in wanted}
    for i in wanted:
        others = {k: t for k, t in steps.items() if k != i}
        zeros = {**others, i: facula.zeros_like(inputs[i].detach())}
        pairs = zip(pushed(func, inputs, others), pushed(func, inputs, zeros), strict=True)
        for o, (absent, zero) in enumerate(pairs):
            if not facula.allclose(absent, zero):
                return (
                    f"Mismatch in tangent values for output with index {o} when input {i} has an "
                    f"undefined tangent value. Got: {absent} but expected: {zero}"
                )
    return None


def pushed(func: Callable, inputs: tuple, tangents: dict[int, Tensor]) -> list[Tensor]:
    """Give the tangents of the outputs; inputs without a tangent are constants."""
    with forward_ad.dual_level():
        args = [x.detach() if isinstance(x, Tensor) else x for x in inputs]
        for i, t in tangents.items():
            args[i] = forward_ad.make_dual(args[i], t)
        result = func(*args)
        found = []
        for output in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(output, Tensor) and (output.is_floating_point() or output.is_complex()):
                value, tangent = forward_ad.unpack_dual(output)
                zero = tangent is None
                found.append(facula.zeros_like(value.detach()) if zero else tangent.detach())
        return found


def _compare(f: Callable, directions: list[Tensor], where: str) -> str | None:
    """Compare `f` of all directions, inside vmap, with `f` of each."""
    want = [facula.stack(parts) for parts in zip(*map(f, directions), strict=True)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="There is a performance drop")
        try:
            got = facula.vmap(f)(facula.stack(directions))
        except RuntimeError as error:
            return f"While computing batched gradients, got: {error}"
    for k, (g, w) in enumerate(zip(got, want, strict=True)):
        if not facula.allclose(g, w):
            return (
                f"Batched {where} {k} differ from those of one direction at a time.\n"
                f"Got:\n{g}\nExpected:\n{w}"
            )
    return None
