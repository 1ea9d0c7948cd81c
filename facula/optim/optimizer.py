"""The base class of all optimisers: parameter groups, state, hooks, saving and loading.

A subclass that describes its algorithm by `_fast_step` (one C++ call for all parameters of a
group) and `_slow_step` (ordinary operators, one parameter at a time) inherits `RuleOptimizer`;
the algorithms themselves live in the files named after them.
"""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import facula
from facula import _C
from facula.optim._helpers import (  # noqa: F401
    ParamsT,
    _capturable_doc,
    _default_to_fused_or_foreach,
    _device_dtype_check_for_fused,
    _differentiable_doc,
    _disable_dynamo_if_unsupported,
    _dispatch_sqrt,
    _foreach_doc,
    _fused_doc,
    _get_capturable_supported_devices,
    _get_scalar_dtype,
    _get_value,
    _maximize_doc,
    _params_doc,
    _stack_if_compiling,
    _to_scalar,
    _use_grad_for_differentiable,
    _view_as_real,
)
from facula.utils._foreach_utils import _group_tensors_by_device_and_dtype
from facula.utils.hooks import RemovableHandle

__all__ = [
    "Optimizer",
    "register_optimizer_step_pre_hook",
    "register_optimizer_step_post_hook",
]

_global_pre_hooks: dict[int, Callable] = OrderedDict()
_global_post_hooks: dict[int, Callable] = OrderedDict()


