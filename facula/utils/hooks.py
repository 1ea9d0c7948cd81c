"""Handles and helpers for hooks: RemovableHandle, and BackwardHook, which carries a module's full
backward hooks.

Tensor and node hooks themselves belong to autograd; this file knows only dictionaries of callables.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import facula
from facula import _C

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


class RemovableHandle:
    """A ticket for one hook: `remove()` takes the hook out of its dictionary (and of `extra_dict`,
    one or a list of them).
    """

    _ids = itertools.count()

    def __init__(self, hooks_dict: dict, *, extra_dict: dict | list[dict] | None = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = next(RemovableHandle._ids)
        if extra_dict is None:
            extra_dict = []
        elif not isinstance(extra_dict, list):
            extra_dict = [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra_dict)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, state: tuple) -> None:
        from collections import OrderedDict

        hooks, self.id, extra = state[0], state[1], state[2] if len(state) > 2 else ()
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if d is None else d) for d in extra)
        RemovableHandle._ids = itertools.count(max(next(RemovableHandle._ids), self.id + 1))

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.remove()


class _BoundHandle(RemovableHandle):
    """A ticket for hooks that lie in no dictionary: it cannot be copied or pickled without them."""

    id: int

    def __getstate__(self) -> tuple:
        raise TypeError(
            f"cannot pickle or copy {type(self).__name__}: it belongs to hooks that run"
        )

    def __setstate__(self, state: tuple) -> None:
        raise TypeError(f"{type(self).__name__} has no state to set")


class TensorHandle(_BoundHandle):
    """A ticket for one hook of a tensor, whose hooks autograd keeps."""

    def __init__(self, tensor: facula.Tensor, remove: str, number: int) -> None:
        self._tensor, self._remove, self.id = weakref.ref(tensor), remove, number

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        tensor = self._tensor()
        if tensor is not None:
            getattr(tensor, self._remove)(self.id)


class NodeHandle(_BoundHandle):
    """A ticket for one hook of a node."""

    def __init__(self, node: Any, kind: int, number: int) -> None:
        self._node, self._kind, self.id = node, kind, number

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        if self._node is not None:
            self._node._remove(self._kind, self.id)
            self._node = None


class JointHandle(_BoundHandle):
    """A ticket for several hooks that go together."""

    def __init__(self, handles: Iterable[RemovableHandle]) -> None:
        self.handles, self.id = tuple(handles), next(RemovableHandle._ids)

    def remove(self) -> None:
        """Remove all hooks; a second call does nothing."""
        for handle in self.handles:
            handle.remove()


def unserializable_hook(f: Callable) -> Callable:
    """Mark a hook as one whose loss during serialisation deserves a warning."""
    f.__facula_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: facula.Tensor) -> None:
    """Warn about the hooks of `tensor` that `unserializable_hook` has marked."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if hasattr(hook, "__facula_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is "
                + _C._package_words(
                    "expected, you can decorate the function with "
                    "@facula.utils.hooks.unserializable_hook to suppress this warning"
                ),
                stacklevel=3,
            )


_identity: Any = None


def _identity_function() -> Any:
    """Give the autograd function whose node sits between a module and its tensors; it hands
    gradients through.
    """
    global _identity
    if _identity is None:

        class BackwardHookFunction(facula.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *args: facula.Tensor) -> tuple:
                ctx.set_materialize_grads(False)
                ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
                return tuple(a.view_as(a) for a in args)

            @staticmethod
            def backward(ctx: Any, *grads: facula.Tensor) -> tuple:
                return grads

        _identity = BackwardHookFunction
    return _identity


