"""Windows for spectral analysis, as functions of the number of points M.

Symmetric windows (`sym`, the default) suit filters; others are the first M points of a window of
M + 1, as periodic signals want it. All take `dtype` (float32 or float64; the default dtype when
None), `layout`, `device` and `requires_grad`, and raise ValueError for a negative M, another dtype
or a layout that is not strided.

>>> import facula
>>> facula.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

Tensor = _C.Tensor
_rows = _C._functions

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _checked(name: str, M: int, dtype: Any, layout: Any, **options: Any) -> dict[str, Any]:
    """Refuse what the window called `name` cannot be made of; give the options of its row."""
    if dtype is None:
        dtype = _C.get_default_dtype()
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not _C.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return {"dtype": dtype, **options}


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Give exp(-|k - center| / tau); the middle is the default centre of symmetric windows."""
    options = _checked(
        "exponential", M, dtype, layout, sym=sym, device=device, requires_grad=requires_grad
    )
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _rows._window_exponential(M, center, tau, **options)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Give sin(pi (k + 1/2) / M), a half wave of the sine."""
    options = _checked(
        "cosine", M, dtype, layout, sym=sym, device=device, requires_grad=requires_grad
    )
    return _rows._window_cosine(M, **options)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Give exp(-((k - middle) / std)^2 / 2)."""
    options = _checked(
        "gaussian", M, dtype, layout, sym=sym, device=device, requires_grad=requires_grad
    )
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _rows._window_gaussian(M, std, **options)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Give i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1."""
    options = _checked(
        "kaiser", M, dtype, layout, sym=sym, device=device, requires_grad=requires_grad
    )
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _rows._window_kaiser(M, beta, **options)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Give a triangle that is 0 at both ends."""
    options = _checked(
        "bartlett", M, dtype, layout, sym=sym, device=device, requires_grad=requires_grad
    )
    return _rows._window_bartlett(M, **options)


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: Any = None,
    layout: Any = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Give the sum over i of (-1)^i a[i] cos(2 pi i k / (M - 1))."""
    options = _checked(
        "general_cosine", M, dtype, layout, sym=sym, device=device, requires_grad=requires_grad
    )
    if not hasattr(a, "__iter__"):
        raise TypeError("Coefficients must be a list/tuple")
    factors = [float(v) for v in a]
    if not factors:
        raise ValueError("Coefficients cannot be empty")
    return _rows._window_cosines(M, factors, **options)


def general_hamming(M: int, *, alpha: float = 0.54, **options: Any) -> Tensor:
    """Give alpha - (1 - alpha) cos(2 pi k / (M - 1))."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], **options)


def hamming(M: int, **options: Any) -> Tensor:
    """Give 0.54 - 0.46 cos(2 pi k / (M - 1))."""
    return general_hamming(M, **options)


def hann(M: int, **options: Any) -> Tensor:
    """Give (1 - cos(2 pi k / (M - 1))) / 2."""
    return general_hamming(M, alpha=0.5, **options)


def blackman(M: int, **options: Any) -> Tensor:
    """Give the cosine window with factors 0.42, 0.5 and 0.08."""
    return general_cosine(M, a=[0.42, 0.5, 0.08], **options)


def nuttall(M: int, **options: Any) -> Tensor:
    """Give Nuttall's minimum four-term window, with factors 0.3635819, 0.4891775, ..."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], **options)
