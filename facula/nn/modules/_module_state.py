"""The part of Module that saves and restores: `state_dict`, `load_state_dict`, their hooks, extra
state.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import facula
from facula import __future__
from facula.nn.modules._module_call import _LazyValue, _WrappedHook
from facula.nn.parameter import Parameter, is_lazy
from facula.utils.hooks import RemovableHandle

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` returns: the keys that only one side had."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateMixin:
    """The part of Module that has to do with state dicts."""

    __slots__ = ()

    _state_dict_hooks = _LazyValue()
    _state_dict_pre_hooks = _LazyValue()
    _load_state_dict_pre_hooks = _LazyValue()
    _load_state_dict_post_hooks = _LazyValue()

    # ---- hooks

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via "
                "register_state_dict_post_hook"
            )
        handle = RemovableHandle(self._state_dict_hooks)
        self._state_dict_hooks[handle.id] = hook
        return handle

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict`; it may change
        the dict in place.
        """
        hook._from_public_api = True
        handle = RemovableHandle(self._state_dict_hooks)
        self._state_dict_hooks[handle.id] = hook
        return handle

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict`."""
        handle = RemovableHandle(self._state_dict_pre_hooks)
        self._state_dict_pre_hooks[handle.id] = hook
        return handle

    def _register_load_state_dict_pre_hook(
        self, hook: Callable, with_module: bool = False
    ) -> RemovableHandle:
        handle = RemovableHandle(self._load_state_dict_pre_hooks)
        self._load_state_dict_pre_hooks[handle.id] = _WrappedHook(
            hook, self if with_module else None
        )
        return handle

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected,
        error_msgs)` before loading.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may edit the lists."""
        handle = RemovableHandle(self._load_state_dict_post_hooks)
        self._load_state_dict_post_hooks[handle.id] = hook
        return handle

    # ---- saving

    def get_extra_state(self) -> Any:
        """Give state that is neither parameter nor buffer; a module that has such state overrides
        this and the setter.
        """
        raise RuntimeError(f"{type(self).__name__}.get_extra_state is not defined")

    def set_extra_state(self, state: Any) -> None:
        """Take the state that `get_extra_state` gave."""
        raise RuntimeError(f"{type(self).__name__}.set_extra_state is not defined")

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buf in self._buffers.items():
            if buf is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buf if keep_vars else buf.detach()
        if type(self).get_extra_state is not StateMixin.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict:
        """Give the parameters and persistent buffers, here and below, by dotted name; detached
        unless `keep_vars`.
        """
        if args:
            destination = args[0] if destination is None else destination
            if len(args) > 1 and prefix == "":
                prefix = args[1]
            if len(args) > 2 and keep_vars is False:
                keep_vars = args[2]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if result is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = result
        return destination

    # ---- loading

    def _copy_entry(
        self, key: str, name: str, value: Any, target: Any, assign: bool, error_msgs: list
    ) -> None:
        """Copy one entry into `target`, or put it in its place; a failure becomes a message."""
        if not isinstance(value, facula.Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected facula.Tensor or '
                "Tensor-like object from checkpoint but "
                f"received {type(value)}"
            )
            return
        lazy = is_lazy(target)
        if not lazy and target.dim() == 0 and value.dim() == 1 and len(value) == 1:
            value = value[0]  # scalars of old checkpoints have one dimension
        if not lazy and value.shape != target.shape:
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {value.shape} from "
                "checkpoint, the shape in current model is "
                f"{target.shape}."
            )
            return
        if target.is_meta and not value.is_meta and not assign:
            import warnings

            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which "
                "is a no-op. (Did you mean to pass `assign=True` to assign items in the state "
                "dictionary to their corresponding "
                "key in the module instead of copying them in place?)",
                stacklevel=2,
            )
        try:
            with facula.no_grad():
                if __future__.get_swap_module_params_on_conversion():
                    value = target.module_load(value, assign=assign)
                    if isinstance(target, Parameter) and not isinstance(value, Parameter):
                        value = Parameter(value, requires_grad=target.requires_grad)
                    facula.utils.swap_tensors(target, value)
                elif assign:
                    if isinstance(target, Parameter) and not isinstance(value, Parameter):
                        value = Parameter(value, requires_grad=target.requires_grad)
                    elif isinstance(target, Parameter):
                        value.requires_grad_(target.requires_grad)
                    setattr(self, name, value)
                else:
                    target.copy_(value)
        except Exception as e:
            error_msgs.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{target.size()} and whose "
                f"dimensions in the checkpoint are {value.size()}, an exception occurred : "
                f"{e.args}."
            )

    def _load_from_state_dict(
        self,
        state_dict: Mapping,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own entries, those below excluded; subclasses override it to read
        older forms.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        persistent = {
            k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set
        }
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in itertools.chain(self._parameters.items(), persistent.items()):
            if target is None:
                continue
            key = prefix + name
            if key in state_dict:
                self._copy_entry(key, name, state_dict[key], target, assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateMixin.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    first, *rest = key[len(prefix) :].split(".", 1)
                    if rest:
                        if first not in self._modules:
                            unexpected_keys.append(key)
                    elif (
                        first not in self._modules
                        and first not in self._parameters
                        and first not in persistent
                    ):
                        unexpected_keys.append(key)

    def _load_tree(
        self, state_dict: Any, prefix: str, metadata: Any, strict: bool, assign: bool, lists: tuple
    ) -> None:
        missing_keys, unexpected_keys, error_msgs = lists
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local_metadata["assign_to_params_buffers"] = assign
        self._load_from_state_dict(
            state_dict, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs
        )
        for name, child in self._modules.items():
            if child is not None:
                below = prefix + name + "."
                part = {k: v for k, v in state_dict.items() if k.startswith(below)}
                child._load_tree(part, below, metadata, strict, assign, lists)
        incompatible = _IncompatibleKeys(missing_keys, unexpected_keys)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, incompatible) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                    "to return new values, if "
                    "incompatible_keys need to be modified, it should be done inplace."
                )

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy parameters and buffers from `state_dict` (or put them in place with `assign`), here
        and below.

        With `strict` the keys must match exactly. RuntimeError lists every key and every shape that
        does not fit.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys: list[str] = []
        unexpected_keys: list[str] = []
        error_msgs: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        copy = OrderedDict(state_dict)
        if metadata is not None:
            copy._metadata = metadata
        self._load_tree(
            copy, "", metadata, strict, assign, (missing_keys, unexpected_keys, error_msgs)
        )
        if strict:
            for kind, keys in (("Unexpected", unexpected_keys), ("Missing", missing_keys)):
                if keys:
                    names = ", ".join(f'"{k}"' for k in keys)
                    error_msgs.insert(0, f"{kind} key(s) in state_dict: {names}. ")
        if error_msgs:
            details = "\n\t".join(error_msgs)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{details}"
            )
        return _IncompatibleKeys(missing_keys, unexpected_keys)
