// The optimisers' loops: each element of a parameter with its gradient and state, once through
// memory. Formulas are in the comments of facula/optim/*.py and nn/optim.
#include "facula/kernels/optim.h"

#include "facula/kernels/copy.h"
#include "facula/kernels/cpu/dispatch.h"

namespace facula::kernels::FACULA_ISA {

// The names inside are short; other families compiled together with this one have such too.
namespace optimizer_loops {

static constexpr int64_t kGrain = 1 << 14;

template <class C>
FACULA_INLINE C root(C v) {
  if constexpr (std::is_same_v<C, float>) {
    return __builtin_sqrtf(v);
  } else {
    return __builtin_sqrt(v);
  }
}
template <class C>
FACULA_INLINE C magnitude(C v) {
  return v < 0 ? -v : v;
}
// larger propagates NaN.
template <class C>
FACULA_INLINE C larger(C a, C b) {
  return a > b || a != a ? a : b;
}

// each calls f(w, x, a, b, c) for every element: the parameter and S slots by reference, the
// gradient by value. Operands may be the same array.
template <int S, class C, class F>
FACULA_INLINE void each(const OptimArrays& t, int64_t begin, int64_t end, F f) {
  C* p = static_cast<C*>(t.param);
  const C* g = static_cast<const C*>(t.grad);
  C* s0 = static_cast<C*>(t.slot[0]);
  C* s1 = static_cast<C*>(t.slot[1]);
  C* s2 = static_cast<C*>(t.slot[2]);
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    C w = p[i], a{}, b{}, c{};
    if constexpr (S > 0) a = s0[i];
    if constexpr (S > 1) b = s1[i];
    if constexpr (S > 2) c = s2[i];
    f(w, g[i], a, b, c);
    p[i] = w;
    if constexpr (S > 0) s0[i] = a;
    if constexpr (S > 1) s1[i] = b;
    if constexpr (S > 2) s2[i] = c;
  }
}

// in_blocks runs `step` over 16-bit operands a block at a time, in float copies.
template <int S, class F>
FACULA_INLINE void in_blocks(const OptimArrays& t, int64_t begin, int64_t end, F step) {
  constexpr int64_t kBlock = 512;
  float param[kBlock], grad[kBlock], slots[S ? S : 1][kBlock];
  OptimArrays block{kFloat32, kBlock, param, grad, {slots[0], slots[S > 1], slots[S > 2 ? 2 : 0]}};
  auto at = [](const void* base, int64_t i) {
    return const_cast<char*>(static_cast<const char*>(base)) + 2 * i;
  };
  for (int64_t i = begin; i < end; i += kBlock) {
    int64_t n = min_of(kBlock, end - i);
    copy->convert(param, kFloat32, 4, at(t.param, i), t.dtype, 2, n);
    copy->convert(grad, kFloat32, 4, at(t.grad, i), t.dtype, 2, n);
    for (int k = 0; k < S; ++k) {
      copy->convert(slots[k], kFloat32, 4, at(t.slot[k], i), t.dtype, 2, n);
    }
    step(block, n);
    copy->convert(at(t.param, i), t.dtype, 2, param, kFloat32, 4, n);
    for (int k = 0; k < S; ++k) {
      copy->convert(at(t.slot[k], i), t.dtype, 2, slots[k], kFloat32, 4, n);
    }
  }
}

// on_all runs `make(tag)`, the loop body of a type, over all elements on the pool.
template <int S, class F>
FACULA_INLINE void on_all(const OptimArrays& t, F make) {
  if (t.dtype == kFloat64) {
    auto f = make(Tag<double>{});
    parallel_for(0, t.n, kGrain, [&](int64_t b, int64_t e) { each<S, double>(t, b, e, f); });
    return;
  }
  auto f = make(Tag<float>{});
  // One instance of the loop serves both cases.
  auto step = [&](const OptimArrays& a, int64_t b, int64_t e) { each<S, float>(a, b, e, f); };
  parallel_for(0, t.n, kGrain, [&](int64_t b, int64_t e) {
    if (t.dtype == kFloat32) return step(t, b, e);
    in_blocks<S>(t, b, e, [&](const OptimArrays& a, int64_t n) { step(a, 0, n); });
  });
}

// Decay adds weight_decay times the parameter; a zero decay adds 0, even to an infinite one.
template <class C>
struct Decay {
  C factor;
  bool on;
  template <class Step>
  explicit Decay(const Step& s) : factor(s.weight_decay), on(s.weight_decay != 0) {}
  FACULA_INLINE C operator()(C w) const { return on ? factor * w : C(0); }
};

static void sgd(const OptimArrays& t, const SgdStep& s) {
  if (s.momentum == 0) {
    return on_all<0>(t, [&](auto tag) {
      using C = typename decltype(tag)::type;
      Decay<C> decay(s);
      C lr(s.lr), sign(s.sign);
      return [=](C& w, C g, C&, C&, C&) {
        g *= sign;
        g += decay(w);
        w -= lr * g;
      };
    });
  }
  on_all<1>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C lr(s.lr), sign(s.sign), momentum(s.momentum), keep(s.keep);
    C direct(s.nesterov ? 1 : 0), buffered(s.nesterov ? s.momentum : 1);
    return [=](C& w, C g, C& buf, C&, C&) {
      g *= sign;
      g += decay(w);
      buf = momentum * buf + keep * g;
      w -= lr * (direct * g + buffered * buf);
    };
  });
}

