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

# The levels whose samples are unit vectors: only tangents have them, no tensor of a program.
_column_levels: set[int] = set()


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
        self.levels = tuple(x for x in _C._vmap_levels() if x[0] not in _column_levels)
        self.recorded = facula.is_grad_enabled()  # by the program around the transform
        self.leaves: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.output_spec: TreeSpec | None = None
        self.linked = False  # whether the outputs depend on anything but the leaves
        self.forward: Any = None  # the level of forward mode that carries tangents along
        self.columns: tuple | None = None  # the level and the number of the unit vectors
        self.tangents: list[Tensor] | None = None  # of the outputs, where they are known

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
        self.tangents = self.known_tangents()

    @property
    def outermost(self) -> int:
        """The vmap that forward mode runs beneath, so that it sees plain tensors; 0 for none."""
        return self.levels[0][0] if self.levels else 0

    def start_forward(self, tangents: list[Tensor]) -> None:
        """Carry tangents of the leaves along."""
        self.forward = _C._forward_push(self.outermost)
        for leaf, tangent in zip(self.leaves, tangents, strict=True):
            self.set_tangent(self.forward, leaf, show(tangent, self.levels))

    def start_columns(self, randomness: str) -> None:
        """Carry all unit vectors of the leaves along, as samples of a vmap over the tangents."""
        depth = len(self.levels)
        sizes = [leaf.shape[depth:].numel() for leaf in self.leaves]
        count = sum(sizes)
        if count == 0:
            return
        level = _C._vmap_push(count, {"error": 0, "same": 1}[randomness], self.outermost)
        _column_levels.add(level)
        self.columns = (level, count)
        self.forward = _C._forward_push(self.outermost)
        start = 0
        for leaf, n in zip(self.leaves, sizes, strict=True):
            units = facula.zeros(count, n, dtype=leaf.dtype, device=leaf.device)
            units[start : start + n] = facula.eye(n, dtype=leaf.dtype, device=leaf.device)
            units = units.reshape(count, *[1] * depth, *leaf.shape[depth:])
            tangent = _C._vmap_hide(units.expand(count, *leaf.shape), level)
            self.set_tangent(self.forward, leaf, tangent)
            start += n

    def set_tangent(self, level: Any, leaf: Tensor, tangent: Tensor) -> None:
        """Give a leaf its tangent in a level of forward mode."""
        linked = tangent.requires_grad or (self.recorded and not leaf.is_leaf)
        _C._forward_set(level, leaf, tangent, linked)

    def end_forward(self) -> None:
        """Stop carrying tangents along."""
        if self.forward is not None:
            _C._forward_pop(self.forward)
            self.forward = None
        if self.columns is not None:
            _column_levels.discard(self.columns[0])
            _C._vmap_pop(self.columns[0])

    def known_tangents(self) -> list[Tensor] | None:
        """The tangents of all outputs, with columns last; None if one of them is not known."""
        if self.forward is None:
            return None
        found = [_C._forward_get(self.forward, o) for o in self.outputs]
        if not all(known for known, _ in found):
            return None
        pairs = [(t, o.detach()) for (_, t), o in zip(found, self.outputs, strict=True)]
        if self.columns is None:
            return [facula.zeros_like(o) if t is None else self._release(t) for t, o in pairs]
        level, count = self.columns
        return [
            facula.zeros_like(o).unsqueeze(-1).expand(*o.shape, count)
            if t is None
            else self._release(_C._vmap_show(t, level, count).movedim(0, -1))
            for t, o in pairs
        ]

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
