// batch_norm by channel, for tensors with the channels before or after the positions. Sums run in
// lanes of the compute type within a plane (or 64 rows) and in double beyond.
#include "facula/kernels/cpu/batch_norm.h"

namespace facula::kernels::FACULA_ISA {
namespace {

constexpr int64_t kChannelBlock =
    32;                            // channels that are reduced together in channels-last tensors
constexpr int64_t kRowStrip = 64;  // rows summed before going to double

// Adds f(row offset + channel, channel in block) over all rows, for channels [c0, c0 + width).
template <class C, class F>
FACULA_INLINE void sum_strips(double* sums, int64_t rows, int64_t channels, int64_t c0,
                              int64_t width, F&& f) {
  for (int64_t j = 0; j < width; ++j) sums[j] = 0;
  for (int64_t r0 = 0; r0 < rows; r0 += kRowStrip) {
    C part[kChannelBlock] = {};
    int64_t last = min_of(rows, r0 + kRowStrip);
    for (int64_t r = r0; r < last; ++r) {
      int64_t at = r * channels + c0;
      if (width == kChannelBlock) {
        for (int64_t j = 0; j < kChannelBlock; ++j) part[j] += f(at + j, j);
      } else {
        for (int64_t j = 0; j < width; ++j) part[j] += f(at + j, j);
      }
    }
    for (int64_t j = 0; j < width; ++j) sums[j] += part[j];
  }
}

// Calls f(first channel, width) for blocks of channels, in parallel.
template <class F>
FACULA_INLINE void each_channel_block(Planes p, F&& f) {
  int64_t blocks = (p.channels + kChannelBlock - 1) / kChannelBlock;
  parallel_for(0, blocks, grain_of(p.batch * p.length * kChannelBlock),
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   f(b * kChannelBlock, min_of(kChannelBlock, p.channels - b * kChannelBlock));
                 }
               });
}

template <class T>
void stats_first(Compute<T>* mean, Compute<T>* variance, const T* x, Planes p) {
  using C = Compute<T>;
  double count = static_cast<double>(p.batch) * p.length;
  parallel_for(0, p.channels, grain_of(p.batch * p.length), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double sum = 0, squares = 0;
      for (int64_t n = 0; n < p.batch; ++n) {
        const T* plane = x + (n * p.channels + c) * p.length;
        sum += sum_of<C>(p.length, [&](int64_t i) { return static_cast<C>(plane[i]); });
      }
      C m = static_cast<C>(sum / count);
      for (int64_t n = 0; n < p.batch; ++n) {
        const T* plane = x + (n * p.channels + c) * p.length;
        squares += sum_of<C>(p.length, [&](int64_t i) {
          C d = static_cast<C>(plane[i]) - m;
          return d * d;
        });
      }
      mean[c] = m;
      variance[c] = static_cast<C>(squares / count);
    }
  });
}

template <class T>
void stats_last(Compute<T>* mean, Compute<T>* variance, const T* x, Planes p) {
  using C = Compute<T>;
  int64_t rows = p.batch * p.length;
  each_channel_block(p, [&](int64_t c0, int64_t width) {
    double sums[kChannelBlock];
    C m[kChannelBlock];
    sum_strips<C>(sums, rows, p.channels, c0, width,
                  [&](int64_t at, int64_t) { return static_cast<C>(x[at]); });
    for (int64_t j = 0; j < width; ++j) mean[c0 + j] = m[j] = static_cast<C>(sums[j] / rows);
    sum_strips<C>(sums, rows, p.channels, c0, width, [&](int64_t at, int64_t j) {
      C d = static_cast<C>(x[at]) - m[j];
      return d * d;
    });
    for (int64_t j = 0; j < width; ++j) variance[c0 + j] = static_cast<C>(sums[j] / rows);
  });
}

// Calls f(offset, length, channel) for each plane of a channels-first tensor.
template <class F>
FACULA_INLINE void each_channel_plane(Planes p, F&& f) {
  parallel_for(0, p.batch * p.channels, grain_of(p.length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i * p.length, i % p.channels);
  });
}

// Calls f(offset) for each row of channels of a channels-last tensor.
template <class F>
FACULA_INLINE void each_pixel(Planes p, F&& f) {
  parallel_for(0, p.batch * p.length, grain_of(p.channels), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i * p.channels);
  });
}

template <class T>
void normalise(T* out, const T* x, const Compute<T>* mean, const Compute<T>* rstd,
               const Compute<T>* weight, const Compute<T>* bias, Planes p) {
  using C = Compute<T>;
  if (!p.last) {
    each_channel_plane(p, [&](int64_t at, int64_t c) {
      C m = mean[c], scale = weight ? rstd[c] * weight[c] : rstd[c], shift = bias ? bias[c] : C(0);
      for (int64_t i = at; i < at + p.length; ++i) {
        out[i] = static_cast<T>((static_cast<C>(x[i]) - m) * scale + shift);
      }
    });
    return;
  }
  each_pixel(p, [&](int64_t at) {
    for (int64_t c = 0; c < p.channels; ++c) {
      C scale = weight ? rstd[c] * weight[c] : rstd[c], shift = bias ? bias[c] : C(0);
      out[at + c] = static_cast<T>((static_cast<C>(x[at + c]) - mean[c]) * scale + shift);
    }
  });
}

