"""Containers of modules and parameters: Sequential, ModuleList, ModuleDict, ParameterList,
ParameterDict.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import facula
from facula.nn.modules.module import Module, _addindent
from facula.nn.parameter import Parameter

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Container(Module):
    """Deprecated: a module made of the modules given by keyword."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        for key, value in kwargs.items():
            self.add_module(key, value)


def _position(idx: Any, size: int) -> int:
    idx = operator.index(idx)
    if not -size <= idx < size:
        raise IndexError(f"index {idx} is out of range")
    return idx % size


class Sequential(Module):
    """Modules in a row: each gets what the one before gave. Takes modules, or one OrderedDict of
    named modules.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for idx, module in enumerate(args):
                self.add_module(str(idx), module)

    def _key(self, idx: Any) -> str:
        return next(islice(self._modules, _position(idx, len(self)), None))

    def _renumber(self, modules: Iterable[Module]) -> None:
        values = list(modules)
        self._modules.clear()
        self._modules.update((str(i), m) for i, m in enumerate(values))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return self.__class__(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def __setitem__(self, idx: Any, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: Any) -> None:
        if isinstance(idx, slice):
            for key in list(self._modules)[idx]:
                delattr(self, key)
        else:
            delattr(self, self._key(idx))
        self._renumber(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is "
                "given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is "
                "given."
            )
        for module in list(other):
            self.append(module)
        return self

    def __mul__(self, other: int) -> Sequential:
        self._check_factor(other)
        return Sequential(*(list(self) * other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        self._check_factor(other)
        for module in list(self) * (other - 1):
            self.append(module)
        return self

    @staticmethod
    def _check_factor(other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(
                f"unsupported operand type(s) for *: {type(Sequential)} and {type(other)}"
            )
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {Sequential}")

    def __dir__(self) -> list[str]:
        return [key for key in super().__dir__() if not key.isdigit()]

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def append(self, module: Module) -> Sequential:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before position `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self._modules)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        values = list(self._modules.values())
        values.insert(index, module)
        self._renumber(values)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Add modules at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Remove the module at `key` and give it."""
        value = self[key]
        del self[key]
        return value


def _grouped_repr(name: str, reprs: list[str]) -> str:
    """Print a list with runs of equal entries on one line: `(0-3): 4 x Linear(...)`."""
    if not reprs:
        return name + "()"
    runs: list[list] = []
    for i, text in enumerate(reprs):
        if runs and runs[-1][2] == text:
            runs[-1][1] = i
        else:
            runs.append([i, i, text])
    lines = []
    for start, end, text in runs:
        head = f"({start}): " if start == end else f"({start}-{end}): {end - start + 1} x "
        lines.append(_addindent(head + text, 2))
    return name + "(\n  " + "\n  ".join(lines) + "\n)"


class ModuleList(Module):
    """A list of modules, all of them registered."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def _key(self, idx: Any) -> str:
        return str(_position(idx, len(self)))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return self.__class__(list(self._modules.values())[idx])
        return self._modules[self._key(idx)]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: Any) -> None:
        if isinstance(idx, slice):
            for k in range(len(self._modules))[idx]:
                delattr(self, str(k))
        else:
            delattr(self, self._key(idx))
        values = list(self._modules.values())
        self._modules.clear()
        self._modules.update((str(i), m) for i, m in enumerate(values))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        combined = ModuleList()
        for i, module in enumerate(chain(self, other)):
            combined.add_module(str(i), module)
        return combined

    def __repr__(self) -> str:
        return _grouped_repr(self._get_name(), [repr(item) for item in self])

    def __dir__(self) -> list[str]:
        return [key for key in super().__dir__() if not key.isdigit()]

    def insert(self, index: int, module: Module) -> None:
        """Put a module before position `index`."""
        for i in range(len(self._modules), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module

    def append(self, module: Module) -> ModuleList:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Remove the module at `key` and give it."""
        value = self[key]
        del self[key]
        return value

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        offset = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(offset + i), module)
        return self


