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


def test_outputs_without_history():
    x, v = facula.ones(3), facula.ones(2)
    constant = lambda a: facula.ones(2)  # noqa: E731
    assert F.vjp(constant, x, v)[1].tolist() == [0, 0, 0]
    assert F.jvp(constant, x, x)[1].tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="independent"):
        F.vjp(constant, x, v, strict=True)


def test_strict_refuses_constant_jacobians_when_recording():
    x = facula.ones(3)
    for f in (F.vjp, F.jvp):
        assert f(lambda a: a * 3, x, x, strict=True)[1].tolist() == [3, 3, 3]
        with pytest.raises(RuntimeError, match="independent of input 0"):
            f(lambda a: a * 3, x, x, strict=True, create_graph=True)
    with pytest.raises(RuntimeError, match="independent of input 0"):
        F.jacobian(lambda a: a * 3, x, strict=True, create_graph=True)
    assert not x.requires_grad  # the caller's tensor is as it was


@pytest.mark.parametrize("options, error", [
    ({"strategy": "x"}, ValueError),
    ({"strategy": "forward-mode"}, NotImplementedError),
    ({"strategy": "forward-mode", "vectorize": True, "create_graph": True}, NotImplementedError),
    ({"strategy": "forward-mode", "vectorize": True, "strict": True}, RuntimeError),
    ({"strict": True, "vectorize": True}, RuntimeError),
])  # fmt: skip
def test_options_that_do_not_fit(options, error):
    with pytest.raises(error):
        F.jacobian(lambda a: (a**2).sum(), facula.ones(3), **options)
    if "strategy" in options:
        options = {**options, "outer_jacobian_strategy": options["strategy"]}
        del options["strategy"]
    with pytest.raises(error):
        F.hessian(lambda a: (a**2).sum(), facula.ones(3), **options)


def test_forward_mode_and_complex_rows():
    x = facula.tensor([1.0, 2.0])
    got = F.jacobian(facula.square, x, vectorize=True, strategy="forward-mode")
    assert got.tolist() == [[2, 0], [0, 4]]
    z = facula.tensor([1 + 1j])
    assert F.jacobian(lambda a: a * 2, z, vectorize=True).tolist() == [[2 + 0j]]


@pytest.mark.parametrize("name", ["hessian", "hvp", "vhp"])
def test_values_that_are_no_tensors(name):
    vector = () if name == "hessian" else (facula.ones(2),)
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
        getattr(F, name)(lambda a: [a.sum()], facula.ones(2), *vector)
