"""Transforms: inverses, Jacobians, shapes, caches, equality."""

import copy
import pickle

import numpy
import pytest

import facula
from facula.autograd.functional import jacobian
from facula.distributions import Independent, Normal, TransformedDistribution, constraints
from facula.distributions import transforms as T
from facula.distributions.utils import tril_matrix_to_vec


def double(x):
    return facula.tensor(x, dtype=facula.float64)


SCALAR = {
    "exp": (T.ExpTransform(), [-1.0, 0.3, 2.0]),
    "power": (T.PowerTransform(double(2.5)), [0.2, 1.0, 3.0]),
    "power<0": (T.PowerTransform(-1.5), [0.2, 1.0, 3.0]),
    "sigmoid": (T.SigmoidTransform(), [-3.0, 0.0, 2.0]),
    "softplus": (T.SoftplusTransform(), [-3.0, 0.0, 25.0]),
    "tanh": (T.TanhTransform(), [-2.0, 0.1, 1.5]),
    "affine": (T.AffineTransform(1.0, -2.0), [-2.0, 0.1, 1.5]),
    "affine tensor": (T.AffineTransform(double(1.0), double([0.5, 3.0, -1.0])), [-2.0, 0.1, 1.5]),
    "inverse": (T.ExpTransform().inv, [0.5, 0.1, 1.5]),
    "compose": (
        T.ComposeTransform([T.AffineTransform(0.5, -2.0), T.TanhTransform(), T.ExpTransform()]),
        [-0.2, 0.1, 0.5],
    ),
    "cdf": (T.CumulativeDistributionTransform(Normal(double(0.5), double(2.0))), [-1.0, 0.0, 3.0]),
}


@pytest.mark.parametrize("name", SCALAR)
def test_scalar(name):
    t, x = SCALAR[name]
    x = double(x).requires_grad_()
    y = t(x)
    facula.testing.assert_close(t.inv(y), x)
    assert t.domain.check(x).all() and t.codomain.check(y).all()
    (slope,) = facula.autograd.grad(y.sum(), x)
    facula.testing.assert_close(t.log_abs_det_jacobian(x, y), slope.abs().log())
    facula.testing.assert_close(t.inv.log_abs_det_jacobian(y, x), -slope.abs().log())
    assert (facula.as_tensor(t.sign).to(slope.dtype) * slope > 0).all()
    assert t.bijective and t.inv.inv is t
    assert t.forward_shape(facula.Size([3])) == (3,)


def test_log_det_of_vectors():
    """Bijections of vectors, against the determinant of the Jacobian that autograd gives."""
    x = double([0.3, -1.0, 0.7])
    breaking = T.StickBreakingTransform()
    corr = T.CorrCholeskyTransform()
    cases = [
        (breaking, lambda v: breaking(v)[:-1], x),
        (corr, lambda v: tril_matrix_to_vec(corr(v), -1), x),
        (T.AffineTransform(0.5, double([1.0, -2.0, 3.0]), event_dim=1), None, x),
        (T.IndependentTransform(T.ExpTransform(), 1), None, x),
        (
            T.ComposeTransform([T.AffineTransform(0.5, 2.0), breaking]),
            lambda v: breaking(0.5 + 2.0 * v)[:-1],
            x,
        ),
    ]
    for t, square, at in cases:
        matrix = jacobian(square or t, at)
        want = numpy.linalg.slogdet(numpy.array(matrix.tolist()))[1]
        got = t.log_abs_det_jacobian(at, t(at))
        assert got.shape == ()
        assert got.item() == pytest.approx(want, rel=1e-9)
        facula.testing.assert_close(t.inv(t(at)), at)
        assert t.codomain.check(t(at))


def test_simplex_and_matrices():
    x = double([[0.3, -1.0, 0.7], [0.0, 0.0, 0.0]])
    y = T.SoftmaxTransform()(x)
    assert constraints.simplex.check(y).all()
    facula.testing.assert_close(T.SoftmaxTransform()(T.SoftmaxTransform().inv(y)), y)
    facula.testing.assert_close(T.StickBreakingTransform()(x)[1], double([0.25] * 4))
    m = double([[0.3, 9.0], [0.5, -1.0]])
    lower = T.LowerCholeskyTransform()(m)
    assert constraints.lower_cholesky.check(lower)
    facula.testing.assert_close(T.LowerCholeskyTransform().inv(lower), m.tril())
    facula.testing.assert_close(T.PositiveDefiniteTransform()(m), lower @ lower.mT)
    assert T.CorrCholeskyTransform().forward_shape((5, 6)) == (5, 4, 4)
    assert T.CorrCholeskyTransform().inverse_shape((5, 4, 4)) == (5, 6)
    with pytest.raises(ValueError, match="flattened lower-diagonal"):
        T.CorrCholeskyTransform().forward_shape((4,))
    assert T.StickBreakingTransform().forward_shape((2, 3)) == (2, 4)
    with pytest.raises(ValueError, match="Too few dimensions"):
        T.StickBreakingTransform().forward_shape(())