class ModuleDict(Module):
    """An ordered dictionary of modules, all of them registered."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def __or__(self, other: ModuleDict) -> ModuleDict:
        if not isinstance(other, ModuleDict):
            return NotImplemented
        return self.__class__(OrderedDict([*self.items(), *other.items()]))

    def __ior__(self, other: Mapping[str, Module]) -> ModuleDict:
        self.update(other)
        return self

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove the module under `key` and give it."""
        v = self[key]
        del self[key]
        return v

    def keys(self) -> Any:
        """Give the names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Give pairs of name and module."""
        return self._modules.items()

    def values(self) -> Any:
        """Give the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs; those under existing names are replaced."""
        for key, module in _pairs(modules, "ModuleDict"):
            self[key] = module


def _pairs(source: Any, owner: str) -> list[tuple[str, Any]]:
    """Read a mapping, another dictionary container, or an iterable of pairs."""
    if not hasattr(source, "__iter__"):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got "
            f"{type(source).__name__}"
        )
    if isinstance(source, (Mapping, ModuleDict, ParameterDict)):
        return list(source.items())
    pairs = []
    for j, entry in enumerate(source):
        if not hasattr(entry, "__iter__"):
            raise TypeError(
                f"{owner} update sequence element #{j} should be Iterable; is{type(entry).__name__}"
            )
        entry = tuple(entry)
        if len(entry) != 2:
            raise ValueError(
                f"{owner} update sequence element #{j} has length {len(entry)}; 2 is required"
            )
        pairs.append(entry)
    return pairs


def _as_entry(value: Any) -> Any:
    """Tensors become parameters; other values stay as they are."""
    if isinstance(value, facula.Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _entry_repr(key: Any, value: Any, kind: Any) -> str:
    if not isinstance(value, facula.Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    size = "x".join(str(s) for s in value.size())
    where = f" (GPU {value.get_device()})" if value.is_cuda else ""
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {name} containing: [{kind} of size {size}{where}]"


class ParameterList(Module):
    """A list of parameters, all of them registered. Tensors become parameters; anything else is
    kept as it is.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            out = self.__class__()
            for i in range(len(self))[idx]:
                out.append(self[i])
            return out
        return getattr(self, str(_position(idx, len(self))))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, str(_position(idx, len(self))), _as_entry(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> ParameterList:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [key for key in super().__dir__() if not key.isdigit()]

    def append(self, value: Any) -> ParameterList:
        """Add a value at the end."""
        index = len(self)
        self._size += 1
        self[index] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add values at the end."""
        if not hasattr(values, "__iter__") or isinstance(values, facula.Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_entry_repr(k, p, getattr(p, "dtype", None)) for k, p in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """An ordered dictionary of parameters, all of them registered. Tensors become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    @staticmethod
    def _key_to_attr(key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type "
                f"is '{type(key).__name__}'). "
                "Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, self._key_to_attr(key), _as_entry(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Give a new dictionary with the same parameters."""
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Give the value under `key`, after putting `default` there if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all values."""
        for k in list(self._keys):
            del self[k]

    def pop(self, key: str) -> Any:
        """Remove the value under `key` and give it."""
        v = self[key]
        del self[key]
        return v

    def popitem(self) -> tuple[str, Any]:
        """Remove the pair that was added last and give it."""
        k, _ = self._keys.popitem()
        self._keys[k] = None
        value = self[k]
        del self[k]
        return k, value

    def get(self, key: str, default: Any = None) -> Any:
        """Give the value under `key`, or `default`."""
        return self[key] if key in self else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Give a new dictionary with `default` under each of `keys`."""
        return ParameterDict((k, default) for k in keys)

    def keys(self) -> Any:
        """Give the names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Give pairs of name and value."""
        return ((k, self[k]) for k in self._keys)

    def values(self) -> Iterable[Any]:
        """Give the values."""
        return (self[k] for k in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values from a mapping or from pairs; those under existing names are replaced."""
        for key, value in _pairs(parameters, "ParameterDict"):
            self[key] = value

    def extra_repr(self) -> str:
        lines = []
        for k, p in self.items():
            lines.append(_entry_repr(k, p, p.type() if isinstance(p, facula.Tensor) else None))
        return "\n".join(lines)

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        copy = self.copy()
        copy.update(other)
        return copy

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        copy = ParameterDict(other)
        copy.update(self)
        return copy

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self
