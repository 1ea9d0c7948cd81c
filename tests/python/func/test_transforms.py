"""grad, vjp, jvp, Jacobians, their nesting, and per-sample gradients."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import facula
import facula.autograd.forward_ad as fwAD
from facula import nn
from facula.func import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

F = nn.functional


def rand(*shape: int, seed: int = 0) -> facula.Tensor:
    """Numbers in (-1, 1)."""
    return facula.tensor(np.random.default_rng([seed, *shape]).uniform(-1, 1, shape))


def close(a: facula.Tensor, b: facula.Tensor | np.ndarray, tolerance: float = 1e-9) -> None:
    """Compare values and shapes."""
    want = b if isinstance(b, np.ndarray) else b.detach().numpy()
    assert tuple(a.shape) == want.shape
    np.testing.assert_allclose(a.detach().numpy(), want, rtol=tolerance, atol=tolerance)


def test_grad_of_grad() -> None:
    x = facula.tensor(0.7, dtype=facula.float64)
    f = facula.sin
    for value in (np.cos(0.7), -np.sin(0.7), -np.cos(0.7), np.sin(0.7)):
        f = grad(f)
        assert f(x).item() == pytest.approx(value)
        assert not f(x).requires_grad


def test_levels_are_not_confused() -> None:
    one = facula.tensor(1.0)
    f = lambda x: x * grad(lambda y: x * y)(one)  # noqa: E731
    assert grad(f)(facula.tensor(3.0)).item() == 6
    g = lambda x: x * jvp(lambda y: x + y, (one,), (one,))[1]  # noqa: E731
    assert jvp(g, (one,), (one,))[1].item() == 1
    assert grad(g)(one).item() == 1


def test_argnums_aux_and_trees() -> None:
    a, b = rand(3), rand(3, seed=1)
    da, db = grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(a, b)
    close(da, b)
    close(db, a)
    close(grad(lambda x, y: (x * y).sum(), argnums=-1)(a, b), a)
    (g, (value, aux)) = grad_and_value(lambda x: ((x**2).sum(), x * 3), has_aux=True)(a)
    close(g, 2 * a)
    close(aux, 3 * a)
    assert not value.requires_grad and not aux.requires_grad
    tree = grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": a, "b": [b]})
    close(tree["a"], b)
    close(tree["b"][0], a)
    close(grad(lambda x, *, k: (x * k).sum())(a, k=b), b)


def test_the_graph_of_the_program_goes_on() -> None:
    w = rand(3).requires_grad_()
    x = rand(3, seed=1)
    g = grad(lambda t: (t**2 * w).sum())(x)
    g.sum().backward()
    close(w.grad, 2 * x)
    y = x.clone().requires_grad_()
    grad(lambda t: (t**3).sum())(y).sum().backward()
    close(y.grad, 6 * x)
    with facula.no_grad():
        assert not grad(lambda t: (t**2 * w).sum())(x).requires_grad


def test_vjp_and_jvp_agree_with_the_jacobian() -> None:
    def f(x: facula.Tensor, y: facula.Tensor) -> tuple:
        return facula.stack([x[0] * y[1], x[1].sin(), (x * y).sum()]), x.exp()

    x, y = rand(2), rand(2, seed=1)
    for jac in (jacrev(f, (0, 1)), jacfwd(f, (0, 1))):
        blocks = jac(x, y)
        assert blocks[0][0].shape == (3, 2) and blocks[1][1].shape == (2, 2)
        out, pull = vjp(f, x, y)
        cot = (rand(3, seed=2), rand(2, seed=3))
        gx, gy = pull(cot)
        close(gx, cot[0] @ blocks[0][0] + cot[1] @ blocks[1][0])
        close(gy, cot[0] @ blocks[0][1] + cot[1] @ blocks[1][1])
        tangents = (rand(2, seed=4), rand(2, seed=5))
        out2, pushed = jvp(f, (x, y), tangents)
        close(out2[0], out[0])
        close(pushed[0], blocks[0][0] @ tangents[0] + blocks[0][1] @ tangents[1])
        close(pushed[1], blocks[1][0] @ tangents[0])
    value, push = linearize(f, x, y)
    close(push(*tangents)[0], pushed[0])
    close(value[1], x.exp())


@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
def test_hessians(outer, inner) -> None:
    a = rand(3, 3)
    x = rand(3, seed=1)

    def f(t: facula.Tensor) -> facula.Tensor:
        return (t @ a @ t) * t[0].sin()

    got = outer(inner(f))(x)
    want = facula.autograd.functional.hessian(f, x)
    close(got, want)
    close(hessian(f)(x), want)
    v = rand(3, seed=2)
    close(jvp(grad(f), (x,), (v,))[1], want @ v)
    close(vjp(grad(f), x)[1](v)[0], want @ v)


@pytest.mark.parametrize("chunk", [None, 1, 2])
def test_jacrev_chunks_and_maps(chunk: int | None) -> None:
    w = rand(4, 3)
    f = lambda x: (w @ x).tanh()  # noqa: E731
    x = rand(3, seed=1)
    want = (1 - (w @ x).tanh() ** 2)[:, None] * w
    close(jacrev(f, chunk_size=chunk)(x), want)
    close(jacfwd(f)(x), want)
    xs = rand(5, 3, seed=2)
    per_sample = vmap(jacrev(f))(xs)
    close(per_sample[2], jacrev(f)(xs[2]))
    close(vmap(jacfwd(f))(xs), per_sample)
    close(vmap(hessian(lambda t: f(t).sum()))(xs)[1], hessian(lambda t: f(t).sum())(xs[1]))


def test_grad_around_vmap() -> None:
    x = rand(4, 3)
    w = rand(3, seed=1)
    f = lambda w: vmap(lambda t: (t * w).sum().tanh())(x).sum()  # noqa: E731
    close(grad(f)(w), ((1 - (x @ w).tanh() ** 2)[:, None] * x).sum(0))
    leaf = w.clone().requires_grad_()
    f(leaf).backward()
    close(leaf.grad, grad(f)(w))


class SmallNet(nn.Module):
    """Convolutions, norm, pooling and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.GroupNorm(2, 4)
        self.conv2 = nn.Conv2d(4, 6, 3, stride=2)
        self.fc = nn.Linear(6 * 4, 5)

    def forward(self, x: facula.Tensor) -> facula.Tensor:
        x = F.relu(self.norm(self.conv1(x)))
        x = F.max_pool2d(x, 2)
        return self.fc(F.silu(self.conv2(x)).flatten(1))


