"""Utilities: clipping, vectors of parameters, functional calls, weight norms, parametrisations."""

import copy
import math

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn import utils
from facula.nn.utils import parametrizations, parametrize


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def with_gradients():
    params = [nn.Parameter(facula.zeros(2)), nn.Parameter(facula.zeros(1))]
    params[0].grad = facula.tensor([3.0, 0.0])
    params[1].grad = facula.tensor([4.0])
    return params


def test_clip_grad_norm():
    params = with_gradients()
    assert float(utils.clip_grad_norm_(params, 1.0)) == 5.0
    np.testing.assert_allclose(array(params[0].grad), [0.6, 0.0], rtol=1e-5)
    np.testing.assert_allclose(array(params[1].grad), [0.8], rtol=1e-5)
    params = with_gradients()
    assert float(utils.clip_grad_norm_(params, 10.0, norm_type=math.inf)) == 4.0
    np.testing.assert_array_equal(array(params[0].grad), [3.0, 0.0])
    assert float(utils.get_total_norm([p.grad for p in params], 1.0)) == 7.0
    params[0].grad[1] = math.nan
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    with pytest.warns(UserWarning, match="empty generator"):
        assert float(utils.clip_grad_norm_(iter([]), 1.0)) == 0.0


def test_clip_grad_value():
    params = with_gradients()
    utils.clip_grad_value_(params, 3.5)
    assert array(params[1].grad).tolist() == [3.5] and array(params[0].grad).tolist() == [3.0, 0.0]


def test_parameters_as_a_vector():
    net = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(net.parameters())
    assert vector.shape == (9,)
    utils.vector_to_parameters(facula.arange(9.0), net.parameters())
    assert array(net.weight).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert array(net.bias).tolist() == [6, 7, 8]
    for call in (
        lambda: utils.parameters_to_vector([1.0]),
        lambda: utils.vector_to_parameters(facula.ones(1), [1]),
        lambda: utils.vector_to_parameters(1.0, net.parameters()),
    ):
        with pytest.raises(TypeError, match="expected facula.Tensor, but got: (int|float)"):
            call()


def test_functional_call():
    from facula.nn.utils.stateless import functional_call

    net = nn.Linear(2, 1)
    kept = array(net.weight).copy()
    weight = facula.tensor([[1.0, 2.0]], requires_grad=True)
    out = functional_call(net, {"weight": weight, "bias": facula.zeros(1)}, facula.ones(1, 2))
    assert float(out) == 3.0
    out.sum().backward()
    assert array(weight.grad).tolist() == [[1.0, 1.0]] and net.weight.grad is None
    np.testing.assert_array_equal(array(net.weight), kept)
    with pytest.raises(RuntimeError, match="Missing key"):
        functional_call(net, {"weight": weight}, facula.ones(1, 2), strict=True)


def test_functional_call_replaces_tied_weights():
    from facula.nn.utils.stateless import functional_call

    net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    net[1].weight = net[0].weight
    out = functional_call(net, {"0.weight": facula.tensor([[3.0]])}, facula.ones(1, 1))
    assert float(out) == 9.0


def test_weight_norm_hooks():
    net = nn.Linear(3, 2)
    before, x = array(net.weight).copy(), facula.rand(4, 3)
    expected = array(net(x))
    with pytest.warns(FutureWarning, match="deprecated"):
        utils.weight_norm(net)
    assert sorted(n for n, _ in net.named_parameters()) == ["bias", "weight_g", "weight_v"]
    np.testing.assert_allclose(array(net.weight_g).ravel(), np.linalg.norm(before, axis=1),
                               rtol=1e-5)  # fmt: skip
    np.testing.assert_allclose(array(net(x)), expected, rtol=1e-5, atol=1e-6)
    with facula.no_grad():
        net.weight_g.mul_(2)
    net(x).sum().backward()
    assert net.weight_g.grad is not None
    utils.remove_weight_norm(net)
    np.testing.assert_allclose(array(net.weight), before * 2, rtol=1e-5)
    assert isinstance(net.weight, nn.Parameter)


def test_weight_norm_parametrisation():
    net = parametrizations.weight_norm(nn.Linear(3, 2))
    assert sorted(net.state_dict()) == [
        "bias", "parametrizations.weight.original0", "parametrizations.weight.original1",
    ]  # fmt: skip
    assert repr(net).startswith("ParametrizedLinear(")
    x = facula.rand(4, 3)
    net(x).sum().backward()
    assert net.parametrizations.weight.original0.grad is not None
    value = array(net.weight).copy()
    parametrize.remove_parametrizations(net, "weight")
    assert type(net) is nn.Linear and isinstance(net.weight, nn.Parameter)
    np.testing.assert_array_equal(array(net.weight), value)


@pytest.mark.parametrize("older", [True, False])
def test_spectral_norm(older):
    facula.manual_seed(0)
    net = nn.Linear(5, 4)
    net = (utils if older else parametrizations).spectral_norm(net, n_power_iterations=30)
    net(facula.rand(2, 5))
    largest = np.linalg.svd(array(net.weight), compute_uv=False)[0]
    assert abs(largest - 1) < 1e-3
    if older:
        assert {"weight_orig", "weight_u", "weight_v"} <= set(net.state_dict())
        utils.remove_spectral_norm(net)
        assert "weight" in dict(net.named_parameters())


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, x):
        return x.triu()


