// Special functions in double: Boost.Math where it has them, published expansions elsewhere. The
// edges that Boost leaves open (limits at infinity, poles, NaN) are decided here.
#include "facula/kernels/special.h"

#include <boost/math/special_functions/airy.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>

namespace facula::kernels::special {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kRootPi = 1.77245385090551602730, kRootHalf = 0.70710678118654752440;

// The policies of the build say this for every Boost function; kept here so that no flag decides
// it.
using Quiet = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
    boost::math::policies::promote_double<false>>;

// The asymptotic sum of exp(x) K_order(x) sqrt(2 x / pi) (DLMF 10.40.2), for x above 600.
double scaled_k_far(double x, int order) {
  double mu = 4.0 * order * order, term = 1, sum = 1;
  for (int k = 1; k < 12; ++k) {
    double odd = 2.0 * k - 1;
    term *= (mu - odd * odd) / (k * 8.0 * x);
    sum += term;
  }
  return sum * std::sqrt(3.14159265358979323846 / (2 * x));
}

double scaled_k(double x, int order) {
  if (std::isnan(x) || x < 0) return kNone;
  if (x == 0) return kInfinity;
  if (std::isinf(x)) return 0;
  if (x > 600) return scaled_k_far(x, order);
  return std::exp(x) * boost::math::cyl_bessel_k(order, x, Quiet());
}

double bessel_k(double x, int order) {
  if (std::isnan(x) || x < 0) return kNone;
  if (x == 0) return kInfinity;
  if (x > 800) return 0;
  return boost::math::cyl_bessel_k(order, x, Quiet());
}

double bessel_j(double x, int order) {
  if (std::isnan(x)) return kNone;
  if (std::isinf(x)) return 0;
  return boost::math::cyl_bessel_j(order, x, Quiet());
}

double bessel_y(double x, int order) {
  if (std::isnan(x) || x < 0) return kNone;
  if (x == 0) return -kInfinity;
  if (std::isinf(x)) return 0;
  return boost::math::cyl_neumann(order, x, Quiet());
}

// exp(x^2) with the rounding error of the square put back.
double exp_square(double x) {
  double high = x * x, low = std::fma(x, x, -high);
  double e = std::exp(high);
  return std::isinf(e) ? e : e + e * low;
}

}  // namespace

double airy_ai(double x) {
  if (std::isnan(x)) return kNone;
  if (std::isinf(x) || x > 110) return 0;
  if (x >= -1e5) return boost::math::airy_ai(x, Quiet());
  // Far on the left the modulus and phase of DLMF 9.7.9; the phase is large, so it has more digits.
  long double y = -static_cast<long double>(x), z = 2.0L / 3.0L * y * std::sqrt(y);
  long double phase = z - 0.785398163397448309615660845819875721L;
  double root = kRootPi * std::sqrt(std::sqrt(-x));
  return static_cast<double>(std::cos(phase) + 5.0L / (72.0L * z) * std::sin(phase)) / root;
}

double bessel_j0(double x) { return bessel_j(std::fabs(x), 0); }
double bessel_j1(double x) {
  if (x == 0) return x;
  return x < 0 ? -bessel_j(-x, 1) : bessel_j(x, 1);
}
double bessel_y0(double x) { return bessel_y(x, 0); }
double bessel_y1(double x) { return bessel_y(x, 1); }
double bessel_k0(double x) { return bessel_k(x, 0); }
double bessel_k1(double x) { return bessel_k(x, 1); }
double scaled_bessel_k0(double x) { return scaled_k(x, 0); }
double scaled_bessel_k1(double x) { return scaled_k(x, 1); }
double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0;
  return x == 0 ? 1 : std::sin(x) / x;
}

// Below 10 the product itself; beyond, the asymptotic series (DLMF 7.12.1).
double erfcx(double x) {
  if (std::isnan(x)) return x;
  if (x < 0) return 2 * exp_square(x) - erfcx(-x);
  if (x < 10) return exp_square(x) * std::erfc(x);
  double z = 1 / (2 * x * x), term = 1, sum = 1;
  for (int k = 1; k < 24; ++k) {
    term *= -(2 * k - 1) * z;
    sum += term;
  }
  return sum / (x * kRootPi);
}

double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x * kRootHalf) / 2) - x * x / 2;
  return std::log1p(-std::erfc(x * kRootHalf) / 2);
}

double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNone;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  if (p > 0.25 && p < 0.75) return boost::math::erf_inv(2 * p - 1, Quiet()) / kRootHalf;
  return p < 0.5 ? -boost::math::erfc_inv(2 * p, Quiet()) / kRootHalf
                 : boost::math::erfc_inv(2 * (1 - p), Quiet()) / kRootHalf;
}

double entr(double x) {
  if (std::isnan(x)) return x;
  if (x < 0) return -kInfinity;
  return x == 0 ? 0 : -x * std::log(x);
}

// Euler and Maclaurin's formula (DLMF 25.11.9 and 2.10.1): ten terms, the integral of the rest, and
// corrections by Bernoulli numbers.
double hurwitz_zeta(double x, double q) {
  constexpr double ratios[12] = {1.0 / 12,
                                 -1.0 / 720,
                                 1.0 / 30240,
                                 -1.0 / 1209600,
                                 1.0 / 47900160,
                                 -691.0 / 1307674368000.0,
                                 1.0 / 74724249600.0,
                                 -3617.0 / 10670622842880000.0,
                                 43867.0 / 5109094217170944000.0,
                                 -174611.0 / 802857662698291200000.0,
                                 77683.0 / 14101100039391805440000.0,
                                 -236364091.0 / 1693824136731743669452800000.0};
  if (std::isnan(x) || std::isnan(q) || x < 1) return kNone;
  if (x == 1) return kInfinity;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity;
    if (x != std::floor(x)) return kNone;  // the powers are not real
  }
  if (std::isinf(q)) return q > 0 ? 0 : kNone;
  if (std::isinf(x)) return std::fabs(q) > 1 && q > 0 ? 0 : q == 1 ? 1 : q > 0 ? kInfinity : kNone;
  double sum = 0;
  for (; q < 0; q += 1) sum += std::pow(q, -x);
  for (int i = 0; i < 10; ++i, q += 1) {
    double term = std::pow(q, -x);
    sum += term;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) return sum;
  }
  double power = std::pow(q, -x);
  sum += power * q / (x - 1) + power / 2;
  double factor = x * power / q;
  for (int k = 0; k < 12; ++k) {
    double term = factor * ratios[k];
    sum += term;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) break;
    factor *= (x + 2 * k + 1) / q * ((x + 2 * k + 2) / q);
  }
  return sum;
}

// For a of 0 the mass lies at 0; at infinity all of it has been passed.
double gamma_p(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0) return kNone;
  if (a == 0) return x > 0 ? 1 : kNone;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNone : 0;
  if (std::isinf(x)) return 1;
  return boost::math::gamma_p(a, x, Quiet());
}

double gamma_q(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0) return kNone;
  if (a == 0) return x > 0 ? 0 : kNone;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNone : 1;
  if (std::isinf(x)) return 0;
  return boost::math::gamma_q(a, x, Quiet());
}

}  // namespace facula::kernels::special
