"""Inputs that a transform differentiates by, as leaves of plain tensors below all running vmaps.

Autograd records plain tensors. Inside vmap a transform therefore shows the samples of its inputs as
leading dimensions, makes leaves of these, and hides the samples again for the function; an input
that is the same for all samples is expanded, so that every sample has a gradient of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import facula
from facula import _C
from facula.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

Tensor = _C.Tensor
Levels = tuple


def show(t: Tensor, levels: Levels) -> Tensor:
    """The tensor below `levels`, whose samples become leading dimensions, outermost first."""
    for level, size in reversed(levels):
        t = _C._vmap_show(t, level, size)
    return t


def hide(t: Tensor, levels: Levels) -> Tensor:
    """The inverse of `show`."""
    for level, _ in levels:
        t = _C._vmap_hide(t, level)
    return t


class Leaves:
    """The leaves of one application of a transform, and what its function made of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.levels = _C._vmap_levels()
        self.recorded = facula.is_grad_enabled()  # by the program around the transform
        self.leaves: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.output_spec: TreeSpec | None = None
        self.linked = False  # whether the outputs depend on anything but the leaves

    def add(self, t: Any, where: str) -> Tensor:
        """Make a leaf for an input and give what the function shall see."""
        if not isinstance(t, Tensor):
            raise ValueError(
                f"{self.name}: Expected all leaves of {where} to be Tensors, got {type(t).__name__}"
            )
        plain = show(t, self.levels)
        if not (plain.is_floating_point() or plain.is_complex()):
            raise RuntimeError(
                f"{self.name}: only Tensors of floating point and complex dtype can require "
                f"gradients, got {plain.dtype}"
            )
        if plain.requires_grad and self.recorded:
            with facula.enable_grad():
                leaf = plain.view_as(plain)
        else:
            leaf = plain.detach().requires_grad_()
        self.leaves.append(leaf)
        return hide(leaf, self.levels)

    def add_tree(self, tree: Any, where: str) -> tuple[Any, TreeSpec]:
        """Make leaves of all tensors of a tree."""
        flat, spec = tree_flatten(tree)
        return tree_unflatten([self.add(t, where) for t in flat], spec), spec

    def run(self, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Call the function with recording on."""
        with facula.enable_grad():
            return function(*args, **kwargs)

    def set_outputs(self, result: Any) -> None:
        """Note the outputs of the function that are differentiated."""
        flat, self.output_spec = tree_flatten(result)
        for t in flat:
            if not isinstance(t, Tensor):
                raise RuntimeError(
                    f"{self.name}: Expected f(*args) to return only tensors, got unsupported type "
                    f"{type(t).__name__}"
                )
        with facula.enable_grad():
            self.outputs = [show(t, self.levels) for t in flat]
        self.linked = self.recorded and _C._depends_on_others(self.outputs, self.leaves)

    def release(self, tree: Any) -> Any:
        """Results for the program around: a part of its graph only if they depend on it."""
        flat, spec = tree_flatten(tree)
        return tree_unflatten([self._release(t) for t in flat], spec)

    def _release(self, t: Any) -> Any:
        if not isinstance(t, Tensor) or not t.requires_grad:
            return t
        if self.recorded and _C._depends_on_others([t], self.leaves):
            return t
        return t.detach()

    def released_outputs(self) -> Any:
        """The outputs of the function, released."""
        flat = [hide(t, self.levels) for t in self.outputs]
        return self.release(tree_unflatten(flat, self.output_spec))

    def pull(self, cotangents: list[Tensor | None], retain: bool, record: bool) -> list[Tensor]:
        """The gradients by the leaves for gradients of the outputs, plain."""
        pairs = [
            (o, c)
            for o, c in zip(self.outputs, cotangents, strict=True)
            if o.requires_grad and c is not None
        ]
        grads: tuple = (None,) * len(self.leaves)
        if pairs:
            roots, seeds = zip(*pairs, strict=True)
            grads = _C._run_backward(roots, seeds, retain, record, self.leaves, True, False)
        return [
            facula.zeros_like(x.detach()) if g is None else g
            for g, x in zip(grads, self.leaves, strict=True)
        ]

    def wants_record(self, seeds: list[Tensor | None]) -> bool:
        """Whether a pass belongs to the graph of the program around."""
        if not facula.is_grad_enabled():
            return False
        return self.linked or any(s is not None and s.requires_grad for s in seeds)
