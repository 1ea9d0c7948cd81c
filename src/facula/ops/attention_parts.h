// Attention weights from operators that have derivatives: what dropout on weights, gradients of
// masks and second derivatives are built from.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// attention_weights gives softmax(q k' * scale + mask) [..., queries, keys]; rows that may attend
// to nothing are 0, and so are their gradients.
Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask, bool causal,
                         double scale);

// repeat_heads repeats the heads (dimension -3) of keys or values so that they pair with those of
// the queries; RuntimeError when their number does not divide `heads`.
Tensor repeat_heads(const Tensor& t, int64_t heads);

}  // namespace facula
