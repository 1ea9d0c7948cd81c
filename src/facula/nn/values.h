// What programs in C++ want around tensors: arithmetic signs, numbers out of tensors and tensors
// out of numbers, the seed. Everything else is an operator: facula/ops/functions.h.
//
//   manual_seed(0);
//   double total = item(sum(rand({3}) * 2 + 1));
//   Tensor t = tensor_of(std::vector<float>{1, 2, 3, 4}, {2, 2});
#pragma once
#include <vector>

#include "facula/ops/functions.h"

namespace facula {

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, const TensorOrScalar& b) { return add(a, b); }
inline Tensor operator+(const TensorOrScalar& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, const TensorOrScalar& b) { return sub(a, b); }
inline Tensor operator-(const TensorOrScalar& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, const TensorOrScalar& b) { return mul(a, b); }
inline Tensor operator*(const TensorOrScalar& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, const TensorOrScalar& b) { return div(a, b); }
inline Tensor operator/(const TensorOrScalar& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }

// manual_seed restarts the stream that all draws without a generator come from.
FACULA_API void manual_seed(uint64_t seed);

// item gives the value of a tensor of one element; RuntimeError for other tensors, TypeError for
// complex ones. item_int does the same without rounding integers above 2^53.
FACULA_API double item(const Tensor& t);
FACULA_API int64_t item_int(const Tensor& t);

// values_of gives all elements in row order.
FACULA_API std::vector<double> values_of(const Tensor& t);
// int_values_of gives all elements of a tensor of integers in row order.
FACULA_API std::vector<int64_t> int_values_of(const Tensor& t);

// tensor_of makes a float32 or an int64 tensor of the given shape from elements in row order.
FACULA_API Tensor tensor_of(const std::vector<float>& values, IntList size);
FACULA_API Tensor tensor_of(const std::vector<int64_t>& values, IntList size);

}  // namespace facula
