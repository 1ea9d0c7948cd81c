"""Convolutions against sums written out in NumPy."""

import subprocess
import sys

import numpy as np
import pytest

import facula
from facula import nn


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def convolve(x, w, stride, padding, dilation, groups):
    """Cross-correlation of (N, C, *) with (O, C / groups, *), every spatial rank."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding])
    sizes = [
        (x.shape[2 + d] - dilation[d] * (w.shape[2 + d] - 1) - 1) // stride[d] + 1
        for d in range(rank)
    ]
    out = np.zeros((x.shape[0], w.shape[0], *sizes))
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for at in np.ndindex(*sizes):
        window = tuple(
            slice(i * s, i * s + d * (k - 1) + 1, d)
            for i, s, d, k in zip(at, stride, dilation, w.shape[2:], strict=True)
        )
        for o in range(w.shape[0]):
            g = o // per_out
            block = x[(slice(None), slice(g * per_in, (g + 1) * per_in), *window)]
            out[(slice(None), o, *at)] = (block * w[o]).reshape(x.shape[0], -1).sum(1)
    return out


CASES = [
    (nn.Conv1d, (2, 4, 9), {"kernel_size": 3, "stride": 2, "padding": 1}),
    (nn.Conv1d, (2, 4, 9), {"kernel_size": 2, "dilation": 3, "groups": 2, "bias": False}),
    (nn.Conv2d, (2, 4, 6, 5), {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0)}),
    (nn.Conv2d, (1, 4, 6, 5), {"kernel_size": 2, "dilation": 2, "groups": 4}),
    (nn.Conv3d, (1, 2, 4, 5, 3), {"kernel_size": 2, "stride": (1, 2, 1), "padding": 1}),
]


@pytest.mark.parametrize("cls, shape, options", CASES)
def test_forward(rng, cls, shape, options):
    conv = cls(shape[1], 4, dtype=facula.float64, **options)
    x = rng.standard_normal(shape)
    expected = convolve(
        x, array(conv.weight), conv.stride, conv.padding, conv.dilation, conv.groups
    )
    if conv.bias is not None:
        expected += array(conv.bias).reshape(-1, *[1] * (x.ndim - 2))
    np.testing.assert_allclose(array(conv(tensor(x))), expected, rtol=1e-10, atol=1e-12)
    unbatched = conv(tensor(x[0]))
    np.testing.assert_allclose(array(unbatched), expected[0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode, pad", [("reflect", "reflect"), ("replicate", "edge"),
                                       ("circular", "wrap")])  # fmt: skip
def test_padding_modes(rng, mode, pad):
    conv = nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode=mode, dtype=facula.float64)
    x = rng.standard_normal((1, 2, 5, 6))
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 2)], mode=pad)
    expected = convolve(padded, array(conv.weight), (1, 1), (0, 0), (1, 1), 1)
    expected += array(conv.bias).reshape(-1, 1, 1)
    np.testing.assert_allclose(array(conv(tensor(x))), expected, rtol=1e-10, atol=1e-12)


def test_same_padding_keeps_the_size(rng):
    conv = nn.Conv2d(1, 1, (4, 3), padding="same", dilation=2)
    assert conv(facula.ones(1, 1, 9, 10)).shape == (1, 1, 9, 10)
    assert repr(nn.Conv2d(1, 1, 2, padding="valid")).endswith("padding=valid)")


@pytest.mark.parametrize("options", [{"stride": 2},
                                     {"stride": 2, "padding": 1, "output_padding": 1},
                                     {"groups": 2, "dilation": 2}])  # fmt: skip
def test_transposed_is_the_adjoint(rng, options):
    up = nn.ConvTranspose2d(4, 6, 3, bias=False, dtype=facula.float64, **options)
    x = rng.standard_normal((2, 4, 3, 4))
    y = array(up(tensor(x)))
    probe = rng.standard_normal(y.shape)
    down = convolve(probe, array(up.weight), up.stride, up.padding, up.dilation, up.groups)[
        :, :, : x.shape[2], : x.shape[3]
    ]
    np.testing.assert_allclose((y * probe).sum(), (x * down).sum(), rtol=1e-9)


def test_output_size_chooses_the_padding():
    up = nn.ConvTranspose2d(3, 4, 2, stride=2)
    x = facula.ones(2, 3, 4, 4)
    assert up(x, output_size=(9, 8)).shape == (2, 4, 9, 8)
    assert up(x, output_size=facula.ones(2, 4, 8, 9).size()).shape == (2, 4, 8, 9)
    with pytest.raises(ValueError, match=r"valid sizes range from \[8, 8\] to \[9, 9\]"):
        up(x, output_size=(20, 20))


def test_refused_options():
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        nn.Conv2d(3, 4, 2, groups=2)
    with pytest.raises(ValueError, match="out_channels must be divisible"):
        nn.Conv2d(4, 3, 2, groups=2)
    with pytest.raises(ValueError, match="Invalid padding string"):
        nn.Conv2d(1, 1, 2, padding="wide")
    with pytest.raises(ValueError, match="not supported for strided"):
        nn.Conv2d(1, 1, 2, padding="same", stride=2)
    with pytest.raises(ValueError, match='Only "zeros" padding mode'):
        nn.ConvTranspose2d(1, 1, 2, padding_mode="reflect")


def test_printing():
    conv = nn.Conv2d(4, 4, 2, stride=2, padding=1, dilation=2, groups=2, bias=False)
    assert repr(conv) == (
        "Conv2d(4, 4, kernel_size=(2, 2), stride=(2, 2), padding=(1, 1), dilation=(2, 2), "
        "groups=2, bias=False)"
    )


@pytest.mark.parametrize("cls, shape", [
    (nn.LazyConv1d, (2, 3, 8)), (nn.LazyConv2d, (2, 3, 8, 8)), (nn.LazyConv3d, (2, 3, 4, 4, 4)),
    (nn.LazyConvTranspose1d, (2, 3, 8)), (nn.LazyConvTranspose2d, (2, 3, 8, 8)),
    (nn.LazyConvTranspose3d, (2, 3, 4, 4, 4)),
])  # fmt: skip
def test_lazy_forms(cls, shape):
    lazy = cls(5, 2)
    out = lazy(facula.ones(shape))
    assert out.shape[:2] == (2, 5)
    assert type(lazy).__name__ == cls.__name__.removeprefix("Lazy") and lazy.in_channels == 3


def test_weight_gradient_stays_within_its_memory():
    """Few channels and rows that no window reaches: a fault ends the process, so it has its own."""
    program = """
import facula
for size in (16, 32, 64) * 4:
    for channels in (3, 4):
        w = facula.ones(48, channels, 1, 1, requires_grad=True)
        x = facula.ones(2, channels, size, size)
        facula.nn.functional.conv2d(x, w, stride=2).sum().backward()
        assert (w.grad == 2 * (size // 2) ** 2).all()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
