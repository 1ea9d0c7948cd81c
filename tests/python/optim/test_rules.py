"""Every optimiser against its formula in NumPy, on the fast path and on the one in operators."""

import numpy as np
import pytest

import facula
from facula import optim

STEPS = 6


def adam(o, decoupled=False):
    b1, b2 = o.get("betas", (0.9, 0.999))
    lr, eps, wd = o.get("lr", 1e-3), o.get("eps", 1e-8), o.get("weight_decay", 0)

    def step(p, g, s, t):
        if decoupled:
            p = p * (1 - lr * wd)
        else:
            g = g + wd * p
        s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
        s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
        v = s["v"]
        if o.get("amsgrad"):
            v = s["top"] = np.maximum(s.get("top", 0 * v), v)
        return p - lr / (1 - b1**t) * s["m"] / (np.sqrt(v / (1 - b2**t)) + eps)

    return step


def adamw(o):
    return adam({"weight_decay": 1e-2, **o}, decoupled=True)


def sgd(o):
    mu, damp, wd = o.get("momentum", 0), o.get("dampening", 0), o.get("weight_decay", 0)

    def step(p, g, s, t):
        g = g + wd * p
        if mu:
            s["b"] = g if t == 1 else mu * s["b"] + (1 - damp) * g
            g = g + mu * s["b"] if o.get("nesterov") else s["b"]
        return p - o.get("lr", 1e-3) * g

    return step


def rmsprop(o):
    a, eps, mu = o.get("alpha", 0.99), o.get("eps", 1e-8), o.get("momentum", 0)

    def step(p, g, s, t):
        g = g + o.get("weight_decay", 0) * p
        s["q"] = a * s.get("q", 0) + (1 - a) * g * g
        q = s["q"]
        if o.get("centered"):
            s["m"] = a * s.get("m", 0) + (1 - a) * g
            q = q - s["m"] ** 2
        u = g / (np.sqrt(q) + eps)
        if mu:
            u = s["b"] = mu * s.get("b", 0) + u
        return p - o.get("lr", 1e-2) * u

    return step


def adagrad(o):
    def step(p, g, s, t):
        g = g + o.get("weight_decay", 0) * p
        s["sum"] = s.get("sum", o.get("initial_accumulator_value", 0)) + g * g
        lr = o.get("lr", 1e-2) / (1 + (t - 1) * o.get("lr_decay", 0))
        return p - lr * g / (np.sqrt(s["sum"]) + 1e-10)

    return step


def adadelta(o):
    rho, eps = o.get("rho", 0.9), o.get("eps", 1e-6)

    def step(p, g, s, t):
        g = g + o.get("weight_decay", 0) * p
        s["q"] = rho * s.get("q", 0) + (1 - rho) * g * g
        d = np.sqrt(s.get("a", 0) + eps) / np.sqrt(s["q"] + eps) * g
        s["a"] = rho * s.get("a", 0) + (1 - rho) * d * d
        return p - o.get("lr", 1.0) * d

    return step


def adamax(o):
    def step(p, g, s, t):
        g = g + o.get("weight_decay", 0) * p
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        s["u"] = np.maximum(0.999 * s.get("u", 0), np.abs(g) + 1e-8)
        return p - o.get("lr", 2e-3) / (1 - 0.9**t) * s["m"] / s["u"]

    return step


def nadam(o):
    lr, wd = o.get("lr", 2e-3), o.get("weight_decay", 0)

    def step(p, g, s, t):
        if o.get("decoupled_weight_decay"):
            p = p * (1 - lr * wd)
        else:
            g = g + wd * p
        mu = 0.9 * (1 - 0.5 * 0.96 ** (t * 4e-3))
        following = 0.9 * (1 - 0.5 * 0.96 ** ((t + 1) * 4e-3))
        s["prod"] = s.get("prod", 1) * mu
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
        d = np.sqrt(s["v"] / (1 - 0.999**t)) + 1e-8
        p = p - lr * (1 - mu) / (1 - s["prod"]) * g / d
        return p - lr * following / (1 - s["prod"] * following) * s["m"] / d

    return step


def radam(o):
    lr, wd = o.get("lr", 1e-3), o.get("weight_decay", 0)

    def step(p, g, s, t):
        if o.get("decoupled_weight_decay"):
            p = p * (1 - lr * wd)
        else:
            g = g + wd * p
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
        m = s["m"] / (1 - 0.9**t)
        limit = 2 / (1 - 0.999) - 1
        rho = limit - 2 * t * 0.999**t / (1 - 0.999**t)
        if rho <= 5:
            return p - lr * m
        r = np.sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho))
        return p - lr * m * r * np.sqrt(1 - 0.999**t) / (np.sqrt(s["v"]) + 1e-8)

    return step


def asgd(o):
    lr, wd = o.get("lr", 1e-2), o.get("weight_decay", 0)

    def step(p, g, s, t):
        eta = s.get("eta", lr)
        p = p - eta * (g + wd * p + 1e-4 * p)
        s["eta"] = lr / (1 + 1e-4 * lr * t) ** 0.75
        return p

    return step


