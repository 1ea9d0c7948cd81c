"""Tensors as bytes, for what writes them to files and reads them back."""

from __future__ import annotations

import facula

__all__ = ["CHUNK", "bytes_of"]

CHUNK = 1 << 22  # bytes that are read or written at once


def bytes_of(t: facula.Tensor) -> memoryview:
    """Return the bytes of a contiguous CPU tensor, which the view keeps alive."""
    start = t.storage_offset() * t.element_size()
    return memoryview(t.untyped_storage())[start : start + t.nbytes]
