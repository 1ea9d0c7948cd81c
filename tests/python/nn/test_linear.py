"""Identity, Linear, Bilinear and LazyLinear."""

import numpy as np
import pytest

import facula
from facula import nn


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def test_linear_is_a_product(rng):
    fc = nn.Linear(3, 2, dtype=facula.float64)
    x = rng.standard_normal((4, 5, 3))
    out = fc(tensor(x))
    np.testing.assert_allclose(array(out), x @ array(fc.weight).T + array(fc.bias), rtol=1e-12)
    out.sum().backward()
    np.testing.assert_allclose(array(fc.weight.grad), np.tile(x.sum((0, 1)), (2, 1)), rtol=1e-12)
    np.testing.assert_allclose(array(fc.bias.grad), [20.0, 20.0])


def test_linear_start_values_and_print():
    facula.manual_seed(0)
    fc = nn.Linear(100, 50)
    bound = 0.1
    for p in (fc.weight, fc.bias):
        assert np.abs(array(p)).max() <= bound and np.abs(array(p)).max() > 0.8 * bound
    assert repr(fc) == "Linear(in_features=100, out_features=50, bias=True)"
    assert nn.Linear(2, 2, bias=False).bias is None


def test_identity_takes_anything():
    x = facula.ones(2)
    assert nn.Identity(54, unused=True)(x) is x


def test_bilinear(rng):
    layer = nn.Bilinear(2, 3, 4, dtype=facula.float64)
    a, b = rng.standard_normal((5, 2)), rng.standard_normal((5, 3))
    expected = np.einsum("ni,oij,nj->no", a, array(layer.weight), b) + array(layer.bias)
    np.testing.assert_allclose(array(layer(tensor(a), tensor(b))), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="in1_features must be > 0"):
        nn.Bilinear(0, 1, 1)


def test_lazy_linear_becomes_linear():
    lazy = nn.LazyLinear(2)
    assert lazy.has_uninitialized_params() and repr(lazy.weight) == "<UninitializedParameter>"
    with pytest.raises(ValueError, match="uninitialized parameter"):
        lazy.weight.numel()
    out = lazy(facula.ones(3, 5))
    assert out.shape == (3, 2) and type(lazy) is nn.Linear and lazy.in_features == 5
    assert type(lazy.weight) is nn.Parameter and lazy.weight.shape == (2, 5)
    assert not lazy._forward_pre_hooks


def test_lazy_linear_loads_shapes():
    lazy = nn.LazyLinear(2)
    lazy.load_state_dict(nn.Linear(4, 2).state_dict())
    assert lazy.weight.shape == (2, 4)
    assert lazy(facula.ones(1, 4)).shape == (1, 2)
