"""Batch, instance, layer, group, RMS and local response normalisation against NumPy."""

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn import functional as F


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def standardise(x, axes, eps):
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)


@pytest.mark.parametrize("cls, shape", [
    (nn.BatchNorm1d, (4, 3)), (nn.BatchNorm1d, (4, 3, 5)), (nn.BatchNorm2d, (4, 3, 2, 5)),
    (nn.BatchNorm3d, (2, 3, 2, 2, 3)),
])  # fmt: skip
def test_batch_norm(rng, cls, shape):
    norm = cls(3, dtype=facula.float64)
    x = rng.standard_normal(shape) * 3 + 1
    axes = (0, *range(2, x.ndim))
    np.testing.assert_allclose(array(norm(tensor(x))), standardise(x, axes, 1e-5), rtol=1e-9,
                               atol=1e-10)  # fmt: skip
    n = x.size // 3
    np.testing.assert_allclose(array(norm.running_mean), 0.1 * x.mean(axes), rtol=1e-9)
    np.testing.assert_allclose(
        array(norm.running_var), 0.9 + 0.1 * x.var(axes) * n / (n - 1), rtol=1e-9
    )
    assert int(norm.num_batches_tracked) == 1
    norm.eval()
    shaped = (1, 3, *[1] * (x.ndim - 2))
    mean, var = (array(t).reshape(shaped) for t in (norm.running_mean, norm.running_var))
    np.testing.assert_allclose(
        array(norm(tensor(x))), (x - mean) / np.sqrt(var + 1e-5), rtol=1e-9, atol=1e-10
    )
    assert int(norm.num_batches_tracked) == 1


def test_batch_norm_cumulative_average(rng):
    norm = nn.BatchNorm1d(2, momentum=None, dtype=facula.float64)
    xs = rng.standard_normal((3, 5, 2))
    for x in xs:
        norm(tensor(x))
    np.testing.assert_allclose(array(norm.running_mean), xs.mean((0, 1)), rtol=1e-9)


def test_batch_norm_without_statistics(rng):
    norm = nn.BatchNorm1d(2, affine=False, track_running_stats=False, dtype=facula.float64).eval()
    x = rng.standard_normal((5, 2))
    np.testing.assert_allclose(array(norm(tensor(x))), standardise(x, 0, 1e-5), rtol=1e-9)
    assert list(norm.state_dict()) == []


def test_batch_norm_refusals():
    with pytest.raises(ValueError, match=r"expected 4D input \(got 3D input\)"):
        nn.BatchNorm2d(3)(facula.ones(3, 4, 4))
    with pytest.raises(ValueError, match="expected 2D or 3D input"):
        nn.BatchNorm1d(3)(facula.ones(3))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        nn.BatchNorm1d(3)(facula.ones(1, 3))


def test_sync_batch_norm_waits_for_process_groups():
    net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(3)))
    assert isinstance(net[0], nn.SyncBatchNorm)
    with pytest.raises(NotImplementedError, match="process groups"):
        net(facula.ones(2, 3, 2, 2))
    assert net.eval()(facula.ones(2, 3, 2, 2)).shape == (2, 3, 2, 2)


def test_lazy_norms():
    for cls, shape in [(nn.LazyBatchNorm1d, (4, 3)), (nn.LazyBatchNorm2d, (2, 3, 2, 2)),
                       (nn.LazyInstanceNorm1d, (2, 3, 4))]:  # fmt: skip
        lazy = cls()
        assert lazy(facula.rand(shape)).shape == shape
        assert type(lazy).__name__ == cls.__name__.removeprefix("Lazy") and lazy.num_features == 3
        assert lazy.running_mean.shape == (3,) and type(lazy.weight) is nn.Parameter


