"""Schedules against closed forms, and what all schedulers share."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest

import facula
from facula import optim
from facula.optim import lr_scheduler as sched


def make(rate=0.1, groups=1, kind="SGD", **options):
    params = [facula.zeros(1, requires_grad=True) for _ in range(groups)]
    if kind == "SGD":
        options.setdefault("momentum", 0.9)
    return getattr(optim, kind)([{"params": [p]} for p in params], lr=rate, **options)


def rates(o, s, steps, key="lr"):
    out = []
    for _ in range(steps):
        out.append(o.param_groups[0][key])
        o.step()
        s.step()
    return out


def cosine(t, length, low=0.0, base=0.1):
    return low + (base - low) * (1 + math.cos(math.pi * t / length)) / 2


def cycle(t, up, down, low, high, scale):
    place = t % (up + down)
    height = place / up if place <= up else 1 - (place - up) / down
    return low + (high - low) * height * scale(t // (up + down) + 1)


CLOSED = {
    "lambda": (lambda o: sched.LambdaLR(o, lambda t: 1 / (1 + t)), lambda t: 0.1 / (1 + t)),
    "multiplicative": (lambda o: sched.MultiplicativeLR(o, lambda t: 0.9), lambda t: 0.1 * 0.9**t),
    "step": (lambda o: sched.StepLR(o, 3, 0.5), lambda t: 0.1 * 0.5 ** (t // 3)),
    "multistep": (
        lambda o: sched.MultiStepLR(o, [2, 5, 5, 9], 0.5),
        lambda t: 0.1 * 0.5 ** sum(t >= m for m in (2, 5, 5, 9)),
    ),
    "constant": (lambda o: sched.ConstantLR(o, 0.5, 4), lambda t: 0.05 if t < 4 else 0.1),
    "constant zero": (lambda o: sched.ConstantLR(o, 0.0, 4), lambda t: 0.0 if t < 4 else 0.1),
    "linear": (
        lambda o: sched.LinearLR(o, 0.2, 0.8, 6),
        lambda t: 0.1 * (0.2 + 0.6 * min(t, 6) / 6),
    ),
    "exponential": (lambda o: sched.ExponentialLR(o, 0.9), lambda t: 0.1 * 0.9**t),
    "polynomial": (
        lambda o: sched.PolynomialLR(o, 8, 2.0),
        lambda t: 0.1 * (1 - min(t, 8) / 8) ** 2,
    ),
    "cosine": (lambda o: sched.CosineAnnealingLR(o, 7, 0.01), lambda t: cosine(t, 7, 0.01)),
    "restarts": (
        lambda o: sched.CosineAnnealingWarmRestarts(o, 4, 2),
        lambda t: cosine(t, 4) if t < 4 else cosine(t - 4, 8) if t < 12 else cosine(t - 12, 16),
    ),
    "triangular": (
        lambda o: sched.CyclicLR(o, 0.01, 0.1, 3, 5),
        lambda t: cycle(t, 3, 5, 0.01, 0.1, lambda c: 1.0),
    ),
    "triangular2": (
        lambda o: sched.CyclicLR(o, 0.01, 0.1, 3, mode="triangular2"),
        lambda t: cycle(t, 3, 3, 0.01, 0.1, lambda c: 0.5 ** (c - 1)),
    ),
    "warm-up then cosine": (
        lambda o: sched.SequentialLR(
            o, [sched.LinearLR(o, 0.1, total_iters=5), sched.CosineAnnealingLR(o, 10)], [5]
        ),
        lambda t: 0.1 * (0.1 + 0.9 * t / 5) if t < 5 else cosine(t - 5, 10),
    ),
    "chained": (
        lambda o: sched.ChainedScheduler(
            [sched.ConstantLR(o, 0.5, 4), sched.ExponentialLR(o, 0.9)]
        ),
        lambda t: (0.05 if t < 4 else 0.1) * 0.9**t,
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_form(name):
    build, form = CLOSED[name]
    o = make()
    got = rates(o, build(o), 16)
    np.testing.assert_allclose(got, [form(t) for t in range(16)], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("at", [1, 6])
def test_resume(name, at):
    build, _ = CLOSED[name]
    o = make()
    want = rates(o, build(o), 14)
    o = make()
    s = build(o)
    rates(o, s, at)
    saved = copy.deepcopy((o.state_dict(), s.state_dict()))
    p = make(0.7)
    q = build(p)
    p.load_state_dict(saved[0])
    q.load_state_dict(saved[1])
    assert rates(p, q, 14 - at) == want[at:]
    assert q.get_last_lr() == [p.param_groups[0]["lr"]]


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_one_cycle(strategy, kind):
    o = make(kind=kind)
    s = sched.OneCycleLR(o, 0.5, total_steps=20, anneal_strategy=strategy)
    key = "momentum" if kind == "SGD" else "betas"
    lr, momentum = [], []
    for t in range(20):
        lr.append(o.param_groups[0]["lr"])
        m = o.param_groups[0][key]
        momentum.append(m if kind == "SGD" else m[0])
        o.step()
        if t < 19:
            s.step()

    def anneal(a, b, x):
        return (
            b + (a - b) / 2 * (1 + math.cos(math.pi * x)) if strategy == "cos" else a + (b - a) * x
        )

    want = [
        anneal(0.02, 0.5, t / 5) if t <= 5 else anneal(0.5, 2e-6, (t - 5) / 14) for t in range(20)
    ]
    np.testing.assert_allclose(lr, want, rtol=1e-9)
    want = [
        anneal(0.95, 0.85, t / 5) if t <= 5 else anneal(0.85, 0.95, (t - 5) / 14) for t in range(20)
    ]
    np.testing.assert_allclose(momentum, want, rtol=1e-9)
    s.step()
    with pytest.raises(ValueError, match="Tried to step 21 times"):
        s.step()


def test_one_cycle_three_phases():
    o = make()
    s = sched.OneCycleLR(o, 0.5, epochs=4, steps_per_epoch=5, three_phase=True, pct_start=0.25)
    got = rates(o, s, 19)
    assert got[4] == pytest.approx(0.5) and got[8] == pytest.approx(0.02)


def test_cyclic_scale_function_and_momentum():
    o = make()
    s = sched.CyclicLR(
        o, 0.0, 1.0, 2, scale_fn=lambda c: 1 / c, base_momentum=0.5, max_momentum=0.8
    )
    assert rates(o, s, 8) == pytest.approx([0, 0.5, 1, 0.5, 0, 0.25, 0.5, 0.25])
    o = make()
    s = sched.CyclicLR(o, 0.0, 1.0, 2, base_momentum=0.5, max_momentum=0.8)
    assert rates(o, s, 4, "momentum") == pytest.approx([0.8, 0.65, 0.5, 0.65])
    o = make()
    s = sched.CyclicLR(o, 0.0, 1.0, 2, mode="exp_range", gamma=0.5)
    other = make()
    t = sched.CyclicLR(other, 0.0, 1.0, 2, mode="exp_range", gamma=1.0)
    assert s.state_dict()["_scale_fn_custom"] is None
    t.load_state_dict(s.state_dict())
    assert rates(o, s, 6) == rates(other, t, 6)


def test_cyclic_state_holds_what_an_object_that_scales_has():
    class Scale:
        def __init__(self, base):
            self.base = base

        def __call__(self, cycle):
            return self.base / cycle

    o, other = make(), make()
    s = sched.CyclicLR(o, 0.0, 1.0, 2, scale_fn=Scale(2.0))
    t = sched.CyclicLR(other, 0.0, 1.0, 2, scale_fn=Scale(7.0))
    assert s.state_dict()["_scale_fn_custom"] == {"base": 2.0}
    t.load_state_dict(s.state_dict())
    assert rates(o, s, 6) == rates(other, t, 6)
    plain = sched.CyclicLR(make(), 0.0, 1.0, 2, scale_fn=lambda c: c)
    assert plain.state_dict()["_scale_fn_custom"] is None


def test_restarts_at_fractions():
    o = make()
    s = sched.CosineAnnealingWarmRestarts(o, 2, 2)
    for epoch in (0.5, 2.5, 7.0, 1.0):
        s.step(epoch)
        start, length = (0, 2) if epoch < 2 else (2, 4) if epoch < 6 else (6, 8)
        assert o.param_groups[0]["lr"] == pytest.approx(cosine(epoch - start, length))


def test_states_have_the_keys_and_counts_of_pytorch():
    restarts = sched.CosineAnnealingWarmRestarts(make(), 3, 2)
    for epoch in (None, None, 4.5):
        restarts.step(epoch)
    state = restarts.state_dict()
    assert (state["_step_count"], state["last_epoch"], state["T_i"]) == (0, 4, 6)
    cyclic = sched.CyclicLR(make(), 0.0, 1.0, 2)
    assert cyclic.state_dict()["_scale_fn_custom"] is None
    cyclic.load_state_dict(cyclic.state_dict())
    assert cyclic._scale_fn_custom is None
    lambdas = sched.CyclicLR(make(), 0.0, 1.0, 2, scale_fn=lambda x: 1.0)
    assert lambdas.state_dict()["_scale_fn_custom"] is None


@pytest.mark.parametrize(
    ("mode", "threshold_mode", "values", "want"),
    [
        ("min", "rel", [1, 1, 1, 1, 1, 0.5], [1, 1, 1, 0.5, 0.5, 0.5]),
        ("max", "abs", [1, 2, 2, 2, 2, 3], [1, 1, 1, 1, 0.5, 0.5]),
        ("min", "abs", [math.nan, math.nan, math.nan, 1, 1, 1], [1, 1, 0.5, 0.5, 0.5, 0.5]),
    ],
)
def test_plateau(mode, threshold_mode, values, want):
    o = make(1.0)
    s = sched.ReduceLROnPlateau(o, mode, 0.5, 2, threshold_mode=threshold_mode)
    got = []
    for v in values:
        s.step(facula.tensor(float(v)))
        got.append(o.param_groups[0]["lr"])
    assert got == want == [*got[:-1], s.get_last_lr()[0]]


def test_plateau_cooldown_minimum_and_state():
    o = make(1.0, groups=2)
    s = sched.ReduceLROnPlateau(o, factor=0.1, patience=0, cooldown=2, min_lr=[0.05, 0.2])
    got = []
    for _ in range(8):
        s.step(1.0)
        got.append([g["lr"] for g in o.param_groups])
    assert got[0] == [1.0, 1.0] and got[1] == [0.1, 0.2] and got[3] == [0.1, 0.2]
    assert got[4] == [0.05, 0.2] and got[7] == [0.05, 0.2]
    t = sched.ReduceLROnPlateau(make(groups=2))
    t.load_state_dict(s.state_dict())
    assert (t.best, t.cooldown, t.min_lrs) == (1.0, 2, [0.05, 0.2])
    with pytest.raises(ValueError, match=r"Factor should be < 1\.0\."):
        sched.ReduceLROnPlateau(o, factor=1.0)
    with pytest.raises(ValueError, match="mode best is unknown!"):
        sched.ReduceLROnPlateau(o, "best")
    with pytest.raises(ValueError, match="expected 2 min_lrs, got 1"):
        sched.ReduceLROnPlateau(o, min_lr=[0.1])


def test_groups_have_their_own_rates():
    o = make(groups=2)
    o.param_groups[1]["lr"] = 1.0
    s = sched.LambdaLR(o, [lambda t: 0.5**t, lambda t: 0.1**t])
    o.step()
    s.step()
    assert [g["lr"] for g in o.param_groups] == pytest.approx([0.05, 0.1])
    assert s.base_lrs == [0.1, 1.0]
    with pytest.raises(ValueError, match="Expected 2 lr_lambdas, but got 1"):
        sched.LambdaLR(o, [lambda t: 1])


def test_two_schedulers_on_one_optimizer():
    o = make()
    a, b = sched.ExponentialLR(o, 0.5), sched.StepLR(o, 2, 0.1)
    got = []
    for _ in range(4):
        got.append(o.param_groups[0]["lr"])
        o.step()
        a.step()
        b.step()
    assert got == pytest.approx([0.1, 0.05, 0.0025, 0.00125])


def test_tensor_rate_keeps_identity():
    rate = facula.tensor(0.1)
    o = make(rate, momentum=0)
    s = sched.ExponentialLR(o, 0.5)
    o.step()
    s.step()
    assert o.param_groups[0]["lr"] is rate and rate.item() == pytest.approx(0.05)
    assert s.base_lrs[0].item() == pytest.approx(0.1)


def test_epoch_argument():
    o = make()
    s = sched.StepLR(o, 3, 0.5)
    with pytest.warns(UserWarning, match="epoch parameter"):
        s.step(7)
    assert o.param_groups[0]["lr"] == pytest.approx(0.025) and s.last_epoch == 7


def test_order_of_calls():
    o = make()
    s = sched.ExponentialLR(o, 0.5)
    with pytest.warns(UserWarning, match=r"before `optimizer\.step\(\)`"):
        s.step()
    o = make()
    s = sched.ExponentialLR(o, 0.5)
    o.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s.step()
        s.step()
    with pytest.warns(UserWarning, match="get_last_lr"):
        s.get_lr()


def test_lambda_objects_keep_their_state():
    class Decay:
        def __init__(self, base):
            self.base = base

        def __call__(self, t):
            return self.base**t

    o = make()
    s = sched.LambdaLR(o, Decay(0.5))
    other = make()
    t = sched.LambdaLR(other, Decay(0.9))
    t.load_state_dict(s.state_dict())
    assert rates(o, s, 4) == rates(other, t, 4)
    assert sched.LambdaLR(o, lambda t: 1.0).state_dict()["lr_lambdas"] == [None]


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda o: sched.StepLR("x", 3), TypeError, "str is not an Optimizer"),
        (lambda o: sched.StepLR(o, 3, last_epoch=4), KeyError, "initial_lr"),
        (lambda o: sched.ConstantLR(o, 1.5), ValueError, "between 0 and 1"),
        (lambda o: sched.LinearLR(o, 0.0), ValueError, "greater than 0"),
        (lambda o: sched.LinearLR(o, 0.5, 2.0), ValueError, "between 0 and 1"),
        (lambda o: sched.OneCycleLR(o, 0.1), ValueError, "total_steps OR"),
        (lambda o: sched.OneCycleLR(o, 0.1, 10, anneal_strategy="x"), ValueError, "'cos' or"),
        (lambda o: sched.CyclicLR(o, [0.1, 0.2], 0.3), ValueError, "same length"),
        (lambda o: sched.CyclicLR(o, 0.1, 0.3, mode="x"), ValueError, "mode is invalid"),
        (lambda o: sched.CosineAnnealingWarmRestarts(o, 0), ValueError, "positive integer T_0"),
        (lambda o: sched.ChainedScheduler([]), ValueError, "at least one scheduler"),
        (lambda o: sched.SequentialLR(o, [sched.StepLR(o, 2)], [5]), ValueError, "one more than"),
        (
            lambda o: sched.SequentialLR(o, [sched.ReduceLROnPlateau(o)], []),
            ValueError,
            "does not support `ReduceLROnPlateau`",
        ),
        (
            lambda o: sched.SequentialLR(o, [sched.StepLR(make(), 2)], []),
            ValueError,
            "same optimizer",
        ),
    ],
)
def test_refusals(build, error, text):
    with pytest.raises(error, match=text):
        build(make())


def test_momentum_cycle_needs_momentum():
    p = facula.zeros(1, requires_grad=True)
    with pytest.raises(ValueError, match="momentum or beta1"):
        sched.CyclicLR(optim.Adagrad([p]), 0.1, 0.3)


@pytest.mark.parametrize("start, want", [(0, 0.5), (3, 0.5)])
def test_cosine_annealing_begins_with_the_present_rate(start, want):
    p = facula.ones(1, requires_grad=True)
    o = optim.SGD([{"params": [p], "initial_lr": 0.5}], lr=0.5)
    schedule = sched.CosineAnnealingLR(o, 5, last_epoch=start)
    assert o.param_groups[0]["lr"] == want
    o.step()
    schedule.step()
    t = start + 2
    step = (1 + np.cos(np.pi * t / 5)) / (1 + np.cos(np.pi * (t - 1) / 5))
    assert o.param_groups[0]["lr"] == pytest.approx(want * step, abs=1e-12)


def test_classes_stand_where_files_name_them():
    for name in sched.__all__:
        assert getattr(sched, name).__module__ == "facula.optim.lr_scheduler"
    for kind in (optim.Adafactor, optim.Muon):
        assert kind.__module__ == "facula.optim"
    p = facula.ones(1, requires_grad=True)
    schedule = sched.StepLR(optim.SGD([p], lr=0.5), 2)
    assert pickle.loads(pickle.dumps(schedule)).step_size == 2
