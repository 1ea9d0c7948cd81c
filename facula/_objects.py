"""Objects of classes in a checkpoint, for programs that say `weights_only=False` under the alias.

A file may name classes and functions of the modules that the program has imported, may have
objects of those classes made, and may give them their state, as pickles of modules and of
settings do. What a file names is not called, and no module but the library's own and NumPy's is
imported for it: objects are made by the constructors of Python's own types. What a class defines
for itself and pickles use (`__new__`, `__setstate__`, `__setitem__`, `__hash__`, `__del__`, ...) is
either known here, passed over, or refused. Methods are looked up on types, as a file may set the
attributes of objects; what is handed to NumPy or to the library's own `__setstate__` is checked for
its exact types before. This is a list of what is known, not a sandbox: what an object does when the
program uses it is not looked at.

Classes that add_safe_globals names may do what they like; `_restore` asks for those first.
"""

from __future__ import annotations

import _compat_pickle
import argparse
import collections
import copy
import copyreg
import enum
import functools
import pathlib
import sys
import types
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

import facula
from facula import _C

__all__ = ["Objects", "call", "check_key", "check_parts", "find"]

# Of Python's own modules: the classes that hold data, and functions that compute only.
_CLASSES = (
    argparse.Namespace,
    types.SimpleNamespace,
    collections.deque,
    functools.partial,
    pathlib.PurePath,
    pathlib.PurePosixPath,
    pathlib.PureWindowsPath,
    pathlib.Path,
    pathlib.PosixPath,
    pathlib.WindowsPath,
    object,
)
_FUNCTION_MODULES = ("math", "cmath", "_operator", "operator")
# Packages of the library that hold classes of programs' objects; others are its machinery.
_PACKAGES = ("nn", "optim", "utils.data", "distributions", "amp", "functional")
_NUMPY = {
    "numpy": ("dtype", "ndarray"),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.numeric": ("_frombuffer",),
    "numpy.core.numeric": ("_frombuffer",),
}
_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_BASES = (dict, list, tuple, set, frozenset, int, float, complex, str, bytes, bytearray)
_BYTES = ([], [bytes])
_MAKERS = tuple(
    c
    for c in (*_BASES, object, collections.OrderedDict, collections.deque, _C.ModuleBase)
    if "__new__" in vars(c)
)


def _refuse(what: Any, why: str) -> UnpicklingError:
    name = what if isinstance(what, str) else f"{what.__module__}.{what.__qualname__}"
    return UnpicklingError(
        f"{name} {why}; load a state dict instead, or allow it with "
        "torch.serialization.add_safe_globals"
    )


def _own_package(module: str) -> str | None:
    """Return the name of a module of the library below its package; None for other modules."""
    package, _, rest = module.partition(".")
    return rest if package in ("facula", "torch") else None


# Names.


def find(module: str, name: str) -> Any:
    """Return the class or function of that name; raises UnpicklingError where there is none.

    Importing runs code of whatever is installed, so that only parts of the library itself (and
    NumPy, for its arrays) are imported where they are not there yet.
    """
    if module not in sys.modules:  # the names of Python 2, which protocol 2 writes
        old = _compat_pickle.IMPORT_MAPPING.get(module, module), name
        module, name = _compat_pickle.NAME_MAPPING.get((module, name), old)
    own = _own_package(module)
    if name in _NUMPY.get(module, ()):
        found = _find_numpy(module, name)
    elif own is not None and _is_public(own):
        found = _find_own(module, name)
    else:
        found = sys.modules.get(module)
        if found is None:
            raise UnpicklingError(
                f"{module}.{name}: load imports no modules; import {module} before"
            )
        for part in name.split("."):
            kind = type(found)
            if issubclass(kind, types.ModuleType):  # which may be one that is filled when asked
                found = types.ModuleType.__getattribute__(found, "__dict__").get(part)
            elif issubclass(kind, type):
                _check_metaclass(kind, f"{module}.{name}")
                found = vars(found).get(part)
            else:
                found = None
            if issubclass(type(found), types.ModuleType):
                found = None
    if not issubclass(type(found), (type, types.FunctionType, types.BuiltinFunctionType)):
        raise UnpicklingError(f"{module}.{name} is neither a class nor a function")
    if issubclass(type(found), type):
        _check_metaclass(type(found), f"{module}.{name}")
    _check_origin(found)
    return found


