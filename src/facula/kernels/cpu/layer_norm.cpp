// layer_norm, rms_norm and group_norm, forward and backward.
#include "facula/kernels/cpu/batch_norm.h"

namespace facula::kernels::FACULA_ISA {
namespace {

// Mean and 1 / sqrt(variance + eps) of n elements; without centring the mean counts as 0.
template <class T>
FACULA_INLINE void norm_row_stats(const T* x, int64_t n, bool centre, double eps, Compute<T>* mean,
                                  Compute<T>* rstd) {
  using C = Compute<T>;
  C m = 0;
  if (centre) {
    m = static_cast<C>(sum_of<C>(n, [&](int64_t i) { return static_cast<C>(x[i]); }) /
                       static_cast<C>(n));
  }
  C squares = sum_of<C>(n, [&](int64_t i) {
    C d = static_cast<C>(x[i]) - m;
    return d * d;
  });
  *mean = m;
  *rstd = static_cast<C>(1.0 / __builtin_sqrt(static_cast<double>(squares) / n + eps));
}

template <class T>
void layer_norm_typed(T* out, Compute<T>* mean, Compute<T>* rstd, const T* in,
                      const Compute<T>* weight, const Compute<T>* bias, int64_t rows, int64_t n,
                      double eps) {
  using C = Compute<T>;
  parallel_for(0, rows, grain_of(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* x = in + r * n;
      T* o = out + r * n;
      C m, s;
      norm_row_stats(x, n, mean != nullptr, eps, &m, &s);
      if (mean) mean[r] = m;
      rstd[r] = s;
      if (weight && bias) {
        for (int64_t i = 0; i < n; ++i) {
          o[i] = static_cast<T>((static_cast<C>(x[i]) - m) * s * weight[i] + bias[i]);
        }
      } else if (weight) {
        for (int64_t i = 0; i < n; ++i) {
          o[i] = static_cast<T>((static_cast<C>(x[i]) - m) * s * weight[i]);
        }
      } else {
        for (int64_t i = 0; i < n; ++i) {
          C v = (static_cast<C>(x[i]) - m) * s;
          o[i] = static_cast<T>(bias ? v + bias[i] : v);
        }
      }
    }
  });
}

// dx of one row whose gradient with respect to the normalised values is f(i).
template <class T, class F>
FACULA_INLINE void norm_row_backward(T* dx, const T* x, int64_t n, Compute<T> m, Compute<T> s,
                                     bool centred, F&& f) {
  using C = Compute<T>;
  C sum, product;
  sum_two<C>(
      n, &sum, &product, [&](int64_t i) { return f(i); },
      [&](int64_t i) { return f(i) * (static_cast<C>(x[i]) - m); });
  C a = centred ? sum / static_cast<C>(n) : C(0), b = product * s * s / static_cast<C>(n);
  for (int64_t i = 0; i < n; ++i) {
    dx[i] = static_cast<T>((f(i) - a - (static_cast<C>(x[i]) - m) * b) * s);
  }
}

// Gradients of weight and bias: columns are dealt to threads in blocks, rows are added in order.
template <class T>
void norm_column_sums(Compute<T>* dweight, Compute<T>* dbias, const T* grad, const T* x,
                      const Compute<T>* mean, const Compute<T>* rstd, int64_t rows, int64_t n) {
  using C = Compute<T>;
  constexpr int64_t kBlock = 64, kStrip = 64;
  int64_t blocks = (n + kBlock - 1) / kBlock;
  parallel_for(0, blocks, grain_of(rows * kBlock), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      int64_t c0 = b * kBlock, width = min_of(kBlock, n - c0);
      double w[kBlock] = {}, v[kBlock] = {};
      for (int64_t r0 = 0; r0 < rows; r0 += kStrip) {
        C pw[kBlock] = {}, pv[kBlock] = {};
        for (int64_t r = r0; r < min_of(rows, r0 + kStrip); ++r) {
          C m = mean ? mean[r] : C(0), s = rstd[r];
          const T* g = grad + r * n + c0;
          const T* y = x + r * n + c0;
          for (int64_t j = 0; j < width; ++j) {
            pw[j] += static_cast<C>(g[j]) * ((static_cast<C>(y[j]) - m) * s);
            pv[j] += static_cast<C>(g[j]);
          }
        }
        for (int64_t j = 0; j < width; ++j) w[j] += pw[j], v[j] += pv[j];
      }
      for (int64_t j = 0; j < width; ++j) {
        if (dweight) dweight[c0 + j] = static_cast<C>(w[j]);
        if (dbias) dbias[c0 + j] = static_cast<C>(v[j]);
      }
    }
  });
}

void layer_norm(DType dtype, void* out, void* mean, void* rstd, const void* in, const void* weight,
                const void* bias, int64_t rows, int64_t n, double eps) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    layer_norm_typed<T>(static_cast<T*>(out), static_cast<C*>(mean), static_cast<C*>(rstd),
                        static_cast<const T*>(in), static_cast<const C*>(weight),
                        static_cast<const C*>(bias), rows, n, eps);
  });
}

