// Softmax, log_softmax and logsumexp over a middle dimension, forward and backward.
#include "facula/kernels/softmax.h"

#include "facula/kernels/cpu/class_loss.h"
#include "facula/kernels/cpu/lanes.h"
#include "facula/kernels/cpu/math_exp.h"

namespace facula::kernels::FACULA_ISA {
namespace softmaxes {
namespace {

constexpr int64_t kWork = 16384;  // elements below which a thread is not worth it

FACULA_INLINE int64_t row_grain(Rows r) {
  return max_of<int64_t>(1, kWork / max_of<int64_t>(1, r.n));
}

template <class T>
void softmax_row(T* out, const T* in, int64_t n, bool log) {
  using C = Compute<T>;
  C top = max_lanes<C>(n, [&](int64_t i) { return static_cast<C>(in[i]); });
  if (top == -static_cast<C>(kInf)) top = 0;
  if (log) {
    C sum = sum_of<C>(n, [&](int64_t i) { return m_exp(static_cast<C>(in[i]) - top); });
    C shift = m_log(sum);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<C>(in[i]) - top - shift);
  } else if constexpr (is_half_type<T>) {
    C sum = sum_of<C>(n, [&](int64_t i) { return m_exp(static_cast<C>(in[i]) - top); });
    C scale = 1 / sum;
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(m_exp(static_cast<C>(in[i]) - top) * scale);
    }
  } else {
    C scale = 1 / sum_of<C>(n, [&](int64_t i) { return out[i] = m_exp(in[i] - top); });
    for (int64_t i = 0; i < n; ++i) out[i] *= scale;
  }
}

// A block of `width` neighbouring columns, each a softmax of its own with step `inner`.
template <class T>
void softmax_columns(T* out, const T* in, int64_t n, int64_t inner, int64_t width, bool log) {
  using C = Compute<T>;
  constexpr int64_t kMost = 64;
  C top[kMost], sum[kMost] = {};
  for (int64_t j = 0; j < width; ++j) top[j] = -static_cast<C>(kInf);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      C v = static_cast<C>(in[i * inner + j]);
      top[j] = v > top[j] || v != v ? v : top[j];
    }
  }
  for (int64_t j = 0; j < width; ++j) top[j] = top[j] == -static_cast<C>(kInf) ? C(0) : top[j];
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) sum[j] += m_exp(static_cast<C>(in[i * inner + j]) - top[j]);
  }
  if (log) {
    for (int64_t j = 0; j < width; ++j) top[j] += m_log(sum[j]);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        out[i * inner + j] = static_cast<T>(static_cast<C>(in[i * inner + j]) - top[j]);
      }
    }
  } else {
    for (int64_t j = 0; j < width; ++j) sum[j] = 1 / sum[j];
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        out[i * inner + j] =
            static_cast<T>(m_exp(static_cast<C>(in[i * inner + j]) - top[j]) * sum[j]);
      }
    }
  }
}

// Calls f(offset, width) for blocks of at most 64 columns of [outer, n, inner].
template <class F>
FACULA_INLINE void each_block(Rows r, F&& f) {
  int64_t blocks = (r.inner + 63) / 64;
  int64_t grain =
      max_of<int64_t>(1, kWork / max_of<int64_t>(1, r.n * min_of<int64_t>(64, r.inner)));
  parallel_for(0, r.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      int64_t o = b / blocks, j = b % blocks * 64;
      f(o * r.n * r.inner + j, min_of<int64_t>(64, r.inner - j));
    }
  });
}

void softmax(DType dtype, void* out, const void* in, Rows r, bool log) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = static_cast<T*>(out);
    const T* x = static_cast<const T*>(in);
    if (r.inner == 1) {
      parallel_for(0, r.outer, row_grain(r), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) softmax_row(o + i * r.n, x + i * r.n, r.n, log);
      });
    } else {
      each_block(r, [&](int64_t at, int64_t width) {
        softmax_columns(o + at, x + at, r.n, r.inner, width, log);
      });
    }
  });
}

template <class T>
void backward_row(T* out, const T* grad, const T* y, int64_t n, bool log) {
  using C = Compute<T>;
  if (log) {
    C sum = sum_of<C>(n, [&](int64_t i) { return static_cast<C>(grad[i]); });
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(static_cast<C>(grad[i]) - m_exp(static_cast<C>(y[i])) * sum);
    }
  } else {
    C sum = sum_of<C>(n, [&](int64_t i) { return static_cast<C>(grad[i]) * static_cast<C>(y[i]); });
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(static_cast<C>(y[i]) * (static_cast<C>(grad[i]) - sum));
    }
  }
}

template <class T>
void backward_columns(T* out, const T* grad, const T* y, int64_t n, int64_t inner, int64_t width,
                      bool log) {
  using C = Compute<T>;
  C sum[64] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      C g = static_cast<C>(grad[i * inner + j]);
      sum[j] += log ? g : g * static_cast<C>(y[i * inner + j]);
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      int64_t at = i * inner + j;
      C g = static_cast<C>(grad[at]), v = static_cast<C>(y[at]);
      out[at] = static_cast<T>(log ? g - m_exp(v) * sum[j] : v * (g - sum[j]));
    }
  }
}

void softmax_backward(DType dtype, void* out, const void* grad, const void* result, Rows r,
                      bool log) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = static_cast<T*>(out);
    const T* g = static_cast<const T*>(grad);
    const T* y = static_cast<const T*>(result);
    if (r.inner == 1) {
      parallel_for(0, r.outer, row_grain(r), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          backward_row(o + i * r.n, g + i * r.n, y + i * r.n, r.n, log);
        }
      });
    } else {
      each_block(r, [&](int64_t at, int64_t width) {
        backward_columns(o + at, g + at, y + at, r.n, r.inner, width, log);
      });
    }
  });
}

void logsumexp(DType dtype, void* out, const void* in, Rows r) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    T* o = static_cast<T*>(out);
    const T* x = static_cast<const T*>(in);
    parallel_for(0, r.outer * r.inner, row_grain(r), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = x + i / r.inner * r.n * r.inner + i % r.inner;
        o[i] = static_cast<T>(log_sum_exp<C>(row, r.n, r.inner));
      }
    });
  });
}

}  // namespace
}  // namespace softmaxes

extern const SoftmaxKernels softmaxes_table;
const SoftmaxKernels softmaxes_table = {softmaxes::softmax,     softmaxes::softmax_backward,
                                        softmaxes::logsumexp,   cross_entropy,
                                        cross_entropy_backward, nll_loss,
                                        nll_loss_backward,      target_weight};

}  // namespace facula::kernels::FACULA_ISA
