// Rounding, division, comparison, sign and bit functions of integers, bool, float and double.
// Maximum and minimum propagate NaN and order -0.0 below 0.0. Integer functions never trap: a zero
// divisor gives 0 (the caller reports it), the smallest integer divided by -1 wraps.
#pragma once
#include "facula/kernels/cpu/math_base.h"

namespace facula::kernels::FACULA_ISA {

template <class T>
concept Whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
concept Real = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
concept Plain = std::is_arithmetic_v<T>;

// Signed arithmetic that wraps.
template <Whole T>
FACULA_INLINE T wrap_neg(T x) {
  return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(x));
}

template <Whole T>
FACULA_INLINE T m_abs(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return x < 0 ? wrap_neg(x) : x;
}
template <Real T>
FACULA_INLINE T m_abs(T x) {
  return abs_of(x);
}
FACULA_INLINE bool m_abs(bool x) { return x; }
template <Whole T>
FACULA_INLINE T m_neg(T x) {
  return wrap_neg(x);
}
template <Real T>
FACULA_INLINE T m_neg(T x) {
  return -x;
}
// m_sign: -1, 0 or 1; NaN stays.
template <Plain T>
FACULA_INLINE T m_sign(T x) {
  if constexpr (Real<T>) {
    T r = static_cast<T>((x > 0) - (x < 0));
    return nan_of(x) ? x : r;
  } else if constexpr (std::is_unsigned_v<T>) {  // bool too
    return static_cast<T>(x > 0);
  } else {
    return static_cast<T>((x > 0) - (x < 0));
  }
}
template <Plain T>
FACULA_INLINE T m_sgn(T x) {
  return m_sign(x);
}

FACULA_INLINE float m_floor(float x) { return __builtin_floorf(x); }
FACULA_INLINE double m_floor(double x) { return __builtin_floor(x); }
FACULA_INLINE float m_ceil(float x) { return __builtin_ceilf(x); }
FACULA_INLINE double m_ceil(double x) { return __builtin_ceil(x); }
FACULA_INLINE float m_trunc(float x) { return __builtin_truncf(x); }
FACULA_INLINE double m_trunc(double x) { return __builtin_trunc(x); }
// m_round rounds half to even.
FACULA_INLINE float m_round(float x) { return __builtin_rintf(x); }
FACULA_INLINE double m_round(double x) { return __builtin_rint(x); }
template <Whole T>
FACULA_INLINE T m_floor(T x) {
  return x;
}
template <Whole T>
FACULA_INLINE T m_ceil(T x) {
  return x;
}
template <Whole T>
FACULA_INLINE T m_trunc(T x) {
  return x;
}
template <Whole T>
FACULA_INLINE T m_round(T x) {
  return x;
}
template <Real T>
FACULA_INLINE T m_frac(T x) {
  return x - m_trunc(x);
}
template <Whole T>
FACULA_INLINE T m_frac(T x) {
  return 0;
}

template <class T>
FACULA_INLINE auto m_scaled(T x, T by) {
  return by * x;
}

