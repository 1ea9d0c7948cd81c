"""The hooks of Module and the call with hooks: what runs before and after `forward`, and around its
backward pass.

The C base class calls `forward` directly while no hook exists; `_call_with_hooks` is its slow path.
Hook dictionaries come into being at their first use and live in the instance's `__dict__`.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import facula
from facula._C import ModuleBase, _set_global_module_hooks
from facula.utils.hooks import BackwardHook, RemovableHandle

_forward_pre: OrderedDict = OrderedDict()
_forward: OrderedDict = OrderedDict()
_forward_with_kwargs: OrderedDict = OrderedDict()
_forward_always_called: OrderedDict = OrderedDict()
_backward_pre: OrderedDict = OrderedDict()
_backward: OrderedDict = OrderedDict()
_backward_is_full: bool | None = None
parameter_registration_hooks: OrderedDict = OrderedDict()
buffer_registration_hooks: OrderedDict = OrderedDict()
module_registration_hooks: OrderedDict = OrderedDict()


class _LazyValue:
    """A non-data descriptor that puts a fresh container into the instance's `__dict__` at its first
    use.
    """

    def __init__(self, factory: Callable = OrderedDict) -> None:
        self.factory = factory

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.name, self.factory())


class _WrappedHook:
    """A hook that gets its module first, through a weak reference."""

    def __init__(self, hook: Callable, module: Any = None) -> None:
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.with_module:
            module = self.module()
            if module is None:
                raise RuntimeError("You are trying to call the hook of a dead Module!")
            return self.hook(module, *args, **kwargs)
        return self.hook(*args, **kwargs)

    def __getstate__(self) -> dict:
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict) -> None:
        self.hook = state["hook"]
        self.with_module = state["with_module"] is True
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


class _GlobalHandle(RemovableHandle):
    """A ticket for a hook of all modules; the last one to go switches the C base back to its fast
    path.
    """

    def remove(self) -> None:
        super().remove()
        _update_global_flag()


def _update_global_flag() -> None:
    _set_global_module_hooks(bool(_forward_pre or _forward or _backward_pre or _backward))


def _add_global(hooks: OrderedDict, hook: Callable, *extra: OrderedDict) -> RemovableHandle:
    handle = _GlobalHandle(hooks, extra_dict=list(extra))
    hooks[handle.id] = hook
    for d in extra:
        d[handle.id] = True
    _update_global_flag()
    return handle


def register_module_parameter_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, param)` for every parameter registered anywhere; what it returns
    replaces the parameter.
    """
    return _add_global(parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` for every buffer registered anywhere; what it returns
    replaces the buffer.
    """
    return _add_global(buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, submodule)` for every submodule registered anywhere; what it returns
    replaces the submodule.
    """
    return _add_global(module_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before every module's forward; a value returned replaces the
    arguments.
    """
    return _add_global(_forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args[, kwargs], output)` after every module's forward; a value returned
    replaces the output.
    """
    extra = [
        d
        for d, wanted in (
            (_forward_with_kwargs, with_kwargs),
            (_forward_always_called, always_call),
        )
        if wanted
    ]
    return _add_global(_forward, hook, *extra)


def _add_global_backward(hook: Callable, full: bool) -> RemovableHandle:
    global _backward_is_full
    if _backward_is_full is (not full):
        kinds = ("a full backward hook", "regular") if full else ("a regular backward hook", "full")
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            f"hook: {kinds[0]} "
            f"was given while {kinds[1]} ones exist. Please use only one of them."
        )
    _backward_is_full = full
    return _add_global(_backward, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Deprecated form of `register_module_full_backward_hook`; it sees the gradients of the last
    operation alone.
    """
    return _add_global_backward(hook, False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` before every module's backward; a value returned replaces
    grad_output.
    """
    return _add_global(_backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when a module's input gradients are known; a
    value returned replaces them.
    """
    return _add_global_backward(hook, True)


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Compute the module's output; every subclass says how."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class CallMixin:
    """The part of Module that registers hooks and calls `forward` among them."""

    __slots__ = ()

    _forward_pre_hooks = _LazyValue()
    _forward_pre_hooks_with_kwargs = _LazyValue()
    _forward_hooks = _LazyValue()
    _forward_hooks_with_kwargs = _LazyValue()
    _forward_hooks_always_called = _LazyValue()
    _backward_pre_hooks = _LazyValue()
    _backward_hooks = _LazyValue()
    _non_persistent_buffers_set = _LazyValue(set)
    _is_full_backward_hook: bool | None = None

    forward: Callable[..., Any] = _forward_unimplemented

    @staticmethod
    def _add_hook(
        hooks: OrderedDict, hook: Callable, prepend: bool, extra: list[OrderedDict]
    ) -> RemovableHandle:
        handle = RemovableHandle(hooks, extra_dict=extra)
        hooks[handle.id] = hook
        for d in extra:
            d[handle.id] = True
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` (or `hook(module, args, kwargs)`) before forward; what it
        returns replaces the arguments.
        """
        extra = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return self._add_hook(self._forward_pre_hooks, hook, prepend, extra)

    def register_forward_hook(
        self,
        hook: Callable,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args[, kwargs], output)` after forward; what it returns replaces the
        output.

        With `always_call` it runs even if forward or another hook raises.
        """
        extra = [self._forward_hooks_with_kwargs] if with_kwargs else []
        if always_call:
            extra.append(self._forward_hooks_always_called)
        return self._add_hook(self._forward_hooks, hook, prepend, extra)

    def register_full_backward_pre_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the module's backward; what it returns replaces
        grad_output.
        """
        return self._add_hook(self._backward_pre_hooks, hook, prepend, [])

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the input gradients are known; what it
        returns replaces them.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = True
        return self._add_hook(self._backward_hooks, hook, prepend, [])

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Deprecated form of `register_full_backward_hook`; it sees the gradients of the last
        operation alone.
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = False
        return self._add_hook(self._backward_hooks, hook, False, [])

    def _get_backward_hooks(self) -> tuple[list, list]:
        full: list = list(_backward.values()) if _backward_is_full is True else []
        plain: list = list(_backward.values()) if _backward_is_full is False else []
        (full if self._is_full_backward_hook else plain).extend(self._backward_hooks.values())
        return full, plain

    def _run_pre_hooks(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        for hook_id, hook in (*_forward_pre.items(), *self._forward_pre_hooks.items()):
            if hook_id in self._forward_pre_hooks_with_kwargs:
                out = hook(self, args, kwargs)
                if out is not None:
                    if not (isinstance(out, tuple) and len(out) == 2):
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, "
                            f"new_kwargs), but got {out}."
                        )
                    args, kwargs = out
            else:
                out = hook(self, args)
                if out is not None:
                    args = out if isinstance(out, tuple) else (out,)
        return args, kwargs

    def _call_forward_hook(
        self, hook_id: int, hook: Callable, args: tuple, kwargs: dict, result: Any
    ) -> Any:
        if hook_id in self._forward_hooks_with_kwargs or hook_id in _forward_with_kwargs:
            out = hook(self, args, kwargs, result)
        else:
            out = hook(self, args, result)
        return result if out is None else out

    def _attach_plain_backward_hooks(self, result: Any, hooks: list) -> None:
        var = result
        while not isinstance(var, facula.Tensor):
            if isinstance(var, dict):
                var = next(v for v in var.values() if isinstance(v, facula.Tensor))
            else:
                var = var[0]
        if var.grad_fn is not None:
            for hook in hooks:
                var.grad_fn.register_hook(_WrappedHook(hook, self))

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module as `module(...)` does, whatever `__call__` a subclass has."""
        return ModuleBase.__call__(self, *args, **kwargs)

    _wrapped_call_impl = _call_impl

    def _slow_forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Call forward with every hook, the modules' global ones first."""
        state = [args, kwargs, None]
        called: set[int] = set()
        try:
            return self._call_among_hooks(state, called)
        except Exception:
            for hooks, always in (
                (_forward, _forward_always_called),
                (self._forward_hooks, self._forward_hooks_always_called),
            ):
                for hook_id, hook in hooks.items():
                    if hook_id in always and hook_id not in called:
                        try:
                            state[2] = self._call_forward_hook(hook_id, hook, *state)
                        except Exception as e:
                            warnings.warn(
                                "module forward hook with ``always_call=True`` raised an exception "
                                "that was silenced as another "
                                f"error was raised in forward: {e}",
                                stacklevel=2,
                            )
            raise

    def _call_among_hooks(self, state: list, called: set[int]) -> Any:
        args, kwargs = state[0], state[1] = self._run_pre_hooks(state[0], state[1])
        full, plain = self._get_backward_hooks()
        pre = [*_backward_pre.values(), *self._backward_pre_hooks.values()]
        bw_hook = None
        if full or pre:
            bw_hook = BackwardHook(self, full, pre)
            args = state[0] = bw_hook.setup_input_hook(args)
        result = state[2] = self.forward(*args, **kwargs)
        for hook_id, hook in (*_forward.items(), *self._forward_hooks.items()):
            called.add(hook_id)
            result = state[2] = self._call_forward_hook(hook_id, hook, args, kwargs, result)
        if bw_hook is not None:
            if not isinstance(result, (facula.Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple "
                    "of Tensors but received "
                    f"{type(result)}",
                    stacklevel=3,
                )
            result = bw_hook.setup_output_hook(result)
        if plain:
            self._attach_plain_backward_hooks(result, plain)
        return result
