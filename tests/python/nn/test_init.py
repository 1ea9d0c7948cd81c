"""Initialisers: distributions, orthogonality, structure."""

import math

import numpy as np
import pytest

import facula
from facula.nn import init


@pytest.fixture(autouse=True)
def seed():
    facula.manual_seed(0)


def array(t):
    return t.detach().numpy()


@pytest.mark.parametrize("name, spread", [
    ("xavier_uniform_", math.sqrt(2 / 300)), ("xavier_normal_", math.sqrt(2 / 300)),
    ("kaiming_uniform_", math.sqrt(2 / 200)), ("kaiming_normal_", math.sqrt(2 / 200)),
])  # fmt: skip
def test_spread(name, spread):
    w = array(getattr(init, name)(facula.empty(100, 200)))
    assert abs(w.mean()) < 4 * spread / math.sqrt(w.size)
    assert abs(w.std() / spread - 1) < 0.02
    if "uniform" in name:
        assert np.abs(w).max() <= spread * math.sqrt(3) * 1.0001


def test_fans_of_a_convolution():
    w = facula.empty(8, 4, 3, 3)
    assert init._calculate_fan_in_and_fan_out(w) == (36, 72)
    assert abs(array(init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu")).std()
               / math.sqrt(2 / 72) - 1) < 0.2  # fmt: skip
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_uniform_(facula.empty(3))
    with pytest.raises(ValueError, match="not supported, please use one of"):
        init.kaiming_uniform_(facula.empty(3, 3), mode="fan")


@pytest.mark.parametrize("args", [(0, 1, -2, 2), (0, 1, -0.1, 0.3), (1, 2, 1, 1.5), (0, 1, 1, 9)])
def test_trunc_normal(args):
    mean, std, low, high = args
    w = array(init.trunc_normal_(facula.empty(20000, dtype=facula.float64), *args))
    assert w.min() >= low and w.max() <= high
    grid = np.linspace(low, high, 20001)
    density = np.exp(-(((grid - mean) / std) ** 2) / 2)
    expected = (grid * density).sum() / density.sum()
    assert abs(w.mean() - expected) < 5 * w.std() / math.sqrt(w.size)


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3), (4, 2, 3)])
def test_orthogonal(shape):
    w = array(init.orthogonal_(facula.empty(shape, dtype=facula.float64), gain=2)) / 2
    w = w.reshape(shape[0], -1)
    gram = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-10)


def test_dirac_hands_channels_through():
    w = init.dirac_(facula.empty(4, 2, 3, 3), groups=2)
    x = facula.rand(1, 4, 5, 5)
    out = facula.nn.functional.conv2d(x, w, padding=1, groups=2)
    np.testing.assert_array_equal(array(out), array(x))


def test_sparse_and_constants():
    w = array(init.sparse_(facula.empty(10, 6), 0.3))
    assert ((w == 0).sum(0) == 3).all()
    np.testing.assert_array_equal(array(init.eye_(facula.empty(2, 3))), np.eye(2, 3))
    assert (array(init.constant_(facula.empty(3), 0.5)) == 0.5).all()
    assert (array(init.ones_(facula.empty(3))) == 1).all()
    assert (array(init.zeros_(facula.ones(3))) == 0).all()


def test_gains():
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("leaky_relu", 1) == 1.0
    assert init.calculate_gain("selu") == 0.75
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("other")


def test_nothing_is_recorded_and_leaves_may_be_filled():
    w = facula.empty(3, 3, requires_grad=True)
    assert init.normal_(w) is w and w.grad_fn is None


def test_deprecated_names_warn():
    with pytest.warns(FutureWarning, match="deprecated in favor of `nn.init.uniform_`"):
        init.uniform(facula.empty(2))


def test_empty_tensors_warn():
    with pytest.warns(UserWarning, match="no-op"):
        init.kaiming_uniform_(facula.empty(0, 3))


def seeded(seed):
    return facula.Generator().manual_seed(seed)


def test_trunc_normal_of_a_transposed_tensor():
    """The first draw fills the tensor itself, in the order that normal_ fills it in."""
    got = init.trunc_normal_(facula.ones(6, 4).t(), a=-50, b=50, generator=seeded(3))
    want = facula.ones(6, 4).t().normal_(generator=seeded(3))
    assert facula.equal(got, want)
    assert not facula.equal(got, facula.empty(4, 6).normal_(generator=seeded(3)))