def net_and_data() -> tuple:
    facula.manual_seed(0)
    net = SmallNet().double()
    data = rand(6, 1, 10, 10)
    target = facula.tensor([0, 3, 1, 4, 2, 2])
    return net, data, target


def test_per_sample_gradients() -> None:
    net, data, target = net_and_data()
    params = {k: v.detach() for k, v in net.named_parameters()}

    def loss(params: dict, x: facula.Tensor, t: facula.Tensor) -> facula.Tensor:
        out = functional_call(net, params, (x.unsqueeze(0),))
        return F.cross_entropy(out, t.unsqueeze(0))

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no operator of this program may fall back to a loop
        got = vmap(grad(loss), (None, 0, 0))(params, data, target)
    for i in range(len(data)):
        net.zero_grad()
        F.cross_entropy(net(data[i : i + 1]), target[i : i + 1]).backward()
        for name, p in net.named_parameters():
            close(got[name][i], p.grad)
    chunked = vmap(grad(loss), (None, 0, 0), chunk_size=4)(params, data, target)
    for name in got:
        close(chunked[name], got[name])


def test_hessian_vector_product_of_a_network() -> None:
    net, data, target = net_and_data()
    params = {k: v.detach() for k, v in net.named_parameters()}
    direction = {k: facula.ones_like(v) for k, v in params.items()}

    def loss(params: dict) -> facula.Tensor:
        return F.cross_entropy(functional_call(net, params, (data,)), target)

    forward = jvp(grad(loss), (params,), (direction,))[1]
    step = 1e-5
    plus = grad(loss)({k: v + step for k, v in params.items()})
    minus = grad(loss)({k: v - step for k, v in params.items()})
    reverse = vjp(grad(loss), params)[1](direction)[0]
    for name in params:
        close(forward[name], reverse[name])
        close(forward[name], (plus[name] - minus[name]) / (2 * step), 1e-5)


