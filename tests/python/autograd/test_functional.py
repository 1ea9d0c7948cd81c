"""Jacobians and Hessians against values worked out by hand."""

import pytest

import facula
from facula.autograd import functional as F


def test_jacobian():
    x = facula.tensor([1.0, 2.0])
    assert F.jacobian(lambda t: t * t, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    a, b = F.jacobian(lambda p, q: (p * q).sum(), (x, facula.tensor([3.0, 4.0])))
    assert a.tolist() == [3.0, 4.0] and b.tolist() == [1.0, 2.0]


def test_hessian():
    x = facula.tensor([1.0, 2.0])
    assert F.hessian(lambda t: (t * t * t).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_products():
    x, v = facula.tensor([1.0, 2.0]), facula.tensor([1.0, 10.0])
    assert F.vjp(lambda t: t * t, x, v)[1].tolist() == [2.0, 40.0]
    assert F.jvp(lambda t: t * t, x, v)[1].tolist() == [2.0, 40.0]
    value, product = F.hvp(lambda t: (t * t * t).sum(), x, v)
    assert value.item() == 9.0 and product.tolist() == [6.0, 120.0]


def test_strict():
    with pytest.raises(RuntimeError, match="independent"):
        F.jacobian(lambda t: facula.ones(1), facula.ones(1), strict=True)
    assert F.jacobian(lambda t: facula.ones(1), facula.ones(1)).tolist() == [[0.0]]
