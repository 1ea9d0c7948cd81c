"""Module, the base class of everything in nn: registration of parameters, buffers and submodules,
traversal, printing.

Its other halves are in `_module_call.py` (hooks and calls), `_module_state.py` (state dicts) and
`_module_convert.py` (`to`, `float`, ...). The C base class calls `forward`, finds attributes and
keeps `_parameters`, `_buffers` and `_modules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import facula
from facula import _C
from facula._C import ModuleBase, _begin_module
from facula.nn.modules import _module_call as _call
from facula.nn.modules._module_call import (  # noqa: F401
    CallMixin,
    _WrappedHook,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from facula.nn.modules._module_convert import ConvertMixin
from facula.nn.modules._module_state import (  # noqa: F401
    _EXTRA_STATE_KEY_SUFFIX,
    StateMixin,
    _IncompatibleKeys,
)
from facula.nn.parameter import Buffer, Parameter

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Tensor = facula.Tensor
T = TypeVar("T", bound="Module")
# The hooks of all modules, under PyTorch's names.
_global_forward_pre_hooks, _global_forward_hooks = _call._forward_pre, _call._forward
_global_backward_pre_hooks, _global_backward_hooks = _call._backward_pre, _call._backward
_global_parameter_registration_hooks = _call.parameter_registration_hooks
_global_buffer_registration_hooks = _call.buffer_registration_hooks
_global_module_registration_hooks = _call.module_registration_hooks


def _addindent(s_: str, numSpaces: int) -> str:  # noqa: N803
    lines = s_.split("\n")
    return "\n".join([lines[0], *(" " * numSpaces + line for line in lines[1:])])


def _type_name(value: Any) -> str:
    kind = type(value)
    module = kind.__module__
    if module in (None, "builtins"):
        return kind.__qualname__
    return _C._package_words(f"{module}.{kind.__qualname__}")


_prepare_subclass = ModuleBase.__dict__["__init_subclass__"]


class _CallSignature:
    """What inspect.signature finds on a module: calls take anything. Classes have their own."""

    def __get__(self, module: Any, kind: type | None = None) -> Any:
        if module is None:
            raise AttributeError("__signature__")
        import inspect

        parameter = inspect.Parameter
        return inspect.Signature(
            [
                parameter("args", parameter.VAR_POSITIONAL),
                parameter("kwargs", parameter.VAR_KEYWORD),
            ]
        )


class Module(CallMixin, StateMixin, ConvertMixin, ModuleBase):
    """Base class of all neural network modules.

    A subclass makes its parameters and submodules in `__init__` (after `super().__init__()`) and
    computes in `forward`; parameters, buffers and modules that are assigned as attributes are
    registered under that name.
    """

    __signature__ = _CallSignature()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        _prepare_subclass.__get__(None, cls)()
        super(ModuleBase, cls).__init_subclass__(**kwargs)  # other bases, such as Generic

    dump_patches: bool = False
    _version: int = 1
    training: bool
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _begin_module(self)
        if self.call_super_init:
            super().__init__(*args, **kwargs)
        elif kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                f"'{next(iter(kwargs))}'"
            )
        elif args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} "
                "were given"
            )

    # ---- registration

    def _check_name(self, kind: str, name: str, own: dict) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(
                f'{kind} name can\'t contain ".", got: {name}'
                if kind == "module"
                else f'{kind} name can\'t contain "."'
            )
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in own and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer: a tensor that is state but no parameter. A buffer that is not persistent
        stays out of the state dict.
        """
        if persistent is False and "_is_script" in self.__dict__:
            raise RuntimeError("ScriptModule does not support non-persistent buffers")
        self._check_begun("buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                _C._package_words(
                    f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' "
                    "(facula.Tensor or None required)"
                )
            )
        for hook in _call.buffer_registration_hooks.values():
            out = hook(self, name, tensor)
            if out is not None:
                tensor = out
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or None to say that the module has none under this name."""
        self._check_begun("parameter")
        self._check_name("parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    _C._package_words(
                        f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                        "(facula.nn.Parameter or None required)"
                    )
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    "be created explicitly. To "
                    f"express '{name}' as a function of another Tensor, compute the value in the "
                    "forward() method."
                )
            for hook in _call.parameter_registration_hooks.values():
                out = hook(self, name, param)
                if out is not None:
                    param = out
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule, reachable as an attribute under this name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_begun("module")
        self._check_name("module", name, self._modules)
        for hook in _call.module_registration_hooks.values():
            out = hook(self, name, module)
            if out is not None:
                module = out
        self._modules[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def _set_registered(self, name: str, value: Any) -> None:
        """Take over from the C base when a tensor or module is assigned, or when the name is a
        registered one.
        """
        if "_parameters" not in self.__dict__:
            return self._set_early(name, value)
        params, modules, buffers = self._parameters, self._modules, self._buffers
        if isinstance(value, Parameter):
            self._remove_from(
                name, self.__dict__, buffers, modules, self._non_persistent_buffers_set
            )
            self.register_parameter(name, value)
        elif name in params:
            if value is not None:
                raise TypeError(
                    _C._package_words(
                        f"cannot assign '{_type_name(value)}' as parameter '{name}' "
                        "(facula.nn.Parameter or None expected)"
                    )
                )
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            self._remove_from(
                name, self.__dict__, params, buffers, self._non_persistent_buffers_set
            )
            for hook in _call.module_registration_hooks.values():
                value = value if (out := hook(self, name, value)) is None else out
            modules[name] = value
        elif name in modules:
            if value is not None:
                raise TypeError(
                    _C._package_words(
                        f"cannot assign '{_type_name(value)}' as child module '{name}' "
                        "(facula.nn.Module or None expected)"
                    )
                )
            modules[name] = None
        elif isinstance(value, Buffer) or name in buffers:
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_early(self, name: str, value: Any) -> None:
        """Set what needs no registration; the rest waits for `Module.__init__`."""
        for kind, what in ((Parameter, "parameters"), (Module, "module"), (Buffer, "buffer")):
            if isinstance(value, kind):
                raise AttributeError(
                    f"cannot assign {what} before Module.__init__() call: "
                    f"{type(self).__name__}.{name}"
                )
        object.__setattr__(self, name, value)

    def _check_begun(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                _C._package_words(
                    f"cannot assign '{_type_name(value)}' as buffer '{name}' (facula.nn.Buffer, "
                    "facula.Tensor or None expected)"
                )
            )
        if isinstance(value, Buffer):
            self._remove_from(name, self.__dict__, self._parameters, self._modules)
            self.register_buffer(name, value, value.persistent)
        else:
            for hook in _call.buffer_registration_hooks.values():
                value = value if (out := hook(self, name, value)) is None else out
            self._buffers[name] = value

    @staticmethod
    def _remove_from(name: str, *places: Any) -> None:
        for place in places:
            if name in place:
                if isinstance(place, dict):
                    del place[name]
                else:
                    place.discard(name)

    def _delete_registered(self, name: str) -> None:
        """Take over from the C base when a registered name is deleted."""
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]

    # ---- access by dotted name

    def get_submodule(self, target: str) -> Module:
        """Give the submodule with this dotted name; the empty name is the module itself.
        AttributeError when there is none.
        """
        if target == "":
            return self
        mod: Module = self
        for item in target.split("."):
            if not hasattr(mod, item):
                raise AttributeError(mod._get_name() + " has no attribute `" + item + "`")
            mod = getattr(mod, item)
            if not isinstance(mod, Module):
                raise AttributeError("`" + item + "` is not an nn.Module")
        return mod

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` under this dotted name; with `strict` only where a submodule is already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path = target.split(".")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(".".join(path[:-1]))
        if strict and not hasattr(parent, path[-1]):
            raise AttributeError(parent._get_name() + " has no attribute `" + path[-1] + "`")
        if hasattr(parent, path[-1]) and not isinstance(getattr(parent, path[-1]), Module):
            raise AttributeError("`" + path[-1] + "` is not an nn.Module")
        setattr(parent, path[-1], module)

    def _get_leaf(self, target: str) -> tuple[Module, str, Any]:
        path, _, name = target.rpartition(".")
        mod = self.get_submodule(path)
        if not hasattr(mod, name):
            raise AttributeError(mod._get_name() + " has no attribute `" + name + "`")
        return mod, name, getattr(mod, name)

    def get_parameter(self, target: str) -> Parameter:
        """Give the parameter with this dotted name."""
        _, name, param = self._get_leaf(target)
        if not isinstance(param, Parameter):
            raise AttributeError("`" + name + "` is not an nn.Parameter")
        return param

    def get_buffer(self, target: str) -> Tensor:
        """Give the buffer with this dotted name."""
        mod, name, buffer = self._get_leaf(target)
        if name not in mod._buffers:
            raise AttributeError("`" + name + "` is not a buffer")
        return buffer

    # ---- traversal

    def _named_members(
        self,
        get_members_fn: Callable,
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for module_prefix, module in modules:
            for key, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield module_prefix + ("." if module_prefix else "") + key, value

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, each once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over the parameters with their dotted names."""
        yield from self._named_members(
            lambda module: module._parameters.items(),
            prefix=prefix,
            recurse=recurse,
            remove_duplicate=remove_duplicate,
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the buffers with their dotted names."""
        yield from self._named_members(
            lambda module: module._buffers.items(),
            prefix=prefix,
            recurse=recurse,
            remove_duplicate=remove_duplicate,
        )

    def children(self) -> Iterator[Module]:
        """Iterate over the direct submodules."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the direct submodules with their names, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Iterate over this module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all below it with their dotted names."""
        if memo is None:
            memo = set()
        if self not in memo:
            if remove_duplicate:
                memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None:
                    below = prefix + ("." if prefix else "") + name
                    yield from module.named_modules(memo, below, remove_duplicate)

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Call `fn` on every submodule, children first, then on the module itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- modes and gradients

    def train(self, mode: bool = True) -> Module:
        """Set training mode here and below (`dropout`, batch norms and the like act on it)."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Module:
        """Set evaluation mode: the same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Set whether the parameters record gradients."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters: drop them, or fill them with zeros."""
        for p in self.parameters():
            if p.grad is None:
                continue
            if set_to_none:
                p.grad = None
            else:
                if p.grad.grad_fn is not None:
                    p.grad.detach_()
                else:
                    p.grad.requires_grad_(False)
                p.grad.zero_()

    # ---- printing and copying

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Give what stands between the brackets of the module's line in `print`."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [
            f"({key}): {_addindent(repr(module), 2)}" for key, module in self._modules.items()
        ]
        body = self._get_name() + "("
        if extra_lines and not child_lines and len(extra_lines) == 1:
            return body + extra_lines[0] + ")"
        if extra_lines or child_lines:
            body += "\n  " + "\n  ".join(extra_lines + child_lines) + "\n"
        return body + ")"

    def __dir__(self) -> list[str]:
        names = dir(type(self)) + list(self.__dict__)
        names += list(self._parameters) + list(self._modules) + list(self._buffers)
        return sorted(name for name in names if not name[0].isdigit())

    def __getstate__(self) -> dict:
        state = self.__dict__.copy()
        return state

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Not built yet."""
        raise NotImplementedError("Module.compile: the compiler is not built yet")