// The sums of a channel's gradient, and of gradient times centred input.
template <class T>
void sums_first(double* sum, double* product, const T* grad, const T* x, Compute<T> m, int64_t c,
                Planes p) {
  using C = Compute<T>;
  *sum = *product = 0;
  for (int64_t n = 0; n < p.batch; ++n) {
    const T* g = grad + (n * p.channels + c) * p.length;
    const T* v = x + (n * p.channels + c) * p.length;
    C a, b;
    sum_two<C>(
        p.length, &a, &b, [&](int64_t i) { return static_cast<C>(g[i]); },
        [&](int64_t i) { return static_cast<C>(g[i]) * (static_cast<C>(v[i]) - m); });
    *sum += a;
    *product += b;
  }
}

template <class T>
void backward_first(T* dx, Compute<T>* dweight, Compute<T>* dbias, const T* grad, const T* x,
                    const Compute<T>* mean, const Compute<T>* rstd, const Compute<T>* weight,
                    bool training, Planes p) {
  using C = Compute<T>;
  double count = static_cast<double>(p.batch) * p.length;
  parallel_for(0, p.channels, grain_of(p.batch * p.length), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      C m = mean[c], r = rstd[c];
      double sum = 0, product = 0;
      if (dweight || dbias || training) sums_first(&sum, &product, grad, x, m, c, p);
      if (dweight) dweight[c] = static_cast<C>(product * r);
      if (dbias) dbias[c] = static_cast<C>(sum);
      if (!dx) continue;
      C scale = weight ? r * weight[c] : r;
      C a = training ? static_cast<C>(sum / count) : C(0);
      C b = training ? static_cast<C>(product / count * r * r) : C(0);
      for (int64_t n = 0; n < p.batch; ++n) {
        int64_t at = (n * p.channels + c) * p.length;
        for (int64_t i = at; i < at + p.length; ++i) {
          C centred = static_cast<C>(x[i]) - m;
          dx[i] = static_cast<T>((static_cast<C>(grad[i]) - a - centred * b) * scale);
        }
      }
    }
  });
}

template <class T>
void backward_last(T* dx, Compute<T>* dweight, Compute<T>* dbias, const T* grad, const T* x,
                   const Compute<T>* mean, const Compute<T>* rstd, const Compute<T>* weight,
                   bool training, Planes p) {
  using C = Compute<T>;
  int64_t rows = p.batch * p.length;
  each_channel_block(p, [&](int64_t c0, int64_t width) {
    double sum[kChannelBlock] = {}, product[kChannelBlock] = {};
    if (dweight || dbias || training) {
      sum_strips<C>(sum, rows, p.channels, c0, width,
                    [&](int64_t at, int64_t) { return static_cast<C>(grad[at]); });
      sum_strips<C>(product, rows, p.channels, c0, width, [&](int64_t at, int64_t j) {
        return static_cast<C>(grad[at]) * (static_cast<C>(x[at]) - mean[c0 + j]);
      });
    }
    C a[kChannelBlock], b[kChannelBlock], scale[kChannelBlock], m[kChannelBlock];
    for (int64_t j = 0; j < width; ++j) {
      C r = rstd[c0 + j];
      if (dweight) dweight[c0 + j] = static_cast<C>(product[j] * r);
      if (dbias) dbias[c0 + j] = static_cast<C>(sum[j]);
      m[j] = mean[c0 + j];
      scale[j] = weight ? r * weight[c0 + j] : r;
      a[j] = training ? static_cast<C>(sum[j] / rows) : C(0);
      b[j] = training ? static_cast<C>(product[j] / rows * r * r) : C(0);
    }
    for (int64_t r = 0; dx && r < rows; ++r) {
      int64_t at = r * p.channels + c0;
      for (int64_t j = 0; j < width; ++j) {
        C centred = static_cast<C>(x[at + j]) - m[j];
        dx[at + j] =
            static_cast<T>((static_cast<C>(grad[at + j]) - a[j] - centred * b[j]) * scale[j]);
      }
    }
  });
}

}  // namespace

void batch_stats(DType dtype, void* mean, void* variance, const void* in, Planes p) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    auto f = p.last ? stats_last<T> : stats_first<T>;
    f(static_cast<C*>(mean), static_cast<C*>(variance), static_cast<const T*>(in), p);
  });
}

void batch_norm(DType dtype, void* out, const void* in, const void* mean, const void* rstd,
                const void* weight, const void* bias, Planes p) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    normalise<T>(static_cast<T*>(out), static_cast<const T*>(in), static_cast<const C*>(mean),
                 static_cast<const C*>(rstd), static_cast<const C*>(weight),
                 static_cast<const C*>(bias), p);
  });
}

void batch_norm_backward(DType dtype, void* dx, void* dweight, void* dbias, const void* grad,
                         const void* in, const void* mean, const void* rstd, const void* weight,
                         bool training, Planes p) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    auto f = p.last ? backward_last<T> : backward_first<T>;
    f(static_cast<T*>(dx), static_cast<C*>(dweight), static_cast<C*>(dbias),
      static_cast<const T*>(grad), static_cast<const T*>(in), static_cast<const C*>(mean),
      static_cast<const C*>(rstd), static_cast<const C*>(weight), training, p);
  });
}

}  // namespace facula::kernels::FACULA_ISA
