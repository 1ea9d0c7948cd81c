// Arithmetic on Scalars, as formulas need it outside tensors.
#pragma once
#include <cmath>

#include "facula/core/scalar.h"

namespace facula {

namespace scalar_math {
template <class I, class D>
inline Scalar apply(const Scalar& a, const Scalar& b, I on_int, D on_number) {
  if (a.is_complex() || b.is_complex()) return Scalar(on_number(a.to_complex(), b.to_complex()));
  if (a.is_floating() || b.is_floating()) return Scalar(on_number(a.to_double(), b.to_double()));
  return Scalar(on_int(a.to_int(), b.to_int()));
}
}  // namespace scalar_math

inline Scalar operator+(const Scalar& a, const Scalar& b) {
  return scalar_math::apply(
      a, b, [](int64_t x, int64_t y) { return int64_t(uint64_t(x) + uint64_t(y)); },
      [](auto x, auto y) { return x + y; });
}
inline Scalar operator-(const Scalar& a, const Scalar& b) {
  return scalar_math::apply(
      a, b, [](int64_t x, int64_t y) { return int64_t(uint64_t(x) - uint64_t(y)); },
      [](auto x, auto y) { return x - y; });
}
inline Scalar operator*(const Scalar& a, const Scalar& b) {
  return scalar_math::apply(
      a, b, [](int64_t x, int64_t y) { return int64_t(uint64_t(x) * uint64_t(y)); },
      [](auto x, auto y) { return x * y; });
}
inline bool operator==(const Scalar& a, const Scalar& b) {
  return a.to_complex() == b.to_complex();
}
inline bool operator<(const Scalar& a, const Scalar& b) { return a.to_double() < b.to_double(); }
inline bool operator>(const Scalar& a, const Scalar& b) { return b < a; }
inline double number_pow(const Scalar& a, const Scalar& b) {
  return std::pow(a.to_double(), b.to_double());
}

}  // namespace facula
