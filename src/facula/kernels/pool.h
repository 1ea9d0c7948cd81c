// Pooling over windows of 1 to 3 spatial dimensions, the adaptive kinds included.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

// PoolShape is the geometry of a pooling over dense [planes, input] tensors, or [batch, input,
// channels] ones when `last`. Spatial dimensions are three, outer ones 1.
struct PoolShape {
  int64_t batch = 1, channels = 1;
  int64_t input[3] = {1, 1, 1}, output[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
  bool last = false;
  bool adaptive = false;      // windows follow from input and output sizes
  bool count_padding = true;  // averages divide by the whole window
  int64_t divisor = 0;        // averages divide by this when not 0

  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t output_size() const { return output[0] * output[1] * output[2]; }
};

struct PoolKernels {
  // Indices are int64 positions in the plane; null when not wanted.
  void (*max_pool)(DType dtype, void* out, int64_t* indices, const void* in, const PoolShape& s);
  // dx = 0, then grad added at the indices.
  void (*max_pool_backward)(DType dtype, void* dx, const void* grad, const int64_t* indices,
                            const PoolShape& s);
  // out = in at the indices: the adjoint of max_pool_backward.
  void (*max_pool_gather)(DType dtype, void* out, const void* in, const int64_t* indices,
                          const PoolShape& s);
  void (*avg_pool)(DType dtype, void* out, const void* in, const PoolShape& s);
  void (*avg_pool_backward)(DType dtype, void* dx, const void* grad, const PoolShape& s);
  // out = 0, then out[indices] = in; indices outside the plane are faults.
  void (*max_unpool)(DType dtype, void* out, const void* in, const int64_t* indices,
                     const PoolShape& s, Fault* fault);
};
extern FACULA_API const PoolKernels* pools;

}  // namespace facula::kernels
