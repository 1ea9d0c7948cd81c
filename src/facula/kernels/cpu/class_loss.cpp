// Losses over classes: cross-entropy without a materialised log_softmax, and the negative
// log-likelihood of given log-probabilities. Both take class weights and an ignored target.
#include "facula/kernels/cpu/class_loss.h"

namespace facula::kernels::FACULA_ISA {
namespace {

// Calls f(row, offset of the row's first class, target) for each position; refuses bad targets.
template <class F>
FACULA_INLINE void each_target(const ClassLoss& loss, Fault* fault, F&& f) {
  Rows r = loss.rows;
  int64_t grain = max_of<int64_t>(1, 16384 / max_of<int64_t>(1, r.n));
  parallel_for(0, r.outer * r.inner, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t t = loss.target[i];
      bool ignored = t == loss.ignore_index;
      if (!ignored && (t < 0 || t >= r.n)) {
        if (fault) fault->set(Fault::kIndexOutOfRange, i, t, r.n);
        continue;
      }
      f(i, i / r.inner * r.n * r.inner + i % r.inner, ignored ? int64_t{-1} : t);
    }
  });
}

template <class T>
void cross_entropy_typed(const ClassLoss& loss, void* losses, void* lse_, Fault* fault) {
  using C = Compute<T>;
  const T* x = static_cast<const T*>(loss.input);
  const C* weight = static_cast<const C*>(loss.weight);
  C* lse = static_cast<C*>(lse_);
  T* out = static_cast<T*>(losses);
  Rows r = loss.rows;
  C eps = static_cast<C>(loss.smoothing);
  each_target(loss, fault, [&](int64_t i, int64_t at, int64_t t) {
    const T* row = x + at;
    if (t < 0) {
      out[i] = static_cast<T>(C(0));
      lse[i] = 0;
      return;
    }
    C l = r.inner == 1 ? log_sum_exp<C>(row, r.n, int64_t{1}) : log_sum_exp<C>(row, r.n, r.inner);
    lse[i] = l;
    C w = weight ? weight[t] : C(1);
    C value = w * (l - static_cast<C>(row[t * r.inner]));
    if (eps > 0) {
      C smooth = sum_of<C>(r.n, [&](int64_t c) {
        C d = l - static_cast<C>(row[c * r.inner]);
        return weight ? weight[c] * d : d;
      });
      value = (1 - eps) * value + eps / static_cast<C>(r.n) * smooth;
    }
    out[i] = static_cast<T>(value);
  });
}

template <class T>
void cross_entropy_backward_typed(const ClassLoss& loss, void* out_, const void* lse_,
                                  const void* scale_, int64_t scale_step) {
  using C = Compute<T>;
  const T* x = static_cast<const T*>(loss.input);
  const C* weight = static_cast<const C*>(loss.weight);
  const C* lse = static_cast<const C*>(lse_);
  const C* scale = static_cast<const C*>(scale_);
  T* out = static_cast<T*>(out_);
  Rows r = loss.rows;
  C eps = static_cast<C>(loss.smoothing), share = eps / static_cast<C>(r.n);
  C all = static_cast<C>(r.n);
  if (weight) all = sum_of<C>(r.n, [&](int64_t c) { return weight[c]; });
  each_target(loss, nullptr, [&](int64_t i, int64_t at, int64_t t) {
    const T* row = x + at;
    T* o = out + at;
    if (t < 0) {
      for (int64_t c = 0; c < r.n; ++c) o[c * r.inner] = static_cast<T>(C(0));
      return;
    }
    C w = weight ? weight[t] : C(1), g = scale[i * scale_step], l = lse[i];
    C mass = g * ((1 - eps) * w + share * all);
    if (r.inner == 1) {
      for (int64_t c = 0; c < r.n; ++c)
        o[c] = static_cast<T>(mass * m_exp(static_cast<C>(row[c]) - l));
    } else {
      for (int64_t c = 0; c < r.n; ++c) {
        o[c * r.inner] = static_cast<T>(mass * m_exp(static_cast<C>(row[c * r.inner]) - l));
      }
    }
    if (eps > 0) {
      for (int64_t c = 0; c < r.n; ++c) {
        C s = weight ? weight[c] * share : share;
        o[c * r.inner] = static_cast<T>(static_cast<C>(o[c * r.inner]) - g * s);
      }
    }
    o[t * r.inner] = static_cast<T>(static_cast<C>(o[t * r.inner]) - g * (1 - eps) * w);
  });
}

template <class T>
void nll_typed(const ClassLoss& loss, void* losses, Fault* fault) {
  using C = Compute<T>;
  const T* x = static_cast<const T*>(loss.input);
  const C* weight = static_cast<const C*>(loss.weight);
  T* out = static_cast<T*>(losses);
  int64_t inner = loss.rows.inner;
  each_target(loss, fault, [&](int64_t i, int64_t at, int64_t t) {
    C w = t < 0 ? C(0) : weight ? weight[t] : C(1);
    out[i] = t < 0 ? static_cast<T>(C(0)) : static_cast<T>(-w * static_cast<C>(x[at + t * inner]));
  });
}

template <class T>
void nll_backward_typed(const ClassLoss& loss, void* out_, const void* scale_, int64_t step) {
  using C = Compute<T>;
  const C* weight = static_cast<const C*>(loss.weight);
  const C* scale = static_cast<const C*>(scale_);
  T* out = static_cast<T*>(out_);
  Rows r = loss.rows;
  std::memset(static_cast<void*>(out), 0, r.outer * r.n * r.inner * sizeof(T));
  each_target(loss, nullptr, [&](int64_t i, int64_t at, int64_t t) {
    if (t < 0) return;
    C w = weight ? weight[t] : C(1);
    out[at + t * r.inner] = static_cast<T>(-w * scale[i * step]);
  });
}

}  // namespace

void cross_entropy(const ClassLoss& loss, void* losses, void* lse, Fault* fault) {
  visit_floating(loss.dtype, [&](auto tag) {
    cross_entropy_typed<typename decltype(tag)::type>(loss, losses, lse, fault);
  });
}

void cross_entropy_backward(const ClassLoss& loss, void* out, const void* lse, const void* scale,
                            int64_t scale_step) {
  visit_floating(loss.dtype, [&](auto tag) {
    cross_entropy_backward_typed<typename decltype(tag)::type>(loss, out, lse, scale, scale_step);
  });
}

void nll_loss(const ClassLoss& loss, void* losses, Fault* fault) {
  visit_floating(loss.dtype,
                 [&](auto tag) { nll_typed<typename decltype(tag)::type>(loss, losses, fault); });
}

void nll_loss_backward(const ClassLoss& loss, void* out, const void* scale, int64_t step) {
  visit_floating(loss.dtype, [&](auto tag) {
    nll_backward_typed<typename decltype(tag)::type>(loss, out, scale, step);
  });
}

double target_weight(const ClassLoss& loss) {
  int64_t count = loss.rows.outer * loss.rows.inner;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t t = loss.target[i];
    if (t == loss.ignore_index || t < 0 || t >= loss.rows.n) continue;
    if (!loss.weight)
      sum += 1;
    else if (loss.dtype == kFloat64)
      sum += static_cast<const double*>(loss.weight)[t];
    else
      sum += static_cast<const float*>(loss.weight)[t];
  }
  return sum;
}

}  // namespace facula::kernels::FACULA_ISA
