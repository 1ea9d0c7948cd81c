"""Fourier transforms: values against NumPy in double precision, derivatives, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import facula
from facula import fft
from facula.autograd import gradcheck, gradgradcheck

# One length of each way through the kernel: passes of every radix, split lines, chirps.
LENGTHS = [*range(1, 9), 11, 12, 13, 15, 16, 17, 30, 49, 61, 64, 67, 100, 101, 128, 134, 211]
LONG = [1000, 1024, 1009, 2048, 3721, 4096, 4099, 4802, 10007, 16384]
SINGLE = [(facula.float32, facula.complex64, 5e-7), (facula.float64, facula.complex128, 1e-15)]


def close(got: facula.Tensor, want: np.ndarray, unit: float) -> None:
    """The largest error in units of the root mean square, which grows with the number of passes."""
    assert tuple(got.shape) == want.shape
    size = np.sqrt(np.mean(np.abs(want) ** 2))
    error = np.abs(got.numpy() - want).max()
    assert error <= unit * (4 + np.log2(max(want.shape))) * size


def signals(shape: tuple, real: facula.dtype, cplx: facula.dtype) -> tuple:
    rng = np.random.default_rng(sum(shape))
    x = facula.from_numpy(rng.standard_normal(shape)).to(real)
    z = facula.from_numpy(rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).to(cplx)
    return x, z, x.numpy().astype(np.float64), z.numpy().astype(np.complex128)


@pytest.mark.parametrize(("real", "cplx", "unit"), SINGLE)
@pytest.mark.parametrize("lines", [1, 3, 21])
@pytest.mark.parametrize("n", LENGTHS + LONG)
def test_lengths(n: int, lines: int, real: facula.dtype, cplx: facula.dtype, unit: float) -> None:
    if n > 300 and lines == 21:
        lines = 9
    x, z, x64, z64 = signals((lines, n), real, cplx)
    close(fft.fft(z), np.fft.fft(z64), unit)
    close(fft.ifft(z), np.fft.ifft(z64), unit)
    close(fft.fft(x), np.fft.fft(x64), unit)
    close(fft.ifft(x), np.fft.ifft(x64), unit)
    close(fft.rfft(x), np.fft.rfft(x64), unit)
    close(fft.ihfft(x), np.fft.ihfft(x64), unit)
    half = n // 2 + 1
    close(fft.irfft(z[:, :half], n=n), np.fft.irfft(z64[:, :half], n=n), unit)
    close(fft.hfft(z[:, :half], n=n), np.fft.hfft(z64[:, :half], n=n), unit)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("n", [None, 1, 4, 7, 9, 200])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_padding_dims_and_norms(name: str, n: int | None, norm: str | None) -> None:
    x, z, x64, z64 = signals((5, 7, 6), facula.float64, facula.complex128)
    t, a = (x, x64) if name in ("rfft", "ihfft") else (z, z64)
    for dim in (-1, 0, 1):
        got = getattr(fft, name)(t, n=n, dim=dim, norm=norm)
        close(got, getattr(np.fft, name)(a, n=n, axis=dim, norm=norm), 2e-15)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_several_dims(name: str) -> None:
    x, z, x64, z64 = signals((3, 6, 5, 4), facula.float64, facula.complex128)
    t, a = (x, x64) if name == "rfft" else (z, z64)
    two, many = name + "2", name + "n"
    for norm in (None, "ortho", "forward"):
        close(getattr(fft, two)(t, norm=norm), getattr(np.fft, two)(a, norm=norm), 2e-15)
        for s, dim in (((4, 9), (0, 2)), ((8,), (1,)), ((2, 3, 4), (-1, 0, 1))):
            want = getattr(np.fft, many)(a, s=s, axes=dim, norm=norm)
            close(getattr(fft, many)(t, s=s, dim=dim, norm=norm), want, 2e-15)
        every = getattr(np.fft, many)(a, axes=(0, 1, 2, 3), norm=norm)
        close(getattr(fft, many)(t, norm=norm), every, 2e-15)


def test_hermitian_dims_are_inverse() -> None:
    x = facula.randn(4, 5, 6, dtype=facula.float64)
    for dim in ((0, 1, 2), (2, 0), (1,)):
        sizes = [x.shape[d] for d in dim]
        back = fft.hfftn(fft.ihfftn(x, dim=dim), s=sizes, dim=dim)
        assert facula.allclose(back, x)
    assert facula.allclose(fft.hfft2(fft.ihfft2(x), s=x.shape[-2:]), x)


def test_strides_do_not_matter() -> None:
    z = facula.randn(6, 10, 8, dtype=facula.complex128)
    for view in (z.transpose(0, 2), z[:, ::3], z.flip(0), z[:, :1].expand(6, 5, 8)):
        for dim in range(3):
            assert facula.equal(fft.fft(view, dim=dim), fft.fft(view.clone(), dim=dim))


def test_lines_do_not_touch_each_other() -> None:
    x = facula.randn(5, 24)
    x[2] = float("nan")
    assert fft.rfft(x).isnan().any(-1).tolist() == [False, False, True, False, False]


def test_result_does_not_depend_on_threads() -> None:
    z = facula.randn(40, 1 << 13, dtype=facula.complex64)
    line = facula.randn(1 << 17, dtype=facula.complex64)
    many = facula.get_num_threads()
    a, b = fft.fft(z), fft.fft(line)
    facula.set_num_threads(1)
    try:
        assert facula.equal(a, fft.fft(z))
        assert facula.equal(b, fft.fft(line))
    finally:
        facula.set_num_threads(many)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("n", [1, 4, 5, 8, 11])
def test_derivatives(name: str, n: int) -> None:
    real = name in ("rfft", "ihfft")
    for size in (3, 6):
        t = facula.randn(2, size, dtype=facula.float64 if real else facula.complex128)
        t.requires_grad_()

        def run(x: facula.Tensor) -> facula.Tensor:
            return getattr(fft, name)(x, n=n, norm="ortho")

        assert gradcheck(run, (t,))
        assert gradgradcheck(run, (t,))


def test_real_input_gets_a_real_gradient() -> None:
    x = facula.randn(3, 5, dtype=facula.float64, requires_grad=True)
    assert gradcheck(lambda t: fft.fft2(t, s=(4, 4)), (x,))
    assert gradcheck(lambda t: fft.irfft(t), (x,))


def test_frequencies_and_shifts() -> None:
    for n in (1, 2, 5, 8):
        assert np.allclose(fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5))
        assert np.allclose(fft.rfftfreq(n, d=2.0).numpy(), np.fft.rfftfreq(n, 2.0))
    x = facula.arange(30).reshape(5, 6)
    for dim in (None, 0, (0, 1), -1):
        assert (fft.fftshift(x, dim).numpy() == np.fft.fftshift(x.numpy(), dim)).all()
        assert (fft.ifftshift(x, dim).numpy() == np.fft.ifftshift(x.numpy(), dim)).all()


def test_out_and_dtypes() -> None:
    x = facula.arange(6)
    out = facula.empty(0, dtype=facula.complex128)
    assert fft.fft(x, out=out) is out
    assert np.allclose(out.numpy(), np.fft.fft(np.arange(6)))
    assert fft.rfft(x).dtype == facula.complex64
    assert fft.fft(facula.ones(3, dtype=facula.bool)).tolist() == [3, 0, 0]
    assert fft.fft(facula.empty(0, 4)).shape == (0, 4)
    assert fft.rfft(facula.empty(2, 3, device="meta")).shape == (2, 2)
    assert fft.fft(facula.zeros(2, 0), n=3).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: fft.fft(x.half()), NotImplementedError),
        (lambda x: fft.rfft(x.cfloat()), TypeError),
        (lambda x: fft.fft(x, n=0), RuntimeError),
        (lambda x: fft.fft(x, norm="other"), RuntimeError),
        (lambda x: fft.fft(x, dim=2), IndexError),
        (lambda x: fft.irfft(x[:, :1]), RuntimeError),
        (lambda x: fft.fftn(x, s=(3,), dim=(0, 1)), RuntimeError),
        (lambda x: fft.fftn(x, dim=(0, -2)), RuntimeError),
        (lambda x: fft.rfftn(x, dim=()), RuntimeError),
        (lambda x: fft.fft(x, out=facula.empty(0)), RuntimeError),
        (lambda x: fft.fftfreq(4, dtype=facula.int64), RuntimeError),
        (lambda x: facula.stft(x, 4), RuntimeError),
        (lambda x: facula.stft(x, 10, center=False, return_complex=True), RuntimeError),
        (lambda x: facula.istft(x, 6), TypeError),
        (lambda x: facula.istft(x.cfloat(), 6, window=facula.zeros(6)), RuntimeError),
    ],
)
def test_errors(call, kind: type) -> None:
    with pytest.raises(kind, match="."):
        call(facula.ones(4, 6))


@pytest.mark.parametrize(("n_fft", "hop", "win"), [(8, 2, 8), (9, 3, 7), (16, 4, 12)])
@pytest.mark.parametrize("cplx", [False, True])
def test_short_time_transform_inverts(n_fft: int, hop: int, win: int, cplx: bool) -> None:
    dtype = facula.complex128 if cplx else facula.float64
    x = facula.randn(3, 60, dtype=dtype)
    window = facula.hann_window(win, dtype=facula.float64) + 0.1
    s = facula.stft(x, n_fft, hop, win, window, return_complex=True, normalized=True)
    assert s.shape == (3, n_fft if cplx else n_fft // 2 + 1, 1 + (60 - n_fft % 2) // hop)
    back = facula.istft(s, n_fft, hop, win, window, normalized=True, return_complex=cplx, length=57)
    assert facula.allclose(back, x[:, :57])


def test_short_time_transform_is_the_sum_it_says() -> None:
    x = np.random.default_rng(1).standard_normal(40)
    window = np.hamming(6)
    got = facula.stft(
        facula.from_numpy(x), 8, 3, 6, facula.from_numpy(window), center=False, return_complex=True
    )
    full = np.concatenate([[0], window, [0]])
    want = np.stack([np.fft.rfft(x[t : t + 8] * full) for t in range(0, 33, 3)], axis=1)
    assert np.allclose(got.numpy(), want)
    aligned = facula.stft(
        facula.from_numpy(x), 8, 3, 6, facula.from_numpy(window), center=False,
        return_complex=True, align_to_window=True,
    )  # fmt: skip
    padded = np.concatenate([[0], x, [0]])
    want = np.stack([np.fft.rfft(padded[t : t + 8] * full) for t in range(0, 35, 3)], axis=1)
    assert np.allclose(aligned.numpy(), want)
