"""Functions that take any number of tensors, or one of several forms of arguments."""

from __future__ import annotations

import operator
import sys

from facula import _C
from facula._arguments import as_tuple

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

Tensor = _C.Tensor
_rows = _C._functions


def _all(tensors: tuple) -> list[Tensor]:
    """Give the tensors of f(a, b) or f([a, b]) as a list."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return list(tensors[0])
    return list(tensors)


def _handled(function: Any, tensors: list, args: tuple, kwargs: dict) -> Any:
    """Ask `__torch_function__` of subclasses; NotImplemented when there is none."""
    if any(type(t) is not Tensor for t in tensors) and _C._has_torch_function_variadic(*tensors):
        return _C._handle_torch_function(function, tuple(tensors), args, kwargs)
    return NotImplemented


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Expand tensors to their common shape."""
    found = _all(tensors)
    answer = _handled(broadcast_tensors, found, tensors, {})
    return _rows._broadcast_tensors(found) if answer is NotImplemented else answer


def broadcast_shapes(*shapes: int | Sequence[int]) -> Any:
    """Give the shape that shapes broadcast to; RuntimeError where they do not."""
    lists = [as_tuple(s, "broadcast_shapes: a shape") for s in shapes]
    length = max((len(s) for s in lists), default=0)
    result = [1] * length
    for shape in lists:
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] < 0:
                raise RuntimeError(
                    f"broadcast_shapes: expected sizes that are not negative, got {shape}"
                )
            if shape[i] == 1 or shape[i] == result[i]:
                continue
            if result[i] != 1:
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape: "
                    f"{lists} at dimension {i}"
                )
            result[i] = shape[i]
    return _C.Size(result)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Give coordinate grids of vectors: rows first (`ij`, the default) or columns first (`xy`)."""
    found = _all(tensors)
    answer = _handled(meshgrid, found, tensors, {"indexing": indexing})
    if indexing is None:
        from facula import _absent

        _absent.once("meshgrid", "give indexing='ij' or 'xy': the default will not stay")
    return _rows._meshgrid(found, indexing or "ij") if answer is NotImplemented else answer


def cartesian_prod(*tensors: Any) -> Tensor:
    """Give all combinations of one element of each vector, a row each."""
    found = _all(tensors)
    answer = _handled(cartesian_prod, found, tensors, {})
    return _rows._cartesian_prod(found) if answer is NotImplemented else answer


def block_diag(*tensors: Any) -> Tensor:
    """Give a matrix with the tensors as its diagonal blocks."""
    found = _all(tensors)
    answer = _handled(block_diag, found, tensors, {})
    return _rows._block_diag(found) if answer is NotImplemented else answer


def _at_least(function: Any, row: Any, tensors: tuple) -> Any:
    found = _all(tensors)
    answer = _handled(function, found, tensors, {})
    if answer is not NotImplemented:
        return answer
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return row(tensors[0])
    return tuple(row(t) for t in found)


def atleast_1d(*tensors: Any) -> Any:
    """Give tensors at least one dimension."""
    return _at_least(atleast_1d, _rows._atleast_1d, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Give tensors at least two dimensions."""
    return _at_least(atleast_2d, _rows._atleast_2d, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Give tensors at least three dimensions."""
    return _at_least(atleast_3d, _rows._atleast_3d, tensors)


def _letters(subscripts: Sequence[Any], place: str) -> str:
    """Write a list of subscripts as letters, for the operand or output that `place` names."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    letters = []
    for s in subscripts:
        if s is Ellipsis:
            if "..." in letters:
                raise RuntimeError(f"einsum(): {place} has more than one ellipsis")
            letters.append("...")
            continue
        number = operator.index(s)
        if not 0 <= number < len(alphabet):
            raise ValueError(f"einsum(): subscript {number} of {place} is not within [0, 52)")
        letters.append(alphabet[number])
    return "".join(letters)


def _keeps_order() -> bool:
    """Whether `backends.opt_einsum` was told to take operands from left to right."""
    module = sys.modules.get("facula.backends.opt_einsum")
    return module is not None and not module.enabled


def _from_left(equation: str, operands: list[Tensor]) -> Tensor:
    """Multiply the operands of einsum two at a time as they stand."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        return _rows._einsum(equation, operands)  # says what is wrong
    if not arrow:
        single = sorted(c for c in set(left) - set(",.") if left.count(c) == 1)
        result = ("..." if "..." in left else "") + "".join(single)
    term, product = terms[0], operands[0]
    for k in range(1, len(terms)):
        both, kept = term + terms[k], result
        if k + 1 < len(terms):
            wanted = "".join(terms[k + 1 :]) + result
            letters = dict.fromkeys(c for c in both if c != "." and c in wanted)
            kept = ("..." if "..." in both else "") + "".join(letters)
        product = _rows._einsum(f"{term},{terms[k]}->{kept}", [product, operands[k]])
        term = kept
    return product


def einsum(*args: Any) -> Tensor:
    """Sum products of tensors as an equation such as "ij,jk->ik" says.

    The other form, `einsum(a, [0, 1], b, [1, 2], [0, 2])`, has numbers for letters. More than two
    operands are multiplied in a cheap order, unless `facula.backends.opt_einsum` forbids it.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, "
            "or at least one operand and its subscripts list"
        )
    if isinstance(args[0], str):
        equation, found = args[0], _all(args[1:])
    else:
        found = list(args[: len(args) - len(args) % 2 : 2])
        lists = args[1 : len(args) - len(args) % 2 : 2]
        parts = [_letters(s, f"operand {k}") for k, s in enumerate(lists)]
        tail = "->" + _letters(args[-1], "the output") if len(args) % 2 else ""
        equation = ",".join(parts) + tail
    answer = _handled(einsum, found, args, {})
    if answer is not NotImplemented:
        return answer
    if len(found) > 2 and _keeps_order():
        return _from_left(equation, found)
    return _rows._einsum(equation, found)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sum products over the last `dims` dimensions of `a` and the first of `b`, or over lists."""
    answer = _handled(tensordot, [a, b], (a, b), {"dims": dims, "out": out})
    if answer is not NotImplemented:
        return answer
    if isinstance(dims, Tensor):
        dims = dims.item() if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims <= ndim_a and ndim_b, but got dims={dims}")
        own, other = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        own, other = (as_tuple(d, "tensordot: dims") for d in as_tuple(dims, "tensordot: dims"))
    return _rows._tensordot(a, b, own, other, out=out)


def gradient(
    input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Estimate derivatives along dimensions by second-order central differences.

    `spacing` is a number, a number for each dimension, or coordinates for each dimension.
    RuntimeError for a spacing of another length, IndexError for dimensions that do not exist.

    Example:
        >>> facula.gradient(facula.tensor([0.0, 1.0, 4.0, 9.0]))
        (tensor([1., 2., 4., 5.]),)
    """
    options = {"spacing": spacing, "dim": dim, "edge_order": edge_order}
    answer = _handled(gradient, [input], (input,), options)
    if answer is not NotImplemented:
        return answer
    dims = None if dim is None else list(as_tuple(dim, "gradient: dim"))
    count = input.dim() if dims is None else len(dims)
    if spacing is None or isinstance(spacing, (int, float, complex)):
        steps = [1.0 if spacing is None else spacing] * count
    else:
        steps = list(as_tuple(spacing, "gradient: spacing"))
    if any(isinstance(s, Tensor) for s in steps):
        return tuple(_rows._gradient_coordinates(input, steps, dims, edge_order))
    if not any(isinstance(s, complex) for s in steps):
        return tuple(_rows._gradient(input, [float(s) for s in steps], dims, edge_order))
    slopes = _rows._gradient(input, [1.0] * len(steps), dims, edge_order)
    return tuple(slope / step for slope, step in zip(slopes, steps, strict=True))
