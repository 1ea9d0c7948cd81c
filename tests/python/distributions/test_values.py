"""Densities, moments, quantiles, draws and divergences of every distribution against recorded ones.

The recorded draws come from seed 7 in float32; everything else is in float64 unless the case asks
for float32 with `f`. Those of Wishart are recorded before the recorder's correction of singular
matrices, which draws valid ones again.
"""

import json
import pathlib

import pytest

import facula
from facula import distributions as dist

FIXTURE = pathlib.Path(__file__).parents[1] / "fixtures" / "distributions.json"
RECORDED = json.loads(FIXTURE.read_text())
NAMES = {k: getattr(dist, k) for k in dir(dist)}
NAMES["LogitRelaxedBernoulli"] = dist.relaxed_bernoulli.LogitRelaxedBernoulli
NAMES["ExpRelaxedCategorical"] = dist.relaxed_categorical.ExpRelaxedCategorical
METHODS = ("log_prob", "cdf", "icdf", "entropy", "enumerate_support")
PROPERTIES = ("mean", "mode", "variance", "stddev")

LOOSE = {"VonMises": 1e-4}  # recorded from polynomial approximations of Bessel functions


def double(x):
    t = facula.tensor(x)
    return t if t.dtype == facula.int64 else facula.tensor(x, dtype=facula.float64)


def evaluate(text, t=double):
    return eval(text, dict(NAMES, t=t, f=facula.tensor))


def recorded(entry):
    values = [float(v) for v in entry["data"]]
    return facula.tensor(values, dtype=facula.float64).reshape(entry["shape"])


def check(entry, compute, tolerance):
    if "error" in entry:
        with pytest.raises(Exception) as caught:
            compute()
        assert type(caught.value).__name__ == entry["error"]
        return
    got, want = compute(), recorded(entry)
    assert tuple(got.shape) == tuple(want.shape)
    facula.testing.assert_close(
        got.double(), want, rtol=tolerance, atol=tolerance, equal_nan=True
    )


def ids(case):
    return case["make"][:60]


@pytest.mark.parametrize("case", RECORDED["distributions"], ids=ids)
def test_functions(case):
    d = evaluate(case["make"])
    name = case["make"].split("(")[0]
    single = "f(" in case["value"] or name == "Multinomial"
    tolerance = LOOSE.get(name, 1e-6 if single else 1e-9)
    value = evaluate(case["value"])
    arguments = {"log_prob": (value,), "cdf": (value,)}
    if case["quantile"]:
        arguments["icdf"] = (evaluate(case["quantile"]),)
    for method in METHODS:
        if method in case:
            check(case[method], lambda m=method: getattr(d, m)(*arguments.get(m, ())), tolerance)
    for prop in PROPERTIES:
        if prop in case:
            check(case[prop], lambda p=prop: getattr(d, p), tolerance)
    assert list(d.batch_shape) == case["batch_shape"]
    assert list(d.event_shape) == case["event_shape"]
    assert type(d.support).__name__ == case["support"]
    assert repr(evaluate(case["make"])).replace("facula.", "") == case["repr"]


@pytest.mark.parametrize("case", RECORDED["distributions"], ids=ids)
def test_draws(case):
    d = evaluate(case["make"], facula.tensor)
    for method in ("sample", "rsample"):
        if method in case:
            facula.manual_seed(7)
            check(case[method], lambda m=method: getattr(d, m)((3,)), 1e-5)


@pytest.mark.parametrize("case", RECORDED["distributions"], ids=ids)
def test_draws_follow_the_distribution(case):
    """Draws lie in the support, and their mean is the mean; gradients flow where promised."""
    d = evaluate(case["make"], facula.tensor)
    facula.manual_seed(0)
    drawn = d.sample((400,))
    assert d.support.check(drawn).all()
    assert facula.isfinite(d.log_prob(drawn)).all()
    if "error" in case["mean"] or "error" in case["variance"]:
        return
    if case["make"].startswith("VonMises"):
        return  # its mean is a direction
    mean, spread = d.mean, d.stddev
    steady = facula.isfinite(mean) & facula.isfinite(spread)
    error = (drawn.double().mean(0) - mean).abs()
    # heavy tails (large fourth moments) get a wide margin
    assert (error <= 0.5 * spread + 1e-3)[steady].all()


@pytest.mark.parametrize("case", RECORDED["distributions"], ids=ids)
def test_expand(case):
    d = evaluate(case["make"])
    e = d.expand((2, *d.batch_shape))
    assert type(e) is type(d)
    assert tuple(e.batch_shape) == (2, *d.batch_shape)
    assert e.event_shape == d.event_shape
    value = evaluate(case["value"])
    own = len(d.batch_shape) + len(d.event_shape)
    # a batch dimension of size 1 in front of the value's own ones
    again = value.unsqueeze(value.dim() - own) if value.dim() >= own else value
    before = d.log_prob(value)
    before = before.unsqueeze(before.dim() - len(d.batch_shape))
    after = e.log_prob(again)
    facula.testing.assert_close(after, before.expand_as(after), equal_nan=True)
    facula.manual_seed(3)
    assert e.sample((3,)).shape == (3, 2, *d.batch_shape, *d.event_shape)


@pytest.mark.parametrize("case", RECORDED["kl"], ids=lambda c: c["p"][:30] + "|" + c["q"][:30])
def test_kl(case):
    p, q = evaluate(case["p"]), evaluate(case["q"])
    check(case["kl"], lambda: dist.kl_divergence(p, q), 1e-9)


def test_kumaraswamy_mode():
    d = dist.Kumaraswamy(double([0.5, 3.0]), double([1.0, 2.0]))
    mode = d.mode
    assert mode[0].isnan()
    near = d.log_prob(facula.stack([mode - 1e-3, mode, mode + 1e-3]).nan_to_num(0.5))
    assert near[1, 1] > near[0, 1] and near[1, 1] > near[2, 1]


def test_bernoulli_draws():
    facula.manual_seed(1)
    drawn = dist.Bernoulli(facula.tensor([0.1, 0.5, 1.0, 0.0])).sample((4000,))
    assert drawn.unique().tolist() == [0.0, 1.0]
    facula.testing.assert_close(
        drawn.mean(0), facula.tensor([0.1, 0.5, 1.0, 0.0]), atol=0.03, rtol=0.0
    )


@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-0.5, 1.0)])
def test_kl_of_touching_supports_is_finite(low, high):
    """A support that ends where the other's does holds all draws."""
    other = dist.Uniform(double(low), double(high))
    for p in (dist.ContinuousBernoulli(double(0.3)), dist.Beta(double(2.0), double(2.0))):
        want = -p.entropy() + facula.tensor(high - low, dtype=facula.float64).log()
        facula.testing.assert_close(dist.kl_divergence(p, other), want)
    unit = dist.Uniform(double(0.0), double(1.0))
    assert facula.isfinite(dist.kl_divergence(unit, dist.ContinuousBernoulli(double(0.3))))