def _check_metaclass(kind: type, name: str) -> None:
    """Refuse a class of which even the names would be asked of a program's metaclass."""
    asked = ("__getattribute__", "__module__", "__qualname__", "__mro__", "__dict__", "__eq__")
    for attribute in (*asked, "__hash__"):
        for c in kind.__mro__:
            found = vars(c).get(attribute)
            if attribute in vars(c) and type(found) is not str and _is_code(found):
                raise UnpicklingError(f"{name}: its metaclass defines {attribute}")


def _is_public(module: str) -> bool:
    return module == "" or module.startswith(_PACKAGES)


def _find_own(module: str, name: str) -> Any:
    import importlib

    rest = module.partition(".")[2]
    try:
        found: Any = importlib.import_module("facula." + rest if rest else "facula")
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UnpicklingError(f"Can't get {module}.{name}: {error}") from None
    return found


def _find_numpy(module: str, name: str) -> Any:
    import numpy

    core = getattr(numpy, "_core", None) or numpy.core
    return vars(numpy if module == "numpy" else vars(core)[module.rpartition(".")[2]]).get(name)


def _check_origin(found: Any) -> None:
    """Refuse what Python's own modules and the library's machinery define, but for data."""
    origin = found.__module__
    if type(origin) is not str or _numpy_maker(found) or found is copyreg._reconstructor:
        return
    if isinstance(found, type) and issubclass(found, type):
        raise _refuse(found, "makes classes, which a file may not")
    own = _own_package(origin)
    if own is not None:
        allowed = not isinstance(found, type) or own.startswith(_PACKAGES)
    elif isinstance(found, type):
        allowed = _is_listed(found) or not _is_python(origin)
    else:
        allowed = origin in _FUNCTION_MODULES or not _is_python(origin)
    if not allowed:
        raise _refuse(found, "may not be named by a file")


def _is_listed(found: Any) -> bool:
    return any(found is c for c in _CLASSES)


