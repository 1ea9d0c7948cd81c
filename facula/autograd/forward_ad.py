"""Forward-mode differentiation with dual tensors: tensors with a tangent that operators carry on.

Tangents are carried along by the operators, by the `jvp` of custom Functions and, where a call has
neither, by two reverse passes through it (see facula.func.jvp). Recording therefore has to be on
while the function runs.

>>> import facula.autograd.forward_ad as fwAD
>>> with fwAD.dual_level():
...     x = fwAD.make_dual(facula.tensor(3.0), facula.tensor(1.0))
...     fwAD.unpack_dual(x * x).tangent
tensor(6.)
"""

from __future__ import annotations

from collections import namedtuple

import facula
from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

Tensor = _C.Tensor
UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
_current: list[list[tuple]] = []
_levels: list[Any] = []


def enter_dual_level() -> int:
    """Start a level, in which dual tensors live. RuntimeError when one is running."""
    if _current:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: a dual level is running"
        )
    from facula.func._leaves import Leaves

    _current.append([])
    _levels.append(_C._forward_push(Leaves("enter_dual_level").outermost))
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level; its dual tensors have no tangents any more."""
    if not _current:
        raise RuntimeError("Trying to exit a forward AD level but no level is currently active")
    if level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one entered")
    _current.pop()
    _C._forward_pop(_levels.pop())


class dual_level:  # noqa: N801 - PyTorch's name
    """The context in which dual tensors live."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A dual tensor: `tensor` with a tangent of its shape and dtype.

    Errors: RuntimeError outside a dual_level; ValueError for types without derivatives and for
    tangents of another shape.
    """
    if not _current:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(
            f"Expected primal to be floating point or complex, but got: {tensor.dtype}"
        )
    if tensor.shape != tangent.shape or tensor.dtype != tangent.dtype:
        raise RuntimeError(
            f"make_dual: expected a tangent of shape {tuple(tensor.shape)} and {tensor.dtype}, got "
            f"{tuple(tangent.shape)} and {tangent.dtype}"
        )
    from facula.func._leaves import Leaves, show

    ctx = Leaves("make_dual")
    seen = ctx.add(tensor, "the primals")
    ctx.set_tangent(_levels[-1], ctx.leaves[0], show(tangent, ctx.levels))
    _current[-1].append((ctx, tangent))
    return seen


def unpack_dual(tensor: Any, *, level: int | None = None) -> Any:
    """The primal and the tangent of a tensor; the tangent is None where it depends on no dual."""
    if not _current:
        return UnpackedDualTensor(tensor, None)
    from facula.func._forward import Pushforward
    from facula.func._leaves import Leaves, hide, show

    duals = _current[-1]
    if not duals or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    ctx = Leaves("unpack_dual")
    ctx.leaves = [d.leaves[0] for d, _ in duals]
    ctx.set_outputs(tensor)
    known, found = _C._forward_get(_levels[-1], ctx.outputs[0])
    if known:
        if found is None:
            return UnpackedDualTensor(tensor, None)
        with facula.no_grad():
            primal = ctx.release(tensor)
        return UnpackedDualTensor(primal, hide(ctx.release(found), ctx.levels))
    push = Pushforward(ctx)
    if all(g is None for g in push.grads):
        return UnpackedDualTensor(tensor, None)
    tangents = [show(t, ctx.levels) for _, t in duals]
    result = hide(push.push(tangents)[0], ctx.levels)
    with facula.no_grad():
        primal = ctx.release(tensor)
    return UnpackedDualTensor(primal, result)
