"""What `save` puts into a `.pt` file: the pieces of storages that the tensors of an object need,
and the pickle that refers to them by PyTorch's names. `_restore.py` is the way back,
`serialization.py` reads and writes the zip, `_checkpoint_stream.py` the older format.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections import OrderedDict, defaultdict
from typing import Any

import facula
from facula import _restore
from facula._legacy import TypedStorage

__all__ = ["Piece", "pickle_of"]

# PyTorch's class of typed storages for each dtype.
_STORAGE_NAMES = {
    "float64": "DoubleStorage",
    "float32": "FloatStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "int64": "LongStorage",
    "int32": "IntStorage",
    "int16": "ShortStorage",
    "int8": "CharStorage",
    "uint8": "ByteStorage",
    "bool": "BoolStorage",
    "complex128": "ComplexDoubleStorage",
    "complex64": "ComplexFloatStorage",
}
# These have no typed storage: they go as bytes, with the dtype beside the shape.
_UNTYPED = ("uint16", "uint32", "uint64")


def dtype_name(dtype: Any) -> str:
    """Return "float32" for facula.float32."""
    return str(dtype).rpartition(".")[2]


class _Global:
    """Pickles as the bare name of something, by PyTorch's spelling."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.module}.{self.name} is a name in a file, not a function")


_GLOBALS: dict[tuple[str, str], _Global] = {}


def _named(module: str, name: str) -> _Global:
    return _GLOBALS.setdefault((module, name), _Global(module, name))


class Piece:
    """A run of elements of one storage that is written as one record."""

    def __init__(self, tensor: facula.Tensor, low: int, high: int) -> None:
        self.tensor, self.low, self.high = tensor, low, high
        self.key = ""

    def flat(self) -> facula.Tensor:
        """Return the elements as a 1-d tensor that shares their memory."""
        return self.tensor.detach().as_strided((self.high - self.low,), (1,), self.low)

    def stored(self) -> facula.Tensor:
        """Return the elements of the storage as which they are written: bytes for some dtypes."""
        flat = self.flat()
        return flat.view(facula.uint8) if dtype_name(flat.dtype) in _UNTYPED else flat


def _extent(t: facula.Tensor) -> tuple[int, int]:
    """Return first and last element of the storage that `t` touches, as a half-open range."""
    if t.numel() == 0:
        return t.storage_offset(), t.storage_offset()
    span = sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
    return t.storage_offset(), t.storage_offset() + span + 1


