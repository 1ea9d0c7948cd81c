"""Storages in the pickles of checkpoints: what their persistent ids say and what they become."""

from __future__ import annotations

from pickle import UnpicklingError
from typing import Any

import facula
from facula._bytes import bytes_of
from facula._legacy import TypedStorage

__all__ = ["STORAGES", "StorageKind", "elements", "is_module_id", "storage_id", "stored", "whole"]

# The dtype of PyTorch's classes of storages; None for plain bytes.
STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
    "UntypedStorage": None,
}


class StorageKind:
    """A class of storages: the elements' type, or None for bytes."""

    def __init__(self, dtype: str | None) -> None:
        self.dtype = dtype


def whole(values: Any) -> bool:
    """Say whether these are sizes: a list of integers from 0 on that fit into 8 bytes."""
    return type(values) in (tuple, list, facula.Size) and all(
        type(v) is int and 0 <= v < 2**63 for v in values
    )


def is_module_id(key: Any) -> bool:
    """Say whether a persistent id is that of a class of modules and its source."""
    return type(key) is tuple and len(key) == 4 and type(key[0]) is str and key[0] == "module"


def storage_id(key: Any) -> tuple[Any, str, str, int, tuple[int, int] | None]:
    """Return what a persistent id says: dtype, name, location and elements of a storage, and the
    part of it, as a first element and a number, that is meant if not the whole is.
    """
    if type(key) is not tuple or len(key) not in (5, 6) or type(key[0]) is not str:
        raise UnpicklingError("Weights only load failed: unknown persistent id")
    if key[0] != "storage":
        raise UnpicklingError("Weights only load failed: unknown persistent id")
    _, kind, name, location, count = key[:5]
    part = key[5] if len(key) == 6 else None
    if (
        not isinstance(kind, StorageKind)
        or type(name) is not str
        or type(location) is not str
        or not whole((count,))
    ):
        raise UnpicklingError("Weights only load failed: damaged persistent id")
    if part is not None:
        if type(part) is not tuple or len(part) != 3 or not whole(part[1:]):
            raise UnpicklingError("Weights only load failed: damaged view of a storage")
        part = part[1:]
        if sum(part) > count:
            raise RuntimeError(
                f"load: a view of {part[1]} elements at {part[0]} is out of bounds for a storage "
                f"of {count} elements"
            )
    return getattr(facula, kind.dtype or "uint8"), name, location, count, part


def stored(data: facula.Tensor, dtype: Any) -> TypedStorage:
    """Return the storage of elements that a 1-d tensor holds, or of bytes, as `dtype`."""
    memory = data.untyped_storage()
    if data.numel() and memory.nbytes() != data.nbytes and data.device.type == "cpu":
        memory = facula.frombuffer(bytes_of(data), dtype=facula.uint8).untyped_storage()
    storage = TypedStorage(wrap_storage=memory, dtype=dtype)
    storage._elements = data
    return storage


def elements(storage: TypedStorage, dtype: Any) -> facula.Tensor:
    """Return the elements of a storage that `stored` made, seen as `dtype`."""
    data = storage._elements
    return data if data.dtype == dtype else data.view(dtype)
