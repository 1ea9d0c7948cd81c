// Attention weights: masked softmax of score rows, and its gradient.
#include "facula/kernels/attention.h"

#include "facula/kernels/cpu/lanes.h"
#include "facula/kernels/cpu/math_exp.h"
#include "facula/kernels/cpu/tiled_attention.h"

namespace facula::kernels::FACULA_ISA {
namespace attentions {
namespace {

FACULA_INLINE int64_t score_grain(int64_t keys) {
  return max_of<int64_t>(1, 16384 / max_of<int64_t>(1, keys));
}

// Adds a row of the mask; entries that may not be attended become -inf.
template <class T>
void mask_row(T* row, int64_t n, const ScoreShape& s, int64_t at) {
  T lowest = -static_cast<T>(kInf);
  int64_t step = s.mask_strides[3];
  if (s.mask_is_bool) {
    const Truth* mask = static_cast<const Truth*>(s.mask) + at;
    for (int64_t i = 0; i < n; ++i) row[i] = mask[i * step] ? row[i] : lowest;
  } else {
    const T* mask = static_cast<const T*>(s.mask) + at;
    for (int64_t i = 0; i < n; ++i) row[i] += mask[i * step];
  }
}

template <class T>
void weights_typed(T* scores, const ScoreShape& s) {
  int64_t rows = s.outer * s.inner * s.queries;
  T scale = static_cast<T>(s.scale);
  parallel_for(0, rows, score_grain(s.keys), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t q = r % s.queries, b = r / s.queries % s.inner, a = r / s.queries / s.inner;
      T* row = scores + r * s.keys;
      int64_t n = s.causal ? min_of(q + 1, s.keys) : s.keys;
      for (int64_t i = 0; i < n; ++i) row[i] *= scale;
      if (s.mask) {
        mask_row(row, n, s, a * s.mask_strides[0] + b * s.mask_strides[1] + q * s.mask_strides[2]);
      }
      T top = max_lanes<T>(n, [&](int64_t i) { return row[i]; });
      if (top == -static_cast<T>(kInf)) {
        for (int64_t i = 0; i < s.keys; ++i) row[i] = 0;
        continue;
      }
      for (int64_t i = 0; i < n; ++i) row[i] = m_exp(row[i] - top);
      T factor = 1 / sum_of<T>(n, [&](int64_t i) { return row[i]; });
      for (int64_t i = 0; i < n; ++i) row[i] *= factor;
      for (int64_t i = n; i < s.keys; ++i) row[i] = 0;
    }
  });
}

void weights(DType dtype, void* scores, const ScoreShape& s) {
  if (dtype == kFloat32) return weights_typed(static_cast<float*>(scores), s);
  weights_typed(static_cast<double*>(scores), s);
}

template <class T>
void backward_typed(T* grads, const T* weights, int64_t rows, int64_t keys) {
  parallel_for(0, rows, score_grain(keys), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* g = grads + r * keys;
      const T* p = weights + r * keys;
      T sum = sum_of<T>(keys, [&](int64_t i) { return g[i] * p[i]; });
      for (int64_t i = 0; i < keys; ++i) g[i] = p[i] * (g[i] - sum);
    }
  });
}

void weights_backward(DType dtype, void* grads, const void* weights, int64_t rows, int64_t keys) {
  if (dtype == kFloat32) {
    return backward_typed(static_cast<float*>(grads), static_cast<const float*>(weights), rows,
                          keys);
  }
  backward_typed(static_cast<double*>(grads), static_cast<const double*>(weights), rows, keys);
}

}  // namespace
}  // namespace attentions

extern const AttentionKernels attention_table;
const AttentionKernels attention_table = {attentions::weights, attentions::weights_backward, tiled,
                                          tiled_backward, kTileWidth};

}  // namespace facula::kernels::FACULA_ISA