def rprop(o):
    def step(p, g, s, t):
        size = s.get("size", np.full_like(p, o.get("lr", 1e-2)))
        turn = np.sign(g * s.get("prev", 0 * g))
        size = np.clip(size * np.where(turn > 0, 1.2, np.where(turn < 0, 0.5, 1)), 1e-6, 50)
        g = np.where(turn < 0, 0, g)
        s["size"], s["prev"] = size, g
        return p - np.sign(g) * size

    return step


RULES = [
    ("SGD", sgd, {"lr": 0.1}),
    ("SGD", sgd, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", sgd, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adam", adam, {"lr": 0.1}),
    ("Adam", adam, {"lr": 0.1, "betas": (0.5, 0.7), "weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", adamw, {"lr": 0.1}),
    ("AdamW", adamw, {"lr": 0.1, "amsgrad": True, "weight_decay": 0.3}),
    ("RMSprop", rmsprop, {}),
    ("RMSprop", rmsprop, {"momentum": 0.9, "weight_decay": 0.1}),
    ("RMSprop", rmsprop, {"centered": True, "alpha": 0.9}),
    ("RMSprop", rmsprop, {"centered": True, "momentum": 0.5, "alpha": 0.9}),
    ("Adagrad", adagrad, {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adadelta", adadelta, {"weight_decay": 0.1}),
    ("Adamax", adamax, {"weight_decay": 0.1}),
    ("NAdam", nadam, {"weight_decay": 0.1}),
    ("NAdam", nadam, {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", radam, {"lr": 0.1, "weight_decay": 0.1}),
    ("RAdam", radam, {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("ASGD", asgd, {"weight_decay": 0.1}),
    ("Rprop", rprop, {}),
]
IDS = [f"{name}-{i}" for i, (name, _, _) in enumerate(RULES)]


def gradients(shape, dtype=np.float64):
    rng = np.random.RandomState(3)
    return [rng.standard_normal(shape).astype(dtype) for _ in range(STEPS)]


def expected(rule, options, start, grads):
    step, state, p = rule(options), {}, start.astype(np.float64)
    sign = -1 if options.get("maximize") else 1
    for t, g in enumerate(grads, 1):
        p = step(p, sign * g.astype(np.float64), state, t)
    return p


def trained(name, options, start, grads, make=None):
    p = facula.from_numpy(start.copy()) if make is None else make(start)
    p.requires_grad_()
    optimizer = getattr(optim, name)([p], **options)
    for g in grads:
        p.grad = facula.from_numpy(g.copy()).to(p.dtype)
        optimizer.step()
    return p, optimizer


START = np.random.RandomState(0).standard_normal((3, 5))


@pytest.mark.parametrize(("name", "rule", "options"), RULES, ids=IDS)
@pytest.mark.parametrize("maximize", [False, True])
def test_formula(name, rule, options, maximize):
    options = {**options, "maximize": maximize}
    grads = gradients(START.shape)
    p, _ = trained(name, options, START, grads)
    np.testing.assert_allclose(
        p.detach().numpy(), expected(rule, options, START, grads), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(("name", "rule", "options"), RULES, ids=IDS)
def test_float32_and_long_rows(name, rule, options):
    start = np.random.RandomState(0).standard_normal(40_003).astype(np.float32)
    grads = gradients(start.shape, np.float32)
    p, _ = trained(name, options, start, grads)
    want = expected(rule, options, start, grads)
    np.testing.assert_allclose(p.detach().numpy(), want, rtol=2e-3, atol=2e-5)


@pytest.mark.parametrize(("name", "rule", "options"), RULES, ids=IDS)
@pytest.mark.parametrize("dtype", [facula.bfloat16, facula.float16], ids=str)
def test_16_bits(name, rule, options, dtype):
    grads = gradients((700,))
    start = np.random.RandomState(0).standard_normal(700)
    p, optimizer = trained(name, options, start, grads, lambda a: facula.from_numpy(a).to(dtype))
    assert p.dtype == dtype
    for key, value in optimizer.state.get(p, {}).items():
        small = key in ("step", "mu_product", "eta", "mu")
        assert value.dtype == (facula.float32 if small else dtype), key
    want = expected(rule, options, start, grads)
    got = p.detach().to(facula.float64).numpy()
    # State in 16 bits drifts; most elements stay within a few units of the last place.
    error = np.abs(got - want) / (np.abs(want) + 0.1)
    assert np.median(error) < 0.05


@pytest.mark.parametrize(("name", "rule", "options"), RULES, ids=IDS)
def test_layouts_agree(name, rule, options):
    grads = gradients(START.shape)
    want, _ = trained(name, options, START, grads)

    def transposed(a):
        return facula.from_numpy(np.asfortranarray(a))

    def with_gaps(a):
        wide = facula.zeros(3, 10, dtype=facula.float64)
        part = wide[:, ::2]
        part.copy_(facula.from_numpy(a))
        return part

    for make in (transposed, with_gaps):
        got, _ = trained(name, options, START, grads, make)
        np.testing.assert_array_equal(got.detach().numpy(), want.detach().numpy())


@pytest.mark.parametrize(("name", "rule", "options"), RULES, ids=IDS)
def test_operators_agree_with_kernels(name, rule, options, monkeypatch):
    grads = gradients(START.shape)
    want, fast = trained(name, options, START, grads)
    monkeypatch.setattr(getattr(optim, name), "_fast_step", lambda self, group: group["params"])
    got, slow = trained(name, options, START, grads)
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-9, atol=1e-12)
    for key, value in slow.state[got].items() if got in slow.state else ():
        other = fast.state[want][key]
        assert value.dtype == other.dtype, key
        np.testing.assert_allclose(other.numpy(), value.numpy(), rtol=1e-6, err_msg=key)
    assert set(slow.state.get(got, {})) == set(fast.state.get(want, {}))


@pytest.mark.parametrize(("name", "rule", "options"), RULES, ids=IDS)
def test_complex_is_a_pair_of_reals(name, rule, options):
    pair = np.random.RandomState(0).standard_normal((2, 4))
    grads = gradients(pair.shape)
    want, _ = trained(name, options, pair, grads)

    def joined(a):
        return np.ascontiguousarray(a[0] + 1j * a[1])

    got, _ = trained(name, options, joined(pair), [joined(g) for g in grads])
    np.testing.assert_allclose(got.detach().numpy(), joined(want.detach().numpy()), rtol=1e-6)


@pytest.mark.parametrize(("name", "rule", "options"), RULES, ids=IDS)
def test_resume_is_exact(name, rule, options):
    grads = gradients(START.shape)
    want, _ = trained(name, options, START, grads)
    half, first = trained(name, options, START, grads[:3])
    saved = first.state_dict()
    again = half.detach().clone().requires_grad_()
    second = getattr(optim, name)([again], **options)
    second.load_state_dict(saved)
    for g in grads[3:]:
        again.grad = facula.from_numpy(g.copy())
        second.step()
    np.testing.assert_array_equal(again.detach().numpy(), want.detach().numpy())


@pytest.mark.parametrize(
    ("name", "options"),
    [(n, o) for n, _, o in RULES if n not in ("ASGD", "Rprop")],
    ids=[i for i in IDS if not i.startswith(("ASGD", "Rprop"))],
)
def test_differentiable_in_the_start(name, options):
    """The gradient through three recorded steps equals a finite difference."""

    def final(start, differentiable):
        p = start * 1.0
        optimizer = getattr(optim, name)([p], differentiable=differentiable, **options)
        for _ in range(3):
            p.grad = 0.5 * start + 0.1
            optimizer.step()
        return (p * p).sum()

    start = facula.tensor([0.7, -1.3], dtype=facula.float64, requires_grad=True)
    final(start, True).backward()
    for i in range(2):
        moved = []
        for eps in (1e-6, -1e-6):
            x = start.detach().clone()
            x[i] += eps
            moved.append(final(x.requires_grad_(), True).item())
        assert start.grad[i].item() == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-4)


def test_infinite_parameter_without_decay():
    p = facula.tensor([float("inf"), 1.0], requires_grad=True)
    p.grad = facula.tensor([1.0, 1.0])
    optim.SGD([p], lr=0.1).step()
    assert p.tolist() == [float("inf"), pytest.approx(0.9)]


def test_empty_and_scalar_parameters():
    for name, _, options in RULES:
        p, q = facula.zeros(0, 3, requires_grad=True), facula.tensor(1.0, requires_grad=True)
        p.grad, q.grad = facula.zeros(0, 3), facula.tensor(1.0)
        getattr(optim, name)([p, q], **options).step()
        assert q.item() < 1.0


def test_writes_are_noticed():
    p = facula.ones(3, requires_grad=True)
    y = (p * p).sum()
    p.grad = facula.ones(3)
    optim.Adam([p]).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_state_names():
    names = {
        "SGD": {"momentum_buffer"},
        "Adam": {"step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
        "RMSprop": {"step", "square_avg", "momentum_buffer", "grad_avg"},
        "Adagrad": {"step", "sum"},
        "Adadelta": {"step", "square_avg", "acc_delta"},
        "Adamax": {"step", "exp_avg", "exp_inf"},
        "NAdam": {"step", "mu_product", "exp_avg", "exp_avg_sq"},
        "RAdam": {"step", "exp_avg", "exp_avg_sq"},
        "ASGD": {"step", "eta", "mu", "ax"},
        "Rprop": {"step", "prev", "step_size"},
    }
    extra = {"SGD": {"momentum": 0.9}, "Adam": {"amsgrad": True}}
    extra["RMSprop"] = {"momentum": 0.9, "centered": True}
    for name, keys in names.items():
        _, optimizer = trained(name, extra.get(name, {}), START, gradients(START.shape))
        (state,) = optimizer.state.values()
        assert set(state) == keys, name
        assert "step" not in keys or (state["step"].item(), state["step"].dim()) == (STEPS, 0)
