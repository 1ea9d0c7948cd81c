// Normalisations: batch_norm over channels, layer_norm and rms_norm over rows, group_norm over
// groups of channels. Statistics, weights and their gradients are of the compute type of the input:
// float for 16- and 32-bit types, double for float64.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

// Planes is a dense [batch, channels, length] tensor, or [batch, length, channels] when `last`.
struct Planes {
  int64_t batch, channels, length;
  bool last;
};

struct NormKernels {
  // mean[channels] and variance[channels] (divided by the count).
  void (*batch_stats)(DType dtype, void* mean, void* variance, const void* in, Planes p);
  // out = (in - mean) * rstd * weight + bias by channel; weight and bias may be null.
  void (*batch_norm)(DType dtype, void* out, const void* in, const void* mean, const void* rstd,
                     const void* weight, const void* bias, Planes p);
  // Any of dx, dweight, dbias may be null. `training`: mean and rstd came from this batch.
  void (*batch_norm_backward)(DType dtype, void* dx, void* dweight, void* dbias, const void* grad,
                              const void* in, const void* mean, const void* rstd,
                              const void* weight, bool training, Planes p);
  // Rows of n elements; weight and bias have n elements or are null. mean null: rms_norm.
  void (*layer_norm)(DType dtype, void* out, void* mean, void* rstd, const void* in,
                     const void* weight, const void* bias, int64_t rows, int64_t n, double eps);
  void (*layer_norm_backward)(DType dtype, void* dx, void* dweight, void* dbias, const void* grad,
                              const void* in, const void* mean, const void* rstd,
                              const void* weight, int64_t rows, int64_t n);
  // Input [batch, channels, length]; mean and rstd are [batch, groups].
  void (*group_norm)(DType dtype, void* out, void* mean, void* rstd, const void* in,
                     const void* weight, const void* bias, Planes p, int64_t groups, double eps);
  void (*group_norm_backward)(DType dtype, void* dx, void* dweight, void* dbias, const void* grad,
                              const void* in, const void* mean, const void* rstd,
                              const void* weight, Planes p, int64_t groups);
};
extern FACULA_API const NormKernels* norms;

}  // namespace facula::kernels