def test_parametrisation():
    net = nn.Linear(3, 3)
    parametrize.register_parametrization(net, "weight", Symmetric())
    w = array(net.weight)
    np.testing.assert_array_equal(w, w.T)
    assert parametrize.is_parametrized(net) and parametrize.is_parametrized(net, "weight")
    assert not parametrize.is_parametrized(net, "bias")
    assert parametrize.type_before_parametrizations(net) is nn.Linear
    wanted = facula.tensor([[1.0, 2, 3], [2, 4, 5], [3, 5, 6]])
    net.weight = wanted
    np.testing.assert_array_equal(array(net.weight), array(wanted))
    with parametrize.cached():
        assert net.weight is net.weight
    other = copy.deepcopy(net)
    np.testing.assert_array_equal(array(other.weight), array(wanted))
    with facula.no_grad():
        other.parametrizations.weight.original.zero_()
    np.testing.assert_array_equal(array(net.weight), array(wanted))
    parametrize.remove_parametrizations(net, "weight", leave_parametrized=False)
    np.testing.assert_array_equal(array(net.weight), np.triu(array(wanted)))
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(net, "nothing", Symmetric())


def test_parametrisation_may_not_change_the_shape():
    class Wide(nn.Module):
        def forward(self, x):
            return facula.cat([x, x])

    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Wide())


def test_fused_batch_norm(rng):
    conv, bn = nn.Conv2d(2, 3, 2).double().eval(), nn.BatchNorm2d(3).double().eval()
    bn.running_mean.uniform_()
    bn.running_var.uniform_(0.5, 2)
    x = tensor(rng.standard_normal((1, 2, 4, 4)))
    fused = utils.fuse_conv_bn_eval(conv, bn)
    np.testing.assert_allclose(array(fused(x)), array(bn(conv(x))), rtol=1e-9)
    linear, bn = nn.Linear(2, 3).double().eval(), nn.BatchNorm1d(3).double().eval()
    x = tensor(rng.standard_normal((4, 2)))
    fused = utils.fuse_linear_bn_eval(linear, bn)
    np.testing.assert_allclose(array(fused(x)), array(bn(linear(x))), rtol=1e-9)


def test_skip_init():
    net = utils.skip_init(nn.Linear, 3, 2)
    assert net.weight.shape == (2, 3) and not net.weight.is_meta


def test_data_parallel_without_devices():
    net = nn.DataParallel(nn.Linear(2, 1))
    assert net(facula.ones(1, 2)).shape == (1, 1) and "module.weight" in net.state_dict()
    with pytest.raises(NotImplementedError, match="process groups"):
        nn.parallel.DistributedDataParallel(net)


def test_names_are_modules_too():
    """Libraries import the classes of the older forms from the modules of the same names."""
    from facula.nn.utils.spectral_norm import SpectralNorm
    from facula.nn.utils.weight_norm import WeightNorm

    assert SpectralNorm().name == "weight" and WeightNorm("weight", None).dim == -1
    assert callable(utils.weight_norm) and callable(utils.spectral_norm)


def test_memory_format():
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.Conv3d(2, 4, 3), nn.ConvTranspose2d(2, 4, 3))
    before = [array(p).copy() for p in net.parameters()]
    out = utils.convert_conv2d_weight_memory_format(net, facula.channels_last)
    assert out is net and isinstance(net[0].weight, nn.Parameter)
    assert net[0].weight.is_contiguous(memory_format=facula.channels_last)
    assert net[2].weight.is_contiguous(memory_format=facula.channels_last)
    assert net[1].weight.is_contiguous()
    utils.convert_conv3d_weight_memory_format(net, facula.channels_last_3d)
    assert net[1].weight.is_contiguous(memory_format=facula.channels_last_3d)
    for p, kept in zip(net.parameters(), before, strict=True):
        np.testing.assert_array_equal(array(p), kept)


def test_skip_init_refuses():
    class Plain(nn.Module):
        def __init__(self, n):
            super().__init__()

    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        utils.skip_init(Plain, 3)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        utils.skip_init(int)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("base", [True, False])
def test_orthogonal(shape, how, base):
    facula.manual_seed(0)
    net = nn.Linear(shape[1], shape[0]).double()
    net = parametrizations.orthogonal(net, orthogonal_map=how, use_trivialization=base)

    def check():
        w = array(net.weight)
        small = w.T @ w if shape[0] >= shape[1] else w @ w.T
        np.testing.assert_allclose(small, np.eye(min(shape)), atol=1e-9)

    if base:
        target = facula.eye(*shape, dtype=facula.float64)
        net.weight = target
        np.testing.assert_allclose(array(net.weight), array(target), atol=1e-9)
    check()
    opt = facula.optim.SGD(net.parameters(), lr=0.1)
    net(facula.rand(2, shape[1], dtype=facula.float64)).square().sum().backward()
    opt.step()
    check()


def test_orthogonal_refuses():
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="x")
    with pytest.raises(ValueError, match="Expected a matrix"):
        parametrizations.orthogonal(nn.Linear(2, 2), "bias")
    with pytest.raises(ValueError, match="has no parameter or buffer"):
        parametrizations.orthogonal(nn.Linear(2, 2), "nothing")


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("norm", [utils.weight_norm, parametrizations.weight_norm])
def test_weight_norm_over_a_dimension_that_is_not_there(norm):
    with pytest.raises(IndexError, match=r"range of \[-2, 1\], but got 2"):
        norm(nn.Linear(2, 3), dim=2)


def test_linear_and_batch_norm_that_do_not_fit():
    with pytest.raises(AssertionError, match="do not fit"):
        utils.fusion.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(4).eval())
