// Shorter calls of operators: lists of tensors in braces, ranges from zero, a conversion that names
// only the dtype.
//
//   Tensor a = to(arange(3), kFloat64), b = rand({3}, nullptr, kFloat64);
//   Tensor both = stack({a, b}), row = cat({a, b, -a}), product = einsum("i,i->", {a, b});
//   set_requires_grad(b, true);
//   Tensor slope = grad({sum(b * b)}, {b})[0];
#pragma once
#include <initializer_list>
#include <vector>

#include "facula/autograd/engine.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/matrix_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/statistics_functions.h"

namespace facula {

// Braced is a list of tensors that stands in braces where it is used.
using Braced = std::initializer_list<Tensor>;
inline TensorList as_list(Braced tensors) { return {tensors.begin(), tensors.size()}; }

inline Tensor cat(Braced tensors, int64_t dim = 0) { return cat(as_list(tensors), dim); }
inline Tensor stack(Braced tensors, int64_t dim = 0) { return stack(as_list(tensors), dim); }
inline Tensor hstack(Braced tensors) { return hstack(as_list(tensors)); }
inline Tensor vstack(Braced tensors) { return vstack(as_list(tensors)); }
inline Tensor dstack(Braced tensors) { return dstack(as_list(tensors)); }
inline Tensor column_stack(Braced tensors) { return column_stack(as_list(tensors)); }
inline Tensor block_diag(Braced tensors) { return block_diag(as_list(tensors)); }
inline Tensor multi_dot(Braced tensors) { return multi_dot(as_list(tensors)); }
inline Tensor chain_matmul(Braced matrices) { return chain_matmul_list(as_list(matrices)); }
inline Tensor cartesian_prod(Braced tensors) { return cartesian_prod_list(as_list(tensors)); }
inline Tensor einsum(std::string_view equation, Braced operands) {
  return einsum(equation, as_list(operands));
}
inline std::vector<Tensor> broadcast_tensors(Braced tensors) {
  return broadcast_tensors(as_list(tensors));
}
inline std::vector<Tensor> meshgrid(Braced tensors, std::string_view indexing = "ij") {
  return meshgrid_list(as_list(tensors), indexing);
}
inline std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing = "ij") {
  return meshgrid_list(tensors, indexing);
}

// backward and grad of several roots, or with gradients of the roots.
inline void backward(Braced roots, Braced seeds = {}, BackwardOptions options = {},
                     Braced inputs = {}) {
  backward(as_list(roots), as_list(seeds), options, as_list(inputs));
}
inline std::vector<Tensor> grad(Braced roots, Braced inputs, Braced seeds = {},
                                BackwardOptions options = {}) {
  return grad(as_list(roots), as_list(inputs), as_list(seeds), options);
}
inline std::vector<Tensor> grad(Braced roots, TensorList inputs, Braced seeds = {},
                                BackwardOptions options = {}) {
  return grad(as_list(roots), inputs, as_list(seeds), options);
}

// arange counts from zero, or from start to end in steps of one.
inline Tensor arange(const Scalar& end, std::optional<DType> dtype = std::nullopt,
                     std::optional<Device> device = std::nullopt) {
  return arange_end(end, dtype, device);
}
inline Tensor arange(const Scalar& start, const Scalar& end, DType dtype,
                     std::optional<Device> device = std::nullopt) {
  return arange(start, end, Scalar(1), dtype, device);
}

// to gives the tensor with another dtype; the tensor itself where it has that.
inline Tensor to(const Tensor& self, DType dtype) { return to(self, std::nullopt, dtype); }

}  // namespace facula
