// Special functions of one element in double, compiled once for all instruction sets: Bessel, Airy
// and zeta functions, incomplete gamma functions, the normal distribution, orthogonal polynomials.
// None throws: outside the domain the value is NaN, at a pole or beyond the range infinity.
#pragma once

namespace facula::kernels::special {

double airy_ai(double x);
double bessel_j0(double x);
double bessel_j1(double x);
double bessel_y0(double x);
double bessel_y1(double x);
double bessel_k0(double x);
double bessel_k1(double x);
// scaled_bessel_k0 and _k1 are exp(x) K(x).
double scaled_bessel_k0(double x);
double scaled_bessel_k1(double x);
double spherical_bessel_j0(double x);

// erfcx is exp(x^2) erfc(x).
double erfcx(double x);
// log_ndtr and ndtri are the logarithm of the normal distribution function, and its inverse.
double log_ndtr(double x);
double ndtri(double p);
double entr(double x);

// hurwitz_zeta is the sum over k >= 0 of (q + k)^-x.
double hurwitz_zeta(double x, double q);
// gamma_p and gamma_q are the regularised incomplete gamma functions, lower and upper.
double gamma_p(double a, double x);
double gamma_q(double a, double x);

// Polynomials of degree trunc(n) at x: 0 for a negative degree, NaN when either is NaN.
double chebyshev_t(double x, double n);
double chebyshev_u(double x, double n);
double chebyshev_v(double x, double n);
double chebyshev_w(double x, double n);
double hermite_h(double x, double n);
double hermite_he(double x, double n);
double laguerre_l(double x, double n);
double legendre_p(double x, double n);

}  // namespace facula::kernels::special
