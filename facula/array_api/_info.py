"""Inspection of the array API standard: what the library can do, and with which devices, dtypes."""

from __future__ import annotations

import facula
from facula.array_api._promotion import KINDS, default_complex

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["__array_namespace_info__"]


class ArrayNamespaceInfo:
    """Answers questions about the namespace; `__array_namespace_info__()` gives one."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """Say what is supported beyond the minimum, and the largest number of dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> facula.device:
        """Give the device of new arrays."""
        return facula.get_default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, facula.dtype]:
        """Give the dtypes of new arrays by their kind."""
        return {
            "real floating": facula.get_default_dtype(),
            "complex floating": default_complex(),
            "integral": facula.int64,
            "indexing": facula.int64,
        }

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, facula.dtype]:
        """Give the dtypes of the standard by name: all, or those of a kind or of several.

        An unknown kind is a ValueError.
        """
        if kind is None:
            kind = ("bool", "numeric")
        found: dict[str, facula.dtype] = {}
        for each in kind if isinstance(kind, tuple) else (kind,):
            if each not in KINDS:
                raise ValueError(f"dtypes: expected one of {', '.join(KINDS)}, got {each!r}")
            found.update({repr(d).rsplit(".", 1)[-1]: d for d in KINDS[each]})
        return found

    def devices(self) -> list[facula.device]:
        """Give the devices that can hold arrays."""
        accelerators = range(facula.cuda.device_count())
        return [facula.device("cpu"), *(facula.device("cuda", i) for i in accelerators)]


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """Give an object that answers questions about the namespace.

    >>> __array_namespace_info__().default_device()
    device(type='cpu')
    """
    return ArrayNamespaceInfo()
