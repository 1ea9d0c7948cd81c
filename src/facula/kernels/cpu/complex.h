// Complex<T>: complex numbers of the CPU kernels, laid out as std::complex but always inlined, so
// that files compiled for different instruction sets share no symbols.
#pragma once
#include "facula/kernels/cpu/isa.h"

namespace facula::kernels::FACULA_ISA {

// Complex holds a real and an imaginary part. Products are the plain formula; quotients avoid
// overflow of the squared modulus.
template <class T>
struct Complex {
  T re, im;

  Complex() = default;
  template <class A>
    requires std::is_arithmetic_v<A>
  FACULA_INLINE constexpr Complex(A r) : re(static_cast<T>(r)), im(0) {}
  FACULA_INLINE constexpr Complex(T r, T i) : re(r), im(i) {}
  template <class U>
    requires(!std::is_same_v<U, T>)
  FACULA_INLINE explicit constexpr Complex(Complex<U> z)
      : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}

  FACULA_INLINE Complex operator-() const { return {-re, -im}; }
  FACULA_INLINE Complex operator+() const { return *this; }
  friend FACULA_INLINE Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend FACULA_INLINE Complex operator-(Complex a, Complex b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend FACULA_INLINE Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend FACULA_INLINE Complex operator*(Complex a, T b) { return {a.re * b, a.im * b}; }
  friend FACULA_INLINE Complex operator*(T a, Complex b) { return {a * b.re, a * b.im}; }
  friend FACULA_INLINE Complex operator/(Complex a, T b) { return {a.re / b, a.im / b}; }
  friend FACULA_INLINE Complex operator/(Complex a, Complex b) { return divide(a, b); }
  FACULA_INLINE Complex& operator+=(Complex b) { return *this = *this + b; }
  FACULA_INLINE Complex& operator-=(Complex b) { return *this = *this - b; }
  FACULA_INLINE Complex& operator*=(Complex b) { return *this = *this * b; }
  FACULA_INLINE Complex& operator/=(Complex b) { return *this = *this / b; }
  friend FACULA_INLINE bool operator==(Complex a, Complex b) {
    return a.re == b.re && a.im == b.im;
  }
  friend FACULA_INLINE bool operator!=(Complex a, Complex b) { return !(a == b); }

 private:
  // Stands for a part of an infinite number: 1 or -1 for infinity, else zero of the same sign.
  static FACULA_INLINE T unit(T v) {
    constexpr T inf = T(__builtin_inf());
    return v == inf ? T(1) : v == -inf ? T(-1) : v * T(0);
  }
  // The divisor is scaled by its larger part. 0 and NaN give what IEEE division of the parts gives,
  // an infinite divisor of a finite number gives zero (C11, annex G.5.1).
  static FACULA_INLINE Complex divide(Complex a, Complex b) {
    T x = b.re < 0 ? -b.re : b.re, y = b.im < 0 ? -b.im : b.im;
    T scale = x < y ? y : x;
    if (scale == 0) return {a.re / scale, a.im / scale};
    bool infinite = scale == T(__builtin_inf());
    T c = infinite ? unit(b.re) : b.re / scale, d = infinite ? unit(b.im) : b.im / scale;
    T n = c * c + d * d;
    T p = a.re / scale, q = a.im / scale;
    return {(p * c + q * d) / n, (q * c - p * d) / n};
  }
};

using Complex64 = Complex<float>;
using Complex128 = Complex<double>;
static_assert(sizeof(Complex64) == 8 && sizeof(Complex128) == 16);

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<Complex<T>> = true;
template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_float_type = std::is_floating_point_v<T> || is_half_type<T>;

}  // namespace facula::kernels::FACULA_ISA
