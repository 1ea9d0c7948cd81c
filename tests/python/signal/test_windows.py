"""Windows against their formulas, and their periodic forms."""

from __future__ import annotations

import numpy as np
import pytest

import facula
from facula.signal import windows

JUDGES = {
    "hann": np.hanning,
    "hamming": np.hamming,
    "blackman": np.blackman,
    "bartlett": np.bartlett,
    "kaiser": lambda n: np.kaiser(n, 12.0),
    "cosine": lambda n: np.sin(np.pi * (np.arange(n) + 0.5) / n),
    "gaussian": lambda n: np.exp(-((np.arange(n) - (n - 1) / 2) ** 2) / 2),
    "exponential": lambda n: np.exp(-abs(np.arange(n) - (n - 1) / 2)),
}
TOP_LEVEL = ["hann", "hamming", "blackman", "bartlett", "kaiser"]


@pytest.mark.parametrize("name", sorted(JUDGES))
@pytest.mark.parametrize("n", [2, 3, 8, 51])
def test_values(name: str, n: int) -> None:
    window = getattr(windows, name)
    got = window(n, dtype=facula.float64)
    assert np.allclose(got.numpy(), JUDGES[name](n), atol=1e-12)
    periodic = window(n, sym=False, dtype=facula.float64)
    assert np.allclose(periodic.numpy(), JUDGES[name](n + 1)[:n], atol=1e-12)
    if name in TOP_LEVEL:
        row = getattr(facula, name + "_window")
        assert facula.allclose(row(n, dtype=facula.float64), periodic)
        assert facula.allclose(row(n, False, dtype=facula.float64), got)


def test_shortest() -> None:
    for name in windows.__all__:
        options = {"a": [0.5, 0.5]} if name == "general_cosine" else {}
        window = getattr(windows, name)
        assert window(0, **options).shape == (0,)
        assert window(1, **options).tolist() == [1.0]
        assert window(1, sym=False, **options).tolist() == [1.0]


def test_parameters() -> None:
    got = windows.exponential(5, center=1.0, tau=2.0, sym=False, requires_grad=True)
    assert np.allclose(got.tolist(), np.exp(-abs(np.arange(5) - 1) / 2))
    assert got.requires_grad
    assert np.allclose(facula.hamming_window(4, False, 0.6, 0.4).tolist(), [0.2, 0.8, 0.8, 0.2])
    assert np.allclose(facula.kaiser_window(5, False, 3.0).tolist(), np.kaiser(5, 3.0))


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: windows.hann(-1), ValueError),
        (lambda: windows.hann(3, dtype=facula.float16), ValueError),
        (lambda: windows.hann(3, layout=facula.sparse_coo), ValueError),
        (lambda: windows.gaussian(3, std=0.0), ValueError),
        (lambda: windows.exponential(3, tau=-1.0), ValueError),
        (lambda: windows.exponential(3, center=1.0), ValueError),
        (lambda: windows.kaiser(3, beta=-1.0), ValueError),
        (lambda: windows.general_cosine(3, a=[]), ValueError),
        (lambda: windows.general_cosine(3, a=3), TypeError),
        (lambda: facula.hann_window(-1), RuntimeError),
        (lambda: facula.hann_window(3, dtype=facula.int64), RuntimeError),
    ],
)
def test_errors(call, kind: type) -> None:
    with pytest.raises(kind, match="."):
        call()
