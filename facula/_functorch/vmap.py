"""Names of vmap's parts that libraries import; `facula.func.vmap` is made of others."""

from __future__ import annotations

from typing import Any

from facula import Tensor, _absent
from facula.func import vmap
from facula.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["vmap"]

for _name in (
    "_add_batch_dim _remove_batch_dim _process_batched_inputs _create_batched_inputs "
    "_unwrap_batched _maybe_remove_batch_dim _broadcast_to_and_flatten _flat_vmap"
).split():
    globals()[_name] = _absent.absent_function(f"facula._functorch.vmap.{_name}")


def _get_name(func: Any) -> str:
    """Give the name of a function for messages."""
    return getattr(func, "__name__", repr(func))


__all__ += ["Tensor", "tree_flatten", "tree_unflatten"]
