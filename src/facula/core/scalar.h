// Scalar: a Python-like number (bool, integer, float or complex) on its way into an operator.
#pragma once
#include <complex>
#include <cstdint>

#include "facula/core/dtype.h"

namespace facula {

// Scalar holds one number in its widest form. `kind` is kBool, kInt64, kFloat64 or kComplex128;
// kUInt64 marks integers above the range of int64.
struct Scalar {
  DType kind = kInt64;
  double re = 0, im = 0;
  int64_t i = 0;

  constexpr Scalar() = default;
  constexpr Scalar(bool v) : kind(kBool), re(v), i(v) {}
  constexpr Scalar(int v) : Scalar(static_cast<int64_t>(v)) {}
  constexpr Scalar(int64_t v) : kind(kInt64), re(static_cast<double>(v)), i(v) {}
  constexpr Scalar(long long v) : Scalar(static_cast<int64_t>(v)) {}
  constexpr Scalar(uint64_t v)
      : kind(v >> 63 ? kUInt64 : kInt64), re(static_cast<double>(v)), i(static_cast<int64_t>(v)) {}
  constexpr Scalar(float v) : Scalar(static_cast<double>(v)) {}
  constexpr Scalar(double v) : kind(kFloat64), re(v) {}
  constexpr Scalar(std::complex<double> v) : kind(kComplex128), re(v.real()), im(v.imag()) {}

  bool is_integral() const { return kind == kInt64 || kind == kUInt64; }
  bool is_bool() const { return kind == kBool; }
  bool is_floating() const { return kind == kFloat64; }
  bool is_complex() const { return kind == kComplex128; }
  double to_double() const { return re; }
  std::complex<double> to_complex() const { return {re, im}; }
  // to_int truncates; saturates out-of-range floats and maps NaN to 0.
  int64_t to_int() const {
    if (kind != kFloat64 && kind != kComplex128) return i;
    if (!(re == re)) return 0;
    if (re >= 9223372036854775808.0) return INT64_MAX;
    if (re <= -9223372036854775808.0) return INT64_MIN;
    return static_cast<int64_t>(re);
  }
  bool to_bool() const {
    return kind == kFloat64 || kind == kComplex128 ? re != 0 || im != 0 : i != 0;
  }
  bool is_zero() const { return !to_bool(); }
  Scalar operator-() const {
    if (kind == kComplex128) return Scalar(std::complex<double>(-re, -im));
    return kind == kFloat64 ? Scalar(-re)
                            : Scalar(static_cast<int64_t>(0 - static_cast<uint64_t>(i)));
  }
  Scalar conj() const {
    return kind == kComplex128 ? Scalar(std::complex<double>(re, -im)) : *this;
  }
};

}  // namespace facula
