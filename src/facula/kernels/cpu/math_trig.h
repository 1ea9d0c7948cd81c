// Trigonometric functions of float (through double, correct to rounding for every argument however
// large) and of double (libm).
#pragma once
#include "facula/kernels/cpu/math_base.h"
#include "facula/kernels/cpu/trig_table.h"

namespace facula::kernels::FACULA_ISA {

// Quadrant is |x| = (n + r) * pi/2 with |r| <= 1/2: sine and cosine of the rest, and n modulo 4.
struct Quadrant {
  double sine, cosine;
  int64_t n;
};

// quadrant_of reduces |x| by a table of 2/pi times the powers of two, modulo 4.
FACULA_INLINE Quadrant quadrant_of(float x) {
  double a = abs_of(static_cast<double>(x));
  int64_t b = bits_as<int64_t>(a);
  int64_t k = static_cast<int64_t>(static_cast<uint64_t>(b) >> 52) - 1022;
  k &= kQuadrantRows - 1;  // arguments below 1/2, infinities and NaN are replaced below
  double m = bits_as<double>((b & 0x000fffffffffffff) | 0x4160000000000000);  // in [2^23, 2^24)
  double t = m * kQuadrantHigh[k];
  Rounded n = round_near(t);
  double r = fma_of(m, kQuadrantLow[k], t - n.value) * (kPi / 2);
  r = a < 0.5 ? a : r;
  int64_t turns = a < 0.5 ? 0 : n.bits;
  r = a <= 3.5e38 ? r : kNan;
  double z = r * r;
  double s = horner(z, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800);
  double c =
      horner(z, 1.0, -0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600);
  return {r * s, c, turns};
}

FACULA_INLINE float m_sin(float x) {
  Quadrant q = quadrant_of(x);
  double r = q.n & 1 ? q.cosine : q.sine;
  float f = static_cast<float>(q.n & 2 ? -r : r);
  return bits_as<float>(bits_as<uint32_t>(f) ^ (bits_as<uint32_t>(x) & 0x80000000u));
}
FACULA_INLINE double m_sin(double x) { return __builtin_sin(x); }
FACULA_INLINE float m_cos(float x) {
  Quadrant q = quadrant_of(x);
  double r = q.n & 1 ? q.sine : q.cosine;
  return static_cast<float>((q.n + 1) & 2 ? -r : r);
}
FACULA_INLINE double m_cos(double x) { return __builtin_cos(x); }
FACULA_INLINE float m_tan(float x) {
  Quadrant q = quadrant_of(x);
  double top = q.n & 1 ? -q.cosine : q.sine, low = q.n & 1 ? q.sine : q.cosine;
  float f = static_cast<float>(top / low);
  return bits_as<float>(bits_as<uint32_t>(f) ^ (bits_as<uint32_t>(x) & 0x80000000u));
}
FACULA_INLINE double m_tan(double x) { return __builtin_tan(x); }

// atan_ratio gives atan(y / x) in [0, pi/2] for y, x >= 0 that are not both 0 or infinite.
FACULA_INLINE double atan_ratio(double y, double x) {
  bool swap = y > x;
  double top = swap ? x : y, low = swap ? y : x;
  bool shift = top > 0.41421356237309503 * low;
  double t = (shift ? top - low : top) / (shift ? top + low : low);
  double z = t * t;
  double r = t * horner(z, 0.99999999999997345, -0.333333333308193052, 0.199999996067880014,
                        -0.142856905103521224, 0.111103869871078759, -0.0907841574113076822,
                        0.0756386353697921378, -0.0587506897643035869, 0.0306705017732149291);
  r = shift ? r + kPi / 4 : r;
  return swap ? kPi / 2 - r : r;
}

FACULA_INLINE float m_atan(float x) {
  double a = abs_of(static_cast<double>(x));
  double r = a == kInf ? kPi / 2 : atan_ratio(a, 1.0);
  return sign_as(static_cast<float>(r), x);
}
FACULA_INLINE double m_atan(double x) { return __builtin_atan(x); }

FACULA_INLINE float m_atan2(float y, float x) {
  double a = abs_of(static_cast<double>(y)), b = abs_of(static_cast<double>(x));
  bool both = a == kInf && b == kInf;
  double top = both ? 1.0 : a, low = both ? 1.0 : b;
  low = a == 0 && b == 0 ? 1.0 : low;
  double r = low == kInf ? 0.0 : top == kInf ? kPi / 2 : atan_ratio(top, low);
  r = bits_as<int32_t>(x) < 0 ? kPi - r : r;
  float f = sign_as(static_cast<float>(r), y);
  return nan_of(x) || nan_of(y) ? kNanF : f;
}
FACULA_INLINE double m_atan2(double y, double x) { return __builtin_atan2(y, x); }

FACULA_INLINE float m_asin(float x) {
  double a = abs_of(static_cast<double>(x));
  double r = atan_ratio(a, __builtin_sqrt((1.0 - a) * (1.0 + a)));
  return a <= 1.0 ? sign_as(static_cast<float>(r), x) : kNanF;
}
FACULA_INLINE double m_asin(double x) { return __builtin_asin(x); }
FACULA_INLINE float m_acos(float x) {
  double a = abs_of(static_cast<double>(x));
  double r = atan_ratio(__builtin_sqrt((1.0 - a) * (1.0 + a)), a);
  r = x < 0 ? kPi - r : r;
  return a <= 1.0 ? static_cast<float>(r) : kNanF;
}
FACULA_INLINE double m_acos(double x) { return __builtin_acos(x); }

// m_sinc is sin(pi x) / (pi x), 1 at 0.
FACULA_INLINE float m_sinc(float x) {
  float p = static_cast<float>(kPi) * x;
  return x == 0 ? 1.0f : m_sin(p) / p;
}
FACULA_INLINE double m_sinc(double x) {
  double p = kPi * x;
  return x == 0 ? 1.0 : m_sin(p) / p;
}

}  // namespace facula::kernels::FACULA_ISA