def test_ensembles() -> None:
    facula.manual_seed(0)
    nets = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)) for _ in range(3)]
    params, buffers = stack_module_state(nets)
    assert params["0.weight"].shape == (3, 4, 3)
    x = facula.randn(5, 3)
    got = vmap(lambda p, b: functional_call(nets[0], (p, b), (x,)))(params, buffers)
    for i, net in enumerate(nets):
        np.testing.assert_allclose(got[i].detach().numpy(), net(x).detach().numpy(), atol=1e-6)
    with pytest.raises(RuntimeError, match="same class"):
        stack_module_state([nets[0], nn.Linear(1, 1)])


def test_functional_call() -> None:
    net = nn.Linear(2, 2)
    own = net.weight
    w = facula.ones(2, 2, requires_grad=True)
    out = functional_call(net, {"weight": w, "bias": facula.zeros(2)}, facula.ones(1, 2))
    out.sum().backward()
    assert net.weight is own and own.grad is None
    np.testing.assert_array_equal(w.grad.numpy(), np.ones((2, 2)))
    with pytest.raises(RuntimeError, match="Unexpected"):
        functional_call(net, {"weigth": w}, facula.ones(1, 2), strict=True)
    bn = nn.BatchNorm1d(2)
    mean = facula.zeros(2)
    functional_call(bn, {"running_mean": mean}, facula.ones(4, 2))
    assert mean[0].item() == pytest.approx(0.1)
    assert bn.running_mean[0].item() == 0


def test_dual_tensors() -> None:
    x, t = rand(3), rand(3, seed=1)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        close(fwAD.unpack_dual(dual).tangent, t)
        out = fwAD.unpack_dual((dual.sin() * dual).sum())
        close(out.tangent, ((x.cos() * x + x.sin()) * t).sum())
        assert not out.primal.requires_grad
        assert fwAD.unpack_dual(facula.ones(2)).tangent is None
        with pytest.raises(RuntimeError, match="Nested forward mode"):
            fwAD.enter_dual_level()
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(x, t)


def test_complex() -> None:
    z = facula.complex(rand(3), rand(3, seed=1))
    v = facula.complex(rand(3, seed=2), rand(3, seed=3))
    out, push = jvp(lambda t: t * t, (z,), (v,))
    np.testing.assert_allclose(push.numpy(), 2 * z.numpy() * v.numpy())
    got = grad(lambda t: facula.real(t * t.conj()).sum())(z)
    np.testing.assert_allclose(got.numpy(), 2 * z.numpy())


def test_messages() -> None:
    x = rand(3)
    with pytest.raises(RuntimeError, match="scalar tensor"):
        grad(facula.sin)(x)
    with pytest.raises(RuntimeError, match="return a Tensor"):
        grad(lambda t: 3)(x)
    with pytest.raises(RuntimeError, match="argnum"):
        grad(lambda t: t.sum(), argnums=1)(x)
    with pytest.raises(RuntimeError, match="primals to be a tuple"):
        jvp(facula.sin, x, x)
    with pytest.raises(RuntimeError, match="structure"):
        jvp(facula.sin, (x,), (x, x))
    with pytest.raises(RuntimeError, match="shape"):
        jvp(facula.sin, (x,), (x[:2],))
    with pytest.raises(RuntimeError, match="structure"):
        vjp(facula.sin, x)[1]((x, x))
    with pytest.raises(RuntimeError, match="floating point"):
        grad(lambda t: t.sum())(facula.tensor([1]))
    with pytest.raises(NotImplementedError):
        functionalize(facula.sin)


