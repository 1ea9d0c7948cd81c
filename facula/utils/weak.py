"""Dictionaries whose keys are held weakly and told apart by identity, as tensors need it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from facula import _C

__all__ = [
    "TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary",
    "WeakTensorRefKey",
]  # fmt: skip


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to another one when both are of the same object."""

    __slots__ = ["_id"]

    def __init__(self, key: Any, callback: Callable | None = None) -> None:
        self._id = id(key)
        super().__init__(key, callback)  # type: ignore[call-arg]

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        a, b = self(), other() if isinstance(other, weakref.ref) else None
        if a is not None and b is not None:
            return a is b
        return self is other


WeakTensorRefKey = WeakIdRef


class TensorWeakRef:
    """A weak reference to a tensor; calling it gives the tensor, or None after its end."""

    def __init__(self, tensor: _C.Tensor) -> None:
        if not isinstance(tensor, _C.Tensor):
            raise TypeError(f"expected a tensor, got {type(tensor).__name__}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> _C.Tensor | None:
        """Give the tensor, or None after its end."""
        return self.ref()


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary that holds its keys weakly and tells them apart by identity.

    An entry goes when its key does. Example:
        notes = WeakIdKeyDictionary()
        notes[facula.ones(2)] = "gone at once"
    """

    def __init__(self, dict: Any = None, ref_type: type = WeakIdRef) -> None:
        self.ref_type = ref_type
        self.data: dict = {}
        entries = self.data

        def forget(ref: Any) -> None:
            entries.pop(ref, None)

        self._forget = forget
        if dict is not None:
            for key, value in dict.items():
                self[key] = value

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: Any) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:
            return False

    def __len__(self) -> int:
        return sum(ref() is not None for ref in list(self.data))

    def __iter__(self) -> Iterator[Any]:
        for ref in list(self.data):
            key = ref()
            if key is not None:
                yield key

    def keyrefs(self) -> list[Any]:
        """Give the weak references."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Make a dictionary with the same keys and values."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"


class WeakTensorKeyDictionary(WeakIdKeyDictionary):
    """A dictionary by tensors: they are held weakly and told apart by identity."""
