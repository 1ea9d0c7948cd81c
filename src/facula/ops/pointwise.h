// The run-time half of pointwise rows: promotion, broadcasting, allocation and the call of loops.
#pragma once
#include <initializer_list>

#include "facula/core/tensor.h"
#include "facula/kernels/pointwise.h"

namespace facula {

// pointwise computes a row over its operands (at least one a tensor) into a new tensor.
// Raises NotImplementedError for a dtype without a loop, RuntimeError for shapes that do not
// broadcast or operands on different devices.
FACULA_API Tensor pointwise(const kernels::Pointwise& row,
                            std::initializer_list<TensorOrScalar> inputs,
                            const Scalar* scalars = nullptr);

// pointwise_into computes into `out` (in-place and out= forms): the result must have out's shape
// and a type that casts to out's; out may be one of the inputs, but not overlap one partially.
FACULA_API void pointwise_into(const kernels::Pointwise& row, const Tensor& out,
                               std::initializer_list<TensorOrScalar> inputs,
                               const Scalar* scalars = nullptr);

// result_type gives the promoted dtype of operands: dimensioned tensors first, then 0-d tensors,
// then numbers, each raising only the category.
FACULA_API DType result_type(std::initializer_list<TensorOrScalar> operands);

// check_no_overlap raises RuntimeError when writing to `out` would clobber `in` or out itself.
FACULA_API void check_no_overlap(const Tensor& out, const Tensor& in, const char* op);
FACULA_API void check_no_internal_overlap(const Tensor& out, const char* op);

}  // namespace facula