class _Layout:
    """Finds the pieces: tensors whose elements overlap in a storage share one."""

    def __init__(self) -> None:
        self.tensors: dict[int, list[facula.Tensor]] = defaultdict(list)
        self.pieces: list[Piece] = []
        self.place: dict[int, tuple[Piece, facula.Tensor]] = {}
        self.packed: list[facula.Tensor] = []
        self.twins: dict[int, tuple[facula.Tensor, facula.Tensor]] = {}
        self.sparse: dict[int, tuple[facula.Tensor, tuple]] = {}
        self.stores: dict[tuple, facula.Tensor] = {}
        self.reduced: dict[int, tuple[Any, Any]] = {}

    def reduction(self, obj: Any, protocol: int) -> Any:
        """Return what an object is written as: asked for once, as it may make tensors for it."""
        if id(obj) not in self.reduced:
            known = copyreg.dispatch_table.get(type(obj))
            made = known(obj) if known else obj.__reduce_ex__(protocol)
            if isinstance(made, tuple):  # the items of lists and dicts can be walked once only
                items = (None if part is None else list(part) for part in made[3:5])
                made = (*made[:3], *items, *made[5:])
            self.reduced[id(obj)] = (obj, made)
        return self.reduced[id(obj)][1]

    def twin(self, t: facula.Tensor) -> facula.Tensor:
        """Return the tensor that is written for `t`: its values without conjugation to do."""
        if id(t) not in self.twins:
            plain = t.detach()
            self.twins[id(t)] = (t, plain.resolve_conj() if t.is_complex() else plain)
        return self.twins[id(t)][1]

    def parts_of(self, t: facula.Tensor) -> tuple:
        """Return what is written for a sparse tensor: its layout and its parts."""
        if id(t) not in self.sparse:
            from facula.sparse._tensor import pickle_arguments

            self.sparse[id(t)] = (t, pickle_arguments(t))
        return self.sparse[id(t)][1]

    def whole(self, storage: Any) -> facula.Tensor:
        """Return the 1-d tensor that is written for a storage: all its elements, or its bytes."""
        typed = isinstance(storage, TypedStorage)
        memory, dtype = (storage.untyped(), storage.dtype) if typed else (storage, facula.uint8)
        if dtype_name(dtype) in _UNTYPED:
            raise NotImplementedError(f"save: a storage of {dtype} has no name in the format")
        key = (memory._cdata, dtype)
        if key not in self.stores:
            self.stores[key] = facula.empty(0, dtype=dtype, device=memory.device).set_(memory)
        return self.stores[key]

    def add(self, t: facula.Tensor) -> None:
        self.tensors[t.untyped_storage().data_ptr()].append(t)

    def settle(self) -> None:
        for pointer, tensors in self.tensors.items():
            if pointer != 0 and len({t.dtype for t in tensors}) > 1:
                raise RuntimeError(
                    "Cannot save multiple tensors or storages that view the same data as "
                    "different types"
                )
            ranges = sorted(((*_extent(t), i) for i, t in enumerate(tensors)))
            group: list[int] = []
            low = high = 0
            for start, end, i in ranges:
                if group and start < high:
                    high = max(high, end)
                    group.append(i)
                    continue
                self._close([tensors[j] for j in group], low, high)
                group, low, high = [i], start, end
            self._close([tensors[j] for j in group], low, high)

    def _close(self, tensors: list[facula.Tensor], low: int, high: int) -> None:
        if not tensors:
            return
        first = tensors[0]
        if len(tensors) == 1 and high - low > 2 * first.numel():
            # A lone view with gaps is packed, in the order of its own dimensions.
            packed = first.detach().clone(memory_format=facula.preserve_format)
            self.packed.append(packed)
            piece = Piece(packed, *_extent(packed))
            self.place[id(first)] = (piece, packed)
        else:
            piece = Piece(first, low, high)
            for t in tensors:
                self.place[id(t)] = (piece, t)
        self.pieces.append(piece)


