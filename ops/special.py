"""Special functions: Bessel, Airy and zeta functions, the normal distribution, incomplete gamma functions, polynomials."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

DEGREE = "The degree is `n` without its fraction; 0 for negative degrees."


def special(name, expr, doc, **options):
    """A row of one real argument that is public as special.NAME only."""
    names = options.pop("names", f"special.{name}")
    options.setdefault("method", False)
    pointwise(f"{name}(Tensor self)", expr, result="float", types="floating", names=names, cost=16, doc=doc, **options)


# ---- Bessel and Airy functions
special("bessel_j0", "m_bessel_j0(self)", "The Bessel function of the first kind of order 0.", d={"self": "-bessel_j1(self)"})
special("bessel_j1", "m_bessel_j1(self)", "The Bessel function of the first kind of order 1.",
        grad={"self": "grad * where(self == 0, 0.5, bessel_j0(self) - result / self)"})
special("bessel_y0", "m_bessel_y0(self)", "The Bessel function of the second kind of order 0, NaN below 0.",
        d={"self": "-bessel_y1(self)"})
special("bessel_y1", "m_bessel_y1(self)", "The Bessel function of the second kind of order 1, NaN below 0.",
        grad={"self": "grad * (bessel_y0(self) - result / self)"})
special("modified_bessel_i0", "m_i0(self)", "The modified Bessel function of the first kind of order 0.",
        d={"self": "modified_bessel_i1(self)"})
special("modified_bessel_i1", "m_i1(self)", "The modified Bessel function of the first kind of order 1.",
        grad={"self": "grad * where(self == 0, 0.5, modified_bessel_i0(self) - result / self)"})
special("modified_bessel_k0", "m_bessel_k0(self)", "The modified Bessel function of the second kind of order 0, NaN below 0.",
        d={"self": "-modified_bessel_k1(self)"})
special("modified_bessel_k1", "m_bessel_k1(self)", "The modified Bessel function of the second kind of order 1, NaN below 0.",
        grad={"self": "-grad * (modified_bessel_k0(self) + result / self)"})
special("scaled_modified_bessel_k0", "m_scaled_bessel_k0(self)", "`exp(self) * modified_bessel_k0(self)`, without overflow.",
        grad={"self": "grad * (result - scaled_modified_bessel_k1(self))"})
special("scaled_modified_bessel_k1", "m_scaled_bessel_k1(self)", "`exp(self) * modified_bessel_k1(self)`, without overflow.",
        grad={"self": "grad * (result - scaled_modified_bessel_k0(self) - result / self)"})
special("spherical_bessel_j0", "m_spherical_bessel_j0(self)", "`sin(self) / self`, 1 at 0.",
        grad={"self": "sinc_backward(grad, self * 0.3183098861837907) * 0.3183098861837907"})
special("airy_ai", "m_airy_ai(self)", "The Airy function Ai.", nondifferentiable="needs the derivative of Ai, which is no row")

# ---- the normal distribution and entropy
special("ndtr", "0.5 * m_erfc(self * -0.7071067811865476)", "The distribution function of the standard normal distribution.",
        d={"self": "0.3989422804014327 * exp(-0.5 * self * self)"})
special("log_ndtr", "m_log_ndtr(self)", "The logarithm of `ndtr`, exact far below 0.",
        d={"self": "0.7978845608028654 / erfcx(self * -0.7071067811865476)"})
special("ndtri", "m_ndtri(self)", "The inverse of `ndtr`.", d={"self": "2.5066282746310002 * exp(0.5 * result * result)"})
special("erfcx", "m_erfcx(self)", "`exp(self^2) * erfc(self)`, without overflow.", d={"self": "2 * self * result - 1.1283791670955126"})
special("entr", "m_entr(self)", "`-self * log(self)`, 0 at 0 and -inf below.", d={"self": "-1 - log(self)"})

# ---- zeta and gamma
pointwise("zeta(Tensor|Scalar self, Tensor|Scalar other)", "m_hurwitz_zeta(self, other)", result="float", types="floating",
          names="special.zeta", method=False, cost=32,
          grad={"self": "no_order_gradient('zeta', 'input', grad)", "other": "grad * neg_product(self, zeta(add(self, 1), other))"},
          doc="The Hurwitz zeta function: the sum over k of `(other + k)^-self`.")
composite("neg_product(Tensor|Scalar a, Tensor b)", names="", doc="-a b.")
composite("no_order_gradient(str name, str input, Tensor grad)", names="", doc="Refuses a derivative that has no closed form.")
pointwise("igamma(Tensor self, Tensor other)", "m_gamma_p(self, other)", result="float", types="floating", cost=32,
          names="igamma special.gammainc", method=True, inplace=True,
          grad={"self": "no_order_gradient('igamma', 'input', grad)", "other": "grad * gamma_density(self, other)"},
          doc="The regularised lower incomplete gamma function P(self, other).")
pointwise("igammac(Tensor self, Tensor other)", "m_gamma_q(self, other)", result="float", types="floating", cost=32,
          names="igammac special.gammaincc", method=True, inplace=True,
          grad={"self": "no_order_gradient('igammac', 'input', grad)", "other": "-grad * gamma_density(self, other)"},
          doc="The regularised upper incomplete gamma function Q(self, other).")
composite("gamma_density(Tensor a, Tensor x)", "exp(xlogy(a - 1, x) - x - lgamma(a))", names="", doc="x^(a-1) exp(-x) / gamma(a).")
composite("mvlgamma(Tensor self, int p)", overlap="whole", names="mvlgamma special.multigammaln", method=True, inplace=True, saves_self=True,
          doc="The logarithm of the multivariate gamma function of dimension `p`.")

# ---- orthogonal polynomials
for name, primitive, text in (
        ("chebyshev_polynomial_t", "chebyshev_t", "The Chebyshev polynomial of the first kind."),
        ("chebyshev_polynomial_u", "chebyshev_u", "The Chebyshev polynomial of the second kind."),
        ("chebyshev_polynomial_v", "chebyshev_v", "The Chebyshev polynomial of the third kind."),
        ("chebyshev_polynomial_w", "chebyshev_w", "The Chebyshev polynomial of the fourth kind."),
        ("hermite_polynomial_h", "hermite_h", "The physicist's Hermite polynomial."),
        ("hermite_polynomial_he", "hermite_he", "The probabilist's Hermite polynomial."),
        ("laguerre_polynomial_l", "laguerre_l", "The Laguerre polynomial."),
        ("legendre_polynomial_p", "legendre_p", "The Legendre polynomial.")):
    for shift in ("", "shifted_") if name.startswith("cheb") else ("",):
        at = "2 * self - 1" if shift else "self"
        pointwise(f"{shift}{name}(Tensor|Scalar self, Tensor|Scalar n)", f"m_{primitive}({at}, n)", result="float", types="floating",
                  names=f"special.{shift}{name}", method=False, inplace=False, cost=32,
                  nondifferentiable="a function of degree and argument", doc=f"{text}{' At 2 self - 1.' if shift else ''} {DEGREE}")
