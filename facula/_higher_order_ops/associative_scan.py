"""associative_scan: all partial results of an associative function along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["associative_scan"]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
    additional_inputs: Any = (),
) -> Any:
    """Combine the slices of tensors along a dimension, from the first to each one.

    `xs` is a tensor or a tree of tensors of one length along `dim`; `combine_fn` takes two such
    trees and gives one, and has to be associative: it is called on whole ranges of slices,
    log2(length) times. `reverse` begins at the end. Errors: ValueError without tensors, for lengths
    that differ or an unknown `combine_mode`.

    Example:
        >>> associative_scan(lambda a, b: a + b, facula.tensor([1, 2, 3]), 0)
        tensor([1, 3, 6])
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(
            f"associative_scan: combine_mode must be 'pointwise' or 'generic', got {combine_mode!r}"
        )
    leaves, spec = tree_flatten(xs)
    if not leaves or not all(isinstance(leaf, facula.Tensor) for leaf in leaves):
        raise ValueError("associative_scan: expected a tensor or a tree of tensors")
    leaves = [leaf.movedim(dim, 0) for leaf in leaves]
    length = leaves[0].shape[0]
    if any(leaf.shape[0] != length for leaf in leaves):
        raise ValueError(f"associative_scan: the lengths along dimension {dim} differ")
    if reverse:
        leaves = [leaf.flip(0) for leaf in leaves]

    def combine(left: list, right: list) -> list:
        def tree(part: list) -> Any:
            return tree_unflatten([leaf.movedim(0, dim) for leaf in part], spec)

        found, _ = tree_flatten(combine_fn(tree(left), tree(right), *additional_inputs))
        return [leaf.movedim(dim, 0) for leaf in found]

    reach = 1
    while reach < length:
        far = combine([leaf[:-reach] for leaf in leaves], [leaf[reach:] for leaf in leaves])
        leaves = [facula.cat([leaf[:reach], part]) for leaf, part in zip(leaves, far, strict=True)]
        reach *= 2
    if reverse:
        leaves = [leaf.flip(0) for leaf in leaves]
    return tree_unflatten([leaf.movedim(0, dim) for leaf in leaves], spec)
