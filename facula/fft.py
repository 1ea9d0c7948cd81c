"""Fourier transforms: the functions of the operator table that are called facula.fft.NAME."""

from facula import _C

_rows = getattr(_C, "_fft", None)
__all__ = sorted(k for k in vars(_rows) if not k.startswith("__")) if _rows else []
globals().update({k: getattr(_rows, k) for k in __all__})
