// The parts of elementwise mathematics: rounding, polynomials, and exp and log in double, from
// which the float functions in math_*.h are built. Everything is branch-free, so that GCC turns a
// loop over it into vectors, and the same in the vector body and the scalar rest of a loop.
#pragma once
#include "facula/kernels/cpu/complex.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr float kInfF = __builtin_inff();
inline constexpr double kInf = __builtin_inf();
inline constexpr float kNanF = __builtin_nanf("");
inline constexpr double kNan = __builtin_nan("");
// k_pi<T>, k_inf<T>, k_nan<T> and k_eps<T>: the names of numbers in expressions of rows.
template <class T>
inline constexpr T k_pi = T(3.14159265358979323846);
template <class T>
inline constexpr T k_inf = T(__builtin_inf());
template <class T>
inline constexpr T k_nan = T(__builtin_nan(""));
template <class T>
inline constexpr T k_eps = T(sizeof(T) == 8 && std::is_floating_point_v<T> ? 0x1p-52 : 0x1p-23);

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kLn2 = 0.693147180559945309417;

FACULA_INLINE float fma_of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FACULA_INLINE double fma_of(double a, double b, double c) { return __builtin_fma(a, b, c); }
FACULA_INLINE float abs_of(float x) { return __builtin_fabsf(x); }
FACULA_INLINE double abs_of(double x) { return __builtin_fabs(x); }
FACULA_INLINE float sign_as(float x, float s) { return __builtin_copysignf(x, s); }
FACULA_INLINE double sign_as(double x, double s) { return __builtin_copysign(x, s); }
FACULA_INLINE bool nan_of(float x) { return x != x; }
FACULA_INLINE bool nan_of(double x) { return x != x; }

// horner evaluates c0 + c1 x + c2 x^2 + ... with fused steps.
template <class T>
FACULA_INLINE T horner(T x, T c) {
  return c;
}
template <class T, class... Rest>
FACULA_INLINE T horner(T x, T c, Rest... rest) {
  return fma_of(horner(x, static_cast<T>(rest)...), x, c);
}

// Rounded is x rounded to the nearest integer, as a number and as bits to build exponents from.
struct RoundedF {
  float value;
  int32_t bits;
};
struct Rounded {
  double value;
  int64_t bits;
};

// wrap_sub gives a - b modulo 2^N: the bits of any number may come here.
FACULA_INLINE int32_t wrap_sub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
FACULA_INLINE int64_t wrap_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// round_near adds 1.5 * 2^23 (2^52), which pushes the fraction out; for |x| below 2^22 (2^51).
FACULA_INLINE RoundedF round_near(float x) {
  float z = x + 12582912.0f;
  return {z - 12582912.0f, wrap_sub(bits_as<int32_t>(z), 0x4b400000)};
}
FACULA_INLINE Rounded round_near(double x) {
  double z = x + 6755399441055744.0;
  return {z - 6755399441055744.0, wrap_sub(bits_as<int64_t>(z), int64_t{0x4338000000000000})};
}

// power_of_two gives 2^n for a normal result.
FACULA_INLINE float power_of_two(int32_t n) {
  return bits_as<float>((static_cast<uint32_t>(n) + 127) << 23);
}
FACULA_INLINE double power_of_two(int64_t n) {
  return bits_as<double>((static_cast<uint64_t>(n) + 1023) << 52);
}

// exp_double gives e^x to 1e-13, for float results: 0 below -700, +inf above 700, NaN for NaN.
FACULA_INLINE double exp_double(double x) {
  double c = x < -700.0 ? -700.0 : x;
  c = c > 700.0 ? 700.0 : c;
  Rounded n = round_near(c * 1.44269504088896340736);
  double r = fma_of(n.value, -6.93147180369123816490e-01, c);
  r = fma_of(n.value, -1.90821492927058770002e-10, r);
  double p = horner(r, 1.0, 1.0, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                    1.0 / 40320, 1.0 / 362880, 1.0 / 3628800);
  return p * power_of_two(n.bits);
}

// log_double gives the natural logarithm to 1e-12 for zero, positive normal numbers and infinity;
// NaN for negative ones.
FACULA_INLINE double log_double(double x) {
  int64_t b = bits_as<int64_t>(x);
  int64_t up = wrap_sub(b, int64_t{0x3fe6a09e667f3bcd});  // the bits of sqrt(1/2)
  // the exponent as a double without a 64-bit conversion: put it below 2^52
  uint64_t biased = (static_cast<uint64_t>(up) >> 52) ^ 0x800;  // shifts the sign into range
  double e = bits_as<double>(biased | 0x4330000000000000) - 4503599627372544.0;
  double m = bits_as<double>((up & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
  double f = m - 1.0, s = f / (2.0 + f), z = s * s;
  double p = horner(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15);
  double r = fma_of(e, kLn2, fma_of(p * z, s, 2.0 * s));
  r = x == kInf ? kInf : r;
  r = x == 0 ? -kInf : r;
  return x >= 0 ? r : kNan;
}

}  // namespace facula::kernels::FACULA_ISA
