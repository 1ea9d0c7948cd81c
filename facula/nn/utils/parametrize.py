"""Parametrisations: a parameter becomes a function of others, computed whenever it is read.

A parametrised module gets a class of its own with one property a tensor; the originals live in
`module.parametrizations.<name>`.
"""

from __future__ import annotations

import collections
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import facula
from facula.nn.modules.container import ModuleDict, ModuleList
from facula.nn.modules.module import Module
from facula.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

Tensor = facula.Tensor

_cache_enabled = 0
_cache: dict[tuple[int, str], Tensor | None] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrised tensor once inside the block."""
    global _cache_enabled, _cache
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _same_type(new: Any, original: Tensor, what: str) -> None:
    if not isinstance(new, Tensor):
        raise ValueError(f"{what} must return a tensor. Got {type(new).__name__}")
    if new.dtype != original.dtype:
        raise ValueError(
            f"{what} should return a tensor with the same dtype unless unsafe=True: expected "
            f"{original.dtype}, got {new.dtype}"
        )
    if new.shape != original.shape:
        raise ValueError(
            f"{what} should return a tensor with the same shape unless unsafe=True: expected "
            f"{original.shape}, got {new.shape}"
        )


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, applied in order, and the original tensor or tensors."""

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Any, original: Tensor | Parameter, unsafe: bool = False) -> None:
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        original_shape, original_dtype = original.shape, original.dtype
        with facula.no_grad():
            new = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not isinstance(new, Tensor) and not isinstance(new, collections.abc.Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                "Got "
                f"{type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep_original(original, new)
        else:
            for i, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                        "tuple...)."
                        f" Got element {i} of the sequence with type {type(part).__name__}."
                    )
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register(self, f"original{i}", part)
        if not self.unsafe:
            result = self()
            if not isinstance(result, Tensor):
                raise ValueError(
                    f"A parametrization must return a tensor. Got {type(result).__name__}."
                )
            if result.dtype != original_dtype:
                raise ValueError(
                    "Registering a parametrization may not change the dtype of the tensor, unless "
                    "the "
                    f"`unsafe` flag is enabled. unparametrized dtype: {original_dtype}, "
                    "parametrized "
                    f"dtype: {result.dtype}"
                )
            if result.shape != original_shape:
                raise ValueError(
                    "Registering a parametrization may not change the shape of the tensor, unless "
                    "the "
                    f"`unsafe` flag is enabled. unparametrized shape: {original_shape}, "
                    "parametrized "
                    f"shape: {result.shape}"
                )

    def _keep_original(self, original: Tensor, new: Tensor) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        with facula.no_grad():
            original.data = new
        _register(self, "original", original)

    def _originals(self) -> tuple[Tensor, ...]:
        if self.is_tensor:
            return (self.original,)
        return tuple(getattr(self, f"original{i}") for i in range(self.ntensors))

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the parametrised tensor becomes `value`."""
        with facula.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            values = (value,) if self.is_tensor else tuple(value)
            originals = self._originals()
            if len(values) != len(originals):
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. "
                    "Got a "
                    f"sequence of length {len(values)}."
                )
            for original, new in zip(originals, values, strict=True):
                if not self.unsafe:
                    _same_type(new, original, "right_inverse")
                original.copy_(new)

    def forward(self) -> Tensor:
        x = self[0](*self._originals())
        for i in range(1, len(self)):
            x = self[i](x)
        return x


def _new_class(module: Module) -> None:
    """Give the module a class of its own, to hold the properties."""
    cls = type(module)

    def getstate(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict()."
        )

    def deepcopy(self: Any, memo: dict) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return replica

    members: dict[str, Any] = {"__getstate__": getstate}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _add_property(module: Module, name: str) -> None:
    def get(self: Any) -> Tensor:
        if not _cache_enabled:
            return self.parametrizations[name]()
        key = (id(self), name)
        tensor = _cache.get(key)
        if tensor is None:
            tensor = _cache[key] = self.parametrizations[name]()
        return tensor

    def put(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make `module.tensor_name` the value of `parametrization`, applied to what was there.

    With a method `right_inverse` the parametrisation says how the tensor can be assigned to.
    Several parametrisations of one tensor are applied in the order in which they came.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        entry = module.parametrizations[tensor_name]
        if not unsafe:
            current = getattr(module, tensor_name)
            _same_type(parametrization(current), current, "A parametrization")
            if hasattr(parametrization, "right_inverse"):
                try:
                    inverse = parametrization.right_inverse(current)
                except NotImplementedError:
                    pass
                else:
                    _same_type(inverse, current, "parametrization.right_inverse")
        entry.append(parametrization)
        entry.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        entry = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _new_class(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = entry
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            "with "
            f"name '{tensor_name}'"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Tell whether the module, or this tensor of it, is parametrised."""
    entries = module._modules.get("parametrizations")
    if not isinstance(entries, ModuleDict):
        return False
    return len(entries) > 0 if tensor_name is None else tensor_name in entries


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make the tensor an ordinary one again: its present value, or the original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    entry = module.parametrizations[tensor_name]
    if entry.is_tensor:
        original = entry.original
        if leave_parametrized:
            with facula.no_grad():
                value = getattr(module, tensor_name)
            with facula.no_grad():
                if type(original) is Tensor:
                    original = value.detach().requires_grad_(original.requires_grad)
                else:
                    original.data = value
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value.detach()
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in "
            "terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Give the class that the module had before it was parametrised."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give `to_module` the parametrisations and parameters of `from_module`, or those of one
    tensor.
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for own, new in zip(target._parameters, source._parameters.values(), strict=True):
            target._parameters[own] = new
    return to_module
