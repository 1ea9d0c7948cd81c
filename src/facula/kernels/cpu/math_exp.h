// Exponentials, logarithms, powers and hyperbolic functions of float and double. The hot ones
// (exp, log, tanh, sigmoid) are float polynomials within 2 ulp; the others go through double and
// are correct to the last bit but rounding. double itself calls libm.
#pragma once
#include "facula/kernels/cpu/math_base.h"

namespace facula::kernels::FACULA_ISA {

// exp_parts splits e^x = 2^n (1 + p) for x in [-104, 89].
struct ExpParts {
  float p;
  int32_t n;
};
FACULA_INLINE ExpParts exp_parts(float x) {
  RoundedF n = round_near(x * 1.44269504f);
  float r = fma_of(n.value, -0.693359375f, x);
  r = fma_of(n.value, 2.12194440e-4f, r);
  float q = horner(r, 0.500000007859518687f, 0.166666661608215435f, 0.0416662687100252456f,
                   0.00833343037379854095f, 0.00139461344333709212f, 0.000198264600623923602f);
  return {fma_of(r * r, q, r), n.bits};
}

FACULA_INLINE float m_exp(float x) {
  float c = x < -104.0f ? -104.0f : x;
  c = c > 89.0f ? 89.0f : c;
  ExpParts e = exp_parts(c);
  int32_t half = e.n >> 1;  // two factors, so that denormal results round once
  return (1.0f + e.p) * power_of_two(half) * power_of_two(e.n - half);
}
FACULA_INLINE double m_exp(double x) { return __builtin_exp(x); }

FACULA_INLINE float m_exp2(float x) {
  float c = x < -151.0f ? -151.0f : x;
  c = c > 129.0f ? 129.0f : c;
  RoundedF n = round_near(c);
  float r = c - n.value;
  float q = horner(r, 0.693147205577100434f, 0.24022648462281301f, 0.0555032903515363064f,
                   0.0096183732513517748f, 0.00133998482906962167f, 0.00015370704816680854f);
  int32_t half = n.bits >> 1;
  return fma_of(q, r, 1.0f) * power_of_two(half) * power_of_two(n.bits - half);
}
FACULA_INLINE double m_exp2(double x) { return __builtin_exp2(x); }

FACULA_INLINE float m_expm1(float x) {
  float c = x < -20.0f ? -20.0f : x;
  c = c > 89.0f ? 89.0f : c;
  ExpParts e = exp_parts(c);
  float half = power_of_two(e.n - 1);  // half of 2^n, which may itself be too large
  float r = 2.0f * fma_of(half, e.p, half - 0.5f);
  return e.n == 0 ? sign_as(e.p, x) : r;
}
FACULA_INLINE double m_expm1(double x) { return __builtin_expm1(x); }

FACULA_INLINE float m_log(float x) {
  bool tiny = x < 1.17549435e-38f;
  float y = tiny ? x * 8388608.0f : x;
  int32_t b = bits_as<int32_t>(y), up = wrap_sub(b, 0x3f3504f3);  // the bits of sqrt(1/2)
  int32_t e = up >> 23;
  float m = bits_as<float>((up & 0x007fffff) + 0x3f3504f3);
  float n = static_cast<float>(e - (tiny ? 23 : 0)), f = m - 1.0f;
  float q = horner(f, 0.33333310898963846f, -0.250000162790580403f, 0.200022041836097843f,
                   -0.166676437161100898f, 0.14217891534678843f, -0.124112686867607378f,
                   0.119047121285221418f, -0.116464344164938319f, 0.0667527189197764733f);
  float z = f * f;
  float r = fma_of(n, -2.12194440e-4f, z * f * q);
  r = fma_of(-0.5f, z, r) + f;
  r = fma_of(n, 0.693359375f, r);
  r = x == kInfF ? kInfF : r;
  r = x == 0.0f ? -kInfF : r;
  return x >= 0.0f ? r : kNanF;
}
FACULA_INLINE double m_log(double x) { return __builtin_log(x); }

FACULA_INLINE float m_log2(float x) {
  return static_cast<float>(log_double(x) * 1.44269504088896340736);
}
FACULA_INLINE double m_log2(double x) { return __builtin_log2(x); }
FACULA_INLINE float m_log10(float x) {
  return static_cast<float>(log_double(x) * 0.434294481903251827651);
}
FACULA_INLINE double m_log10(double x) { return __builtin_log10(x); }

FACULA_INLINE float m_log1p(float x) {
  double d = x;
  double small = d * horner(d, 1.0, -0.5, 1.0 / 3, -0.25);
  double r = abs_of(d) < 1e-3 ? small : log_double(1.0 + d);
  return sign_as(static_cast<float>(r), x);
}
FACULA_INLINE double m_log1p(double x) { return __builtin_log1p(x); }

// m_sigmoid is e / (1 + e) with e = exp(-|x|), which keeps small results exact.
FACULA_INLINE float m_sigmoid(float x) {
  float e = m_exp(-abs_of(x));
  return (x >= 0 ? 1.0f : e) / (1.0f + e);
}
FACULA_INLINE double m_sigmoid(double x) {
  double e = m_exp(-abs_of(x));
  return (x >= 0 ? 1.0 : e) / (1.0 + e);
}

FACULA_INLINE float m_tanh(float x) {
  float a = abs_of(x), z = x * x;
  float small = horner(z, -0.333333293924879481f, 0.13333151220193575f, -0.0539398802696822271f,
                       0.0216632336229866675f, -0.00808544789754827115f, 0.0020595467502545587f);
  small = sign_as(fma_of(z * x, small, x), x);
  float c = a > 10.0f ? 10.0f : a;
  ExpParts e = exp_parts(c + c);
  float large = 1.0f - 2.0f / fma_of(1.0f + e.p, power_of_two(e.n), 1.0f);
  large = nan_of(x) ? x : sign_as(large, x);
  return a < 0.65f ? small : large;
}
FACULA_INLINE double m_tanh(double x) { return __builtin_tanh(x); }

FACULA_INLINE float m_sinh(float x) {
  double d = x, e = exp_double(d);
  double small = d * horner(d * d, 1.0, 1.0 / 6, 1.0 / 120);
  return static_cast<float>(abs_of(d) < 1e-2 ? small : 0.5 * (e - 1.0 / e));
}
FACULA_INLINE double m_sinh(double x) { return __builtin_sinh(x); }
FACULA_INLINE float m_cosh(float x) {
  double e = exp_double(x);
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
FACULA_INLINE double m_cosh(double x) { return __builtin_cosh(x); }

FACULA_INLINE float m_asinh(float x) {
  double d = x, a = abs_of(d);
  double small = d * horner(d * d, 1.0, -1.0 / 6, 3.0 / 40);
  double large = sign_as(log_double(a + __builtin_sqrt(fma_of(a, a, 1.0))), d);
  return static_cast<float>(a < 1e-2 ? small : large);
}
FACULA_INLINE double m_asinh(double x) { return __builtin_asinh(x); }
FACULA_INLINE float m_acosh(float x) {
  double d = x;
  double r = log_double(d + __builtin_sqrt((d - 1.0) * (d + 1.0)));
  return d >= 1.0 ? static_cast<float>(r) : kNanF;
}
FACULA_INLINE double m_acosh(double x) { return __builtin_acosh(x); }
FACULA_INLINE float m_atanh(float x) {
  double d = x;
  double small = d * horner(d * d, 1.0, 1.0 / 3, 1.0 / 5);
  double large = 0.5 * log_double((1.0 + d) / (1.0 - d));
  large = d == 1.0 ? kInf : d == -1.0 ? -kInf : large;
  return static_cast<float>(abs_of(d) < 1e-2 ? small : large);
}
FACULA_INLINE double m_atanh(double x) { return __builtin_atanh(x); }

FACULA_INLINE float m_sqrt(float x) { return __builtin_sqrtf(x); }
FACULA_INLINE double m_sqrt(double x) { return __builtin_sqrt(x); }
FACULA_INLINE float m_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
FACULA_INLINE double m_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
FACULA_INLINE float m_reciprocal(float x) { return 1.0f / x; }
FACULA_INLINE double m_reciprocal(double x) { return 1.0 / x; }

// m_pow follows C's rules for zeros, infinities, NaN and negative bases.
FACULA_INLINE float m_pow(float x, float y) {
  double a = abs_of(static_cast<double>(x)), b = y;
  double r = exp_double(b * log_double(a));
  bool whole = __builtin_truncf(y) == y;
  float half = y * 0.5f;
  bool odd = whole & (__builtin_truncf(half) != half);
  r = nan_of(x) | nan_of(y) ? kNan : r;
  r = (x < 0) & !whole & (a != kInf) ? kNan : r;
  r = (a == 1.0) & (abs_of(b) == kInf) ? 1.0 : r;
  float f = static_cast<float>(r);
  f = odd ? sign_as(f, x) : f;
  return (x == 1.0f) | (y == 0.0f) ? 1.0f : f;
}
FACULA_INLINE double m_pow(double x, double y) { return __builtin_pow(x, y); }

// logaddexp and its base-2 form: max + log1p(exp(-|difference|)), exact at equal infinities.
FACULA_INLINE float m_logaddexp(float x, float y) {
  float top = x > y ? x : y;
  float d = -abs_of(x - y);
  float r = top + m_log1p(m_exp(d));
  return x == y ? x + static_cast<float>(kLn2) : nan_of(x + y) ? x + y : r;
}
FACULA_INLINE double m_logaddexp(double x, double y) {
  double top = x > y ? x : y, r = top + m_log1p(m_exp(-abs_of(x - y)));
  return x == y ? x + kLn2 : nan_of(x + y) ? x + y : r;
}
FACULA_INLINE float m_logaddexp2(float x, float y) {
  float top = x > y ? x : y;
  double d = exp_double(-abs_of(static_cast<double>(x) - y) * kLn2);
  float r = static_cast<float>(top + log_double(1.0 + d) * 1.44269504088896340736);
  return x == y ? x + 1.0f : nan_of(x + y) ? x + y : r;
}
FACULA_INLINE double m_logaddexp2(double x, double y) {
  double top = x > y ? x : y;
  double r = top + m_log1p(m_exp2(-abs_of(x - y))) * 1.44269504088896340736;
  return x == y ? x + 1.0 : nan_of(x + y) ? x + y : r;
}

}  // namespace facula::kernels::FACULA_ISA
