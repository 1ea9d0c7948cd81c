"""Legacy names: facula.FloatTensor and its siblings, and the typed storages FloatStorage ..."""

from __future__ import annotations

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

_TITLES = {
    "Double": _C.float64,
    "Float": _C.float32,
    "Half": _C.float16,
    "BFloat16": _C.bfloat16,
    "Long": _C.int64,
    "Int": _C.int32,
    "Short": _C.int16,
    "Char": _C.int8,
    "Byte": _C.uint8,
    "Bool": _C.bool,
    "ComplexFloat": _C.complex64,
    "ComplexDouble": _C.complex128,
}
TITLE_OF = {dtype: title for title, dtype in _TITLES.items()}
TITLE_OF.update({_C.uint16: "UInt16", _C.uint32: "UInt32", _C.uint64: "UInt64"})


class _TensorKind(type):
    """The type of FloatTensor and its siblings: calls make plain tensors of their dtype."""

    dtype: Any

    def __call__(cls, *args: Any, device: Any = None) -> _C.Tensor:
        result = _C._legacy_new(cls.dtype, args)
        return result if device is None else result.to(device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _C.Tensor) and instance.dtype == cls.dtype

    def __repr__(cls) -> str:
        return f"<class '{_C._package_name()}.{cls.__name__}'>"


def _warn_of_typed_storage() -> None:
    from facula._absent import once_in_words

    once_in_words(
        "TypedStorage is deprecated: UntypedStorage, which tensor.untyped_storage() gives, is the "
        "storage class to use."
    )


class TypedStorage:
    """A storage seen as elements of one dtype."""

    dtype: Any = None
    _elements: Any = None  # a 1-d tensor, of storages that come from a file

    def __init__(self, *args: Any, wrap_storage: Any = None, dtype: Any = None) -> None:
        if dtype is not None:
            self.dtype = dtype
        if self.dtype is None:
            self.dtype = _C.get_default_dtype()
        if wrap_storage is None:
            _warn_of_typed_storage()
        if wrap_storage is not None:
            self._untyped_storage = wrap_storage
        elif args and not isinstance(args[0], int):
            self._untyped_storage = _C.tensor(list(args[0]), dtype=self.dtype).untyped_storage()
        else:
            count = args[0] if args else 0
            self._untyped_storage = _C.UntypedStorage(count * self.dtype.itemsize)

    def _tensor(self) -> _C.Tensor:
        return _C._legacy_new(self.dtype, (0,)).set_(self._untyped_storage)

    @property
    def device(self) -> Any:
        """The device of the bytes."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """False: the bytes are in the CPU's memory."""
        return False

    def untyped(self) -> _C.UntypedStorage:
        """Give the bytes."""
        return self._untyped_storage

    def element_size(self) -> int:
        """Give the bytes of an element."""
        return self.dtype.itemsize

    def nbytes(self) -> int:
        """Give the size in bytes."""
        return self._untyped_storage.nbytes()

    def size(self) -> int:
        """Give the number of elements."""
        return len(self)

    def data_ptr(self) -> int:
        """Give the address of the first byte."""
        return self._untyped_storage.data_ptr()

    def tolist(self) -> list:
        """Give the elements."""
        return self._tensor().tolist()

    def __len__(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        part = self._tensor()[index]
        return part.item() if part.dim() == 0 else part.tolist()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._tensor()[index] = value

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._tensor().fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Copy the elements of another storage."""
        self._untyped_storage.copy_(source.untyped())
        return self

    def clone(self) -> TypedStorage:
        """Give a copy."""
        return type(self)(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def resize_(self, size: int) -> TypedStorage:
        """Change the number of elements."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    __copy__ = clone

    def __reduce__(self) -> tuple:
        return _typed, (type(self), self._untyped_storage, self.dtype)

    def __repr__(self) -> str:
        values = ["..."] if self.device.type == "meta" else self.tolist()
        lines = "\n ".join(str(v) for v in values)
        name = _C._package_words("facula.storage.TypedStorage")
        return f" {lines}\n[{name}(dtype={self.dtype}) of size {len(self)}]"


def _typed(kind: type, memory: _C.UntypedStorage, dtype: Any) -> TypedStorage:
    return kind(wrap_storage=memory, dtype=dtype)


def _deepcopy_storage(self: _C.UntypedStorage, memo: dict) -> _C.UntypedStorage:
    """Copy the bytes once for all storages and tensors that are copied together."""
    key = ("storage", self._cdata)
    if key not in memo:
        memo[key] = self.clone()
    return memo[key]


def _reduce_storage(self: _C.UntypedStorage) -> tuple:
    return _C.UntypedStorage, (bytes(self),)


def _from_file(filename: Any, shared: bool = False, nbytes: int = 0) -> _C.UntypedStorage:
    """Map a file as a storage.

    With `shared`, writes go to the file, which is made `nbytes` long; otherwise they stay here.
    """
    import mmap
    import os

    if not isinstance(filename, (str, bytes, os.PathLike)):
        raise TypeError(f"from_file: expected a path, got {type(filename).__name__}")
    try:
        opened = open(filename, "r+b" if shared else "rb")
    except OSError as error:
        raise RuntimeError(f"from_file: unable to open file <{filename!s}>: {error}") from error
    with opened as file:
        size = os.fstat(file.fileno()).st_size
        if shared and size < nbytes:
            file.truncate(nbytes)
        elif size < nbytes:
            raise RuntimeError(
                f"from_file: {os.fspath(filename)} has {size} bytes, but {nbytes} are wanted"
            )
        if nbytes == 0:
            return _C.UntypedStorage(0)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        data = mmap.mmap(file.fileno(), nbytes, access=access)
    return _C.frombuffer(data, dtype=_C.uint8).untyped_storage()


_C.UntypedStorage.from_file = staticmethod(_from_file)
_C.UntypedStorage.__copy__ = _C.UntypedStorage.clone
_C.UntypedStorage.__deepcopy__ = _deepcopy_storage
_C.UntypedStorage.__reduce__ = _reduce_storage

__all__ = ["TypedStorage"]
for _title, _dtype in _TITLES.items():
    for _base in ("Tensor", "Storage"):
        if _base == "Tensor" and _title.startswith("Complex"):
            continue
        _name = _title + _base
        if _base == "Tensor":
            _made: type = _TensorKind(_name, (), {"dtype": _dtype, "__module__": "facula"})
        else:
            _made = type(_name, (TypedStorage,), {"dtype": _dtype, "__module__": "facula"})
        globals()[_name] = _made
        __all__.append(_name)
