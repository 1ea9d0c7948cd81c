"""Activations against their formulas; softmax; dropout."""

import math

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn import functional as F


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(x))


ERF = np.vectorize(math.erf)
SELU = (1.0507009873554804934193349852946, 1.6732632423543772848170429916717)

FORMULAS = [
    (nn.ReLU(), lambda x: np.maximum(x, 0)),
    (nn.ReLU6(), lambda x: np.clip(x, 0, 6)),
    (nn.ELU(0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    (nn.SELU(), lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(x))),
    (nn.CELU(1.3), lambda x: np.where(x > 0, x, 1.3 * np.expm1(x / 1.3))),
    (nn.LeakyReLU(0.2), lambda x: np.where(x > 0, x, 0.2 * x)),
    (nn.RReLU().eval(), lambda x: np.where(x > 0, x, x * (1 / 8 + 1 / 3) / 2)),
    (nn.GELU(), lambda x: x * (1 + ERF(x / math.sqrt(2))) / 2),
    (
        nn.GELU("tanh"),
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    (nn.SiLU(), lambda x: x * sigmoid(x)),
    (nn.Mish(), lambda x: x * np.tanh(softplus(x))),
    (nn.Sigmoid(), sigmoid),
    (nn.Tanh(), np.tanh),
    (nn.LogSigmoid(), lambda x: -softplus(-x)),
    (nn.Softplus(2.0), lambda x: softplus(2 * x) / 2),
    (nn.Softsign(), lambda x: x / (1 + np.abs(x))),
    (nn.Tanhshrink(), lambda x: x - np.tanh(x)),
    (nn.Hardtanh(-2, 1), lambda x: np.clip(x, -2, 1)),
    (nn.Hardsigmoid(), lambda x: np.clip(x + 3, 0, 6) / 6),
    (nn.Hardswish(), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    (nn.Hardshrink(0.8), lambda x: np.where(np.abs(x) > 0.8, x, 0)),
    (nn.Softshrink(0.8), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.8, 0)),
    (nn.Threshold(0.5, 9.0), lambda x: np.where(x > 0.5, x, 9.0)),
]


@pytest.mark.parametrize("module, formula", FORMULAS, ids=lambda p: type(p).__name__)
def test_formula(rng, module, formula):
    x = rng.standard_normal((5, 7)) * 3
    np.testing.assert_allclose(array(module(tensor(x))), formula(x), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", [nn.ReLU, nn.ReLU6, nn.ELU, nn.SELU, nn.CELU, nn.LeakyReLU, nn.SiLU,
                                 nn.Mish, nn.Hardtanh, nn.Hardswish, nn.Hardsigmoid])  # fmt: skip
def test_in_place(rng, cls):
    x = rng.standard_normal(9)
    t = tensor(x)
    out = cls(inplace=True)(t)
    assert out.data_ptr() == t.data_ptr()
    np.testing.assert_allclose(array(t), array(cls()(tensor(x))))


@pytest.mark.parametrize("cls", [nn.ReLU, nn.ELU, nn.SiLU, nn.Mish, nn.Hardswish, nn.SELU])
def test_in_place_gradients(rng, cls):
    x = rng.standard_normal(9)
    grads = []
    for inplace in (False, True):
        leaf = tensor(x).requires_grad_()
        cls(inplace=inplace)(leaf * 2).sum().backward()
        grads.append(array(leaf.grad))
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-9)


def test_prelu_learns_one_slope_a_channel(rng):
    layer = nn.PReLU(3, init=0.1, dtype=facula.float64)
    x = rng.standard_normal((2, 3, 4))
    out = layer(tensor(x))
    np.testing.assert_allclose(array(out), np.where(x > 0, x, 0.1 * x), rtol=1e-9)
    out.sum().backward()
    np.testing.assert_allclose(array(layer.weight.grad), np.minimum(x, 0).sum((0, 2)), rtol=1e-9)


def test_glu(rng):
    x = rng.standard_normal((3, 8))
    np.testing.assert_allclose(array(nn.GLU()(tensor(x))), x[:, :4] * sigmoid(x[:, 4:]), rtol=1e-9)