@pytest.mark.parametrize("cls, shape", [
    (nn.InstanceNorm1d, (2, 3, 5)), (nn.InstanceNorm2d, (2, 3, 4, 5)),
    (nn.InstanceNorm3d, (2, 3, 2, 4, 3)),
])  # fmt: skip
def test_instance_norm(rng, cls, shape):
    x = rng.standard_normal(shape)
    norm = cls(3, affine=True, dtype=facula.float64)
    expected = standardise(x, tuple(range(2, x.ndim)), 1e-5)
    np.testing.assert_allclose(array(norm(tensor(x))), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(array(norm(tensor(x[0]))), expected[0], rtol=1e-9, atol=1e-10)
    with pytest.raises(ValueError, match=r"to match num_features \(3\), but got: 4"):
        norm(facula.ones(2, 4, *shape[2:], dtype=facula.float64))


def test_instance_norm_statistics(rng):
    norm = nn.InstanceNorm1d(2, track_running_stats=True, dtype=facula.float64)
    x = rng.standard_normal((3, 2, 6))
    norm(tensor(x))
    np.testing.assert_allclose(array(norm.running_mean), 0.1 * x.mean((0, 2)), rtol=1e-9)
    expected = 0.9 + 0.1 * x.var(2, ddof=1).mean(0)
    np.testing.assert_allclose(array(norm.running_var), expected, rtol=1e-9)


def test_layer_norm(rng):
    norm = nn.LayerNorm((3, 4), dtype=facula.float64)
    x = rng.standard_normal((2, 3, 4))
    np.testing.assert_allclose(array(norm(tensor(x))), standardise(x, (1, 2), 1e-5), rtol=1e-9)
    assert norm.weight.shape == (3, 4) and nn.LayerNorm(3, bias=False).bias is None
    expected = "LayerNorm((3, 4), eps=1e-05, elementwise_affine=True, bias=True)"
    assert repr(norm) == expected


def test_group_norm(rng):
    norm = nn.GroupNorm(2, 4, dtype=facula.float64)
    x = rng.standard_normal((3, 4, 5))
    expected = standardise(x.reshape(3, 2, -1), 2, 1e-5).reshape(x.shape)
    np.testing.assert_allclose(array(norm(tensor(x))), expected, rtol=1e-9)
    with pytest.raises(ValueError, match="must be divisible by num_groups"):
        nn.GroupNorm(2, 3)


def test_rms_norm(rng):
    norm = nn.RMSNorm(4, eps=1e-3, dtype=facula.float64)
    x = rng.standard_normal((3, 4))
    expected = x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(array(norm(tensor(x))), expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 5, 3, 2)])
def test_local_response_norm(rng, shape):
    x = rng.standard_normal(shape)
    expected = np.empty_like(x)
    for c in range(5):
        window = x[:, max(0, c - 1) : c + 2]
        expected[:, c] = x[:, c] / (1.5 + 0.3 / 3 * (window**2).sum(1)) ** 0.75
    got = nn.LocalResponseNorm(3, alpha=0.3, k=1.5)(tensor(x))
    np.testing.assert_allclose(array(got), expected, rtol=1e-9)
    if x.ndim == 4:
        got = nn.CrossMapLRN2d(3, alpha=0.3, k=1.5)(tensor(x))
        np.testing.assert_allclose(array(got), expected, rtol=1e-9)


def mixed(kind, x, p):
    ones = facula.ones(6, dtype=p)
    if kind == "batch":
        return nn.functional.batch_norm(x, ones, ones, ones, ones)
    if kind == "layer":
        return nn.functional.layer_norm(x, (6,), ones, ones)
    return nn.functional.group_norm(x, 2, ones, ones)


@pytest.mark.parametrize("kind", ["batch", "layer", "group"])
def test_parameters_of_another_dtype(kind):
    x = facula.arange(12.0).reshape(2, 6)
    assert mixed(kind, x.bfloat16(), facula.float32).dtype == facula.bfloat16
    for own, other in (("float32", "float64"), ("float64", "float32"), ("bfloat16", "float16")):
        with pytest.raises(RuntimeError, match="mixed dtypes"):
            mixed(kind, x.to(getattr(facula, own)), getattr(facula, other))


def test_batch_norm_epsilon():
    with pytest.raises(ValueError, match="must be positive during training, but got 0"):
        nn.BatchNorm1d(3, eps=0.0)(facula.ones(2, 3))
    assert nn.BatchNorm1d(3, eps=0.0).eval()(facula.ones(2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match="must be non-negative"):
        nn.BatchNorm1d(3, eps=-1.0).eval()(facula.ones(2, 3))


NORMS = {
    "batch_norm": lambda x, m, v: F.batch_norm(x, m, v, training=True),
    "instance_norm": lambda x, m, v: F.instance_norm(x, m, v),
    "native_batch_norm": lambda x, m, v: facula.native_batch_norm(
        x, None, None, m, v, True, 0.1, 1e-5
    ),
}


@pytest.mark.parametrize("name", NORMS)
def test_running_statistics_are_such_as_may_be_written(name):
    x, norm, ones = facula.randn(2, 3, 4), NORMS[name], facula.ones(3)
    with pytest.raises(RuntimeError, match="single memory location"):
        norm(x, facula.zeros(1).expand(3), ones)
    for wanting in (facula.zeros(3, requires_grad=True), facula.zeros(3, requires_grad=True) * 2):
        with pytest.raises(RuntimeError, match="running_var cannot have requires_grad"):
            norm(x, ones.clone(), wanting)
        with facula.no_grad():
            norm(x, ones.clone(), wanting)
    with facula.inference_mode():
        frozen = facula.zeros(3)
    with pytest.raises(RuntimeError, match="inference tensor"):
        norm(x, frozen, ones)
    assert ones.tolist() == [1.0, 1.0, 1.0] and frozen.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="running_mean cannot have requires_grad"):
        F.batch_norm(x, facula.zeros(3, requires_grad=True), ones)
