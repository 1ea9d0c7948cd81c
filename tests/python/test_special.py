"""facula.special: poles, limits, huge arguments and identities, beside the recorded cases."""

import math

import numpy as np
import pytest

import facula
from facula import special

INF, NAN = math.inf, math.nan


def at(name: str, *args: float) -> float:
    """A function at one point of float64."""
    tensors = [facula.tensor(a, dtype=facula.float64) for a in args]
    return getattr(special, name)(*tensors).item()


@pytest.mark.parametrize(
    ("name", "x", "value"),
    [
        ("airy_ai", INF, 0.0),
        ("airy_ai", -INF, 0.0),
        ("airy_ai", -1e6, -0.00219126114),
        ("bessel_j0", INF, 0.0),
        ("bessel_j0", 0.0, 1.0),
        ("bessel_j0", 1e10, 2.17559175e-06),
        ("bessel_j1", -50.0, 0.09751182813),
        ("bessel_y0", 0.0, -INF),
        ("bessel_y0", -1.0, NAN),
        ("bessel_y1", 1e-310, -INF),
        ("modified_bessel_i0", -INF, INF),
        ("modified_bessel_i1", -INF, -INF),
        ("modified_bessel_k0", 0.0, INF),
        ("modified_bessel_k0", INF, 0.0),
        ("modified_bessel_k1", -1.0, NAN),
        ("scaled_modified_bessel_k0", 1e10, 1.2533141372998e-05),
        ("scaled_modified_bessel_k1", 700.0, 0.04739618765),
        ("spherical_bessel_j0", INF, 0.0),
        ("erfcx", 1e300, 5.6418958354775e-301),
        ("erfcx", -30.0, INF),
        ("log_ndtr", -1e10, -5e19),
        ("log_ndtr", INF, 0.0),
        ("ndtr", -INF, 0.0),
        ("ndtri", 0.0, -INF),
        ("ndtri", 1.0, INF),
        ("ndtri", 1.5, NAN),
        ("ndtri", 1e-310, -37.66308),
        ("entr", 0.0, 0.0),
        ("entr", -1.0, -INF),
    ],
)
def test_edges(name: str, x: float, value: float) -> None:
    np.testing.assert_allclose(at(name, x), value, rtol=1e-6)
    assert math.isnan(at(name, NAN))


@pytest.mark.parametrize(
    ("x", "q", "value"),
    [
        (1.0, 2.0, INF),
        (0.5, 1.0, NAN),
        (3.0, -1.0, INF),
        (2.5, -1.5, NAN),
        (2.0, -1.5, 9.379246645),
        (2.0, INF, 0.0),
        (INF, 2.0, 0.0),
        (2.0, 1.0, math.pi**2 / 6),
        (60.0, 1.0, 1.0),
    ],
)
def test_zeta(x: float, q: float, value: float) -> None:
    np.testing.assert_allclose(at("zeta", x, q), value, rtol=1e-9)


@pytest.mark.parametrize("degree", [0, 1, 2, 7, 64, 65, 300])
def test_chebyshev_against_angles(degree: int) -> None:
    t = np.linspace(0.1, 3.0, 23)
    x, n = facula.tensor(np.cos(t)), facula.tensor(float(degree), dtype=facula.float64)
    for kind, want in (
        ("t", np.cos(degree * t)),
        ("u", np.sin((degree + 1) * t) / np.sin(t)),
        ("v", np.cos((degree + 0.5) * t) / np.cos(t / 2)),
        ("w", np.sin((degree + 0.5) * t) / np.sin(t / 2)),
    ):
        got = getattr(special, f"chebyshev_polynomial_{kind}")(x, n)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-9, atol=1e-9 * (degree + 1))
        moved = getattr(special, f"shifted_chebyshev_polynomial_{kind}")((x + 1) / 2, n)
        np.testing.assert_allclose(moved.numpy(), want, rtol=1e-9, atol=1e-8 * (degree + 1))


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("hermite_polynomial_h", np.polynomial.hermite.hermval),
        ("hermite_polynomial_he", np.polynomial.hermite_e.hermeval),
        ("laguerre_polynomial_l", np.polynomial.laguerre.lagval),
        ("legendre_polynomial_p", np.polynomial.legendre.legval),
        ("chebyshev_polynomial_t", np.polynomial.chebyshev.chebval),
    ],
)
def test_polynomials_against_numpy(name: str, series) -> None:
    x = np.linspace(-2.5, 2.5, 11)
    for n in range(9):
        got = getattr(special, name)(facula.tensor(x), n)
        want = series(x, [0] * n + [1])
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-10, atol=1e-10)
    assert at(name, 2.0, -1.0) == 0
    assert math.isnan(at(name, NAN, 3.0))
    assert math.isinf(at(name, INF, 3.0))
    assert at(name, 1.0, 0.0) == 1


