// Softmax, its logarithm, log-sum-exp and the losses built on them. Tensors are dense and seen as
// [outer, n, inner], with the softmax over n.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

// Rows is the geometry of a reduction over the middle one of three dimensions.
struct Rows {
  int64_t outer, n, inner;
};

// ClassLoss are the arguments of cross_entropy and nll_loss: input [outer, n, inner], int64 targets
// [outer, inner], weight of n numbers or null. `weight`, `lse` and sums are float (double for
// float64 inputs).
struct ClassLoss {
  DType dtype;
  Rows rows;
  const void* input;
  const int64_t* target;
  const void* weight;
  int64_t ignore_index;
  double smoothing;
};

// SoftmaxKernels work on floating types.
struct SoftmaxKernels {
  void (*softmax)(DType dtype, void* out, const void* in, Rows rows, bool log);
  void (*softmax_backward)(DType dtype, void* out, const void* grad, const void* result, Rows rows,
                           bool log);
  // out has [outer, inner] elements.
  void (*logsumexp)(DType dtype, void* out, const void* in, Rows rows);
  // losses[outer, inner] (of the input's type) and lse[outer, inner] (of the compute type).
  void (*cross_entropy)(const ClassLoss& loss, void* losses, void* lse, Fault* fault);
  // out = d loss / d input for scale[outer, inner], or one number when scale_step is 0.
  void (*cross_entropy_backward)(const ClassLoss& loss, void* out, const void* lse,
                                 const void* scale, int64_t scale_step);
  void (*nll_loss)(const ClassLoss& loss, void* losses, Fault* fault);
  void (*nll_loss_backward)(const ClassLoss& loss, void* out, const void* scale,
                            int64_t scale_step);
  // The sum of weights of the targets that count.
  double (*target_weight)(const ClassLoss& loss);
};
extern FACULA_API const SoftmaxKernels* softmaxes;

}  // namespace facula::kernels
