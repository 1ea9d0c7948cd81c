"""scan: a loop over the slices of tensors that carries a state along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["scan"]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Call `carry, y = combine_fn(carry, x)` for each slice x of `xs` along a dimension.

    Gives the last carry and the stacked outputs, along dimension 0. `reverse` begins at the end.
    RuntimeError for trees without tensors or with lengths that differ.

    Example:
        >>> scan(lambda c, x: (c + x, c * x), facula.tensor(0), facula.tensor([1, 2, 3]))
        (tensor(6), tensor([0, 2, 9]))
    """
    leaves, spec = tree_flatten(xs)
    if not leaves or not all(isinstance(leaf, facula.Tensor) for leaf in leaves):
        raise RuntimeError("scan: expected a tensor or a tree of tensors")
    lengths = {leaf.shape[dim] for leaf in leaves}
    if len(lengths) != 1 or 0 in lengths:
        raise RuntimeError(
            f"scan: expected one length, not zero, along dimension {dim}; got {sorted(lengths)}"
        )
    order = range(lengths.pop())
    outputs, carry = [], init
    for i in reversed(order) if reverse else order:
        x = tree_unflatten([leaf.select(dim, i) for leaf in leaves], spec)
        carry, y = combine_fn(carry, x)
        outputs.append(y)
    if reverse:
        outputs.reverse()
    return carry, tree_map(lambda *parts: facula.stack(parts), *outputs)
