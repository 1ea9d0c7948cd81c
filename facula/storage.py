"""Storages: the memory behind tensors, as bytes and as elements of a type."""

from facula._C import UntypedStorage
from facula._legacy import TypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

StorageBase = UntypedStorage  # the name that PyTorch gives to the base of storages


class _LegacyStorage(TypedStorage):
    """The base of FloatStorage and its siblings in PyTorch, for isinstance()."""
