"""The base class: validation, shapes, and what the distributions refuse."""

import warnings

import pytest

import facula
from facula import distributions as dist
from facula.distributions import constraints
from facula.distributions.utils import (
    broadcast_all,
    lazy_property,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)

t = facula.tensor

REFUSED = {
    "probability": (lambda: dist.Bernoulli(2.0), "Expected parameter probs .* Interval"),
    "neither": (lambda: dist.Bernoulli(), "but not both"),
    "both": (lambda: dist.Bernoulli(0.5, 0.5), "but not both"),
    "no categories": (lambda: dist.Categorical(t(1.0)), "at least one-dimensional"),
    "not a simplex": (lambda: dist.Categorical(t([-1.0, 2.0])), "Simplex"),
    "bounds": (lambda: dist.Uniform(1.0, 0.0), "Expected parameter low"),
    "scale": (lambda: dist.Gumbel(0.0, -1.0), "Expected parameter scale"),
    "rate": (lambda: dist.Poisson(-1.0), "GreaterThanEq"),
    "no success": (lambda: dist.Geometric(t([0.0, 0.1])), "to be positive"),
    "df": (lambda: dist.Chi2(-1.0), "Expected parameter df"),
    "dirichlet": (lambda: dist.Dirichlet(t(1.0)), "at least one-dimensional"),
    "too few batches": (lambda: dist.Independent(dist.Normal(0.0, 1.0), 1), "actual 1 vs 0"),
    "lkj": (lambda: dist.LKJCholesky(1), "Found dim=1"),
    "covariances": (lambda: dist.MultivariateNormal(facula.zeros(2)), "Exactly one of"),
    "loc": (lambda: dist.MultivariateNormal(t(1.0), facula.eye(2)), "loc must be at least"),
    "matrix": (
        lambda: dist.MultivariateNormal(facula.zeros(2), facula.ones(2)),
        "covariance_matrix must be at least two-dimensional",
    ),
    "factor": (
        lambda: dist.LowRankMultivariateNormal(facula.zeros(2), facula.ones(3, 1), facula.ones(2)),
        "shape 2 x m",
    ),
    "diagonal": (
        lambda: dist.LowRankMultivariateNormal(facula.zeros(2), facula.ones(2, 1), facula.ones(3)),
        "cov_diag must be a batch of vectors",
    ),
    "wishart": (lambda: dist.Wishart(t(0.5), scale_tril=facula.eye(2)), "greater than ndim - 1"),
    "mixture": (
        lambda: dist.MixtureSameFamily(dist.Normal(0.0, 1.0), dist.Normal(0.0, 1.0)),
        "Mixture distribution needs to be",
    ),
    "components": (
        lambda: dist.MixtureSameFamily(
            dist.Categorical(facula.ones(2)), dist.Normal(facula.zeros(3), 1.0)
        ),
        "does not equal",
    ),
    "number": (lambda: dist.Normal("a", 1.0), "must all be instances of Number"),
    "not a tensor": (lambda: dist.Normal(0.0, 1.0).log_prob(1.0), "must be a Tensor"),
    "value's shape": (
        lambda: dist.Normal(facula.zeros(3), 1.0).log_prob(facula.zeros(2)),
        "not broadcastable",
    ),
    "event shape": (
        lambda: dist.Dirichlet(facula.ones(3)).log_prob(t([0.5, 0.5])),
        "right-most size of value",
    ),
    "support": (lambda: dist.Exponential(1.0).log_prob(t(-1.0)), "within the support"),
    "category": (lambda: dist.Categorical(facula.ones(2)).log_prob(t(2)), "within the support"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        make()


def test_not_implemented():
    counts = dist.Binomial(t([1.0, 2.0]), t(0.5))
    for call, message in [
        (counts.entropy, "Inhomogeneous total count not supported by `entropy`"),
        (counts.enumerate_support, "by `enumerate_support`"),
        (lambda: dist.Multinomial(t([1, 2]), facula.ones(2)), "inhomogeneous total_count"),
        (
            dist.Independent(dist.Categorical(facula.ones(2, 3)), 1).enumerate_support,
            "cartesian product",
        ),
        (lambda: dist.kl_divergence(dist.Normal(0.0, 1.0), dist.Poisson(1.0)), "Bregman"),
        (lambda: dist.kl_divergence(dist.Cauchy(0.0, 1.0), dist.Normal(0.0, 1.0)), "No KL"),
        (lambda: dist.Poisson(1.0).rsample(), None),
        (lambda: dist.FisherSnedecor(1.0, 2.0).entropy(), None),
    ]:
        with pytest.raises(NotImplementedError, match=message):
            call()


def test_validation_can_be_off():
    d = dist.Normal(0.0, -1.0, validate_args=False)
    assert d.log_prob(facula.tensor(float("nan"))).isnan()
    dist.Distribution.set_default_validate_args(False)
    try:
        dist.Exponential(-1.0)
    finally:
        dist.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        dist.Exponential(-1.0)
    with pytest.raises(ValueError):
        dist.Distribution.set_default_validate_args(3)


def test_custom_distributions():
    class Bare(dist.Distribution):
        pass

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        d = Bare(facula.Size([2]), facula.Size([3]))
    assert d._extended_shape((4,)) == (4, 2, 3)
    with pytest.warns(UserWarning, match="does not define `support`"):
        d._validate_sample(facula.zeros(2, 3))

    class Sub(dist.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match="must also define a custom .expand"):
        Sub(facula.zeros(2)).expand((3, 2))


def test_register_kl_prefers_the_most_derived():
    class Mine(dist.Normal):
        pass

    class Other(dist.Normal):
        pass

    @dist.register_kl(Mine, dist.Normal)
    def left(p, q):
        return "left"

    @dist.register_kl(dist.Normal, Other)
    def right(p, q):
        return "right"

    mine, other = Mine(0.0, 1.0), Other(0.0, 1.0)
    try:
        assert dist.kl_divergence(mine, dist.Normal(0.0, 1.0)) == "left"
        assert dist.kl_divergence(dist.Normal(0.0, 1.0), other) == "right"
        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Mine, Other\)"):
            assert dist.kl_divergence(mine, other) == "left"
    finally:
        for pair in [(Mine, dist.Normal), (dist.Normal, Other)]:
            del dist.kl._KL_REGISTRY[pair]
        dist.kl._KL_MEMOIZE.clear()


def test_generic_exponential_family():
    """Entropy and divergence by differentiation of the log normaliser equal the closed forms."""
    generic = dist.ExponentialFamily.entropy
    pairs = [
        (dist.Normal(t(0.5), 2.0), dist.Normal(t(-1.0), 1.0)),
        (dist.Gamma(t(2.0), 3.0), dist.Gamma(t(1.5), 2.0)),
        (dist.Exponential(t(2.0)), dist.Exponential(t(0.5))),
        (dist.Bernoulli(t(0.3)), dist.Bernoulli(t(0.6))),
        (dist.Dirichlet(t([2.0, 3.0])), dist.Dirichlet(t([1.0, 0.5]))),
        (dist.Beta(t(2.0), 3.0), dist.Beta(t(1.0), 4.0)),
    ]
    for p, q in pairs:
        if not isinstance(p, (dist.Dirichlet, dist.Beta)):  # their carrier has a mean unlike 0
            facula.testing.assert_close(generic(p), p.entropy())
        facula.testing.assert_close(
            dist.kl._kl_expfamily_expfamily(p, q), dist.kl_divergence(p, q), atol=1e-5, rtol=1e-4
        )


def test_gradients_of_draws():
    loc, scale = t([0.5]).requires_grad_(), t([2.0]).requires_grad_()
    for family in (dist.Normal, dist.Laplace, dist.Cauchy, dist.Gumbel, dist.LogNormal):
        facula.manual_seed(0)
        d = family(loc, scale)
        x = d.rsample((4,))
        g_loc, g_scale = facula.autograd.grad(x.sum(), (loc, scale))
        assert g_loc.isfinite().all() and g_loc.item() > 0 and g_scale.isfinite().all()
        assert not d.sample((2,)).requires_grad
    logits = facula.zeros(3, requires_grad=True)
    draw = dist.OneHotCategoricalStraightThrough(logits=logits).rsample()
    (grad,) = facula.autograd.grad((draw * t([1.0, 2.0, 3.0])).sum(), logits)
    facula.testing.assert_close(grad, t([-1.0, 0.0, 1.0]) / 3)


def test_sample_n_warns():
    with pytest.warns(UserWarning, match="sample_n"):
        assert dist.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_perplexity():
    assert dist.Categorical(facula.ones(4)).perplexity().item() == pytest.approx(4.0)


def test_broadcast_all():
    a, b = broadcast_all(1.0, t([1, 2]))
    assert a.dtype == facula.int64 and a.shape == b.shape == (2,)
    assert broadcast_all(1, 2)[0].dtype == facula.get_default_dtype()
    with pytest.raises(ValueError, match="instances of Number"):
        broadcast_all([1.0], 2.0)


def test_lazy_property():
    class Thing:
        @lazy_property
        def value(self):
            """Documented."""
            return facula.ones(1, requires_grad=True) * 2

    thing = Thing()
    with facula.no_grad():
        assert thing.value.requires_grad
    assert thing.value is thing.value
    assert isinstance(Thing.value, lazy_property) and isinstance(Thing.value, property)


def test_triangles_as_vectors():
    m = facula.arange(18.0).reshape(2, 3, 3)
    for diag in (-1, 0, 1):
        vec = tril_matrix_to_vec(m, diag)
        assert facula.equal(vec_to_tril_matrix(vec, diag), m.tril(diag))
    with pytest.raises(ValueError, match="lower triangular part of a square"):
        vec_to_tril_matrix(facula.ones(4))
    with pytest.raises(ValueError, match="outside"):
        tril_matrix_to_vec(m, 3)


def test_numbers_have_an_empty_batch_shape():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for d in (
            dist.Normal(0, 1),
            dist.Bernoulli(0.5),
            dist.Gamma(1, 2),
            dist.Uniform(0, 1),
            dist.Pareto(1, 2.5),
            dist.Kumaraswamy(1, 2),
            dist.StudentT(3),
            dist.HalfNormal(1),
            dist.LKJCholesky(2, 1),
        ):
            assert d.batch_shape == ()
            assert d.sample((2,)).dtype == facula.float32
    assert constraints.corr_cholesky.check(dist.LKJCholesky(3).sample((5,))).all()


def test_subclasses_may_ask_for_parts_while_they_expand():
    class Echo(dist.Independent):
        def __setattr__(self, name, value):
            if name == "_validate_args":
                self.base_dist._validate_args = value
            super().__setattr__(name, value)

        def expand(self, batch_shape, _instance=None):
            return super().expand(batch_shape, self._get_checked_instance(Echo, _instance))

    found = Echo(dist.Normal(facula.zeros(2), 1.0), 1).expand((3,))
    assert found.batch_shape == (3,) and found.base_dist.batch_shape == (3, 2)
