"""In-place forms of composites: what they saved of the old value outlives the write."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import facula

X = facula.tensor([[0.2, 0.5, 0.9], [0.4, 0.7, 0.3]], dtype=facula.float64)


@pytest.mark.parametrize(
    ("inplace", "plain"),
    [
        (lambda t: t.logit_(1e-6), lambda t: t.logit(1e-6)),
        (lambda t: t.logit_(), lambda t: t.logit()),
        (lambda t: t.polygamma_(1), lambda t: facula.polygamma(1, t)),
        (lambda t: t.mvlgamma_(1), lambda t: facula.mvlgamma(t, 1)),
        (lambda t: t.renorm_(2, 0, 0.5), lambda t: facula.renorm(t, 2, 0, 0.5)),
        (lambda t: t.ldexp_(t * 3), lambda t: facula.ldexp(t, t * 3)),
        (lambda t: t.ldexp_(t), lambda t: facula.ldexp(t, t)),
        (lambda t: t.nan_to_num_(0.0), lambda t: facula.nan_to_num(t, 0.0)),
        (lambda t: t.round_(decimals=1), lambda t: facula.round(t, decimals=1)),
    ],
)
def test_gradients_are_those_of_the_functional_form(inplace: Callable, plain: Callable) -> None:
    a, b = X.clone().requires_grad_(), X.clone().requires_grad_()
    weight = facula.tensor([[0.3, -1.0, 2.0], [1.0, 0.5, -0.2]], dtype=facula.float64)
    written = a * 1
    result = inplace(written)
    assert result is written
    (result * weight).sum().backward()
    (plain(b * 1) * weight).sum().backward()
    facula.testing.assert_close(result, plain(b))
    facula.testing.assert_close(a.grad, b.grad)


def test_what_another_argument_wants_is_kept_where_self_wants_no_gradient() -> None:
    x = facula.full((3,), 2.0)
    exponent = facula.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x.ldexp_(exponent).sum().backward()
    want = 2.0 * math.log(2) * 2.0 ** exponent.detach()
    facula.testing.assert_close(exponent.grad, want)


@pytest.mark.parametrize(
    ("inplace", "plain"),
    [
        (lambda t, v: t.addr_(v[:2], v), lambda t, v: facula.addr(t, v[:2], v)),
        (
            lambda t, v: t.addbmm_(v[:2].view(1, 2, 1), v.view(1, 1, 3), beta=2),
            lambda t, v: facula.addbmm(t, v[:2].view(1, 2, 1), v.view(1, 1, 3), beta=2),
        ),
        (lambda t, v: t.nextafter_(v), lambda t, v: facula.nextafter(t, v)),
        (lambda t, v: t.nan_to_num_(0.5), lambda t, v: facula.nan_to_num(t, 0.5)),
    ],
)
def test_gradients_of_both_operands(inplace: Callable, plain: Callable) -> None:
    grads = []
    for form in (lambda t, v: inplace(t * 1, v), plain):
        a = X.clone().requires_grad_()
        v = facula.tensor([0.3, 0.7, -0.4], dtype=facula.float64, requires_grad=True)
        out = form(a, v)
        if out.requires_grad:
            (out * out.detach()).sum().backward()
        grads.append((out.detach(), a.grad, v.grad))
    for got, want in zip(*grads, strict=True):
        assert (got is None) == (want is None)
        if want is not None:
            facula.testing.assert_close(got, want)


def test_masked_fill_converts_a_tensor_as_it_does_a_number() -> None:
    mask = facula.tensor([True, False])
    assert facula.tensor([1, 2]).masked_fill_(mask, facula.tensor(-3.7)).tolist() == [-3, 2]
    small = facula.tensor([1, 2], dtype=facula.uint8)
    with pytest.raises(RuntimeError, match="without overflow"):
        small.masked_fill_(mask, facula.tensor(300.0))
    with pytest.raises(RuntimeError, match="without overflow"):
        facula.tensor([1.0, 2.0]).masked_fill_(mask, facula.tensor(1 + 2j))