template <class C>
struct AdamUpdate {
  Decay<C> decay;
  C rate, sign, shrink, beta2, rest1, rest2, root_scale, eps;
  explicit AdamUpdate(const AdamStep& s)
      : decay(s),
        rate(s.rate),
        sign(s.sign),
        shrink(s.shrink),
        beta2(s.beta2),
        rest1(1 - s.beta1),
        rest2(1 - s.beta2),
        root_scale(s.root_scale),
        eps(s.eps) {}
};

static void adam(const OptimArrays& t, const AdamStep& s) {
  if (s.amsgrad) {
    return on_all<3>(t, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [u = AdamUpdate<C>(s)](C& w, C g, C& m, C& v, C& top) {
        g *= u.sign;
        w *= u.shrink;
        g += u.decay(w);
        m += u.rest1 * (g - m);
        v = u.beta2 * v + u.rest2 * g * g;
        top = larger(top, v);
        w -= u.rate * m / (root(top) * u.root_scale + u.eps);
      };
    });
  }
  on_all<2>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    return [u = AdamUpdate<C>(s)](C& w, C g, C& m, C& v, C&) {
      g *= u.sign;
      w *= u.shrink;
      g += u.decay(w);
      m += u.rest1 * (g - m);
      v = u.beta2 * v + u.rest2 * g * g;
      w -= u.rate * m / (root(v) * u.root_scale + u.eps);
    };
  });
}

template <bool kMomentum, bool kCentered>
static void rmsprop_with(const OptimArrays& t, const RmspropStep& s) {
  constexpr int kSlots = kCentered ? 3 : kMomentum ? 2 : 1;
  on_all<kSlots>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C lr(s.lr), sign(s.sign), alpha(s.alpha), rest(1 - s.alpha), eps(s.eps), momentum(s.momentum);
    return [=](C& w, C g, C& square, C& buf, C& mean) {
      g *= sign;
      g += decay(w);
      square = alpha * square + rest * g * g;
      C spread = square;
      if constexpr (kCentered) {
        mean += rest * (g - mean);
        spread -= mean * mean;
      }
      C update = g / (root(spread) + eps);
      if constexpr (kMomentum) update = buf = momentum * buf + update;
      w -= lr * update;
    };
  });
}

static void rmsprop(const OptimArrays& t, const RmspropStep& s) {
  if (s.momentum == 0 && !s.centered) return rmsprop_with<false, false>(t, s);
  if (!s.centered) return rmsprop_with<true, false>(t, s);
  if (s.momentum != 0) return rmsprop_with<true, true>(t, s);
  // Without a buffer, the middle slot is not there: the mean moves up.
  OptimArrays moved = t;
  moved.slot[1] = t.slot[2];
  on_all<2>(moved, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C lr(s.lr), sign(s.sign), alpha(s.alpha), rest(1 - s.alpha), eps(s.eps);
    return [=](C& w, C g, C& square, C& mean, C&) {
      g *= sign;
      g += decay(w);
      square = alpha * square + rest * g * g;
      mean += rest * (g - mean);
      w -= lr * g / (root(square - mean * mean) + eps);
    };
  });
}

static void adagrad(const OptimArrays& t, const AdagradStep& s) {
  on_all<1>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C rate(s.rate), sign(s.sign), eps(s.eps);
    return [=](C& w, C g, C& sum, C&, C&) {
      g *= sign;
      g += decay(w);
      sum += g * g;
      w -= rate * g / (root(sum) + eps);
    };
  });
}

