"""The way back from a checkpoint's pickle: what each name in it may stand for, and how tensors
are rebuilt over the records of the file. The table is closed; users extend it by name through
`facula.serialization.add_safe_globals`.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

import facula
from facula import _C, _objects
from facula._legacy import TypedStorage
from facula._storage_ids import (
    STORAGES,
    StorageKind,
    elements,
    is_module_id,
    storage_id,
    stored,
    whole,
)
from facula._unpickle import Unpickler

__all__ = ["Reader", "is_known"]

_DTYPES = {name for name in STORAGES.values() if name} | {"uint16", "uint32", "uint64"}
_DTYPE_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
}

safe_globals: dict[str, Any] = {}


class _Maker:
    """A name that may be called with arguments; `kind` is the Python type it makes, if any."""

    def __init__(self, name: str, make: Callable[..., Any], kind: type | None = None) -> None:
        self.name, self.make, self.kind = name, make, kind


class _TypeName:
    """A class that is only named, as the type of a tensor."""

    def __init__(self, name: str) -> None:
        self.name = name


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """Bytes are pickled by old protocols as text; only that is allowed."""
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise UnpicklingError("Weights only load failed: _codecs.encode is for bytes only")
    return text.encode("latin1")


def _default_dict(factory: Any = None, *rest: Any) -> defaultdict:
    if type(factory) is _Maker and factory.kind is not None:
        factory = factory.kind
    elif factory is not None:
        raise UnpicklingError("Weights only load failed: a defaultdict's factory must be a type")
    return defaultdict(factory, *rest)


_BUILTINS = {
    "set": set,
    "frozenset": frozenset,
    "bytearray": bytearray,
    "complex": complex,
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "bytes": bytes,
}
# int, str and the like only serve as factories: calling them could allocate from a number.
_CALLABLE_BUILTINS = ("set", "frozenset", "complex", "list", "dict", "tuple")


def _builtin(name: str) -> _Maker | None:
    kind = _BUILTINS.get(name)
    if kind is None:
        return None

    def make(*args: Any) -> Any:
        if name == "bytearray" and len(args) == 2:
            return bytearray(_encode(*args))
        if name == "bytearray" and len(args) == 1 and isinstance(args[0], bytes):
            return bytearray(args[0])
        if args and name not in _CALLABLE_BUILTINS:
            raise UnpicklingError(f"Weights only load failed: {name} may not be called")
        return kind(*args)

    return _Maker(name, make, kind)


def _library_name(module: str, name: str) -> Any:
    """Return what a name of PyTorch (or of Facula) stands for; None where there is no such."""
    if module in ("torch", "torch.storage"):
        if name in STORAGES:
            return StorageKind(STORAGES[name])
    if module == "torch":
        if name in _DTYPES or name in _DTYPE_ALIASES:
            return getattr(facula, _DTYPE_ALIASES.get(name, name))
        if name == "device":
            return _Maker("device", facula.device)
        if name == "Size":
            return _Maker("Size", _size)
        if name == "strided":
            return facula.strided
        if name in ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format"):
            return getattr(facula, name)
        if name == "Tensor":
            return _TypeName("Tensor")
    if (module, name) in (("torch.nn.parameter", "Parameter"), ("torch.nn", "Parameter")):
        return _TypeName("Parameter")
    if module in ("torch._utils", "torch._tensor") and name in _REBUILD:
        return _Maker(name, _REBUILD[name])
    if (module, name) == ("torch.serialization", "_get_layout"):
        return _Maker(name, _layout)
    return None


def _find(module: str, name: str) -> Any:
    full = f"{module}.{name}"
    if full in safe_globals:
        return safe_globals[full]
    if module in ("builtins", "__builtin__"):
        found: Any = _builtin(name)
    elif module == "collections":
        found = {
            "OrderedDict": _Maker(name, OrderedDict, OrderedDict),
            "Counter": _Maker(name, Counter, Counter),
            "defaultdict": _Maker(name, _default_dict),
        }.get(name)
    elif (module, name) == ("_codecs", "encode"):
        found = _Maker(name, _encode)
    else:
        if module == "facula" or module.startswith("facula."):
            module = "torch" + module[len("facula") :]
        found = _library_name(module, name)
    return found


def is_known(module: str, name: str) -> bool:
    """Say whether `load` takes this name without being told that it is safe."""
    return _find(module, name) is not None


def _size(items: Any = ()) -> Any:
    return facula.Size(items)


_LAYOUTS = "strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc".split()


def _layout(name: Any) -> Any:
    package, _, kind = name.rpartition(".") if type(name) is str else ("", "", "")
    if package != "torch" or kind not in _LAYOUTS:
        raise NotImplementedError(f"load: tensors of layout {name} are not built")
    return getattr(facula, kind)


def _tensor_over(
    storage: TypedStorage, dtype: Any, offset: Any, size: Any, stride: Any, requires_grad: Any
) -> facula.Tensor:
    if not isinstance(storage, TypedStorage) or storage._elements is None:
        raise UnpicklingError("Weights only load failed: a tensor without storage")
    if not whole((offset,)) or not whole(size) or not whole(stride) or len(size) != len(stride):
        raise RuntimeError(f"load: damaged tensor: size {size}, stride {stride}, offset {offset}")
    data = elements(storage, dtype)
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if 0 not in size and last >= data.numel():
        raise RuntimeError(
            f"load: a tensor of size {tuple(size)} and stride {tuple(stride)} at {offset} is out "
            f"of bounds for a storage of {data.numel()} elements"
        )
    if 0 in size:
        offset = 0
    t = data.as_strided(tuple(size), tuple(stride), data.storage_offset() + offset).data
    return t.requires_grad_() if requires_grad is True else t


def _rebuild_tensor(storage: Any, offset: Any, size: Any, stride: Any) -> facula.Tensor:
    return _tensor_over(storage, storage.dtype, offset, size, stride, False)


def _with_metadata(t: facula.Tensor, metadata: Any) -> facula.Tensor:
    if type(metadata) is dict:
        if metadata.get("conj") is True:
            t = t.conj().resolve_conj()
        if metadata.get("neg") is True:
            t = -t
    return t


def _rebuild_tensor_v2(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    hooks: Any,
    metadata: Any = None,
) -> facula.Tensor:
    t = _tensor_over(storage, storage.dtype, offset, size, stride, requires_grad)
    return _with_metadata(t, metadata)


def _rebuild_tensor_v3(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> facula.Tensor:
    if not isinstance(dtype, facula.dtype):
        raise UnpicklingError("Weights only load failed: a tensor without dtype")
    t = _tensor_over(storage, dtype, offset, size, stride, requires_grad)
    return _with_metadata(t, metadata)


def _rebuild_meta(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> facula.Tensor:
    if not whole(size) or not whole(stride):
        raise RuntimeError(f"load: damaged tensor: size {size}, stride {stride}")
    t = facula.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta")
    return t.requires_grad_() if requires_grad is True else t


def _rebuild_parameter(data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Any:
    if not isinstance(data, facula.Tensor):
        raise UnpicklingError("Weights only load failed: a parameter without tensor")
    return _set_attributes(facula.nn.Parameter(data, requires_grad is True), state)


def _restore_parameter(p: facula.nn.Parameter, state: Any) -> None:
    """Give a parameter the state with which PyTorch before 0.4 wrote it."""
    if type(state) is not tuple or len(state) not in (3, 5):
        raise UnpicklingError("Weights only load failed: damaged state of a parameter")
    if len(state) == 5:
        p.data, _, _, requires_grad, _ = state
    else:
        requires_grad = state[0]
    facula.Tensor.requires_grad_(p, requires_grad is True)


def _rebuild_from_type(function: Any, cls: Any, args: Any, state: Any) -> Any:
    known = type(function) is _Maker and function.name in _REBUILD and type(args) is tuple
    if not known or function.make is _rebuild_from_type:
        raise UnpicklingError("Weights only load failed: unknown way to rebuild a tensor")
    t = function.make(*args)
    if type(t) is cls:
        return _set_attributes(t, state)
    if isinstance(cls, type) and issubclass(cls, facula.Tensor) and _is_safe(cls):
        t = t.as_subclass(cls)
    elif isinstance(cls, _TypeName) and cls.name == "Parameter":
        t = facula.nn.Parameter(t, t.requires_grad)
    elif not isinstance(cls, _TypeName):
        raise UnpicklingError("Weights only load failed: unknown type of tensor")
    if type(state) is tuple and state:
        state = state[0]
    return _set_attributes(t, state)


def _set_attributes(t: Any, state: Any) -> Any:
    if state is not None:
        if type(state) is not dict or not all(type(k) is str for k in state):
            raise UnpicklingError("Weights only load failed: damaged attributes of a tensor")
        # In the tensor's dict they would stand in for methods, which run code when they are called.
        known = [c for c in type(t).__mro__ if not _is_safe(c)]
        for key in state:
            if any(key in vars(c) for c in known):
                raise UnpicklingError(
                    f"Weights only load failed: an attribute {key}, which tensors define"
                )
        for key, value in state.items():
            t.__dict__[key] = value
    return t


def _rebuild_wrapper(cls: Any, dtype: Any, size: Any, strides: Any, offset: Any, *rest: Any) -> Any:
    if not (isinstance(cls, type) and issubclass(cls, facula.Tensor) and _is_safe(cls)):
        raise UnpicklingError("Weights only load failed: unknown type of tensor")
    if len(rest) != 3 or not (whole(size) and whole(strides) and whole((offset,))):
        raise UnpicklingError("Weights only load failed: a damaged tensor without memory")
    _, device, requires_grad = rest
    return facula._C._make_wrapper(
        cls, tuple(size), tuple(strides), offset, dtype, facula.device(device), requires_grad
    )


def _rebuild_sparse(layout: Any, data: Any) -> facula.Tensor:
    from facula.sparse._tensor import LAYOUTS

    coo = layout is facula.sparse_coo
    if layout not in LAYOUTS[1:] or type(data) is not tuple or len(data) not in (3, 4):
        raise UnpicklingError("Weights only load failed: a damaged sparse tensor")
    count = 2 if coo else 3
    if not all(isinstance(t, facula.Tensor) for t in data[:count]) or len(data) == count:
        raise UnpicklingError("Weights only load failed: a sparse tensor without parts")
    size = data[count]
    if not whole(size):
        raise RuntimeError(f"load: damaged sparse tensor: size {size}")
    if coo:
        merged = len(data) == 4 and data[3] is True
        return facula.sparse_coo_tensor(*data[:2], tuple(size), is_coalesced=merged)
    return facula.sparse_compressed_tensor(*data[:3], tuple(size), layout=layout)


def _quantized(*args: Any) -> Any:
    raise NotImplementedError("load: quantized tensors are not built")


_REBUILD: dict[str, Callable[..., Any]] = {
    "_rebuild_tensor": _rebuild_tensor,
    "_rebuild_tensor_v2": _rebuild_tensor_v2,
    "_rebuild_tensor_v3": _rebuild_tensor_v3,
    "_rebuild_meta_tensor_no_storage": _rebuild_meta,
    "_rebuild_parameter": _rebuild_parameter,
    "_rebuild_parameter_with_state": _rebuild_parameter,
    "_rebuild_from_type_v2": _rebuild_from_type,
    "_rebuild_sparse_tensor": _rebuild_sparse,
    "_rebuild_wrapper_subclass": _rebuild_wrapper,
    "_rebuild_qtensor": _quantized,
}


def _is_safe(obj: Any) -> bool:
    return any(obj is trusted for trusted in safe_globals.values())


class Reader:
    """Rebuilds the object of one pickle.

    `record(key, size, width)` returns the bytes of a storage as a 1-d uint8 tensor (`size` is what
    the pickle claims, `width` are the bytes of a number, 0 where its type is not known yet),
    `place(tensor, location)` moves it to where it belongs. With `objects` the pickle may hold
    objects of any class, as `_objects` says.
    """

    def __init__(
        self,
        record: Callable[[str, int, int], facula.Tensor],
        place: Callable[[facula.Tensor, str], facula.Tensor],
        objects: bool = False,
    ) -> None:
        self.record, self.place = record, place
        self.objects = _objects.Objects() if objects else None
        self.storages: dict[str, facula.Tensor] = {}

    def load(self, data: bytes) -> Any:
        """Return the object; raises UnpicklingError, RuntimeError or EOFError on bad data."""
        return self.unpickler(data).load()

    def unpickler(self, data: bytes) -> Unpickler:
        """Return the reader of the pickle, for files that hold several."""
        reader = Unpickler(data, self.find, self._persistent, self._call, self._build)
        if self.objects is not None:
            reader.fill, reader.check_key = self.objects.fill, self._check_key
        return reader

    def find(self, module: str, name: str) -> Any:
        """Return what a name in the pickle stands for; raises UnpicklingError if it may not be."""
        found = _find(module, name)
        if found is None and self.objects is not None:
            return _objects.find(module, name)
        if found is None:
            raise UnpicklingError(
                "Weights only load failed. Unsupported global: GLOBAL "
                f"{module}.{name} was not an allowed global by default. Files are read as data "
                "only; if you trust this class or function, allow it with "
                + _C._package_words("`facula.serialization.add_safe_globals")
                + f"([{name}])`."
            )
        return found

    def known(self, module: str, name: str) -> Any:
        """Return what a name stands for if it is one of those that need no module; else None, or
        raise UnpicklingError where it may not be in the file.
        """
        return self.find(module, name) if self.objects is None else _find(module, name)

    def _persistent(self, key: Any) -> Any:
        if is_module_id(key):
            return self._class(key[1])
        dtype, name, location, count, part = storage_id(key)
        if name not in self.storages:
            width = 0 if key[1].dtype is None else dtype.itemsize // (1 + dtype.is_complex)
            with facula.no_grad():
                data = self.record(name, count * dtype.itemsize, width)
                self.storages[name] = self.place(data.view(dtype), location)
        storage = stored(self.storages[name], dtype)
        if part is None:
            return storage
        with facula.no_grad():
            return stored(elements(storage, dtype).narrow(0, *part), dtype)

    def _class(self, cls: Any) -> Any:
        """Return a class of modules, which old files name together with its source."""
        if isinstance(cls, type) and (self.objects is not None or _is_safe(cls)):
            return cls
        raise UnpicklingError("Weights only load failed: unknown class of modules")

    def _call(self, function: Any, args: tuple, new: bool) -> Any:
        if type(function) is _Maker:
            if self.objects is not None:
                self._check_parts(function, args)
            with facula.no_grad():
                return function.make(*args)
        if type(function) is _TypeName and function.name == "Parameter" and len(args) == 1:
            return _rebuild_parameter(*args, True, None)
        if _is_safe(function):
            return function.__new__(function, *args) if new else function(*args)
        if self.objects is not None:
            kinds = (a.kind if type(a) is _Maker and a.kind is not None else a for a in args)
            return self.objects.call(function, tuple(kinds), new)
        raise UnpicklingError(
            f"Weights only load failed: {function!r} may not be called from a file"
        )

    def _check_key(self, key: Any) -> None:
        if not _is_safe(type(key)):
            _objects.check_key(key)

    def _check_parts(self, maker: _Maker, args: tuple) -> None:
        """Refuse objects of a file where a maker would ask them for more than their type."""
        for arg in args:
            parts = arg if maker.make is _rebuild_from_type and type(arg) is tuple else (arg,)
            if any(id(part) in self.objects.made for part in parts):
                raise UnpicklingError(f"{maker.name} may not be made of an object of a file")
        if maker.name not in _REBUILD:
            _objects.check_parts(maker.name, tuple(a for a in args if type(a) is not _Maker))

    def _build(self, obj: Any, state: Any) -> None:
        if (
            type(obj) is OrderedDict
            and type(state) is dict
            and not any(hasattr(OrderedDict, key) for key in state)
        ):
            obj.__dict__.update(state)
        elif type(obj) is facula.nn.Parameter and isinstance(state, tuple):
            _restore_parameter(obj, state)
        elif _is_safe(type(obj)):
            setter = getattr(type(obj), "__setstate__", None)
            if setter is not None:
                setter(obj, state)
                return
            slots = None
            if isinstance(state, tuple) and len(state) == 2:
                state, slots = state
            for part in (state, slots):
                if type(part) is not dict and part is not None:
                    raise UnpicklingError("Weights only load failed: damaged state of an object")
            if state:
                obj.__dict__.update(state)
            for key, value in (slots or {}).items():
                setattr(obj, key, value)
        elif self.objects is not None:
            self.objects.build(obj, state)
        else:
            raise UnpicklingError(
                f"Weights only load failed: {type(obj).__name__} may not be given state from a file"
            )
