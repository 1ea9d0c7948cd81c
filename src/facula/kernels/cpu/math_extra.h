// Element functions that rows add to the elementary ones: truth values, interpolation, the Hurwitz
// zeta function and the polygamma functions made from it.
#pragma once
#include "facula/kernels/cpu/math_number.h"
#include "facula/kernels/cpu/math_complex.h"
#include "facula/kernels/cpu/math_exp.h"
#include "facula/kernels/cpu/math_trig.h"
#include "facula/kernels/cpu/math_special.h"

namespace facula::kernels::FACULA_ISA {

// m_truth says whether a number is not zero.
template <class T>
FACULA_INLINE bool m_truth(T x) {
  return x != T(0);
}

// m_lerp is exact at both ends: it starts from the nearer one.
template <class T>
FACULA_INLINE T m_lerp(T a, T b, T w) {
  bool near_a = m_abs(w) < decltype(m_abs(w))(0.5);
  return near_a ? a + w * (b - a) : b - (b - a) * (T(1) - w);
}

// m_zeta is the sum over k >= 0 of (q + k)^-x, by Euler and Maclaurin's formula (Abramowitz and
// Stegun 23.1.4): nine terms, then the tail's integral and Bernoulli numbers.
FACULA_INLINE double m_zeta(double x, double q) {
  constexpr double bernoulli[12] = {12.0,
                                    -720.0,
                                    30240.0,
                                    -1209600.0,
                                    47900160.0,
                                    -1.8924375803183791606e9,
                                    7.47242496e10,
                                    -2.950130727918164224e12,
                                    1.1646782814350067249e14,
                                    -4.5979787224074726105e15,
                                    1.8152105401943546773e17,
                                    -7.1661652561756670113e18};
  if (x == 1) return __builtin_inf();
  if (!(x > 1)) return __builtin_nan("");
  if (q <= 0) {
    if (q == __builtin_floor(q)) return __builtin_inf();
    if (x != __builtin_floor(x)) return __builtin_nan("");
  }
  double s = __builtin_pow(q, -x), a = q, b = 0;
  for (int i = 0; i < 9 || a <= 9; ++i) {
    a += 1;
    b = __builtin_pow(a, -x);
    s += b;
    if (__builtin_fabs(b / s) < 1.1e-16) return s;
  }
  s += b * a / (x - 1) - 0.5 * b;
  double factor = 1, k = 0;
  for (int i = 0; i < 12; ++i) {
    factor *= x + k;
    b /= a;
    double term = factor * b / bernoulli[i];
    s += term;
    if (__builtin_fabs(term / s) < 1.1e-16) break;
    k += 1;
    factor *= x + k;
    b /= a;
    k += 1;
  }
  return s;
}
FACULA_INLINE float m_zeta(float x, float q) {
  return static_cast<float>(m_zeta(double(x), double(q)));
}

// m_trigamma is the derivative of digamma; below 1/2 by reflection, then the asymptotic series.
FACULA_INLINE double m_trigamma(double x) {
  double sign = 1, result = 0;
  if (x < 0.5) {
    sign = -1;
    double s = __builtin_sin(k_pi<double> * x);
    result -= k_pi<double> * k_pi<double> / (s * s);
    x = 1 - x;
  }
  for (int i = 0; i < 6; ++i) {
    result += 1 / (x * x);
    x += 1;
  }
  double y = 1 / (x * x);
  result += (1 + 1 / (2 * x) +
             y * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66)))))) /
            x;
  return sign * result;
}
FACULA_INLINE float m_trigamma(float x) { return static_cast<float>(m_trigamma(double(x))); }

// m_polygamma is the n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x).
FACULA_INLINE double m_polygamma(double n, double x) {
  if (n == 0) return m_digamma(x);
  if (n == 1) return m_trigamma(x);
  double sign = static_cast<int64_t>(n) % 2 ? 1.0 : -1.0;
  return sign * __builtin_exp(__builtin_lgamma(n + 1)) * m_zeta(n + 1, x);
}
FACULA_INLINE float m_polygamma(float n, float x) {
  return static_cast<float>(m_polygamma(double(n), double(x)));
}

}  // namespace facula::kernels::FACULA_ISA
