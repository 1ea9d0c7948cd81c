"""Set functions of the array API standard: the distinct elements of an array.

Distinct elements are given in ascending order; every NaN is distinct from all others.
"""

from __future__ import annotations

from typing import NamedTuple

import facula

TYPE_CHECKING = False
if TYPE_CHECKING:
    from facula.array_api._promotion import Array

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAllResult(NamedTuple):
    """The distinct values, where each occurs first, which one each element is, and how often."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The distinct values and how often each occurs."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The distinct values and which one each element is."""

    values: Array
    inverse_indices: Array


def _sorting(flat: Array) -> Array:
    """Give the indices that sort a vector stably; complex numbers by their parts."""
    if not flat.dtype.is_complex:
        return facula.argsort(flat, stable=True)
    by_imag = facula.argsort(flat.imag, stable=True)
    return by_imag[facula.argsort(flat.real[by_imag], stable=True)]


def unique_all(x: Array, /) -> UniqueAllResult:
    """Give the distinct values, their first indices, inverse indices (shape of x) and counts.

    >>> unique_all(facula.tensor([5, 3, 5])).counts
    tensor([1, 2])
    """
    flat = x.reshape(-1)
    order = _sorting(flat)
    ordered = flat[order]
    first = facula.ones(flat.shape, dtype=facula.bool, device=x.device)
    first[1:] = ordered[1:] != ordered[:-1]
    inverse = facula.empty_like(order)
    inverse[order] = facula.cumsum(first, 0) - 1
    starts = facula.nonzero(first)[:, 0]
    end = facula.full((1,), flat.shape[0], dtype=facula.int64, device=x.device)
    counts = facula.diff(starts, append=end)
    return UniqueAllResult(ordered[first], order[first], inverse.reshape(x.shape), counts)


def unique_counts(x: Array, /) -> UniqueCountsResult:
    """Give the distinct values and their counts."""
    found = unique_all(x)
    return UniqueCountsResult(found.values, found.counts)


def unique_inverse(x: Array, /) -> UniqueInverseResult:
    """Give the distinct values and inverse indices: `values[inverse_indices]` is x again."""
    found = unique_all(x)
    return UniqueInverseResult(found.values, found.inverse_indices)


def unique_values(x: Array, /) -> Array:
    """Give the distinct values, of one dimension."""
    flat = x.reshape(-1)
    ordered = flat[_sorting(flat)]
    return facula.cat([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])
