"""Constraints: what satisfies them, their reprs, and the transforms registered for them."""

import pytest

import facula
from facula.distributions import Binomial, biject_to, constraints, transform_to
from facula.distributions.constraint_registry import ConstraintRegistry

NAN = float("nan")
# constraint, values, whether each satisfies it
CASES = [
    (constraints.boolean, [0.0, 1.0, 2.0, NAN], [1, 1, 0, 0]),
    (constraints.integer_interval(1, 3), [0.0, 1.0, 1.5, 3.0, 4.0], [0, 1, 0, 1, 0]),
    (constraints.nonnegative_integer, [-1.0, 0.0, 0.5, 2.0], [0, 1, 0, 1]),
    (constraints.positive_integer, [0.0, 1.0, 1.5], [0, 1, 0]),
    (constraints.real, [0.0, float("inf"), NAN], [1, 1, 0]),
    (constraints.positive, [-1.0, 0.0, 1.0, NAN], [0, 0, 1, 0]),
    (constraints.nonnegative, [-1.0, 0.0, 1.0], [0, 1, 1]),
    (constraints.greater_than(2.0), [2.0, 2.5], [0, 1]),
    (constraints.greater_than_eq(2.0), [1.5, 2.0], [0, 1]),
    (constraints.less_than(2.0), [1.5, 2.0], [1, 0]),
    (constraints.unit_interval, [-0.1, 0.0, 1.0, 1.1], [0, 1, 1, 0]),
    (constraints.half_open_interval(0.0, 1.0), [0.0, 1.0], [1, 0]),
    (constraints.one_hot, [[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]], [1, 0, 0]),
    (constraints.simplex, [[0.2, 0.8], [0.2, 0.9], [-0.5, 1.5]], [1, 0, 0]),
    (constraints.multinomial(3), [[1.0, 2.0], [2.0, 2.0], [-1.0, 2.0]], [1, 0, 0]),
    (constraints.real_vector, [[0.0, 1.0], [NAN, 1.0]], [1, 0]),
    (constraints.lower_triangular, [[[1.0, 0.0], [1.0, -1.0]], [[1.0, 1.0], [0.0, 1.0]]], [1, 0]),
    (constraints.lower_cholesky, [[[1.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, -1.0]]], [1, 0]),
    (constraints.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.7]]], [1, 0]),
    (constraints.square, [[[1.0, 0.0], [0.6, 0.8]]], [1]),
    (constraints.square, [[[1.0, 0.0]]], [0]),
    (constraints.symmetric, [[[1.0, 2.0], [2.0, 3.0]]], [1]),
    (constraints.symmetric, [[[1.0, 2.0], [2.1, 3.0]]], [0]),
    (constraints.independent(constraints.positive, 1), [[1.0, 2.0], [0.0, 1.0]], [1, 0]),
    (constraints.stack([constraints.real, constraints.positive]), [[-1.0], [-1.0]], [[1], [0]]),
    (constraints.cat([constraints.real, constraints.positive], 0, [1, 2]), [-1.0, -1.0, 1.0],
     [1, 0, 1]),
    (constraints.MixtureSameFamilyConstraint(
        constraints.interval(facula.tensor([0.0, -1.0]), facula.tensor([2.0, 1.0]))),
     [-0.5, 0.5, 1.5], [0, 1, 0]),
]


@pytest.mark.parametrize("constraint, values, good", CASES, ids=lambda c: str(c)[:40])
def test_check(constraint, values, good):
    got = constraint.check(facula.tensor(values))
    assert got.dtype == facula.bool
    assert got.int().tolist() == good


def test_definite_matrices():
    m = facula.tensor(
        [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]
    )
    assert constraints.positive_definite.check(m).tolist() == [True, False, False]
    assert constraints.positive_semidefinite.check(m)[[0, 2]].tolist() == [True, False]


def test_reprs():
    assert repr(constraints.real_vector) == "IndependentConstraint(Real(), 1)"
    assert repr(constraints.interval(0, 2.0)) == "Interval(lower_bound=0, upper_bound=2.0)"
    assert repr(constraints.nonnegative_integer) == "IntegerGreaterThan(lower_bound=0)"
    assert repr(constraints.dependent) == "Dependent()"


def test_dependent():
    assert constraints.is_dependent(Binomial.support)
    assert Binomial.support.is_discrete is True and Binomial.support.event_dim == 0
    assert not constraints.is_dependent(Binomial(3, facula.tensor(0.5)).support)
    assert constraints.dependent(event_dim=1).event_dim == 1
    with pytest.raises(NotImplementedError, match="is_discrete cannot be determined statically"):
        _ = constraints.dependent.is_discrete
    with pytest.raises(ValueError, match="Cannot determine validity"):
        constraints.dependent.check(facula.zeros(1))
    with pytest.raises(ValueError, match=r"Expected value.dim\(\) >= 1 but got 0"):
        constraints.real_vector.check(facula.tensor(1.0))


REACHED = [
    constraints.real,
    constraints.positive,
    constraints.nonnegative,
    constraints.greater_than(2.0),
    constraints.greater_than_eq(facula.tensor([-1.0, 3.0, 0.0])),
    constraints.less_than(-1.0),
    constraints.unit_interval,
    constraints.interval(-3.0, facula.tensor([1.0, 2.0, 3.0])),
    constraints.half_open_interval(0.0, 1.0),
    constraints.simplex,
    constraints.corr_cholesky,
    constraints.independent(constraints.positive, 1),
    constraints.cat([constraints.positive, constraints.less_than(0.0)], -1, [1, 2]),
    constraints.stack([constraints.positive, constraints.real, constraints.unit_interval], -1),
]


@pytest.mark.parametrize("constraint", REACHED, ids=str)
@pytest.mark.parametrize("registry", [biject_to, transform_to])
def test_registered_transforms_reach_the_constraint(registry, constraint):
    facula.manual_seed(0)
    x = facula.randn(5, 3)
    t = registry(constraint)
    y = t(x)
    assert constraint.check(y).all()
    if registry is biject_to:
        assert t.bijective
        facula.testing.assert_close(t.inv(y), x, rtol=1e-3, atol=1e-3)
        assert t.log_abs_det_jacobian(x, y).isfinite().all()
    else:
        facula.testing.assert_close(t(t.inv(y)), y, rtol=1e-3, atol=1e-3)


def test_matrices_are_reached():
    x = facula.tensor([[0.3, 1.0], [-0.5, 0.2]])
    assert constraints.lower_cholesky.check(transform_to(constraints.lower_cholesky)(x))
    assert constraints.symmetric.check(transform_to(constraints.positive_definite)(x))


def test_registry():
    registry = ConstraintRegistry()
    with pytest.raises(NotImplementedError, match="Cannot transform _Real constraints"):
        registry(constraints.real)
    registry.register(constraints.real, lambda c: "found")
    assert registry(constraints.real) == "found"
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        registry.register(3, lambda c: None)
