"""Programs' own operators and autograd.Functions inside vmap: by their rule or sample by sample."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

import facula
from facula import _C
from facula._functorch.vmap import _is_dim, _randomness_of_level
from facula.utils._pytree import (
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_map,
    tree_unflatten,
)

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

Tensor = facula.Tensor


def apply_function(cls: type, args: tuple, kwargs: dict) -> Any:
    """Run an autograd.Function some of whose arguments are inside vmap.

    Its own `vmap` is used if it has one; otherwise it runs sample by sample.
    """
    rule = cls.vmap
    if rule is facula.autograd.Function.vmap:
        return _apply(functools.partial(cls.apply, **kwargs), None, args, cls.__name__)
    if cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            f"an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            f"overridden vmap staticmethod to avoid ambiguity."
        )
    return _apply(cls.apply, functools.partial(rule, **kwargs), args, cls.__name__)


def apply_operator(call: Callable, rule: Callable | None, args: tuple, name: str) -> Any:
    """Run a program's own operator, some of whose arguments are inside vmap.

    `rule` is what `register_vmap` was given; without one the operator runs sample by sample, with a
    warning.
    """
    if rule is None:
        warnings.warn(
            f"There is a performance drop because {name} has no batching rule (register_vmap): "
            f"vmap runs it sample by sample.",
            stacklevel=3,
        )
    return _apply(call, rule, args, name)


def _apply(call: Callable, rule: Callable | None, args: tuple, name: str) -> Any:
    """A call with arguments inside vmap, by its rule or sample by sample; innermost level first."""
    flat, spec = tree_flatten(args)
    levels = dict(_C._vmap_levels())
    found = [lv for lv in levels if any(_C._is_batched(a, lv) for a in flat)]
    if not found:
        raise RuntimeError(f"{name}: a tensor from inside vmap is used after the vmap has ended")
    level = max(found)
    size = levels[level]
    mapped = [_C._is_batched(a, level) for a in flat]
    shown = [_C._vmap_show(a, level, size) if m else a for a, m in zip(flat, mapped, strict=True)]
    if rule is not None:
        dims = tree_unflatten([0 if m else None for m in mapped], spec)
        info = VmapInfo(size, _randomness_of_level.get(level, "error"))
        out, out_dims = rule(info, tuple(dims), *tree_unflatten(shown, spec))
        return _hide_results(out, out_dims, level, name)
    samples = []
    for i in range(size):
        picked = [a[i] if m else a for a, m in zip(shown, mapped, strict=True)]
        samples.append(call(*tree_unflatten(picked, spec)))
    if not samples:
        raise RuntimeError(f"vmap: {name} has no batching rule and cannot run over no samples")
    return tree_map(
        lambda *parts: (
            _C._vmap_hide(facula.stack(parts), level) if isinstance(parts[0], Tensor) else parts[0]
        ),
        *samples,
    )


class VmapInfo(tuple):
    """What a Function's `vmap` is told: batch_size and randomness."""

    __slots__ = ()

    def __new__(cls, batch_size: int, randomness: str) -> VmapInfo:
        return super().__new__(cls, (batch_size, randomness))

    @property
    def batch_size(self) -> int:
        """The number of samples."""
        return self[0]

    @property
    def randomness(self) -> str:
        """The randomness of the vmap."""
        return self[1]


def _hide_results(out: Any, out_dims: Any, level: int, name: str) -> Any:
    flat, spec = tree_flatten(out)
    dims = _broadcast_to_and_flatten(out_dims, spec, is_leaf=_is_dim)
    if dims is None or not all(map(_is_dim, dims)):
        raise ValueError(f"{name}: the out_dims of its vmap do not fit its results: {out_dims}")
    hidden = [
        t if d is None else _C._vmap_hide(t.movedim(d, 0) if d else t, level)
        for t, d in zip(flat, dims, strict=True)
    ]
    return tree_unflatten(hidden, spec)