static void adadelta(const OptimArrays& t, const AdadeltaStep& s) {
  on_all<2>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C lr(s.lr), sign(s.sign), rho(s.rho), rest(1 - s.rho), eps(s.eps);
    return [=](C& w, C g, C& square, C& size, C&) {
      g *= sign;
      g += decay(w);
      square = rho * square + rest * g * g;
      C delta = root(size + eps) / root(square + eps) * g;
      size = rho * size + rest * delta * delta;
      w -= lr * delta;
    };
  });
}

static void adamax(const OptimArrays& t, const AdamaxStep& s) {
  on_all<2>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C rate(s.rate), sign(s.sign), rest1(1 - s.beta1), beta2(s.beta2), eps(s.eps);
    return [=](C& w, C g, C& m, C& top, C&) {
      g *= sign;
      g += decay(w);
      m += rest1 * (g - m);
      top = larger(beta2 * top, magnitude(g) + eps);
      w -= rate * m / top;
    };
  });
}

static void nadam(const OptimArrays& t, const NadamStep& s) {
  on_all<2>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C grad_rate(s.grad_rate), mean_rate(s.mean_rate), sign(s.sign), shrink(s.shrink),
        rest1(1 - s.beta1), beta2(s.beta2), rest2(1 - s.beta2), scale(s.square_scale), eps(s.eps);
    return [=](C& w, C g, C& m, C& v, C&) {
      g *= sign;
      w *= shrink;
      g += decay(w);
      m += rest1 * (g - m);
      v = beta2 * v + rest2 * g * g;
      w -= (grad_rate * g + mean_rate * m) / (root(v * scale) + eps);
    };
  });
}

template <bool kAdapt>
static void radam_with(const OptimArrays& t, const RadamStep& s) {
  on_all<2>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C rate(s.rate), adapt(s.adapt), sign(s.sign), shrink(s.shrink), rest1(1 - s.beta1),
        beta2(s.beta2), rest2(1 - s.beta2), eps(s.eps);
    return [=](C& w, C g, C& m, C& v, C&) {
      g *= sign;
      w *= shrink;
      g += decay(w);
      m += rest1 * (g - m);
      v = beta2 * v + rest2 * g * g;
      C update = rate * m;
      if constexpr (kAdapt) update *= adapt / (root(v) + eps);
      w -= update;
    };
  });
}

static void radam(const OptimArrays& t, const RadamStep& s) {
  if (s.adapt != 0) return radam_with<true>(t, s);
  radam_with<false>(t, s);
}

static void asgd(const OptimArrays& t, const AsgdStep& s) {
  on_all<1>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    Decay<C> decay(s);
    C eta(s.eta), sign(s.sign), shrink(s.shrink), mu(s.mu);
    bool copy = s.mu == 1;
    return [=](C& w, C g, C& average, C&, C&) {
      g *= sign;
      g += decay(w);
      w = w * shrink - eta * g;
      average = copy ? w : average + (w - average) * mu;
    };
  });
}

static void rprop(const OptimArrays& t, const RpropStep& s) {
  on_all<2>(t, [&](auto tag) {
    using C = typename decltype(tag)::type;
    C sign(s.sign), minus(s.eta_minus), plus(s.eta_plus), low(s.smallest), high(s.largest);
    return [=](C& w, C g, C& before, C& size, C&) {
      g *= sign;
      C agreement = g * before;
      size *= agreement > 0 ? plus : agreement < 0 ? minus : C(1);
      size = size < low ? low : size > high ? high : size;
      g = agreement < 0 ? C(0) : g;
      w -= g > 0 ? size : g < 0 ? -size : C(0);
      before = g;
    };
  });
}

}  // namespace optimizer_loops

extern const OptimKernels optim_table;
const OptimKernels optim_table{.sgd = optimizer_loops::sgd,
                               .adam = optimizer_loops::adam,
                               .rmsprop = optimizer_loops::rmsprop,
                               .adagrad = optimizer_loops::adagrad,
                               .adadelta = optimizer_loops::adadelta,
                               .adamax = optimizer_loops::adamax,
                               .nadam = optimizer_loops::nadam,
                               .radam = optimizer_loops::radam,
                               .asgd = optimizer_loops::asgd,
                               .rprop = optimizer_loops::rprop};

}  // namespace facula::kernels::FACULA_ISA