void layer_norm_backward(DType dtype, void* dx_, void* dweight, void* dbias, const void* grad_,
                         const void* in_, const void* mean_, const void* rstd_, const void* weight_,
                         int64_t rows, int64_t n) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    T* dx = static_cast<T*>(dx_);
    const T* grad = static_cast<const T*>(grad_);
    const T* in = static_cast<const T*>(in_);
    const C* mean = static_cast<const C*>(mean_);
    const C* rstd = static_cast<const C*>(rstd_);
    const C* weight = static_cast<const C*>(weight_);
    if (dx) {
      parallel_for(0, rows, grain_of(n), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const T* g = grad + r * n;
          C m = mean ? mean[r] : C(0);
          if (weight) {
            norm_row_backward(dx + r * n, in + r * n, n, m, rstd[r], mean != nullptr,
                              [&](int64_t i) { return static_cast<C>(g[i]) * weight[i]; });
          } else {
            norm_row_backward(dx + r * n, in + r * n, n, m, rstd[r], mean != nullptr,
                              [&](int64_t i) { return static_cast<C>(g[i]); });
          }
        }
      });
    }
    if (dweight || dbias) {
      norm_column_sums(static_cast<C*>(dweight), static_cast<C*>(dbias), grad, in, mean, rstd, rows,
                       n);
    }
  });
}

}  // namespace

void group_norm(DType dtype, void* out_, void* mean_, void* rstd_, const void* in_,
                const void* weight_, const void* bias_, Planes p, int64_t groups, double eps) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    T* out = static_cast<T*>(out_);
    const T* in = static_cast<const T*>(in_);
    C* mean = static_cast<C*>(mean_);
    C* rstd = static_cast<C*>(rstd_);
    const C* weight = static_cast<const C*>(weight_);
    const C* bias = static_cast<const C*>(bias_);
    int64_t per_group = p.channels / groups, n = per_group * p.length;
    parallel_for(0, p.batch * groups, grain_of(n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        norm_row_stats(in + r * n, n, true, eps, &mean[r], &rstd[r]);
        for (int64_t k = 0; k < per_group; ++k) {
          int64_t c = r % groups * per_group + k, at = r * n + k * p.length;
          C scale = weight ? rstd[r] * weight[c] : rstd[r], shift = bias ? bias[c] : C(0);
          C m = mean[r];
          for (int64_t i = at; i < at + p.length; ++i) {
            out[i] = static_cast<T>((static_cast<C>(in[i]) - m) * scale + shift);
          }
        }
      }
    });
  });
}

namespace {

template <class T>
void group_dx(T* dx, const T* grad, const T* in, const Compute<T>* mean, const Compute<T>* rstd,
              const Compute<T>* weight, Planes p, int64_t groups) {
  using C = Compute<T>;
  int64_t per_group = p.channels / groups, n = per_group * p.length;
  parallel_for(0, p.batch * groups, grain_of(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      C m = mean[r], s = rstd[r];
      double sum = 0, product = 0;
      for (int64_t k = 0; k < per_group; ++k) {
        const T* g = grad + r * n + k * p.length;
        const T* x = in + r * n + k * p.length;
        C w = weight ? weight[r % groups * per_group + k] : C(1), a, b;
        sum_two<C>(
            p.length, &a, &b, [&](int64_t i) { return static_cast<C>(g[i]); },
            [&](int64_t i) { return static_cast<C>(g[i]) * (static_cast<C>(x[i]) - m); });
        sum += static_cast<double>(w) * a;
        product += static_cast<double>(w) * b;
      }
      C a = static_cast<C>(sum / n), b = static_cast<C>(product / n * s * s);
      for (int64_t k = 0; k < per_group; ++k) {
        C w = weight ? weight[r % groups * per_group + k] : C(1);
        int64_t at = r * n + k * p.length;
        for (int64_t i = at; i < at + p.length; ++i) {
          dx[i] = static_cast<T>(
              (static_cast<C>(grad[i]) * w - a - (static_cast<C>(in[i]) - m) * b) * s);
        }
      }
    }
  });
}

}  // namespace

void group_norm_backward(DType dtype, void* dx, void* dweight_, void* dbias_, const void* grad_,
                         const void* in_, const void* mean_, const void* rstd_, const void* weight_,
                         Planes p, int64_t groups) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    const T* grad = static_cast<const T*>(grad_);
    const T* in = static_cast<const T*>(in_);
    const C* mean = static_cast<const C*>(mean_);
    const C* rstd = static_cast<const C*>(rstd_);
    C* dweight = static_cast<C*>(dweight_);
    C* dbias = static_cast<C*>(dbias_);
    if (dx) {
      group_dx(static_cast<T*>(dx), grad, in, mean, rstd, static_cast<const C*>(weight_), p,
               groups);
    }
    if (!dweight && !dbias) return;
    int64_t per_group = p.channels / groups;
    parallel_for(0, p.channels, grain_of(p.batch * p.length), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        double w = 0, v = 0;
        for (int64_t b = 0; b < p.batch; ++b) {
          int64_t r = b * groups + c / per_group, at = (b * p.channels + c) * p.length;
          C m = mean[r], sum, product;
          sum_two<C>(
              p.length, &sum, &product, [&](int64_t i) { return static_cast<C>(grad[at + i]); },
              [&](int64_t i) {
                return static_cast<C>(grad[at + i]) * (static_cast<C>(in[at + i]) - m);
              });
          v += sum;
          w += static_cast<double>(product) * rstd[r];
        }
        if (dweight) dweight[c] = static_cast<C>(w);
        if (dbias) dbias[c] = static_cast<C>(v);
      }
    });
  });
}

extern const NormKernels norms_table;
const NormKernels norms_table = {batch_stats,         batch_norm, batch_norm_backward, layer_norm,
                                 layer_norm_backward, group_norm, group_norm_backward};

}  // namespace facula::kernels::FACULA_ISA