// m_fmod has the sign of x; m_remainder the sign of y; m_floor_divide rounds down.
FACULA_INLINE float m_fmod(float x, float y) { return __builtin_fmodf(x, y); }
FACULA_INLINE double m_fmod(double x, double y) { return __builtin_fmod(x, y); }
template <Real T>
FACULA_INLINE T m_remainder(T x, T y) {
  T r = m_fmod(x, y);
  if (r == 0) return sign_as(T(0), y);
  return (r < 0) != (y < 0) ? r + y : r;
}
template <Real T>
FACULA_INLINE T m_floor_divide(T x, T y) {
  if (y == 0) return x / y;
  T r = m_fmod(x, y), q = (x - r) / y;
  if (r != 0 && (y < 0) != (r < 0)) q -= 1;
  if (q == 0) return sign_as(T(0), x / y);
  T f = m_floor(q);
  return q - f > T(0.5) ? f + 1 : f;
}
// safe_divisor makes hardware division safe: y is neither 0 nor (for the smallest x) -1.
template <Whole T>
FACULA_INLINE bool trapping_divide(T x, T y) {
  if constexpr (std::is_signed_v<T>)
    return y == 0 || y == -1;
  else
    return y == 0;
}
// m_div_trunc and m_fmod of integers round towards zero.
template <Whole T>
FACULA_INLINE T m_div_trunc(T x, T y) {
  if (trapping_divide(x, y)) return y == 0 ? T(0) : wrap_neg(x);
  return static_cast<T>(x / y);
}
FACULA_INLINE float m_div_trunc(float x, float y) { return m_trunc(x / y); }
FACULA_INLINE double m_div_trunc(double x, double y) { return m_trunc(x / y); }
template <Whole T>
FACULA_INLINE T m_fmod(T x, T y) {
  return trapping_divide(x, y) ? T(0) : static_cast<T>(x % y);
}
template <Whole T>
FACULA_INLINE T m_remainder(T x, T y) {
  T r = m_fmod(x, y);
  if constexpr (std::is_signed_v<T>)
    return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
  else
    return r;
}
template <Whole T>
FACULA_INLINE T m_floor_divide(T x, T y) {
  T q = m_div_trunc(x, y);
  if constexpr (std::is_signed_v<T>) {
    T r = m_fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(q - 1) : q;
  } else {
    return q;
  }
}

// Integer powers wrap; a negative exponent gives 0 but for bases 1 and -1.
template <Whole T>
FACULA_INLINE T m_pow(T x, T y) {
  using U = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return x == 1 ? T(1) : x == T(-1) ? (y & 1 ? T(-1) : T(1)) : T(0);
  }
  U r = 1, b = static_cast<U>(x);
  for (U e = static_cast<U>(y); e; e >>= 1) {
    if (e & 1) r *= b;
    b *= b;
  }
  return static_cast<T>(r);
}

// 0 and -0 are ordered by their sign bits; a NaN wins.
template <Real T>
FACULA_INLINE T m_maximum(T x, T y) {
  T r = x > y ? x : y;
  using B = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  r = x == y ? bits_as<T>(static_cast<B>(bits_as<B>(x) & bits_as<B>(y))) : r;
  return nan_of(x) ? x : r;
}
template <Real T>
FACULA_INLINE T m_minimum(T x, T y) {
  T r = x < y ? x : y;
  using B = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  r = x == y ? bits_as<T>(static_cast<B>(bits_as<B>(x) | bits_as<B>(y))) : r;
  return nan_of(x) ? x : r;
}
template <class T>
  requires std::is_integral_v<T>
FACULA_INLINE T m_maximum(T x, T y) {
  return x > y ? x : y;
}
template <class T>
  requires std::is_integral_v<T>
FACULA_INLINE T m_minimum(T x, T y) {
  return x < y ? x : y;
}
// m_fmax and m_fmin prefer numbers to NaN.
template <Plain T>
FACULA_INLINE T m_fmax(T x, T y) {
  if constexpr (Real<T>)
    return nan_of(x) ? y : nan_of(y) ? x : m_maximum(x, y);
  else
    return m_maximum(x, y);
}
template <Plain T>
FACULA_INLINE T m_fmin(T x, T y) {
  if constexpr (Real<T>)
    return nan_of(x) ? y : nan_of(y) ? x : m_minimum(x, y);
  else
    return m_minimum(x, y);
}

