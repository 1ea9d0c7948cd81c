// Rules of shape and dtype that rows name, and copies between tensors without recording.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// copy_raw copies values with broadcasting and conversion; records nothing and notes no version.
FACULA_API void copy_raw(const Tensor& to, const Tensor& from);
// fill_raw sets every element.
FACULA_API void fill_raw(const Tensor& t, const Scalar& value);
// to_dtype gives t itself or a converted copy; dense order of dims is kept.
FACULA_API Tensor to_dtype(const Tensor& t, DType dtype);
// as_dtype gives t itself or a recorded cast; a cast to the dtype that t has would copy and record.
FACULA_API Tensor as_dtype(const Tensor& t, DType dtype);
// to_contiguous gives t itself or a row-major copy.
FACULA_API Tensor to_contiguous(const Tensor& t);
// reduced_shape is the shape after reducing the dims of a mask.
FACULA_API Sizes reduced_shape(IntList shape, uint64_t mask, bool keepdim);

}  // namespace facula
