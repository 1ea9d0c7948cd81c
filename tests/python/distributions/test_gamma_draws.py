"""Draws of gamma and Dirichlet distributions: the generator's stream, and implicit gradients."""

import json
import math
import pathlib

import pytest

import facula
from facula import distributions as dist
from facula.distributions import _implicit
from facula.distributions._gamma_draws import standard_gamma

FIXTURE = pathlib.Path(__file__).parents[1] / "fixtures" / "distributions.json"
RECORDED = json.loads(FIXTURE.read_text())


def double(x):
    return facula.tensor(x, dtype=facula.float64)


def test_stream_position():
    """What follows a draw does not depend on how the numbers were fetched: normal numbers come in
    pairs, of which the second one is kept.
    """
    g = facula.Generator().manual_seed(5)
    many = standard_gamma(facula.full((40000,), 2.5), g)
    rest = facula.rand(3, generator=g)
    g.manual_seed(5)
    parts = [standard_gamma(facula.full((n,), 2.5), g) for n in (1, 2, 7, 9990, 30000)]
    assert facula.equal(facula.cat(parts), many)
    assert facula.equal(facula.rand(3, generator=g), rest)


def test_default_generator_untouched_by_another():
    state = facula.get_rng_state()
    standard_gamma(facula.ones(5), facula.Generator().manual_seed(1))
    assert facula.equal(facula.get_rng_state(), state)


def test_edges():
    assert standard_gamma(facula.tensor([0.0])).item() == facula.finfo(facula.float32).tiny
    assert standard_gamma(facula.ones(0, 3)).shape == (0, 3)
    assert standard_gamma(facula.ones(3, dtype=facula.float16)).dtype == facula.float16
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="standard_gamma: expected finite alpha"):
            standard_gamma(facula.tensor([bad]))


def test_names_of_the_namespace():
    """The values are PyTorch's for this seed."""
    g = facula.Generator().manual_seed(3)
    alpha = facula.ones(3, requires_grad=True)
    drawn = facula._sample_dirichlet(alpha, g)
    facula.testing.assert_close(
        drawn.detach(), facula.tensor([0.5059, 0.2657, 0.2285]), atol=1e-4, rtol=0.0
    )
    drawn[0].backward()
    assert alpha.grad[0].item() > 0 > alpha.grad[1].item()
    assert facula._sample_dirichlet(facula.ones(2, 0)).shape == (2, 0)
    assert facula.equal(
        facula._standard_gamma(alpha, generator=g.manual_seed(3)),
        standard_gamma(alpha, g.manual_seed(3)),
    )
    with pytest.raises(NotImplementedError, match="dirichlet"):
        facula._sample_dirichlet(facula.tensor([1, 2]))
    with pytest.raises(TypeError, match="must be Tensor"):
        facula._standard_gamma([1.0])


def test_gamma_slope_recorded():
    for case in RECORDED["gamma"]:
        got = _implicit.gamma_slope(double(case["alpha"]), double(case["x"]))
        # the recorded ones are approximations with about three digits
        facula.testing.assert_close(got, double(case["slope"]), rtol=1e-3, atol=0.0)


def test_gamma_slope_two_ways():
    """The series and the quadrature agree where both hold."""
    alpha = double([0.01, 0.5, 1.0, 2.0, 5.0])
    for x in (1.0, 1.5, 2.0):
        at = facula.full_like(alpha, x)
        facula.testing.assert_close(
            _implicit.gamma_slope(alpha, at), _implicit._gamma_series(alpha, at), rtol=1e-10,
            atol=0.0,
        )


def test_beta_slope_closed_form():
    """The quantiles of Beta(a, 1) are u ** (1 / a)."""
    alpha = double([0.5, 3.0, 100.0])
    for x in (1e-9, 0.1, 0.5, 0.9, 0.999):
        at = facula.full_like(alpha, x)
        got = _implicit.beta_slope(alpha, facula.ones_like(alpha), at)
        facula.testing.assert_close(got, -at * at.log() / alpha, rtol=1e-5, atol=0.0)


def test_dirichlet_slope_recorded():
    for case in RECORDED["dirichlet"]:
        alpha, x = double(case["alpha"]), double(case["x"]).expand(3, 3)
        slope = _implicit.beta_slope(alpha, alpha.sum(-1, True) - alpha, x) / (1 - x)
        facula.testing.assert_close(slope, double(case["slope"]), rtol=1e-2, atol=0.0)


def test_mean_of_gradients():
    """The gradient of the mean of a draw is the mean of the gradients of draws."""
    facula.manual_seed(0)
    a = double([0.3, 2.0, 30.0]).requires_grad_()
    draws = dist.Gamma(a, double(2.0)).rsample((4000,))
    (slope,) = facula.autograd.grad(draws.mean(0).sum(), a)
    facula.testing.assert_close(slope, facula.full_like(a, 0.5), rtol=0.1, atol=0.0)

    c = double([0.5, 2.0, 4.0]).requires_grad_()
    draws = dist.Dirichlet(c).rsample((4000,))
    weights = double([1.0, -2.0, 0.5])
    (got,) = facula.autograd.grad((draws.mean(0) * weights).sum(), c)
    (want,) = facula.autograd.grad((dist.Dirichlet(c).mean * weights).sum(), c)
    facula.testing.assert_close(got, want, rtol=0.1, atol=0.02)


def test_one_category():
    c = double([[2.0], [0.5]]).requires_grad_()
    x = dist.Dirichlet(c).rsample()
    (grad,) = facula.autograd.grad(x.sum(), c)
    assert facula.equal(grad, facula.zeros_like(c))


def test_second_derivative_refused():
    a = double([2.0]).requires_grad_()
    (grad,) = facula.autograd.grad(standard_gamma(a).sum(), a, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable|does not require grad"):
        facula.autograd.grad(grad.sum(), a)