def test_reshape():
    t = T.ReshapeTransform((2, 3), (6,))
    x = facula.arange(12.0).reshape(2, 2, 3)
    assert facula.equal(t(x), x.reshape(2, 6))
    assert facula.equal(t.inv(t(x)), x)
    assert t.log_abs_det_jacobian(x, t(x)).tolist() == [0.0, 0.0]
    assert t.forward_shape((5, 2, 3)) == (5, 6) and t.inverse_shape((5, 6)) == (5, 2, 3)
    with pytest.raises(ValueError, match="different numbers"):
        T.ReshapeTransform((2,), (3,))
    with pytest.raises(ValueError, match="Shape mismatch"):
        t.forward_shape((3, 2))


def test_cat_and_stack():
    x = double([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])
    parts = [T.ExpTransform(), T.AffineTransform(1.0, 2.0)]
    cat = T.CatTransform(parts, dim=1, lengths=[1, 2])
    y = cat(x)
    facula.testing.assert_close(y, facula.cat([x[:, :1].exp(), 1 + 2 * x[:, 1:]], 1))
    facula.testing.assert_close(cat.inv(y), x)
    assert cat.log_abs_det_jacobian(x, y)[:, 0].tolist() == x[:, 0].tolist()
    assert cat.bijective and cat.length == 3 and cat.domain.check(x).all()
    stack = T.StackTransform(parts, dim=0)
    z = stack(x)
    facula.testing.assert_close(z, facula.stack([x[0].exp(), 1 + 2 * x[1]]))
    facula.testing.assert_close(stack.inv(z), x)
    assert stack.log_abs_det_jacobian(x, z)[0].tolist() == x[0].tolist()
    with pytest.raises(AssertionError, match="must equal"):
        stack(double([1.0, 2.0, 3.0]))


def test_cache():
    t = T.ComposeTransform([T.TanhTransform()]).with_cache(1)
    x = double([30.0])
    y = t(x)  # 1, of which atanh is infinite
    assert t.inv(y) is x
    assert T.TanhTransform().inv(T.TanhTransform()(x)).isinf()
    assert t.with_cache(1) is t
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        T.ExpTransform(cache_size=2)
    d = TransformedDistribution(Normal(0.0, 1.0), [T.TanhTransform(cache_size=1)])
    assert facula.isfinite(d.log_prob(d.rsample((100,)))).all()


def test_equality_and_copies():
    assert T.ExpTransform() == T.ExpTransform() and T.ExpTransform() != T.AbsTransform()
    assert T.AffineTransform(0.0, 1.0) == T.AffineTransform(facula.tensor(0.0), 1.0)
    assert T.AffineTransform(0.0, 1.0) != T.AffineTransform(0.0, 2.0)
    assert T.PowerTransform(2.0) == T.PowerTransform(facula.tensor(2.0))
    assert T.ExpTransform().inv == T.ExpTransform().inv
    assert T.ComposeTransform([T.ExpTransform()]) == T.ComposeTransform([T.ExpTransform()])
    with pytest.raises(TypeError, match="unhashable"):
        hash(T.ExpTransform())
    t = T.AffineTransform(1.0, 2.0)
    _ = t.inv
    for c in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert c == t and c.inv(facula.tensor(3.0)).item() == 1.0
    assert repr(T.ComposeTransform([T.ExpTransform(), t])) == (
        "ComposeTransform(\n    ExpTransform(),\n    AffineTransform()\n)"
    )


def test_event_dims_of_transformed_distributions():
    base = Normal(facula.zeros(3, 2), 1.0)
    d = TransformedDistribution(base, [T.AffineTransform(facula.zeros(4, 1, 1), 1.0)])
    assert d.batch_shape == (4, 3, 2)
    d = TransformedDistribution(base, [T.AffineTransform(0.0, 1.0, event_dim=1)])
    assert (d.batch_shape, d.event_shape) == ((3,), (2,))
    assert isinstance(d.base_dist, Independent)
    d = TransformedDistribution(d, [T.ExpTransform()])
    assert d.expand((5, 3)).rsample((7,)).shape == (7, 5, 3, 2)
    assert d.log_prob(facula.ones(3, 2)).shape == (3,)
    assert repr(d.support) == "IndependentConstraint(GreaterThan(lower_bound=0.0), 1)"
    with pytest.raises(ValueError, match="shape with size at least 1"):
        TransformedDistribution(Normal(0.0, 1.0), T.StickBreakingTransform())
    for bad in (3, [3]):
        with pytest.raises(ValueError, match="transforms must be a Transform or"):
            TransformedDistribution(base, bad)


def test_falling_transform_turns_the_cdf():
    d = TransformedDistribution(Normal(0.0, 1.0), [T.AffineTransform(0.0, -1.0), T.ExpTransform()])
    x = facula.tensor([0.2, 1.0, 4.0])
    facula.testing.assert_close(d.cdf(x), Normal(0.0, 1.0).cdf(x.log()))
    facula.testing.assert_close(d.icdf(d.cdf(x)), x)


def test_transforms_stand_where_files_name_them():
    for name in T.__all__:
        if name != "identity_transform":
            assert getattr(T, name).__module__ == "facula.distributions.transforms"
