"""Signal processing: windows."""

from facula.signal import windows

__all__ = ["windows"]
