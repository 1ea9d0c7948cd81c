"""A question about recorded graphs."""

from __future__ import annotations

from collections.abc import Iterable

import facula

Tensor = facula.Tensor


def depends_on_others(tensors: Iterable[Tensor], leaves: Iterable[Tensor]) -> bool:
    """Whether the graph of the tensors ends in leaves other than those given."""
    own = {id(t) for t in leaves}
    seen: set = set()
    open_nodes = []
    for t in tensors:
        if not t.requires_grad:
            continue
        if t.grad_fn is not None:
            open_nodes.append(t.grad_fn)
        elif id(t) not in own:
            return True
    while open_nodes:
        node = open_nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            if id(leaf) not in own:
                return True
            continue
        open_nodes += [n for n, _ in node.next_functions if n is not None]
    return False