def test_polynomials_beyond_the_range_have_the_right_sign() -> None:
    assert at("hermite_polynomial_h", -60.0, 501.0) == -INF
    assert at("hermite_polynomial_he", 60.0, 500.0) == INF
    assert at("chebyshev_polynomial_u", -2.0, 1001.0) == -INF


def test_incomplete_gamma() -> None:
    a = facula.tensor([0.5, 1.0, 3.0, 50.0], dtype=facula.float64)
    x = facula.tensor([2.0, 0.5, 10.0, 45.0], dtype=facula.float64, requires_grad=True)
    low, high = special.gammainc(a, x), special.gammaincc(a, x)
    np.testing.assert_allclose((low + high).detach().numpy(), 1.0, rtol=1e-14)
    np.testing.assert_allclose(low[1].item(), 1 - math.exp(-0.5), rtol=1e-14)
    low.sum().backward()
    density = np.exp((a.numpy() - 1) * np.log(x.detach().numpy()) - x.detach().numpy())
    density /= [math.gamma(v) for v in a.tolist()]
    np.testing.assert_allclose(x.grad.numpy(), density, rtol=1e-12)


def test_derivatives_that_do_not_exist_are_named() -> None:
    a = facula.tensor([2.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match="igamma.*input"):
        facula.igamma(a, facula.ones(1)).backward()
    with pytest.raises(NotImplementedError, match="zeta.*input"):
        special.zeta(a, 2.0).backward()


def test_numbers_and_integers_are_operands() -> None:
    assert special.chebyshev_polynomial_t(2, facula.tensor([1, 2])).tolist() == [2.0, 7.0]
    assert special.zeta(2.0, facula.tensor([1])).dtype == facula.float32
    with pytest.raises(TypeError):
        special.zeta(2.0, 1.0)


def test_aliases() -> None:
    x = facula.randn(3, 4)
    assert special.softmax(x, 1).equal(facula.softmax(x, 1))
    assert special.log_softmax(x, 1).equal(facula.log_softmax(x, 1))
    assert special.logsumexp(x, 1).equal(facula.logsumexp(x, 1))
    assert special.expit(x).equal(facula.sigmoid(x))
    y = x.abs() + 2
    assert special.multigammaln(y, 2).equal(facula.mvlgamma(y, 2))
    assert special.gammaln(y).equal(facula.lgamma(y))


@pytest.mark.parametrize("dtype", [facula.float16, facula.bfloat16])
def test_nextafter_of_16_bits(dtype):
    """Up from each finite number is the next larger of all of them; down undoes it."""
    bits = facula.arange(-32768, 32768).to(facula.int16)
    numbers = bits.view(dtype)
    numbers = numbers[facula.isfinite(numbers)].double().unique()
    below, above = numbers[:-1].to(dtype), numbers[1:].to(dtype)
    inf = facula.tensor(math.inf, dtype=dtype)
    up = facula.nextafter(below, inf.expand(below.shape))
    assert up.dtype == dtype and facula.equal(up.double(), above.double())
    down = facula.nextafter(above, -inf.expand(above.shape))
    assert facula.equal(down.double(), below.double())


@pytest.mark.parametrize("dtype", [facula.float16, facula.bfloat16, facula.float32])
def test_nextafter_of_special_values(dtype):
    def step(a, b):
        return facula.nextafter(facula.tensor(a, dtype=dtype), facula.tensor(b, dtype=dtype))

    info = facula.finfo(dtype)
    assert step(info.max, math.inf) == math.inf and step(math.inf, 0.0) == info.max
    assert step(2.0, 2.0) == 2 and step(math.inf, math.inf) == math.inf
    assert step(math.nan, 1.0).isnan() and step(1.0, math.nan).isnan()
    assert step(0.0, 1.0) > 0 > step(0.0, -1.0) and step(-0.0, 1.0) == step(0.0, 1.0)
    assert step(1.0, 2.0).item() == 1 + info.eps


def test_nextafter_types_and_gradients():
    a = facula.ones(2, dtype=facula.bfloat16, requires_grad=True)
    out = facula.nextafter(a, facula.tensor(2.0))
    assert out.dtype == facula.bfloat16
    out.sum().backward()
    assert (a.grad == 1).all()
    b = facula.ones(2, dtype=facula.float16)
    assert b.nextafter_(facula.zeros(2, dtype=facula.float16)) is b and (b < 1).all()
    wide = facula.ones(2, dtype=facula.float16).nextafter(facula.zeros(2))
    assert wide.dtype == facula.float32
    with pytest.raises((RuntimeError, NotImplementedError)):
        facula.nextafter(facula.ones(2, dtype=facula.int64), facula.ones(2, dtype=facula.int64))
