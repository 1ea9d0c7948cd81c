"""Jacobians by the engine and by finite differences, which gradcheck compares.

Complex tensors are pairs of real ones here: every vector is a flat one of float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import facula

__all__ = [
    "GradcheckError",
    "all_tensors",
    "analytical_jacobians",
    "central_difference",
    "differentiate",
    "flat_real",
    "numerical_jacobian",
    "parts_of",
    "recorded_outputs",
    "unit_gradients",
    "values_of",
]


class GradcheckError(RuntimeError):
    """Raised when a check fails."""

    __module__ = "facula.autograd.gradcheck"


def recorded_outputs(result: Any) -> tuple:
    """Return the outputs that require gradients."""
    items = result if isinstance(result, (tuple, list)) else (result,)
    return tuple(o for o in items if isinstance(o, facula.Tensor) and o.requires_grad)


def flat_real(t: facula.Tensor) -> facula.Tensor:
    """Return the parts of a tensor as a flat float64 vector of its own."""
    t = t.detach()
    if t.is_complex():
        t = facula.view_as_real(t.to(facula.complex128).resolve_conj().contiguous())
    return t.to(facula.float64).clone().reshape(-1)


def values_of(func: Callable, inputs: tuple, pick: Callable[[Any], tuple]) -> list[facula.Tensor]:
    return [flat_real(o) for o in pick(func(*inputs))]


def all_tensors(result: Any) -> tuple:
    items = result if isinstance(result, (tuple, list)) else (result,)
    return tuple(
        o
        for o in items
        if isinstance(o, facula.Tensor) and (o.is_floating_point() or o.is_complex())
    )


def parts_of(x: facula.Tensor) -> list[complex]:
    """Return the directions of one element: along the real axis, and along the imaginary one."""
    return [1.0, 1j] if x.is_complex() else [1.0]


def unit_gradients(output: facula.Tensor) -> Any:
    """Give each gradient of `output` with a single 1, or i, in the order of `flat_real`."""
    for index in itertools.product(*(range(n) for n in output.shape)):
        for part in parts_of(output):
            weight = facula.zeros_like(output, memory_format=facula.contiguous_format)
            weight[index] = part
            yield weight


def differentiate(output: Any, inputs: list, weight: Any) -> list[facula.Tensor]:
    """Return the real parts of the inputs' gradients, zeros where there is none."""
    found = facula.autograd.grad(output, inputs, weight, retain_graph=True, allow_unused=True)
    result = []
    for x, g in zip(inputs, found, strict=True):
        if g is None:
            result.append(facula.zeros(x.numel() * len(parts_of(x)), dtype=facula.float64))
            continue
        if g.shape != x.shape:
            raise GradcheckError(
                f"grad is incorrect size: got {tuple(g.shape)} for an input of {tuple(x.shape)}"
            )
        if x.is_complex() and not g.is_complex():
            g = g.to(x.dtype)
        result.append(flat_real(g.detach()))
    return result


def central_difference(
    evaluate: Callable[[], list[facula.Tensor]],
    data: facula.Tensor,
    index: Any,
    step: Any,
    eps: float,
) -> list[facula.Tensor]:
    """Return `(f(x + eps step) - f(x - eps step)) / (2 eps)`; `index` None moves all elements."""
    saved = data.clone() if index is None else data[index].clone()

    def move(amount: Any) -> None:
        if index is None:
            data.copy_(saved + amount)
        else:
            data[index] = saved + amount

    move(eps * step)
    above = evaluate()
    move(-eps * step)
    below = evaluate()
    move(0 * step)
    return [(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)]


def analytical_jacobians(outputs: tuple, inputs: list) -> list[list[facula.Tensor]]:
    """Return for each output and input the Jacobian, inputs along the first dimension."""
    result = []
    for output in outputs:
        rows = [differentiate(output, inputs, weight) for weight in unit_gradients(output)]
        jacobians = []
        for k, x in enumerate(inputs):
            columns = [row[k] for row in rows]
            size = x.numel() * len(parts_of(x))
            jacobians.append(
                facula.stack(columns, 1)
                if columns
                else facula.zeros((size, 0), dtype=facula.float64)
            )
        result.append(jacobians)
    return result


def numerical_jacobian(
    func: Callable, inputs: tuple, x: facula.Tensor, count: int, eps: float
) -> list[facula.Tensor]:
    """Return the Jacobian of each output with respect to `x`, inputs along the first dimension."""
    data = x.data

    def evaluate() -> list[facula.Tensor]:
        return values_of(func, inputs, recorded_outputs)

    rows: list[list[facula.Tensor]] = [[] for _ in range(count)]
    for index in itertools.product(*(range(n) for n in x.shape)):
        for part in parts_of(x):
            differences = central_difference(evaluate, data, index, part, eps)
            for row, difference in zip(rows, differences, strict=True):
                row.append(difference)
    if x.numel() == 0:
        return [facula.zeros((0, v.numel()), dtype=facula.float64) for v in evaluate()]
    return [facula.stack(row, 0) for row in rows]