def test_softmax_family(rng):
    x = rng.standard_normal((3, 4))
    e = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(array(nn.Softmax(1)(tensor(x))), e, rtol=1e-9)
    np.testing.assert_allclose(array(nn.LogSoftmax(1)(tensor(x))), np.log(e), rtol=1e-9)
    np.testing.assert_allclose(array(nn.Softmin(1)(tensor(-x))), e, rtol=1e-9)
    planes = rng.standard_normal((2, 3, 2, 2))
    got = array(nn.Softmax2d()(tensor(planes)))
    np.testing.assert_allclose(got.sum(1), 1.0, rtol=1e-9)
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        nn.Softmax()(tensor(x))
    with pytest.raises(ValueError, match="expected input to be 3D or 4D"):
        nn.Softmax2d()(tensor(x))
    assert F.softmax(facula.ones(2), 0, dtype=facula.float64).dtype == facula.float64


def test_gumbel_softmax():
    facula.manual_seed(0)
    logits = facula.log(facula.tensor([0.1, 0.2, 0.7])).expand(4000, 3).clone().requires_grad_()
    hard = F.gumbel_softmax(logits, tau=0.5, hard=True)
    np.testing.assert_allclose(array(hard.sum(1)), 1.0, rtol=1e-5)
    np.testing.assert_allclose(array(hard.mean(0)), [0.1, 0.2, 0.7], atol=0.03)
    (hard * facula.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert np.abs(array(logits.grad)).sum() > 0


def test_dropout_keeps_the_mean():
    facula.manual_seed(0)
    drop = nn.Dropout(0.25)
    out = array(drop(facula.ones(20000)))
    kept = out != 0
    np.testing.assert_allclose(out[kept], 4 / 3, rtol=1e-6)
    assert abs(kept.mean() - 0.75) < 0.02
    x = facula.ones(4)
    np.testing.assert_array_equal(array(drop.eval()(x)), array(x))
    assert (array(nn.Dropout(1.0)(x)) == 0).all()
    with pytest.raises(ValueError, match="between 0 and 1, but got 2"):
        nn.Dropout(2)


@pytest.mark.parametrize("cls, shape", [
    (nn.Dropout1d, (50, 4, 5)), (nn.Dropout2d, (50, 4, 5, 5)), (nn.Dropout3d, (50, 4, 2, 3, 3)),
])  # fmt: skip
def test_channel_dropout(cls, shape):
    facula.manual_seed(0)
    out = array(cls(0.5)(facula.ones(shape))).reshape(50, 4, -1)
    assert set(np.unique(out)) == {0.0, 2.0}
    assert (out.min(2) == out.max(2)).all()


def test_alpha_dropout_keeps_mean_and_variance():
    facula.manual_seed(0)
    out = array(nn.AlphaDropout(0.3)(facula.randn(100000)))
    assert abs(out.mean()) < 0.02 and abs(out.std() - 1) < 0.02
    with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input"):
        F.dropout1d(facula.ones(3))


@pytest.mark.parametrize("dtype", [facula.float32, facula.float64])
def test_rrelu_slopes_of_a_seed(dtype):
    """The slopes that PyTorch draws: those of a double, whatever the dtype."""
    facula.manual_seed(9)
    got = nn.functional.rrelu(facula.tensor([-1.0, 2.0, -3.0], dtype=dtype), training=True)
    want = [-0.17630751574645698, 2.0, -0.8994822797567741]
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-7 if dtype == facula.float32 else 1e-15)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("cls, options", [
    (nn.ReLU, {}), (nn.ReLU6, {}), (nn.LeakyReLU, {}), (nn.Hardtanh, {}), (nn.Hardsigmoid, {}),
    (nn.Threshold, {"threshold": 0.1, "value": 2.0}), (nn.PReLU, None), (nn.Hardshrink, None),
    (nn.Softshrink, None),
])  # fmt: skip
def test_second_derivatives_of_piecewise_linear_functions_are_zero(cls, options, inplace):
    """Zero, not absent: a penalty on gradients asks for them of every parameter."""
    if options is None and inplace:
        pytest.skip("has no in-place form")
    activation = cls() if options is None else cls(**options, inplace=inplace)
    x = facula.tensor([[-1.5, -0.3, 0.4], [2.0, 7.0, -4.0]], requires_grad=True)
    bias = facula.tensor([0.05, 0.05, 0.05], requires_grad=True)
    (first,) = facula.autograd.grad(activation(x * 2 + bias).sum(), x, create_graph=True)
    assert first.requires_grad
    for second in facula.autograd.grad((first**2).sum(), (x, bias)):
        assert (second == 0).all()
