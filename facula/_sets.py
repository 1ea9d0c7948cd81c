"""Functions whose number of results depends on their arguments: unique, nonzero, and their kin."""

from __future__ import annotations

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

Tensor = _C.Tensor
_rows = _C._functions


def _chosen(found: tuple[Tensor, Tensor, Tensor], inverse: bool, counts: bool) -> Any:
    if not inverse and not counts:
        return found[0]
    return (found[0], *((found[1],) if inverse else ()), *((found[2],) if counts else ()))


def _overridden(function: Any, tensor: Any, *args: Any) -> Any:
    """Ask `__torch_function__` of a subclass; NotImplemented when there is none."""
    if type(tensor) is not Tensor and _C._has_torch_function_variadic(tensor):
        return _C._handle_torch_function(function, (tensor,), (tensor, *args), {})
    return NotImplemented


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Give the distinct elements, or slices of a dimension, in order.

    With `return_inverse` also the number of each element's one, with `return_counts` how often
    each occurs.
    """
    answer = _overridden(unique, input, sorted, return_inverse, return_counts, dim)
    if answer is not NotImplemented:
        return answer
    found = _rows._unique(input) if dim is None else _rows._unique_dim(input, dim)
    return _chosen(found, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Give the first of each run of equal elements, or of equal slices of a dimension."""
    answer = _overridden(unique_consecutive, input, return_inverse, return_counts, dim)
    if answer is not NotImplemented:
        return answer
    return _chosen(_rows._unique_consecutive(input, dim), return_inverse, return_counts)


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Give the positions of non-zero elements: rows of a matrix, or one tensor a dimension."""
    if as_tuple and out is not None:
        raise RuntimeError("nonzero: out= cannot be given with as_tuple=True")
    if as_tuple:
        return _rows._nonzero_tuple(input)
    return _rows._nonzero(input, out=out) if out is not None else _rows._nonzero(input)


def _nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """Give the positions of non-zero elements: rows of a matrix, or one tensor a dimension."""
    return nonzero(self, as_tuple=as_tuple)


_select = _rows.where


def where(condition: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Take elements of `input` where `condition` holds, else of `other`: `where(c, input, other)`.

    With the condition alone, the positions of its non-zero elements, a tensor for each dimension.
    """
    if args or kwargs:
        return _select(condition, *args, **kwargs)
    answer = _overridden(where, condition)
    return _rows._nonzero_tuple(condition) if answer is NotImplemented else answer


_rows.where = where  # what overrides of subclasses are given


def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Count points (..., D) in the cells of a D-dimensional grid: (hist, bin_edges).

    `bins` is a number of equal bins (for all dimensions or each) over `range`, which lists the
    ends of each dimension (by default those of the points), or the edges of each dimension.
    """
    answer = _overridden(histogramdd, input, bins, range, weight, density)
    if answer is not NotImplemented:
        return answer
    if isinstance(bins, int):
        bins = [bins] * (input.shape[-1] if input.dim() else 1)
    if len(bins) > 0 and isinstance(bins[0], Tensor):
        found = _rows._histogramdd_edges(input, bins, weight=weight, density=density)
    else:
        found = _rows._histogramdd(input, bins, range=range, weight=weight, density=density)
    return _named("histogramdd", hist=found[0], bin_edges=tuple(found[1:]))


def _named(name: str, **fields: Any) -> Any:
    """Give a named tuple whose type is facula.return_types.NAME."""
    made = getattr(_C._return_types, name, None)
    if made is None:
        from collections import namedtuple

        made = namedtuple(name, list(fields), module="facula.return_types")  # noqa: PYI024
        setattr(_C._return_types, name, made)
    return made(**fields)


_nonzero.__name__, _nonzero.__qualname__ = "nonzero", "Tensor.nonzero"
for _function in (unique, unique_consecutive, _nonzero):
    setattr(Tensor, _function.__name__, _function)