class _Required:
    """The value of a default that a parameter group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
_RequiredParameter = _Required


def _register(hooks: dict, hook: Callable, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Register `hook(optimizer, args, kwargs)` to run before every step of every optimiser."""
    return _register(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Register `hook(optimizer, args, kwargs)` to run after every step of every optimiser."""
    return _register(_global_post_hooks, hook)


def _with_hooks(step: Callable) -> Callable:
    """Wrap `step` so that the hooks run once around the outermost call of an optimiser."""

    @functools.wraps(step)
    def wrapper(self, *args, **kwargs):
        self._opt_called = True
        # Wrappers of optimisers subclass Optimizer without calling its constructor.
        own_pre = self.__dict__.get("_optimizer_step_pre_hooks") or {}
        own_post = self.__dict__.get("_optimizer_step_post_hooks") or {}
        hooked = own_pre or own_post or _global_pre_hooks or _global_post_hooks
        if not hooked or self._in_step:
            return step(self, *args, **kwargs)
        self._in_step = True
        try:
            for hook in list(chain(_global_pre_hooks.values(), own_pre.values())):
                result = hook(self, args, kwargs)
                if result is not None:
                    if not (isinstance(result, tuple) and len(result) == 2):
                        raise RuntimeError(
                            f"{step} must return None or a tuple of (new_args, new_kwargs), "
                            f"but got {result}."
                        )
                    args, kwargs = result
            out = step(self, *args, **kwargs)
            for hook in list(chain(own_post.values(), _global_post_hooks.values())):
                hook(self, args, kwargs)
            return out
        finally:
            self._in_step = False

    wrapper.hooked = True
    return wrapper


def check_non_negative(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is at least zero; `name` is how the message calls it."""
    if not 0.0 <= value:
        raise ValueError(f"Invalid {name}: {value}")


def check_lr(lr: Any) -> None:
    """Raise ValueError unless `lr` is a non-negative number or a tensor of one element."""
    if isinstance(lr, facula.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_non_negative("learning rate", lr)


def check_betas(betas: Any) -> None:
    """Raise ValueError unless both `betas` lie in [0, 1)."""
    for i in range(2):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_moments(lr: Any, betas: Any, eps: Any, weight_decay: Any) -> None:
    """Raise ValueError for what no optimiser of running moments takes."""
    check_lr(lr)
    check_non_negative("epsilon value", eps)
    check_betas(betas)
    check_non_negative("weight_decay value", weight_decay)


def check_flags(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """Refuse the combinations of implementation flags that PyTorch refuses."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


class Optimizer:
    """Base class of all optimisers.

    `params` is an iterable of tensors, of `(name, tensor)` pairs or of dicts that define
    parameter groups; `defaults` holds the options of groups that do not give their own.
    """

    _in_step = False
    _opt_called = False
    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if callable(step) and not getattr(step, "hooked", False):
            cls.step = _with_hooks(step)

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hook_dicts()
        if isinstance(params, facula.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {facula.typename(params)}"
            )
        if isinstance(params, set):
            warnings.warn(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead. "
                "This will be an error in a future release.",
                FutureWarning,
                stacklevel=3,
            )
        self.state: defaultdict[facula.Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _make_hook_dicts(self) -> None:
        self._optimizer_step_pre_hooks: dict = OrderedDict()
        self._optimizer_step_post_hooks: dict = OrderedDict()
        self._optimizer_state_dict_pre_hooks: dict = OrderedDict()
        self._optimizer_state_dict_post_hooks: dict = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: dict = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: dict = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._make_hook_dicts()

    def __repr__(self) -> str:
        lines = [self.__class__.__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            if i:
                lines.append("")
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join(lines) + "\n)"

    # Hooks.

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)`, run before each step; it may return both."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)`, run after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer)`, run before `state_dict` collects the state."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)`, which may return another state dict."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)`, which may return another state dict."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer)`, run after a state dict has been loaded."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # Saving and loading.

    def state_dict(self) -> dict[str, Any]:
        """Return `{"state": ..., "param_groups": ...}` with parameters replaced by their index.

        The tensors inside are the optimiser's own; `load_state_dict` copies them.
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        index: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            for p in group["params"]:
                index.setdefault(id(p), len(index))
            packed["params"] = [index[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {
            (index[id(k)] if isinstance(k, facula.Tensor) else k): v for k, v in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            if changed is not None:
                result = changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state dict made by `state_dict`; tensors are copied, cast to their parameter."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        own, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(own) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(own, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        ids = chain.from_iterable(g["params"] for g in saved)
        params = chain.from_iterable(g["params"] for g in own)
        by_id: dict[Hashable, facula.Tensor] = dict(zip(ids, params, strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            param = by_id.get(key)
            state[key if param is None else param] = _copied(value, param)
        groups = []
        for old, new in zip(own, saved, strict=True):
            new["params"] = old["params"]
            if "param_names" in old and "param_names" not in new:
                new["param_names"] = old["param_names"]
            groups.append(new)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # Work.

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            _C._optim.zero_grad(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Perform one step; `closure` re-evaluates the model and returns the loss."""
        raise NotImplementedError

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of its own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, facula.Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        params = list(params)
        named = [isinstance(p, tuple) for p in params]
        if any(named):
            if not all(named):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are "
                    "missing"
                )
            param_group["param_names"] = [p[0] for p in params]
            params = [p[1] for p in params]
        param_group["params"] = params
        for p in params:
            self._check_param(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        self._check_group_against_others(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, p: Any) -> None:
        if not isinstance(p, facula.Tensor):
            raise TypeError(
                "optimizer can only optimize Tensors, but one of the params is "
                + facula.typename(p)
            )
        if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_group_against_others(self, group: dict[str, Any]) -> None:
        ids = {id(p) for p in group["params"]}
        if len(ids) != len(group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, "
                "this will cause an error",
                stacklevel=4,
            )
        if self.param_groups:
            if ("param_names" in group) != ("param_names" in self.param_groups[0]):
                with_names = "with" if "param_names" in self.param_groups[0] else "without"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group to the optimizer: its groups are {with_names} names"
                )
            if any(id(p) in ids for g in self.param_groups for p in g["params"]):
                raise ValueError("some parameters appear in more than one parameter group")


# State that is one number whatever the parameter: it stays float32.
_NUMBERS = ("step", "mu_product", "eta", "mu")


def _copied(value: Any, param: facula.Tensor | None, key: Any = None) -> Any:
    """Copy loaded state; floating-point tensors other than numbers take the parameter's type."""
    if isinstance(value, facula.Tensor):
        if param is None or key in _NUMBERS:
            return value.detach().clone()
        dtype = param.dtype if param.is_floating_point() else value.dtype
        return value.detach().to(dtype=dtype, device=param.device, copy=True)
    if isinstance(value, dict):
        return {k: _copied(v, param, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_copied(v, param) for v in value)
    return deepcopy(value)


class RuleOptimizer(Optimizer):
    """An optimiser whose groups step in one C++ call, with a rule in operators for the rest.

    `_fast_step(group)` returns None when it has done all parameters, else those that are left:
    complex, sparse, subclassed or otherwise unusual ones. `_slow_step(group, param, grad, state)`
    does one of them, and all of a group that is `differentiable`; `param` and `grad` come to it as
    real tensors (unless `_rule_is_real` is False), `grad` with the sign that `maximize` asks for.
    """

    _group_defaults: dict[str, Any] = {
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
    }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for key, value in self._group_defaults.items():
                if key in self.defaults or key in self._late_defaults:
                    group.setdefault(key, value)
        for entry in self.state.values():
            step = entry.get("step") if isinstance(entry, dict) else None
            if step is not None and not isinstance(step, facula.Tensor):
                entry["step"] = facula.tensor(float(step), dtype=facula.float32)

    _late_defaults: tuple[str, ...] = ("maximize", "foreach", "capturable", "differentiable")
    _rule_is_real = True
    _takes_sparse = False

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Perform one step; `closure` re-evaluates the model and returns the loss."""
        loss = None
        if closure is not None:
            with facula.enable_grad():
                loss = closure()
        for group in self.param_groups:
            if group.get("differentiable"):
                left = group["params"]
            else:
                left = self._fast_step(group)
            if left:
                self._step_each(group, left)
        return loss

    def _step_each(self, group: dict[str, Any], params: list) -> None:
        fused = group.get("fused")
        with facula.set_grad_enabled(group.get("differentiable", False)):
            for p in params:
                grad = p.grad
                if grad is None:
                    continue
                sparse = grad.layout != facula.strided
                if sparse and not self._takes_sparse:
                    raise RuntimeError(self._sparse_message())
                if fused:
                    _device_dtype_check_for_fused(p)
                    if sparse:
                        raise RuntimeError("`fused` does not support sparse gradients")
                state = self.state.get(p)
                if not state:
                    state = {}
                    self._init_state(group, p, state)
                grad = -grad if group.get("maximize") else grad
                if self._rule_is_real and not sparse:
                    self._slow_step(group, as_real(p), as_real(grad), state)
                else:
                    self._slow_step(group, p, grad, state)
                if state:
                    self.state[p] = state

    def _sparse_message(self) -> str:
        name = type(self).__name__
        hint = ", please consider SparseAdam instead" if name in ("Adam", "AdamW") else ""
        return f"{name} does not support sparse gradients{hint}"

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        return group["params"]

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        raise NotImplementedError

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        raise NotImplementedError


def new_step() -> facula.Tensor:
    """Return a new step counter: a 0-d float32 tensor that holds 0."""
    return facula.zeros((), dtype=facula.float32)


def new_slot(p: facula.Tensor) -> facula.Tensor:
    """Return zeros of `p`'s shape, type and layout: one slot of an optimiser's state."""
    return facula.zeros_like(p, memory_format=facula.preserve_format)


def as_real(t: facula.Tensor) -> facula.Tensor:
    """View a complex tensor as a real one with a last dimension of two; return others as is."""
    return facula.view_as_real(t) if t.is_complex() else t


def load(state: dict[str, Any], key: str) -> facula.Tensor:
    """Return a slot of the state, complex ones as real."""
    return as_real(state[key])


def store(group: dict[str, Any], state: dict[str, Any], key: str, value: facula.Tensor) -> None:
    """Write a slot of the state: in place, or as a new tensor where the step is recorded."""
    old = state[key]
    if group["differentiable"]:
        state[key] = facula.view_as_complex(value) if old.is_complex() else value
    else:
        as_real(old).copy_(value)


def number(value: Any) -> float:
    """Return the Python number of a hyper-parameter that may be a tensor of one element."""
    return value.item() if isinstance(value, facula.Tensor) else value
