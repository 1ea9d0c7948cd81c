// The softmax in the middle of attention: scale, mask and normalise rows of scores in place.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"

namespace facula::kernels {

// ScoreShape says how scores [outer, inner, queries, keys], dense, are masked. A mask is of bool
// (true: may attend) or of the scores' type (added), with strides in elements, 0 where it
// broadcasts.
struct ScoreShape {
  int64_t outer, inner, queries, keys;
  double scale;
  bool causal;  // query i sees keys up to i
  const void* mask;
  bool mask_is_bool;
  int64_t mask_strides[4];
};

struct AttentionKernels {
  // scores = softmax(scale * scores + mask) along the keys; a row that may see nothing becomes 0.
  void (*weights)(DType dtype, void* scores, const ScoreShape& s);
  // grads by the weights become grads by the scaled scores: p * (g - sum(g * p)).
  void (*weights_backward)(DType dtype, void* grads, const void* weights, int64_t rows,
                           int64_t keys);
};
extern FACULA_API const AttentionKernels* attention;

}  // namespace facula::kernels
