// Orthogonal polynomials by their three-term recurrences (DLMF 18.9). Chebyshev polynomials of high
// degree take the trigonometric forms within [-1, 1] and the hyperbolic ones outside.
#include <cmath>
#include <cstdint>
#include <limits>

#include "facula/kernels/special.h"

namespace facula::kernels::special {
namespace {

constexpr double kBeyond = std::numeric_limits<double>::infinity();
constexpr double kLargestDegree = 9.0e18;
constexpr int64_t kRecurrenceLimit = 64;  // degrees of Chebyshev polynomials up to here recur

// What x and n say without a sum: true if `value` is the answer, else `degree` is at least 1.
// `sign` is the sign of the leading coefficient for odd degrees.
bool settled(double x, double n, double sign, double& value, int64_t& degree) {
  if (std::isnan(n) || std::isnan(x)) {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  degree = n >= kLargestDegree ? INT64_MAX - 1 : n <= -1 ? -1 : static_cast<int64_t>(n);
  if (degree <= 0) {
    value = degree < 0 ? 0 : 1;
    return true;
  }
  if (std::isinf(x) || (std::fabs(x) > 0x1p520 && degree > 1)) {
    value = degree % 2 ? std::copysign(kBeyond, sign * x) : kBeyond;
    return true;
  }
  return false;
}

// The n-th member of p[k+1] = step(k, p[k], p[k-1]). Both are scaled down before they overflow, so
// that what exceeds the range comes out as an infinity of the right sign.
template <class Step>
double recur(int64_t n, double p0, double p1, Step step) {
  // More steps would take seconds and lose every digit.
  if (n > 1'000'000) return std::numeric_limits<double>::quiet_NaN();
  double before = p0, now = p1;
  int64_t scale = 0;
  for (int64_t k = 1; k < n; ++k) {
    double next = step(static_cast<double>(k), now, before);
    before = now;
    now = next;
    if (std::fabs(now) > 0x1p500) {
      now *= 0x1p-500;
      before *= 0x1p-500;
      scale += 500;
    }
  }
  return std::ldexp(now, static_cast<int>(scale > 100000 ? 100000 : scale));
}

// The Chebyshev polynomial whose member of degree 1 is `first`.
double chebyshev(int64_t n, double x, double first) {
  return recur(n, 1, first, [x](double, double p, double q) { return 2 * x * p - q; });
}

// (-1)^n for x below 0, else 1: the parity of T and U.
double parity(double x, int64_t n) { return x < 0 && n % 2 ? -1.0 : 1.0; }

bool by_recurrence(double x, int64_t n) { return n <= kRecurrenceLimit && !(std::fabs(x) == 1); }

}  // namespace

double chebyshev_t(double x, double n) {
  double value;
  int64_t degree;
  if (settled(x, n, 1, value, degree)) return value;
  if (std::fabs(x) == 1) return parity(x, degree);
  if (by_recurrence(x, degree)) return chebyshev(degree, x, x);
  double d = static_cast<double>(degree);
  if (std::fabs(x) < 1) return std::cos(d * std::acos(x));
  return parity(x, degree) * std::cosh(d * std::acosh(std::fabs(x)));
}

double chebyshev_u(double x, double n) {
  double value;
  int64_t degree;
  if (settled(x, n, 1, value, degree)) return value;
  double d = static_cast<double>(degree);
  if (std::fabs(x) == 1) return parity(x, degree) * (d + 1);
  if (by_recurrence(x, degree)) return chebyshev(degree, x, 2 * x);
  if (std::fabs(x) < 1) return std::sin((d + 1) * std::acos(x)) / std::sqrt((1 - x) * (1 + x));
  double t = std::acosh(std::fabs(x)), top = std::sinh((d + 1) * t);
  return parity(x, degree) * (std::isinf(top) ? top : top / std::sinh(t));
}

double chebyshev_v(double x, double n) {
  double value;
  int64_t degree;
  if (settled(x, n, 1, value, degree)) return value;
  double d = static_cast<double>(degree);
  if (x == 1) return 1;
  if (x == -1) return (degree % 2 ? -1.0 : 1.0) * (2 * d + 1);
  if (by_recurrence(x, degree)) return chebyshev(degree, x, 2 * x - 1);
  if (std::fabs(x) < 1) {
    double t = std::acos(x);
    return std::cos((d + 0.5) * t) / std::cos(t / 2);
  }
  double t = std::acosh(std::fabs(x));
  double top = x > 0 ? std::cosh((d + 0.5) * t) : parity(x, degree) * std::sinh((d + 0.5) * t);
  return std::isinf(top) ? top : top / (x > 0 ? std::cosh(t / 2) : std::sinh(t / 2));
}

// W_n(x) = (-1)^n V_n(-x).
double chebyshev_w(double x, double n) {
  double v = chebyshev_v(-x, n);
  return std::fmod(std::trunc(n), 2) != 0 ? -v : v;
}

double hermite_h(double x, double n) {
  double value;
  int64_t degree;
  if (settled(x, n, 1, value, degree)) return value;
  return recur(degree, 1, 2 * x, [x](double k, double p, double q) { return 2 * (x * p - k * q); });
}

double hermite_he(double x, double n) {
  double value;
  int64_t degree;
  if (settled(x, n, 1, value, degree)) return value;
  return recur(degree, 1, x, [x](double k, double p, double q) { return x * p - k * q; });
}

double laguerre_l(double x, double n) {
  double value;
  int64_t degree;
  if (settled(x, n, -1, value, degree)) return value;
  return recur(degree, 1, 1 - x, [x](double k, double p, double q) {
    return ((2 * k + 1 - x) * p - k * q) / (k + 1);
  });
}

double legendre_p(double x, double n) {
  double value;
  int64_t degree;
  if (settled(x, n, 1, value, degree)) return value;
  if (std::fabs(x) == 1) return parity(x, degree);
  return recur(degree, 1, x, [x](double k, double p, double q) {
    return ((2 * k + 1) * x * p - k * q) / (k + 1);
  });
}

}  // namespace facula::kernels::special
