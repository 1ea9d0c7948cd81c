"""Operators that programs define: their registry, and how they are called.

An operator has implementations by kind of device, one for tensors without data ("fake"), and a
formula for its gradient. `library.py` is the interface, `ops.py` the names to call them by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula import _C

__all__ = ["Operator", "find", "operator", "split_name"]

_registry: dict[str, Operator] = {}


def split_name(qualname: str) -> tuple[str, str]:
    """Take "space::name" apart, without an overload; ValueError for other texts."""
    space, found, name = qualname.partition("::")
    if not found or not space or not name:
        raise ValueError(
            f"Expected `name` to be of the form `namespace::name`, but got {qualname!r}"
        )
    return space, name.partition(".")[0]


def _tensors(values: Any) -> list[facula.Tensor]:
    found = []
    for value in values:
        if isinstance(value, facula.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [v for v in value if isinstance(v, facula.Tensor)]
    return found


class Operator:
    """One operator of a program."""

    def __init__(self, space: str, name: str) -> None:
        self.space, self.name = space, name
        self.qualname = f"{space}::{name}"
        self.defined = False
        self.schema: str | None = None
        self.kernels: dict[str, Callable] = {}
        self.fake: Callable | None = None
        self.backward: Callable | None = None
        self.setup_context: Callable | None = None
        self.mutates: tuple[int | str, ...] = ()
        self.signature: Any = None
        self.batch_rule: Callable | None = None
        self._function: Any = None

    def __repr__(self) -> str:
        return f"<operator {self.qualname}>"

    def kernel_for(self, tensors: list[facula.Tensor]) -> Callable:
        """Return the implementation for where the tensors are."""
        kind = tensors[0].device.type if tensors else "cpu"
        if kind == "meta" and self.fake is not None:
            return self.fake
        kernel = self.kernels.get(kind) or self.kernels.get("any")
        if kernel is None:
            raise NotImplementedError(
                f"Could not run '{self.qualname}' with arguments from the '{kind}' backend: it is "
                f"implemented for {', '.join(sorted(self.kernels)) or 'no device'}"
            )
        return kernel

    def bind(self, args: tuple, kwargs: dict) -> tuple:
        """Return all arguments by position."""
        if not kwargs and self.signature is None:
            return args
        if self.signature is None:
            raise TypeError(f"{self.qualname}: keyword arguments need a definition with a schema")
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return (*bound.args, *bound.kwargs.values())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        token = _C._profiler_begin(self.qualname, True)
        if token is None:
            return self._call(args, kwargs)
        try:
            return self._call(args, kwargs)
        finally:
            _C._profiler_end(token)

    def _call(self, args: tuple, kwargs: dict) -> Any:
        args = self.bind(args, kwargs)
        tensors = _tensors(args)
        overridden = facula.overrides.has_torch_function(tensors)
        if overridden:
            return facula.overrides.handle_torch_function(self, tensors, *args)
        if any(map(_C._is_batched, tensors)):
            from facula.func._vmap import apply_operator

            return apply_operator(self, self.batch_rule, args, self.qualname)
        wants = facula.is_grad_enabled() and any(t.requires_grad for t in tensors)
        if "autograd" in self.kernels and wants:
            return self.kernels["autograd"](*args)
        if "composite" in self.kernels:
            return self.kernels["composite"](*args)
        if wants:
            return self._with_history(args)
        with facula.no_grad():
            return self.kernel_for(tensors)(*args)

    def _with_history(self, args: tuple) -> Any:
        if self._function is None:
            self._function = _function_of(self)
        spread, flat = [], []
        for value in args:
            if isinstance(value, (list, tuple)) and _tensors(value):
                spread.append(len(value))
                flat += value
            else:
                spread.append(-1)
                flat.append(value)
        return self._function.apply(spread, *flat)


def _gather(spread: list[int], flat: tuple) -> tuple:
    args, at = [], 0
    for count in spread:
        if count < 0:
            args.append(flat[at])
            at += 1
        else:
            args.append(list(flat[at : at + count]))
            at += count
    return tuple(args)


def _function_of(op: Operator) -> Any:
    """Make the autograd Function that runs an operator's implementation and its formula."""

    class CustomOp(facula.autograd.Function):
        @staticmethod
        def forward(ctx: Any, spread: list[int], *flat: Any) -> Any:
            args = _gather(spread, flat)
            ctx.spread = spread
            with facula.no_grad():
                output = op.kernel_for(_tensors(args))(*args)
            changed = [args[i] for i in op.mutates if isinstance(i, int)]
            if changed:
                ctx.mark_dirty(*_tensors(changed))
            if op.setup_context is not None:
                op.setup_context(ctx=ctx, inputs=args, output=output)
            return tuple(output) if isinstance(output, list) else output

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            if op.backward is None:
                raise RuntimeError(
                    f"Trying to backward through {op.space}.{op.name}.default but no autograd "
                    "formula was registered. Please use register_autograd to add one."
                )
            result = op.backward(ctx, *grads)
            if not isinstance(result, tuple):
                result = (result,)
            if len(result) < len(ctx.spread):
                raise RuntimeError(
                    f"{op.qualname}: backward returned {len(result)} gradients for "
                    f"{len(ctx.spread)} inputs"
                )
            flat: list[Any] = [None]
            for count, grad in zip(ctx.spread, result, strict=False):
                if count < 0:
                    flat.append(grad)
                else:
                    flat += [None] * count if grad is None else list(grad)
            return tuple(flat)

    CustomOp.__name__ = CustomOp.__qualname__ = op.name
    return CustomOp


def operator(qualname: str) -> Operator:
    """Return the operator of this name, made when it is new."""
    space, name = split_name(qualname)
    key = f"{space}::{name}"
    if key not in _registry:
        _registry[key] = Operator(space, name)
    return _registry[key]


def find(space: str, name: str) -> Operator | None:
    """Return a defined operator, or None."""
    found = _registry.get(f"{space}::{name}")
    return found if found is not None and found.defined else None


def forget(qualname: str) -> None:
    """Take an operator away."""
    _registry.pop(qualname, None)
