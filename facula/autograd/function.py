"""Custom autograd Functions: classes with a forward and a backward written by hand."""

from __future__ import annotations

import functools
from collections.abc import Callable

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

    from facula.utils.hooks import RemovableHandle

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]

Tensor = _C.Tensor


class FunctionCtx:
    """What a context offers beyond the compiled base: helpers of forward mode."""

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`, which finds them in `saved_tensors`."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors


def _handle_of(node: Any, kind: int, number: int) -> RemovableHandle:
    from facula.utils.hooks import NodeHandle

    return NodeHandle(node, kind, number)


class _NodeMethods:
    """The hooks of graph nodes."""

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Register a function of (grad_inputs, grad_outputs) that runs after the node."""
        return _handle_of(self, 0, self._register(0, fn))

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Register a function of the gradients that runs before the node."""
        return _handle_of(self, 1, self._register(1, fn))


for _name in ("register_hook", "register_prehook"):
    setattr(_C._NodeBase, _name, getattr(_NodeMethods, _name))


class BackwardCFunction(_C._FunctionBase, FunctionCtx, _NodeMethods):
    """The context of a custom Function, and the node that runs its backward."""

    _forward_cls: Any = None

    def apply(self, *args: Any) -> Any:
        """Run the user's backward (or vjp)."""
        cls = self._forward_cls
        has_backward = cls.backward is not Function.backward
        has_vjp = cls.vjp is not Function.vjp
        if has_backward and has_vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        f = cls.vjp if has_vjp else cls.backward
        return f(self, *args)

    def apply_jvp(self, *args: Any) -> Any:
        """Run the user's jvp."""
        return self._forward_cls.jvp(self, *args)

    def name(self) -> str:
        """Give the name of the node."""
        return type(self).__name__


class _FunctionMeta(type):
    """Makes the class of contexts that belongs to a Function."""

    def __init__(cls, name: str, bases: tuple, attrs: dict) -> None:
        cls._backward_cls = type(
            name + "Backward",
            (BackwardCFunction,),
            {"_forward_cls": cls, "__module__": cls.__module__},
        )
        base = globals().get("Function")
        cls._has_setup_context = base is not None and cls.setup_context is not base.setup_context
        cls._has_jvp = base is not None and cls.jvp is not base.jvp
        super().__init__(name, bases, attrs)


class Function(metaclass=_FunctionMeta):
    """The base of custom Functions.

    Subclasses define static methods: `forward(ctx, *args)` and `backward(ctx, *grads)`; or
    `forward(*args)` and `setup_context(ctx, inputs, output)`. They are called by `apply`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        import warnings

        warnings.warn(
            f"{type(self)} should not be instantiated: its methods are static, the class itself "
            "is what is applied.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: Functions are used through apply."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method."
        )

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; subclasses override it."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Keep on `ctx` what backward needs; for a `forward` without `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Give the gradients of the inputs; subclasses override it."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name of backward."""
        raise NotImplementedError("vjp is not implemented.")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Give the tangents of the outputs, for forward mode."""
        raise NotImplementedError("You must implement the jvp function for forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Give the result for batched arguments."""
        raise NotImplementedError("vmap is not implemented.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and record the call."""
        return _C._function_apply(cls, *args, **kwargs)


def once_differentiable(fn: Callable) -> Callable:
    """Decorate a backward that cannot be differentiated itself: a second derivative raises."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with _no_grad():
            outputs = fn(ctx, *args)
        if not _C.is_grad_enabled():
            return outputs
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        single = not isinstance(outputs, tuple)
        made = _C._delayed_error(
            "trying to differentiate twice a function that was marked with @once_differentiable",
            (outputs,) if single else outputs,
        )
        return made[0] if single else made

    return wrapper


def _no_grad() -> Any:
    from facula.autograd.grad_mode import no_grad

    return no_grad()


class InplaceFunction(Function):
    """A Function that may work in place; kept for programs that derive from it."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


class NestedIOFunction(Function):
    """A Function over nested arguments; kept for programs that derive from it."""
