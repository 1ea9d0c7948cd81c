// The copy family: copies with conversion between all dtypes, and fills.
#pragma once
#include "facula/kernels/view.h"

namespace facula::kernels {

struct CopyKernels {
  // copy_strided stores in's elements into out, of the same shape, converting: floats to integers
  // saturate and NaN becomes 0; complex to real drops the imaginary part. The memory is disjoint or
  // identical.
  void (*copy_strided)(const View& out, const View& in);
  // fill sets every element of out.
  void (*fill)(const View& out, const Scalar& value);
  // convert copies n elements of one dimension; strides are in bytes. It runs on the calling
  // thread.
  void (*convert)(void* to, DType to_type, int64_t to_stride, const void* from, DType from_type,
                  int64_t from_stride, int64_t n);
};
extern FACULA_API const CopyKernels* copy;

}  // namespace facula::kernels