class _Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """Writes tensors as calls of PyTorch's rebuild functions over persistent ids of storages.

    It runs twice: first `collecting`, to learn which tensors there are, then to write, for a
    `stream` with the ids of the older format.
    """

    def __init__(
        self, file: Any, protocol: int, layout: _Layout, collecting: bool, stream: bool = False
    ) -> None:
        super().__init__(file, protocol)
        self.layout, self.collecting, self.stream = layout, collecting, stream
        self.count = 0
        self.foreign: dict[str, None] = {}

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, (facula.UntypedStorage, TypedStorage)):
            whole = self.layout.whole(obj)
            if self.collecting:
                self.layout.add(whole)
                return ("storage",)
            obj = self._stored(self.layout.place[id(whole)][0])
        elif not isinstance(obj, _StorageId):
            return None
        return (*obj.id, None) if self.stream else obj.id

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if isinstance(obj, facula.dtype):
            self.write(pickle.GLOBAL + f"torch\n{dtype_name(obj)}\n".encode())
            self.memoize(obj)
        elif isinstance(obj, _Global):
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            self.memoize(obj)
        else:
            name = name or getattr(obj, "__qualname__", None) or obj.__name__
            if not _restore.is_known(obj.__module__, name):
                self.foreign[f"{obj.__module__}.{name}"] = None
            super().save_global(obj, name)

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (_Global, facula.dtype)):
            return obj.name if isinstance(obj, _Global) else dtype_name(obj)
        if isinstance(obj, facula.Tensor):
            return self._tensor(obj)
        if isinstance(obj, facula.device):
            args = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return _named("torch", "device"), args
        if isinstance(obj, facula.Size):
            return _named("torch", "Size"), (tuple(obj),)
        if isinstance(obj, facula.layout):
            name = "torch." + str(obj).rpartition(".")[2]
            return _named("torch.serialization", "_get_layout"), (name,)
        if type(obj) in self.dispatch or isinstance(obj, type):
            return NotImplemented
        return self.layout.reduction(obj, self.proto)

    def _tensor(self, t: facula.Tensor) -> tuple:
        state = dict(t.__dict__) if getattr(t, "__dict__", None) else None
        if type(t).__torch_dispatch__ is not facula.Tensor.__torch_dispatch__ and not t.data_ptr():
            where = (tuple(t.shape), tuple(t.stride()), t.storage_offset(), t.layout, t.device)
            args = (type(t), t.dtype, *where, t.requires_grad)
            rebuild = _named("torch._tensor", "_rebuild_from_type_v2")
            made = _named("torch._utils", "_rebuild_wrapper_subclass")
            return rebuild, (made, type(t), args, state or {})
        if isinstance(t, facula.nn.Parameter):
            args = (self.layout.twin(t), t.requires_grad, OrderedDict())
            if state:
                rebuild = _named("torch._utils", "_rebuild_parameter_with_state")
                return rebuild, (*args, state)
            return _named("torch._utils", "_rebuild_parameter"), args
        if t.layout != facula.strided:
            return _named("torch._utils", "_rebuild_sparse_tensor"), self.layout.parts_of(t)
        function, args = self._plain(t)
        if state:
            rebuild = _named("torch._tensor", "_rebuild_from_type_v2")
            return rebuild, (function, _named("torch", "Tensor"), args, state)
        return function, args

    def _plain(self, t: facula.Tensor) -> tuple:
        if t.device.type == "meta":
            name = _named("torch._utils", "_rebuild_meta_tensor_no_storage")
            return name, (t.dtype, tuple(t.shape), tuple(t.stride()), t.requires_grad)
        twin = self.layout.twin(t)
        if self.collecting:
            self.layout.add(twin)
            return _named("torch._utils", "_rebuild_tensor_v2"), ()
        piece, placed = self.layout.place[id(twin)]
        offset = placed.storage_offset() - piece.low if t.numel() else 0
        rest = (offset, tuple(t.shape), tuple(placed.stride()), t.requires_grad, OrderedDict())
        storage = self._stored(piece)
        if dtype_name(t.dtype) in _UNTYPED:
            return _named("torch._utils", "_rebuild_tensor_v3"), (storage, *rest, t.dtype)
        return _named("torch._utils", "_rebuild_tensor_v2"), (storage, *rest)

    def _stored(self, piece: Piece) -> _StorageId:
        """Return what stands for a piece, which is numbered when it is first met."""
        if not piece.key:
            piece.key = str(self.count)
            self.count += 1
        t = piece.tensor
        count, where, name = piece.high - piece.low, str(t.device), dtype_name(t.dtype)
        if name in _UNTYPED:
            # PyTorch reads streams of typed storages only.
            bare = ("torch", "ByteStorage") if self.stream else ("torch.storage", "UntypedStorage")
            kind = _named(*bare)
            return _StorageId(kind, piece.key, where, count * t.element_size())
        return _StorageId(_named("torch", _STORAGE_NAMES[name]), piece.key, where, count)


class _StorageId:
    """Stands for a storage in the pickle."""

    def __init__(self, kind: _Global, key: str, location: str, count: int) -> None:
        self.id = ("storage", kind, key, location, count)


def pickle_of(
    obj: Any, protocol: int, stream: bool = False
) -> tuple[bytes, list[Piece], list[str]]:
    """Return the pickle of an object, the pieces it refers to by their `key`, and the names of
    classes and functions in it that `load` will take only when they are declared safe. With
    `stream` the ids of storages are those of the format before PyTorch 1.6.
    """
    layout = _Layout()
    _Pickler(io.BytesIO(), protocol, layout, collecting=True).dump(obj)
    layout.settle()
    file = io.BytesIO()
    writer = _Pickler(file, protocol, layout, collecting=False, stream=stream)
    writer.dump(obj)
    pieces = sorted((p for p in layout.pieces if p.key), key=lambda p: int(p.key))
    return file.getvalue(), pieces, list(writer.foreign)