template <Plain T>
FACULA_INLINE bool m_isnan(T x) {
  if constexpr (Real<T>)
    return x != x;
  else
    return false;
}
template <Plain T>
FACULA_INLINE bool m_isinf(T x) {
  if constexpr (Real<T>)
    return abs_of(x) == static_cast<T>(kInf);
  else
    return false;
}
template <Plain T>
FACULA_INLINE bool m_isfinite(T x) {
  if constexpr (Real<T>)
    return abs_of(x) < static_cast<T>(kInf);
  else
    return true;
}
FACULA_INLINE bool m_signbit(float x) { return bits_as<int32_t>(x) < 0; }
FACULA_INLINE bool m_signbit(double x) { return bits_as<int64_t>(x) < 0; }
template <class T>
  requires std::is_integral_v<T>
FACULA_INLINE bool m_signbit(T x) {
  if constexpr (std::is_unsigned_v<T>)  // bool too
    return false;
  else
    return x < 0;
}
template <Real T>
FACULA_INLINE T m_copysign(T x, T y) {
  return sign_as(x, y);
}
// m_ldexp takes whole exponents; beyond a million every result is 0 or infinite.
FACULA_INLINE int m_power(double y) { return y > 1e6 ? 1000000 : y < -1e6 ? -1000000 : int(y); }
FACULA_INLINE float m_ldexp(float x, float y) { return __builtin_ldexpf(x, m_power(y)); }
FACULA_INLINE double m_ldexp(double x, double y) { return __builtin_ldexp(x, m_power(y)); }
FACULA_INLINE float m_nextafter(float x, float y) { return __builtin_nextafterf(x, y); }
FACULA_INLINE double m_nextafter(double x, double y) { return __builtin_nextafter(x, y); }
FACULA_INLINE float m_hypot(float x, float y) {
  double a = x, b = y, r = __builtin_sqrt(a * a + b * b);
  return abs_of(x) == kInfF || abs_of(y) == kInfF ? kInfF : static_cast<float>(r);
}
FACULA_INLINE double m_hypot(double x, double y) { return __builtin_hypot(x, y); }

// Bit operations; shifts by the width or more give 0, or the sign for arithmetic right shifts.
template <class T>
  requires std::is_integral_v<T>
FACULA_INLINE T m_and(T x, T y) {
  return static_cast<T>(x & y);
}
template <class T>
  requires std::is_integral_v<T>
FACULA_INLINE T m_or(T x, T y) {
  return static_cast<T>(x | y);
}
template <class T>
  requires std::is_integral_v<T>
FACULA_INLINE T m_xor(T x, T y) {
  return static_cast<T>(x ^ y);
}
template <Whole T>
FACULA_INLINE T m_not(T x) {
  return static_cast<T>(~x);
}
FACULA_INLINE bool m_not(bool x) { return !x; }
template <Whole T>
FACULA_INLINE T m_shl(T x, T y) {
  using U = std::make_unsigned_t<T>;
  constexpr U kWidth = sizeof(T) * 8;
  U s = static_cast<U>(y);
  return s >= kWidth ? T(0) : static_cast<T>(static_cast<uint64_t>(static_cast<U>(x)) << (s & 63));
}
template <Whole T>
FACULA_INLINE T m_shr(T x, T y) {
  using U = std::make_unsigned_t<T>;
  constexpr U kWidth = sizeof(T) * 8;
  U s = static_cast<U>(y);
  bool far = s >= kWidth;
  if constexpr (std::is_signed_v<T>)
    s = far ? static_cast<U>(kWidth - 1) : s;
  else if (far)
    return T(0);
  return static_cast<T>(x >> s);
}
template <Whole T>
FACULA_INLINE T m_gcd(T x, T y) {
  using U = std::make_unsigned_t<T>;
  U a = static_cast<U>(m_abs(x)), b = static_cast<U>(m_abs(y));
  while (b != 0) {
    U r = static_cast<U>(a % b);
    a = b;
    b = r;
  }
  return static_cast<T>(a);
}
template <Whole T>
FACULA_INLINE T m_lcm(T x, T y) {
  T g = m_gcd(x, y);
  if (g == 0) return 0;
  return m_abs(static_cast<T>(m_div_trunc(x, g) * y));
}

}  // namespace facula::kernels::FACULA_ISA
