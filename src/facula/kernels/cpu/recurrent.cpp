// Steps of LSTM, GRU and plain recurrent layers, and their gradients.
#include "facula/kernels/recurrent.h"

#include "facula/kernels/cpu/dispatch.h"
#include "facula/kernels/cpu/math_exp.h"

namespace facula::kernels::FACULA_ISA {
namespace recurrences {
namespace {

constexpr int64_t kStepGrain = 8192;  // elements of the hidden state

// Calls f(row) for each row, on several threads where a row is long enough.
template <class F>
FACULA_INLINE void each_state_row(int64_t rows, int64_t h, F&& f) {
  parallel_for(0, rows, max_of<int64_t>(1, kStepGrain / max_of<int64_t>(1, h)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) f(r);
               });
}

// Calls f with a Tag of float or double.
template <class F>
FACULA_INLINE void visit_real_type(DType dtype, F&& f) {
  if (dtype == kFloat32) return f(Tag<float>{});
  f(Tag<double>{});
}

void lstm(DType dtype, void* gates, void* state, void* cells, void* hidden, int64_t rows,
          int64_t h) {
  visit_real_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    each_state_row(rows, h, [&](int64_t r) {
      T* __restrict g = static_cast<T*>(gates) + r * 4 * h;
      T* __restrict s = static_cast<T*>(state) + r * h;
      T* __restrict c = static_cast<T*>(cells) + r * h;
      T* __restrict y = static_cast<T*>(hidden) + r * h;
      for (int64_t j = 0; j < 2 * h; ++j) g[j] = m_sigmoid(g[j]);
      for (int64_t j = 2 * h; j < 3 * h; ++j) g[j] = m_tanh(g[j]);
      for (int64_t j = 3 * h; j < 4 * h; ++j) g[j] = m_sigmoid(g[j]);
      for (int64_t j = 0; j < h; ++j) s[j] = c[j] = g[h + j] * s[j] + g[j] * g[2 * h + j];
      for (int64_t j = 0; j < h; ++j) y[j] = g[3 * h + j] * m_tanh(c[j]);
    });
  });
}

void lstm_backward(DType dtype, void* grads, const void* gates, const void* before,
                   const void* cells, const void* dh_, void* dc_, int64_t rows, int64_t h) {
  visit_real_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    each_state_row(rows, h, [&](int64_t r) {
      T* __restrict d = static_cast<T*>(grads) + r * 4 * h;
      const T* __restrict g = static_cast<const T*>(gates) + r * 4 * h;
      const T* __restrict old = static_cast<const T*>(before) + r * h;
      const T* __restrict c = static_cast<const T*>(cells) + r * h;
      const T* __restrict dh = static_cast<const T*>(dh_) + r * h;
      T* __restrict dc = static_cast<T*>(dc_) + r * h;
      for (int64_t j = 0; j < h; ++j) {
        T i = g[j], f = g[h + j], n = g[2 * h + j], o = g[3 * h + j], tc = m_tanh(c[j]);
        T total = dc[j] + dh[j] * o * (1 - tc * tc);
        d[j] = total * n * i * (1 - i);
        d[h + j] = total * old[j] * f * (1 - f);
        d[2 * h + j] = total * i * (1 - n * n);
        d[3 * h + j] = dh[j] * tc * o * (1 - o);
        dc[j] = total * f;
      }
    });
  });
}

void gru(DType dtype, const void* from_input, const void* from_hidden, void* saved, void* state,
         void* hidden, int64_t rows, int64_t h) {
  visit_real_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    each_state_row(rows, h, [&](int64_t row) {
      const T* __restrict a = static_cast<const T*>(from_input) + row * 3 * h;
      const T* __restrict b = static_cast<const T*>(from_hidden) + row * 3 * h;
      T* __restrict v = static_cast<T*>(saved) + row * 4 * h;
      T* __restrict s = static_cast<T*>(state) + row * h;
      T* __restrict y = static_cast<T*>(hidden) + row * h;
      for (int64_t j = 0; j < 2 * h; ++j) v[j] = m_sigmoid(a[j] + b[j]);
      for (int64_t j = 0; j < h; ++j) {
        v[3 * h + j] = b[2 * h + j];
        v[2 * h + j] = m_tanh(a[2 * h + j] + v[j] * b[2 * h + j]);
      }
      for (int64_t j = 0; j < h; ++j) {
        T n = v[2 * h + j];
        s[j] = y[j] = n + v[h + j] * (s[j] - n);
      }
    });
  });
}

void gru_backward(DType dtype, void* by_input, void* by_hidden, const void* saved,
                  const void* before, void* dh_, int64_t rows, int64_t h) {
  visit_real_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    each_state_row(rows, h, [&](int64_t row) {
      T* __restrict a = static_cast<T*>(by_input) + row * 3 * h;
      T* __restrict b = static_cast<T*>(by_hidden) + row * 3 * h;
      const T* __restrict v = static_cast<const T*>(saved) + row * 4 * h;
      const T* __restrict old = static_cast<const T*>(before) + row * h;
      T* __restrict dh = static_cast<T*>(dh_) + row * h;
      for (int64_t j = 0; j < h; ++j) {
        T r = v[j], z = v[h + j], n = v[2 * h + j], m = v[3 * h + j];
        T dn = dh[j] * (1 - z) * (1 - n * n), dz = dh[j] * (old[j] - n) * z * (1 - z);
        T dr = dn * m * r * (1 - r);
        a[j] = b[j] = dr;
        a[h + j] = b[h + j] = dz;
        a[2 * h + j] = dn;
        b[2 * h + j] = dn * r;
        dh[j] *= z;
      }
    });
  });
}

void plain(DType dtype, const void* sums, void* state, void* hidden, int64_t n, bool relu) {
  visit_real_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = static_cast<const T*>(sums);
    T* s = static_cast<T*>(state);
    T* y = static_cast<T*>(hidden);
    if (relu) {
      for (int64_t i = 0; i < n; ++i) s[i] = y[i] = x[i] > 0 || x[i] != x[i] ? x[i] : T(0);
    } else {
      for (int64_t i = 0; i < n; ++i) s[i] = y[i] = m_tanh(x[i]);
    }
  });
}

void plain_backward(DType dtype, void* grads, const void* hidden, const void* dh_, int64_t n,
                    bool relu) {
  visit_real_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* d = static_cast<T*>(grads);
    const T* y = static_cast<const T*>(hidden);
    const T* dh = static_cast<const T*>(dh_);
    if (relu) {
      for (int64_t i = 0; i < n; ++i) d[i] = y[i] > 0 ? dh[i] : T(0);
    } else {
      for (int64_t i = 0; i < n; ++i) d[i] = dh[i] * (1 - y[i] * y[i]);
    }
  });
}

}  // namespace
}  // namespace recurrences

extern const RecurrentKernels recurrent_table;
const RecurrentKernels recurrent_table = {recurrences::lstm,  recurrences::lstm_backward,
                                          recurrences::gru,   recurrences::gru_backward,
                                          recurrences::plain, recurrences::plain_backward};

}  // namespace facula::kernels::FACULA_ISA