class BackwardHook:
    """Run a module's full backward (pre-)hooks in one call of the module.

    `setup_output_hook` wraps what `forward` gave: when its gradient arrives, the pre-hooks run and
    may replace it. `setup_input_hook` wraps what went in: when the gradient of the inputs is known,
    the hooks run and may replace that.
    """

    def __init__(
        self, module: Any, user_hooks: list[Callable], user_pre_hooks: list[Callable]
    ) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: tuple | None = None
        self.n_outputs = -1
        self.output_index: list[int] = []
        self.n_inputs = -1
        self.input_index: list[int] | None = None

    def _wrap(self, attach: Callable, args: tuple) -> tuple[tuple, list[int] | None]:
        index = [i for i, a in enumerate(args) if isinstance(a, facula.Tensor)]
        needed = facula.is_grad_enabled() and any(args[i].requires_grad for i in index)
        if not needed:
            return args, None
        wrapped = _identity_function().apply(*[args[i] for i in index])
        node = next((t.grad_fn for t in wrapped if t.grad_fn is not None), None)
        if node is None:
            raise RuntimeError(
                "Error while setting up backward hooks: no output requires a gradient"
            )
        attach(node)
        result = list(args)
        for i, t in zip(index, wrapped, strict=False):
            result[i] = t
        return tuple(result), index

    @staticmethod
    def _spread(values: tuple, index: list[int], size: int) -> tuple:
        out: list = [None] * size
        for i, v in zip(index, values, strict=False):
            out[i] = v
        return tuple(out)

    def _run_hooks(self, grad_input: tuple, grad_output: tuple | None) -> tuple:
        result = grad_input
        for hook in self.user_hooks:
            out = hook(self.module, result, grad_output)
            if out is None:
                continue
            if not isinstance(out, tuple):
                out = (out,)
            if len(out) != len(result):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(out)}, but "
                    f"expected {len(result)}"
                )
            result = out
        return result

    def _run_hooks_without_inputs(self) -> None:
        if self.user_hooks:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients. It gets None for the gradients of the "
                "inputs.",
                stacklevel=3,
            )
        nothing = (None,) * max(self.n_inputs, 0)
        for hook in self.user_hooks:
            out = hook(self.module, nothing, self.grad_outputs)
            if out is not None and not (isinstance(out, tuple) and all(g is None for g in out)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all "
                    "gradients."
                )
        self.grad_outputs = None

    @staticmethod
    def _replaced(out: Any, grads: tuple) -> tuple:
        if out is None:
            return grads
        out = out if isinstance(out, tuple) else (out,)
        if len(out) != len(grads):
            raise RuntimeError(
                f"Backward pre hook returned an invalid number of grad_output, got {len(out)}, but "
                f"expected {len(grads)}"
            )
        return out

    def setup_input_hook(self, args: tuple) -> tuple:
        """Wrap the positional inputs of the module."""

        def hook(grad_input: tuple, _: tuple) -> tuple | None:
            if self.grad_outputs is None:
                return None
            index = self.input_index or []
            result = self._run_hooks(
                self._spread(grad_input, index, self.n_inputs), self.grad_outputs
            )
            self.grad_outputs = None
            return tuple(result[i] for i in index)

        self.n_inputs = len(args)
        wrapped, self.input_index = self._wrap(lambda node: node.register_hook(hook), args)
        return wrapped

    def setup_output_hook(self, result: Any) -> Any:
        """Wrap the output of the module, a tensor or a tuple of values."""

        def hook(grad_output: tuple) -> tuple | None:
            self.grad_outputs = self._spread(grad_output, self.output_index, self.n_outputs)
            for pre_hook in self.user_pre_hooks:
                self.grad_outputs = self._replaced(
                    pre_hook(self.module, self.grad_outputs), self.grad_outputs
                )
            changed = tuple(self.grad_outputs[i] for i in self.output_index)
            if self.input_index is None:  # no input wants a gradient, so no input hook will run
                self._run_hooks_without_inputs()
            return changed if self.user_pre_hooks else None

        single = not isinstance(result, tuple)
        values = (result,) if single else result
        self.n_outputs = len(values)
        self.output_index = [i for i, a in enumerate(values) if isinstance(a, facula.Tensor)]
        wrapped, _ = self._wrap(lambda node: node.register_prehook(hook), values)
        return wrapped[0] if single else wrapped
