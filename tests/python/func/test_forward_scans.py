"""Tangents of logcumsumexp, whose backward pass is not linear in what it reads."""

from __future__ import annotations

import math

import pytest

import facula
from facula import func

X = facula.tensor([[0.3, -1.0, 2.0], [800.0, 799.0, 801.0]], dtype=facula.float64)
T = facula.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]], dtype=facula.float64)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_logcumsumexp_weighs_tangents_as_softmax_does(dim: int) -> None:
    value, tangent = func.jvp(lambda x: facula.logcumsumexp(x, dim), (X,), (T,))
    facula.testing.assert_close(value, facula.logcumsumexp(X, dim))
    rows, shares = X.movedim(dim, -1), T.movedim(dim, -1)
    for i in range(rows.shape[-1]):
        weights = facula.softmax(rows[..., : i + 1], -1)
        want = (weights * shares[..., : i + 1]).sum(-1)
        facula.testing.assert_close(tangent.movedim(dim, -1)[..., i], want)


def test_logcumsumexp_after_nothing_but_minus_infinity() -> None:
    x = facula.tensor([-math.inf, -math.inf, 0.0])
    value, tangent = func.jvp(lambda x: facula.logcumsumexp(x, 0), (x,), (facula.ones(3),))
    assert value.tolist() == [-math.inf, -math.inf, 0.0]
    assert tangent.tolist() == [0.0, 0.0, 1.0]


def test_logcumsumexp_forward_over_forward() -> None:
    x = facula.tensor([0.5, 1.0, -0.3], dtype=facula.float64)
    u = facula.tensor([1.0, -2.0, 0.5], dtype=facula.float64)
    v = facula.tensor([0.4, 3.0, -1.0], dtype=facula.float64)

    def slope(x: facula.Tensor) -> facula.Tensor:
        return func.jvp(lambda y: facula.logcumsumexp(y, 0), (x,), (u,))[1]

    value, curve = func.jvp(slope, (x,), (v,))
    for i in range(3):
        weights = facula.softmax(x[: i + 1], 0)
        first, second = u[: i + 1], v[: i + 1]
        means = (weights * first).sum(), (weights * second).sum()
        facula.testing.assert_close(value[i], means[0])
        # The second derivative is the covariance of the directions under the weights.
        facula.testing.assert_close(
            curve[i], (weights * first * second).sum() - means[0] * means[1]
        )


@pytest.mark.parametrize("name", ["i1", "i1e"])
def test_second_derivatives_of_bessel_functions_at_zero(name: str) -> None:
    x = facula.tensor([0.0, 1.5], dtype=facula.float64, requires_grad=True)
    (slope,) = facula.autograd.grad(getattr(facula.special, name)(x).sum(), x, create_graph=True)
    (curve,) = facula.autograd.grad(slope.sum(), x)
    assert slope[0].item() == 0.5 and curve[0].item() == 0.0
    assert curve[1].isfinite()


@pytest.mark.parametrize("dim", [0, -1])
def test_logcumsumexp_of_complex_numbers(dim: int) -> None:
    g = facula.Generator().manual_seed(0)
    x, t = facula.randn(2, 4, 3, dtype=facula.complex128, generator=g)
    t[0, 1], t[2] = 0, 0  # whose logarithms are infinite
    value, tangent = func.jvp(lambda x: facula.logcumsumexp(x, dim), (x,), (t,))
    step = 1e-6
    ahead, behind = (facula.logcumsumexp(x + s * step * t, dim) for s in (1, -1))
    facula.testing.assert_close(tangent, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-8)