def _is_python(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names and module != "__main__"


def _numpy_maker(function: Any) -> str | None:
    for module, names in _NUMPY.items():
        owner = sys.modules.get(module)
        for name in names if owner is not None else ():
            if function is vars(owner).get(name):
                return name
    return None


# Making objects.


def _defined(cls: type, name: str) -> list:
    """Return what the classes of an object define under a name, the nearest first."""
    return [vars(c)[name] for c in cls.__mro__ if name in vars(c)]


def _is_code(found: Any) -> bool:
    """Say whether somebody wrote it in Python (or made it of something that is)."""
    kinds = (
        types.WrapperDescriptorType,
        types.MethodDescriptorType,
        types.ClassMethodDescriptorType,
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
        types.BuiltinFunctionType,
        type(None),
    )
    return type(found) not in kinds


def _check_class(cls: type) -> None:
    for name in ("__del__", "__getattribute__", "__class__", "__dict__"):
        if any(_is_code(f) for f in _defined(cls, name)):
            raise _refuse(cls, f"defines {name}, which may not run while a file is read")


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or (
        type(value) in (tuple, list, set, frozenset) and all(map(_is_plain, value))
    )


def _new(cls: type, args: tuple) -> Any:
    """Make an object as `__new__` of its base among Python's own types does."""
    _check_origin(cls)
    _check_class(cls)
    named = issubclass(cls, tuple) and type(vars(cls).get("_fields")) is tuple
    if named:
        if type(vars(cls).get("_make")) is not classmethod or cls.__mro__[1:] != (tuple, object):
            raise _refuse(cls, "defines __new__, which may not run while a file is read")
        return tuple.__new__(cls, args)
    maker = _defined(cls, "__new__")[0]
    base = next((b for b in _MAKERS if maker is vars(b)["__new__"]), None)
    if base is None:
        raise _refuse(cls, "defines __new__, which may not run while a file is read")
    if base is tuple:
        if len(args) > 1 or (args and type(args[0]) not in (tuple, list)):
            raise _refuse(cls, "is made of a tuple only")
    elif base not in (int, float, complex, str, bytes, frozenset):
        args = ()  # what else they take is for __init__
    elif not all(map(_is_plain, args)) or (base is bytes and [*map(type, args)] not in _BYTES):
        raise _refuse(cls, "is made of plain data only")
    return base.__new__(cls, *args)


def _rebuilt(cls: Any, base: Any, state: Any) -> Any:
    """Do what `copyreg._reconstructor` does for objects of older protocols."""
    known = isinstance(cls, type) and any(base is b for b in (object, *_BASES))
    if not known or not issubclass(cls, base):
        raise UnpicklingError("copyreg._reconstructor: expected a class and its base")
    if base is object:
        return _new(cls, ())
    obj = _new(cls, (state,))
    if base in (dict, list, set, bytearray):
        if type(state) is not base:
            raise UnpicklingError(f"copyreg._reconstructor: expected a {base.__name__}")
        check_parts(base.__name__, (state,))
        base.__init__(obj, state)
    return obj


def _member(cls: Any, args: tuple) -> Any:
    """Return the member of an enumeration that has a value."""
    if len(args) == 1 and _is_plain(args[0]):
        for member in cls.__members__.values():
            value = member._value_
            if _is_plain(value) and type(value) is type(args[0]) and value == args[0]:
                return member
        if issubclass(cls, enum.Flag) and type(args[0]) is int and _is_bare_flag(cls):
            return cls(args[0])
    raise UnpicklingError(f"{cls.__qualname__} has no such member")


def _is_bare_flag(cls: Any) -> bool:
    """Say whether combinations of members are made by Python's own code."""
    missing = _defined(cls, "_missing_")[0]
    makers = (object.__new__, int.__new__)
    return missing in _defined(enum.Flag, "_missing_") and cls._new_member_ in makers


def _dtype(*args: Any) -> Any:
    import numpy

    if not args or type(args[0]) is not str or not all(map(_is_plain, args)):
        raise UnpicklingError("numpy.dtype: expected the name of a type")
    return _known_kind(numpy.dtype(args[0], False, True))  # a copy: a file may change it


def _known_kind(dtype: Any) -> Any:
    """Refuse elements whose bytes hold pointers, but for plain objects, which are read as such."""
    if dtype.kind not in "biufcSUVMmO" or (dtype.hasobject and dtype.kind != "O"):
        raise UnpicklingError(f"numpy.dtype: {dtype} is not read")
    return dtype


def _empty_array(cls: Any, shape: Any, kind: Any) -> Any:
    import numpy

    if cls is not numpy.ndarray or type(shape) is not tuple or not _is_plain((*shape, kind)):
        raise UnpicklingError("numpy: only plain arrays are read")
    return numpy.empty(0, numpy.uint8)


def _numpy(name: str, function: Any, args: tuple) -> Any:
    import numpy

    if name == "dtype":
        return _dtype(*args)
    if name == "_reconstruct" and len(args) == 3:
        return _empty_array(*args)
    kinds = [type(a) for a in args]
    if name == "scalar" and len(args) == 2 and issubclass(kinds[0], numpy.dtype):
        if kinds[1] is bytes and not args[0].hasobject:
            return function(*args)
    if name == "_frombuffer" and len(args) == 4 and kinds[0] in (bytes, bytearray):
        if issubclass(kinds[1], numpy.dtype) and _is_plain(args[2]) and kinds[3] is str:
            return function(*args)
    raise UnpicklingError(f"numpy: damaged arguments of {name}")


def call(function: Any, args: tuple, new: bool) -> Any:
    """Make the object that a file asks for: by `__new__` where `new`, else by a known maker."""
    if new and isinstance(function, type):
        return _new(function, args)
    if function is copyreg._reconstructor and len(args) == 3:
        return _rebuilt(*args)
    name = _numpy_maker(function)
    if name is not None and name != "ndarray":
        return _numpy(name, function, args)
    if isinstance(function, type):
        if issubclass(function, enum.Enum):
            return _member(function, args)
        if function is functools.partial and len(args) == 1 and callable(args[0]):
            return functools.partial(*args)
        if issubclass(function, pathlib.PurePath) and _is_listed(function) and _is_plain(args):
            return function(*args)
        if function is types.SimpleNamespace and not args:
            return function()
        if function is collections.deque and _is_plain(args):
            return function(*args)
        numpy = sys.modules.get("numpy")
        if numpy is not None and issubclass(function, numpy.dtype) and not args:
            return _known_kind(function())
    name = getattr(function, "__qualname__", None) if _is_named(function) else None
    raise _refuse(
        f"{function.__module__}.{name}" if name else type(function).__name__,
        "may not be called from a file",
    )


def _is_named(function: Any) -> bool:
    return isinstance(function, (type, types.FunctionType, types.BuiltinFunctionType))


# What containers do with their parts: they hash keys and iterate over what they are made of.


def check_key(key: Any) -> None:
    """Refuse a key whose class computes its hash, or whether it equals another, in Python."""
    cls = type(key)
    if cls in _PLAIN:
        return
    if issubclass(cls, (tuple, frozenset)):
        for part in (tuple if issubclass(cls, tuple) else frozenset).__iter__(key):
            check_key(part)
    if _is_listed(cls) and issubclass(cls, pathlib.PurePath):
        return
    if issubclass(cls, enum.Enum) and _defined(cls, "__hash__")[0] is vars(enum.Enum)["__hash__"]:
        if not _is_code(_defined(cls, "__eq__")[0]):
            return
    if issubclass(cls, (facula.Tensor, facula.dtype, facula.device, facula.Size)):
        return
    for name in ("__hash__", "__eq__"):
        if _is_code(_defined(cls, name)[0]):
            raise _refuse(cls, f"defines {name}, which may not run while a file is read")


def check_parts(kind: str, args: tuple) -> None:
    """Check what a container of Python's own is made of, before it looks at it."""
    for arg in args:
        if type(arg) in _PLAIN:
            continue
        if type(arg) not in (list, tuple, set, frozenset, dict):
            raise UnpicklingError(f"{kind} may not be made of a {type(arg).__name__}")
        if kind in ("set", "frozenset", "Counter"):
            for part in arg:
                check_key(part)
        elif kind in ("dict", "OrderedDict", "defaultdict") and type(arg) is not dict:
            for part in arg:
                if type(part) not in (list, tuple) or len(part) != 2:
                    raise UnpicklingError(f"{kind}: expected pairs of keys and values")
                check_key(part[0])
        elif kind in ("complex", "Size", "device"):
            if not _is_plain(arg):
                raise UnpicklingError(f"{kind}: expected numbers")


# State.


def _dtype_state(obj: Any, state: Any) -> tuple:
    """Return the state of a description of elements, without what the file may change later.

    Refused is one by which bytes would be taken for objects.
    """
    kinds = [*map(type, state)] if type(state) is tuple else []
    if len(kinds) not in (8, 9) or kinds[0] is not int or kinds[5:8] != [int, int, int]:
        raise UnpicklingError("numpy.dtype: damaged state")
    _, order, inner, names, fields, size, alignment, flags = state[:8]
    metadata = tuple(_plain_copy(m) for m in state[8:])
    if kinds[1] is not str or inner is not None or alignment not in (-1, 1, 2, 4, 8, 16, 32, 64):
        raise UnpicklingError("numpy.dtype: damaged state")
    if names is None and fields is None:
        if flags != obj.flags or size not in (-1, obj.itemsize):
            raise UnpicklingError("numpy.dtype: damaged state")
        return (*state[:8], *metadata)
    if type(names) is not tuple or type(fields) is not dict or flags & 7:
        raise UnpicklingError("numpy.dtype: damaged state")
    if not all(type(n) is str for n in (*names, *fields)) or {*names} != fields.keys():
        raise UnpicklingError("numpy.dtype: damaged state")
    if obj.kind != "V" or size != obj.itemsize:
        raise UnpicklingError("numpy.dtype: damaged state")
    own = {name: _field(field, size) for name, field in fields.items()}
    return (*state[:4], own, *state[5:8], *metadata)


def _field(field: Any, size: int) -> tuple:
    import numpy

    kinds = [*map(type, field)] if type(field) is tuple else []
    if len(kinds) not in (2, 3) or kinds[1] is not int or kinds[2:] not in ([], [str]):
        raise UnpicklingError("numpy.dtype: damaged state")
    if not issubclass(kinds[0], numpy.dtype) or field[0].hasobject:
        raise UnpicklingError("numpy.dtype: a field that holds objects")
    if not 0 <= field[1] <= size - field[0].itemsize:
        raise UnpicklingError("numpy.dtype: a field out of bounds")
    # The file still holds the field's dtype, and could put the whole into it.
    return copy.copy(field[0]), *field[1:]


def _plain_copy(value: Any) -> Any:
    if type(value) is dict and all(map(_is_plain, (*value, *value.values()))):
        return dict(value)
    if type(value) is tuple:
        return tuple(map(_plain_copy, value))
    if not _is_plain(value):
        raise UnpicklingError("numpy.dtype: damaged state")
    return value


def _check_array(state: Any) -> None:
    import numpy

    kinds = [*map(type, state)] if type(state) is tuple else []
    if len(kinds) not in (4, 5) or kinds[:-4] not in ([], [int]) or kinds[-2] not in (int, bool):
        raise UnpicklingError("numpy: damaged array")
    if kinds[-4] is not tuple or not all(type(n) is int for n in state[-4]):
        raise UnpicklingError("numpy: damaged array")
    if not issubclass(kinds[-3], numpy.dtype) or kinds[-1] not in (bytes, str, list):
        raise UnpicklingError("numpy: damaged array")
    # Numbers in a list are converted, which is their classes' work.
    if (kinds[-1] is list) != (state[-3].kind == "O"):
        raise UnpicklingError("numpy: damaged array")


# What the library's optimizers touch of themselves, and Python of numbers, when they get a state.
_OPTIMIZER_PARTS = (
    "defaults state param_groups _make_hook_dicts _group_defaults _late_defaults "
    "__getattr__ __setattr__"
).split()
_NUMBERS = ("__float__", "__index__")


def _check_optimizer(obj: Any, state: Any) -> None:
    """Refuse a state whose entries would stand in for methods of what is rebuilt, or whose
    numbers would be converted by their classes; and classes that watch what the library does.
    """
    for name in (*_OPTIMIZER_PARTS, *state):
        for c in type(obj).__mro__:
            foreign = c is not object and _own_package(c.__module__) is None
            if name in vars(c) and (foreign or name in state):
                raise UnpicklingError(f"an optimizer's class defines {name}")
    for name, kind in (("param_groups", list), ("state", None), ("defaults", dict)):
        part = state.get(name, kind() if kind else {})
        if type(part) is not kind and (kind or type(part) not in (dict, collections.defaultdict)):
            raise UnpicklingError(f"an optimizer's {name} may not be a {type(part).__name__}")
    if not all(type(group) is dict for group in state.get("param_groups", ())):
        raise UnpicklingError("an optimizer's groups have to be dicts")
    for entry in state.get("state", {}).values():
        if type(entry) is not dict:
            raise UnpicklingError("an optimizer's entries have to be dicts")
        for value in entry.values():
            if issubclass(type(value), facula.Tensor):
                continue
            if any(_is_code(f) for n in _NUMBERS for f in _defined(type(value), n)):
                raise UnpicklingError(f"an optimizer's entry is a {type(value).__name__}")


def _setter(cls: type, obj: Any, state: Any) -> Callable | None:
    """Return the function that gives an object its state where the class has one."""
    found = _defined(cls, "__setstate__")
    if not found:
        return None
    if cls is functools.partial:
        kinds = [*map(type, state)] if type(state) is tuple else []
        absent = type(None)
        if kinds[1:2] != [tuple] or not all(k in (dict, absent) for k in kinds[2:]):
            raise UnpicklingError("functools.partial: damaged state")
        return found[0]
    numpy = sys.modules.get("numpy")
    if numpy is not None and cls is numpy.ndarray:
        _check_array(state)
        return found[0]
    if numpy is not None and issubclass(cls, numpy.dtype):
        return lambda obj, state: found[0](obj, _dtype_state(obj, state))
    for f in found:
        own = _own_package(f.__module__) if type(f) is types.FunctionType else None
        if own is None or not own.startswith(_PACKAGES):
            raise _refuse(cls, "defines __setstate__, which may not run while a file is read")
    if type(state) is not dict or not all(type(k) is str for k in state):
        raise UnpicklingError(f"{cls.__qualname__}: damaged state")
    if issubclass(cls, facula.optim.Optimizer):
        _check_optimizer(obj, state)
    return found[0]


class Objects:
    """The objects that were made for one file, which alone it may fill and give a state."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}

    def call(self, function: Any, args: tuple, new: bool) -> Any:
        """Make an object."""
        obj = call(function, args, new)
        # Members of enumerations are the program's own. A path takes no state: its slots hold what
        # its hash is computed of.
        if not issubclass(type(obj), (enum.Enum, pathlib.PurePath)):
            self.made[id(obj)] = obj
        return obj

    def fill(self, target: Any, items: list, pairs: bool) -> bool:
        """Add items to a list, or keys and values to a dict, of the program's class."""
        cls = type(target)
        if id(target) not in self.made:
            return False
        if pairs and issubclass(cls, dict):
            ordered = issubclass(cls, collections.OrderedDict)
            put = collections.OrderedDict.__setitem__ if ordered else dict.__setitem__
            for key, value in zip(items[::2], items[1::2], strict=True):
                put(target, key, value)
            return True
        for base in (list, collections.deque):
            if not pairs and issubclass(cls, base):
                base.extend(target, items)
                return True
        return False

    def build(self, obj: Any, state: Any) -> None:
        """Give an object its state."""
        cls = type(obj)
        if id(obj) not in self.made:
            raise UnpicklingError(f"{cls.__qualname__}: a file may change what it has made only")
        setter = _setter(cls, obj, state)
        if setter is not None:
            setter(obj, state)
            return
        slots: Any = None
        if type(state) is tuple and len(state) == 2:
            state, slots = state
        for part in (state, slots):
            if type(part) is dict and all(type(k) is str for k in part):
                continue
            if not _is_plain(part) or part:
                raise UnpicklingError(f"{cls.__qualname__}: damaged state")
        if state:
            object.__getattribute__(obj, "__dict__").update(state)
        for key, value in (slots or {}).items():
            self._set_slot(obj, key, value)

    def _set_slot(self, obj: Any, key: str, value: Any) -> None:
        cls = type(obj)
        found = (_defined(cls, key) or [None])[0]
        if type(found) is types.MemberDescriptorType and "__slots__" in vars(found.__objclass__):
            types.MemberDescriptorType.__set__(found, obj, value)
        elif found is None:
            object.__getattribute__(obj, "__dict__")[key] = value
        else:
            raise _refuse(cls, f"defines {key}, which may not run while a file is read")
