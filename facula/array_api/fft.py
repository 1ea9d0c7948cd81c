"""The extension `fft` of the array API standard."""

from __future__ import annotations

import facula as _facula
from facula._naming import named

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from facula.array_api._promotion import Array

__all__ = (
    "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"
).split()

_fft = _facula.fft


def __dir__() -> list[str]:
    return sorted(__all__)


def _along_one(name: str, doc: str) -> Callable[..., Array]:
    operator = getattr(_fft, name)

    def function(
        x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Array:
        return operator(x, n=n, dim=axis, norm=norm)

    return named(function, __name__, name, doc)


def _along_several(name: str, doc: str) -> Callable[..., Array]:
    operator = getattr(_fft, name)

    def function(
        x: Array,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> Array:
        return operator(x, s=s, dim=axes, norm=norm)

    return named(function, __name__, name, doc)


_ONE = " along an axis, of the first `n` elements or with zeros behind."
_MANY = " along axes (None: all), of sizes `s`."

fft = _along_one("fft", "Discrete Fourier transform" + _ONE)
ifft = _along_one("ifft", "Inverse of `fft`" + _ONE)
rfft = _along_one("rfft", "Half of the Fourier transform of a real array" + _ONE)
irfft = _along_one("irfft", "Inverse of `rfft`, with `n` elements, by default 2 (m - 1).")
hfft = _along_one("hfft", "Fourier transform of half of a Hermitian array, real, of size `n`.")
ihfft = _along_one("ihfft", "Inverse of `hfft`" + _ONE)
fftn = _along_several("fftn", "Discrete Fourier transform" + _MANY)
ifftn = _along_several("ifftn", "Inverse of `fftn`" + _MANY)
rfftn = _along_several("rfftn", "Fourier transform of a real array, half of the last axis" + _MANY)
irfftn = _along_several("irfftn", "Inverse of `rfftn`" + _MANY)


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: _facula.dtype | None = None, device: Any = None
) -> Array:
    """Give the frequencies of the elements of `fft` of n samples at distance `d`.

    >>> fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: _facula.dtype | None = None, device: Any = None
) -> Array:
    """Give the frequencies of the elements of `rfft` of n samples at distance `d`."""
    return _fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Move the zero frequency to the middle of axes (None: all)."""
    return _fft.fftshift(x, dim=axes)


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Undo `fftshift`."""
    return _fft.ifftshift(x, dim=axes)
