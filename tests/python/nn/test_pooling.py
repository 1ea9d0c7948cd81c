"""Pooling against windows taken in NumPy."""

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn import functional as F


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def windows(x, kernel, stride, padding, dilation, fill):
    """The windows of (N, C, *) as (N, C, *out, prod(kernel))."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * rank, constant_values=fill)
    sizes = [(s - dilation * (kernel - 1) - 1) // stride + 1 for s in x.shape[2:]]
    out = np.empty((*x.shape[:2], *sizes, kernel**rank))
    for at in np.ndindex(*sizes):
        cut = tuple(
            slice(i * stride, i * stride + dilation * (kernel - 1) + 1, dilation) for i in at
        )
        block = x[(slice(None), slice(None), *cut)]
        out[(slice(None), slice(None), *at)] = block.reshape(*x.shape[:2], -1)
    return out


SHAPES = {1: (2, 3, 9), 2: (2, 3, 7, 8), 3: (2, 3, 5, 6, 4)}


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", [(2, 2, 0, 1), (3, 1, 1, 1), (2, 2, 1, 2)])
def test_max_pool(rng, rank, options):
    kernel, stride, padding, dilation = options
    x = rng.standard_normal(SHAPES[rank])
    pool = getattr(nn, f"MaxPool{rank}d")(kernel, stride, padding, dilation)
    expected = windows(x, kernel, stride, padding, dilation, -np.inf).max(-1)
    np.testing.assert_array_equal(array(pool(tensor(x))), expected)
    np.testing.assert_array_equal(array(pool(tensor(x[0]))), expected[0])


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_max_pool_indices_and_unpool(rng, rank):
    x = rng.standard_normal(SHAPES[rank])
    pool = getattr(nn, f"MaxPool{rank}d")(2, return_indices=True)
    out, where = pool(tensor(x))
    flat = x.reshape(2, 3, -1)
    picked = np.take_along_axis(flat, array(where).reshape(2, 3, -1), 2)
    np.testing.assert_array_equal(picked, array(out).reshape(2, 3, -1))
    back = getattr(nn, f"MaxUnpool{rank}d")(2)(out, where, output_size=x.shape)
    expected = np.zeros_like(flat)
    np.put_along_axis(expected, array(where).reshape(2, 3, -1), picked, 2)
    np.testing.assert_array_equal(array(back).reshape(2, 3, -1), expected)
    with pytest.raises(ValueError, match="invalid output_size"):
        getattr(nn, f"MaxUnpool{rank}d")(2)(out, where, output_size=[30] * rank)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_avg_pool(rng, rank):
    x = rng.standard_normal(SHAPES[rank])
    cls = getattr(nn, f"AvgPool{rank}d")
    expected = windows(x, 3, 2, 1, 1, 0.0).mean(-1)
    np.testing.assert_allclose(array(cls(3, 2, 1)(tensor(x))), expected, rtol=1e-9)
    counts = windows(np.ones_like(x), 3, 2, 1, 1, 0.0).sum(-1)
    expected = windows(x, 3, 2, 1, 1, 0.0).sum(-1) / counts
    got = cls(3, 2, 1, count_include_pad=False)(tensor(x))
    np.testing.assert_allclose(array(got), expected, rtol=1e-9)


def test_avg_pool_divisor_and_ceil():
    x = facula.arange(25, dtype=facula.float64).reshape(1, 1, 5, 5)
    got = array(nn.AvgPool2d(2, divisor_override=1)(x))
    assert got[0, 0].tolist() == [[12.0, 20.0], [52.0, 60.0]]
    got = array(nn.AvgPool2d(2, ceil_mode=True)(x))
    assert got[0, 0, 2, 2] == 24.0 and got.shape == (1, 1, 3, 3)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_adaptive(rng, rank):
    x = rng.standard_normal(SHAPES[rank])
    sizes = [3, 4, 2][:rank]

    def cell(i, out, size):
        return slice(i * size // out, -(-(i + 1) * size // out))

    avg, top = np.empty((2, 3, *sizes)), np.empty((2, 3, *sizes))
    for at in np.ndindex(*sizes):
        cut = tuple(cell(i, o, s) for i, o, s in zip(at, sizes, x.shape[2:], strict=True))
        block = x[(slice(None), slice(None), *cut)].reshape(2, 3, -1)
        avg[(slice(None), slice(None), *at)] = block.mean(-1)
        top[(slice(None), slice(None), *at)] = block.max(-1)
    got = getattr(nn, f"AdaptiveAvgPool{rank}d")(sizes)(tensor(x))
    np.testing.assert_allclose(array(got), avg, rtol=1e-9)
    got, where = getattr(nn, f"AdaptiveMaxPool{rank}d")(sizes, return_indices=True)(tensor(x))
    np.testing.assert_array_equal(array(got), top)
    picked = np.take_along_axis(x.reshape(2, 3, -1), array(where).reshape(2, 3, -1), 2)
    np.testing.assert_array_equal(picked.reshape(top.shape), top)


def test_adaptive_sizes_with_none():
    assert nn.AdaptiveAvgPool2d((None, 2))(facula.ones(1, 1, 5, 6)).shape == (1, 1, 5, 2)
    assert nn.AdaptiveMaxPool2d((2, None))(facula.ones(1, 1, 5, 6)).shape == (1, 1, 2, 6)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_lp_pool(rng, rank):
    x = np.abs(rng.standard_normal(SHAPES[rank]))
    got = getattr(nn, f"LPPool{rank}d")(3, 2)(tensor(x))
    expected = (windows(x, 2, 2, 0, 1, 0.0) ** 3).sum(-1) ** (1 / 3)
    np.testing.assert_allclose(array(got), expected, rtol=1e-7)


def test_fractional_max_pool():
    x = facula.rand(2, 3, 9, 9)
    out, where = F.fractional_max_pool2d(x, 2, output_size=(4, 5), return_indices=True)
    assert out.shape == (2, 3, 4, 5)
    picked = np.take_along_axis(array(x).reshape(2, 3, -1), array(where).reshape(2, 3, -1), 2)
    np.testing.assert_array_equal(picked.reshape(out.shape), array(out))
    assert nn.FractionalMaxPool3d(2, output_ratio=0.5)(facula.rand(1, 2, 6, 6, 6)).shape == (
        1, 2, 3, 3, 3,
    )  # fmt: skip
    with pytest.raises(ValueError, match="either an output size, or a pooling ratio"):
        nn.FractionalMaxPool2d(2)
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        nn.FractionalMaxPool2d(2, output_ratio=2.0)


def test_gradient_goes_to_the_maximum():
    x = facula.tensor([[[1.0, 3.0, 2.0, 0.0]]], requires_grad=True)
    nn.MaxPool1d(2)(x).sum().backward()
    assert array(x.grad).tolist() == [[[0.0, 1.0, 1.0, 0.0]]]


def test_fractional_samples():
    x, samples = facula.rand(2, 6, 6, 6), facula.rand(3, 2, 3)
    pool = nn.FractionalMaxPool3d(2, output_size=3, _random_samples=samples)
    assert facula.equal(pool(x), pool(x.unsqueeze(0))[0])
    with pytest.raises(RuntimeError, match="float64"):
        pool(x.double())
    with pytest.raises(RuntimeError, match=r"expected _random_samples of shape \[4, 2, 3\]"):
        pool(x.expand(4, 2, 6, 6, 6))
    with pytest.raises(RuntimeError, match="too large"):
        nn.FractionalMaxPool3d(3, output_size=4)(x)
