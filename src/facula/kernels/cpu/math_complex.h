// Elementwise mathematics of complex numbers, and the parts that make sense for real ones too
// (m_real, m_conj, m_angle ...). Transcendental functions call libm.
#pragma once
#include "facula/kernels/cpu/math_number.h"
#include "facula/kernels/cpu/math_special.h"

namespace facula::kernels::FACULA_ISA {

// libm_* move between Complex and the compiler's own complex type.
FACULA_INLINE _Complex float to_libm(Complex64 z) {
  _Complex float c;
  __real__ c = z.re;
  __imag__ c = z.im;
  return c;
}
FACULA_INLINE _Complex double to_libm(Complex128 z) {
  _Complex double c;
  __real__ c = z.re;
  __imag__ c = z.im;
  return c;
}
FACULA_INLINE Complex64 from_libm(_Complex float c) { return {__real__ c, __imag__ c}; }
FACULA_INLINE Complex128 from_libm(_Complex double c) { return {__real__ c, __imag__ c}; }

#define FACULA_COMPLEX_LIBM(name)                       \
  FACULA_INLINE Complex64 m_##name(Complex64 z) {       \
    return from_libm(__builtin_c##name##f(to_libm(z))); \
  }                                                     \
  FACULA_INLINE Complex128 m_##name(Complex128 z) {     \
    return from_libm(__builtin_c##name(to_libm(z)));    \
  }
FACULA_COMPLEX_LIBM(exp)
FACULA_COMPLEX_LIBM(log)
FACULA_COMPLEX_LIBM(sqrt)
FACULA_COMPLEX_LIBM(sin)
FACULA_COMPLEX_LIBM(cos)
FACULA_COMPLEX_LIBM(tan)
FACULA_COMPLEX_LIBM(asin)
FACULA_COMPLEX_LIBM(acos)
FACULA_COMPLEX_LIBM(atan)
FACULA_COMPLEX_LIBM(sinh)
FACULA_COMPLEX_LIBM(cosh)
FACULA_COMPLEX_LIBM(tanh)
FACULA_COMPLEX_LIBM(asinh)
FACULA_COMPLEX_LIBM(acosh)
FACULA_COMPLEX_LIBM(atanh)
#undef FACULA_COMPLEX_LIBM

template <Plain T>
FACULA_INLINE T m_real(T x) {
  return x;
}
template <class T>
FACULA_INLINE T m_real(Complex<T> z) {
  return z.re;
}
template <Plain T>
FACULA_INLINE T m_imag(T) {
  return T(0);
}
template <class T>
FACULA_INLINE T m_imag(Complex<T> z) {
  return z.im;
}
template <Plain T>
FACULA_INLINE T m_conj(T x) {
  return x;
}
template <class T>
FACULA_INLINE Complex<T> m_conj(Complex<T> z) {
  return {z.re, -z.im};
}
template <class T>
FACULA_INLINE T m_abs(Complex<T> z) {
  return m_hypot(z.re, z.im);
}
template <class T>
FACULA_INLINE Complex<T> m_neg(Complex<T> z) {
  return -z;
}
template <class T>
FACULA_INLINE Complex<T> m_sgn(Complex<T> z) {
  T a = m_abs(z);
  return a == 0 ? Complex<T>(T(0), T(0)) : Complex<T>(z.re / a, z.im / a);
}
template <class T>
FACULA_INLINE Complex<T> m_sign(Complex<T> z) {
  return m_sgn(z);
}
// m_angle of real numbers: 0, pi for negative ones (not -0), NaN for NaN.
template <Real T>
FACULA_INLINE T m_angle(T x) {
  return nan_of(x) ? x : x < 0 ? static_cast<T>(kPi) : T(0);
}
template <class T>
FACULA_INLINE T m_angle(Complex<T> z) {
  return m_atan2(z.im, z.re);
}
template <class T>
FACULA_INLINE bool m_isnan(Complex<T> z) {
  return nan_of(z.re) || nan_of(z.im);
}
template <class T>
FACULA_INLINE bool m_isinf(Complex<T> z) {
  return m_isinf(z.re) || m_isinf(z.im);
}
template <class T>
FACULA_INLINE bool m_isfinite(Complex<T> z) {
  return m_isfinite(z.re) && m_isfinite(z.im);
}

// m_scaled multiplies by a factor whose imaginary part, when it is 0, is no term of the product:
// infinite parts stay apart.
template <class T>
FACULA_INLINE Complex<T> m_scaled(Complex<T> z, Complex<T> by) {
  return by.im == 0 ? z * by.re : z * by;
}

template <class T>
FACULA_INLINE Complex<T> m_reciprocal(Complex<T> z) {
  return Complex<T>(T(1), T(0)) / z;
}
template <class T>
FACULA_INLINE Complex<T> m_rsqrt(Complex<T> z) {
  return m_reciprocal(m_sqrt(z));
}
template <class T>
FACULA_INLINE Complex<T> m_exp2(Complex<T> z) {
  return m_exp(z * static_cast<T>(kLn2));
}
template <class T>
FACULA_INLINE Complex<T> m_log2(Complex<T> z) {
  return m_log(z) * static_cast<T>(1 / kLn2);
}
template <class T>
FACULA_INLINE Complex<T> m_log10(Complex<T> z) {
  return m_log(z) * static_cast<T>(0.434294481903251827651);
}
// e^z - 1 = expm1(x) cos y - 2 sin^2(y/2) + i e^x sin y keeps small results exact. At an infinite
// x no angle y matters that is none: the length is 0, or infinite, as in C's cexp.
template <class T>
FACULA_INLINE Complex<T> m_expm1(Complex<T> z) {
  if (m_isinf(z.re) && !m_isfinite(z.im)) {
    return z.re < 0 ? Complex<T>(T(-1), T(0)) : Complex<T>(z.re, z.im - z.im);
  }
  T half = m_sin(z.im * T(0.5));
  T re = m_expm1(z.re) * m_cos(z.im) - T(2) * half * half;
  return {re, z.im == 0 ? z.im : m_exp(z.re) * m_sin(z.im)};
}
// log(1 + z) through log1p of |1 + z|^2 - 1 near 0.
template <class T>
FACULA_INLINE Complex<T> m_log1p(Complex<T> z) {
  T x = z.re, y = z.im;
  if (m_abs(z) < T(0.5)) return {T(0.5) * m_log1p(x * (T(2) + x) + y * y), m_atan2(y, T(1) + x)};
  return m_log(Complex<T>(T(1) + x, y));
}
template <class T>
FACULA_INLINE Complex<T> m_sigmoid(Complex<T> z) {
  return m_reciprocal(Complex<T>(T(1), T(0)) + m_exp(-z));
}
template <class T>
FACULA_INLINE Complex<T> m_sinc(Complex<T> z) {
  Complex<T> p = z * static_cast<T>(kPi);
  return z == Complex<T>(0) ? Complex<T>(1) : m_sin(p) / p;
}
template <class T>
FACULA_INLINE Complex<T> m_pow(Complex<T> x, Complex<T> y) {
  if (y.re == 0 && y.im == 0) return Complex<T>(1);
  if (y.re == 1 && y.im == 0) return x;
  if (y.re == 2 && y.im == 0) return x * x;
  if constexpr (std::is_same_v<T, float>) {
    Complex128 a(x), b(y);
    return Complex64(from_libm(__builtin_cpow(to_libm(a), to_libm(b))));
  } else {
    return from_libm(__builtin_cpow(to_libm(x), to_libm(y)));
  }
}
// m_xlogy is x log y, 0 where x is 0 and y is not NaN.
template <Real T>
FACULA_INLINE T m_xlogy(T x, T y) {
  return nan_of(y) ? y : x == 0 ? T(0) : x * m_log(y);
}
template <class T>
FACULA_INLINE Complex<T> m_xlogy(Complex<T> x, Complex<T> y) {
  if (x == Complex<T>(0) && !m_isnan(y)) return x;
  return x * m_log(y);
}
template <Real T>
FACULA_INLINE T m_xlog1py(T x, T y) {
  return nan_of(y) ? y : x == 0 ? T(0) : x * m_log1p(y);
}

}  // namespace facula::kernels::FACULA_ISA