def test_batched_gradients_of_autograd_grad() -> None:
    x = rand(3).requires_grad_()
    y = x.sin() * x
    rows = facula.eye(3, dtype=facula.float64)
    (jac,) = facula.autograd.grad(y, x, rows, is_grads_batched=True)
    close(jac, facula.diag((x.cos() * x + x.sin()).detach()))


def test_batched_gradients_of_autograd_grad_that_are_missing() -> None:
    x, unused = rand(3).requires_grad_(), rand(2).requires_grad_()
    y, eye = x * 2, facula.eye(3, dtype=facula.float64)

    def run(rows, outputs=y, **options):
        return facula.autograd.grad(
            outputs, [x, unused], rows, is_grads_batched=True, retain_graph=True, **options
        )

    assert run(eye, allow_unused=True)[1] is None
    found = run(eye, materialize_grads=True)
    assert found[0].tolist() == (2 * eye).tolist() and found[1].tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="not have been used"):
        run(eye)
    with pytest.raises(IndexError):
        run(eye[:0], materialize_grads=True)
    with pytest.raises(ValueError, match=r"sizes \[2, 3\]"):
        run([eye, eye[:2]], [y, y], allow_unused=True)
    (g, _) = run([None, eye], [y.sum(), y], allow_unused=True)
    assert g.tolist() == (2 * eye + 2).tolist()
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        run(None)


def test_jacfwd_carries_all_columns_in_one_pass(monkeypatch):
    def two_passes(self, tangents):
        raise AssertionError("two reverse passes")

    monkeypatch.setattr("facula.func._forward.Pushforward.push", two_passes)
    calls = []

    def f(x, y):
        calls.append(1)
        return facula.tanh(x @ y).sum(0), {"square": (x**2).sum(), "constant": facula.ones(2)}

    x = facula.linspace(-1, 1, 12, dtype=facula.float64).reshape(4, 3)
    y = facula.linspace(0, 1, 6, dtype=facula.float64).reshape(3, 2)
    got = jacfwd(f, (0, 1))(x, y)
    assert len(calls) == 1
    want = jacrev(f, (0, 1))(x, y)
    for k in range(2):
        close(got[0][k], want[0][k])
        for name in ("square", "constant"):
            close(got[1][name][k], want[1][name][k])
    layer = facula.nn.Sequential(facula.nn.Linear(3, 4), facula.nn.LayerNorm(4)).double()
    close(jacfwd(layer)(x), jacrev(layer)(x))


def test_jacfwd_draws_as_vmap_does():
    with pytest.raises(RuntimeError, match="randomness error mode"):
        jacfwd(lambda x: x * facula.rand(3))(facula.ones(3))
    for randomness in ("same", "different"):
        jacobian = jacfwd(lambda x: x * facula.rand(3), randomness=randomness)(facula.ones(3))
        assert facula.equal(jacobian, facula.diag(jacobian.diagonal()))
    with pytest.raises(RuntimeError, match="Only allowed values for randomness"):
        jacfwd(facula.sin, randomness="other")(facula.ones(3))


def test_what_is_not_real_has_no_jacobian() -> None:
    x, z = facula.ones(3), facula.ones(3, dtype=facula.complex64)
    for jacobian in (jacrev, jacfwd):
        with pytest.raises(RuntimeError, match="inputs to be real"):
            jacobian(lambda v: v * 2)(z)
        assert jacobian(lambda v, w: v * w.real.sum())(x, z).shape == (3, 3)
        with pytest.raises(RuntimeError, match="outputs to be real"):
            jacobian(lambda v: v * 1j)(x)
    with pytest.raises(RuntimeError, match="results to be real"):
        grad(lambda v: v.sum())(z)
    assert grad(lambda v: (v * v.conj()).real.sum())(z).tolist() == [2, 2, 2]


def test_vjp_needs_outputs() -> None:
    with pytest.raises(RuntimeError, match="non-empty output"):
        vjp(lambda v: (), facula.ones(2))
