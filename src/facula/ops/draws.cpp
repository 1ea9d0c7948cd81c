// Draws from tensors of parameters (bernoulli, multinomial, poisson, binomial) and the dropout
// family. Bernoulli and dropout number the elements of a Philox stream in the order of memory where
// input and result share a dense layout, and row by row elsewhere.
#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "facula/base/error.h"
#include "facula/base/parallel.h"
#include "facula/core/random.h"
#include "facula/core/visit.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/random_functions.h"

namespace facula {
namespace {

// Numbers of a stream below which a second thread does not pay.
constexpr int64_t kStreamGrain = 256 * kPhiloxBlock;

PhiloxKey fresh_key(Generator* generator) {
  PhiloxKey key{};
  random::draw(generator, 0, [&](Generator& g) { key = g.philox_key(); });
  return key;
}

[[noreturn]] void no_type(const char* op, const Tensor& t) {
  raise_error(ErrorKind::kNotImplemented, '"', op, "\" not implemented for '",
              dtype_title(t.dtype()), "'");
}

void check_probability(double p, const char* op) {
  FACULA_CHECK(p >= 0 && p <= 1, kRuntime, op,
               ": bernoulli_ expects p to be in [0, 1], but got p=", p);
}

void check_dropout(double p, const char* op) {
  FACULA_CHECK(p >= 0 && p <= 1, kValue, op,
               ": dropout probability has to be between 0 and 1, but got ", p);
}

// write_ones fills a dense tensor with a Bernoulli stream of one probability.
void write_ones(const Tensor& r, double p, Generator* generator, const char* op) {
  if (r.is_meta() || r.numel() == 0) return;
  const PhiloxKey key = fresh_key(generator);
  const uint64_t threshold = random::bernoulli_threshold(p);
  const bool known = visit_real(r.dtype(), [&]<class T>() {
    T* out = r.data_as<T>();
    parallel_for(0, r.numel(), kStreamGrain, [&](int64_t begin, int64_t end) {
      random::bernoulli(key, out + begin, begin, end, threshold);
    });
  });
  if (!known) no_type(op, r);
}

// Probabilities as float or double, dense and in the layout of r.
Tensor probabilities_for(const Tensor& r, const Tensor& p, const char* op) {
  if (!p.is_floating_point()) no_type(op, p);
  const DType t = p.dtype() == kFloat64 ? kFloat64 : kFloat32;
  const bool usable = p.dtype() == t && p.sizes() == r.sizes() && p.strides() == r.strides();
  Tensor values = p;
  if (!usable) {
    values = new_empty_as(r, t);
    copy_raw(values, p);
  }
  if (values.is_meta()) return values;
  visit_floating(t, [&]<class T>() {
    const T* data = values.data_as<T>();
    const bool inside = std::all_of(data, data + values.numel(), [](const T& v) {
      return static_cast<double>(v) >= 0 && static_cast<double>(v) <= 1;
    });
    FACULA_CHECK(inside, kRuntime, op, ": Expected p_in >= 0 && p_in <= 1 to be true, but got ",
                 "false. Probabilities must lie in [0, 1].");
  });
  return values;
}

void write_ones(const Tensor& r, const Tensor& p, Generator* generator, const char* op) {
  const Tensor values = probabilities_for(r, p, op);
  if (r.is_meta() || r.numel() == 0) return;
  const PhiloxKey key = fresh_key(generator);
  auto write = [&]<class T, class P>() {
    T* out = r.data_as<T>();
    const P* chances = values.data_as<P>();
    parallel_for(0, r.numel(), kStreamGrain, [&](int64_t begin, int64_t end) {
      random::bernoulli(key, out + begin, begin, end, chances + begin);
    });
  };
  const bool known = visit_real(r.dtype(), [&]<class T>() {
    if (values.dtype() == kFloat64) {
      write.template operator()<T, double>();
    } else {
      write.template operator()<T, float>();
    }
  });
  if (!known) no_type(op, r);
}

// with_dense runs f on self, or on a dense tensor that is then copied into self.
template <class F>
void with_dense(const Tensor& self, const char* op, F f) {
  check_no_internal_overlap(self, op);
  if (is_dense(self)) return f(self);
  const Tensor dense = new_empty(self.sizes(), self.dtype(), self.device());
  f(dense);
  copy_raw(self, dense);
}

// apply_dropout writes what dropout makes of `in` into `out`; both dense in one layout.
void apply_dropout(const Tensor& out, const Tensor& in, double p, uint64_t key) {
  if (out.is_meta() || out.numel() == 0) return;
  const PhiloxKey stream{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  const uint64_t threshold = random::bernoulli_threshold(1 - p);
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  auto work = [&] {
    visit_floating(out.dtype(), [&]<class T>() {
      T* to = out.data_as<T>();
      const T* from = in.data_as<T>();
      parallel_for(0, out.numel(), kStreamGrain, [&](int64_t begin, int64_t end) {
        random::dropout(stream, to + begin, from + begin, begin, end, threshold, scale);
      });
    });
  };
  if (out.numel() < kStreamGrain) return work();
  const Unlocked unlocked;
  work();
}

// complex_dropped scales or drops whole complex elements, by the decisions that a real tensor gets.
Tensor complex_dropped(const Tensor& self, double p, int64_t key) {
  const NoGrad no_grad;
  const Tensor kept = new_empty(self.sizes(), real_type(self.dtype()), self.device());
  if (!kept.is_meta()) {
    visit_floating(kept.dtype(),
                   [&]<class T>() { std::fill_n(kept.data_as<T>(), kept.numel(), T(1)); });
  }
  apply_dropout(kept, kept, p, std::bit_cast<uint64_t>(key));
  return mul(self, kept);
}

int64_t fresh_stream() {
  const PhiloxKey key = fresh_key(nullptr);
  return std::bit_cast<int64_t>(uint64_t{key.high} << 32 | key.low);
}

// Noise with one number for each sample and channel.
Tensor feature_noise(const Tensor& self, double p, const char* op) {
  FACULA_CHECK(self.dim() >= 2, kRuntime, op,
               ": Feature dropout requires at least 2 dimensions in the input, got ", self.dim());
  Sizes shape;
  for (int64_t d = 0; d < self.dim(); ++d) shape.push_back(d < 2 ? self.sizes()[d] : 1);
  const Tensor noise = new_empty(shape, real_type(self.dtype()), self.device());
  write_ones(noise, 1 - p, nullptr, op);
  return noise;
}

// The factor and the summand of alpha dropout, for noise of ones and zeros: what is dropped becomes
// the negative saturation value of SELU, then mean and variance are restored.
struct AlphaTerms {
  Tensor factor, summand;
};

AlphaTerms alpha_terms(const Tensor& noise, double p) {
  const NoGrad no_grad;
  constexpr double kAlpha = 1.7580993408473766;
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  Tensor summand = add(mul(sub(noise, 1.0), kAlpha * a), kAlpha * a * p);
  return {mul(noise, a), summand};
}

Tensor noise_like(const Tensor& self, double p, bool feature, const char* op) {
  if (feature) return feature_noise(self, p, op);
  const Tensor noise = new_empty_as(self, real_type(self.dtype()));
  write_ones(noise, 1 - p, nullptr, op);
  return noise;
}

Tensor alpha_dropped(const Tensor& self, double p, bool train, bool feature, const char* op) {
  check_dropout(p, op);
  if (p == 0 || !train || self.numel() == 0) return self;
  if (p == 1) return mul(self, 0.0);
  const AlphaTerms terms = alpha_terms(noise_like(self, p, feature, op), p);
  return add(mul(self, terms.factor), terms.summand);
}

Tensor alpha_drop_in_place(const Tensor& self, double p, bool train, bool feature, const char* op) {
  check_dropout(p, op);
  if (p == 0 || !train || self.numel() == 0) return self;
  if (p == 1) return mul_(self, 0.0);
  const AlphaTerms terms = alpha_terms(noise_like(self, p, feature, op), p);
  return add_(mul_(self, terms.factor), terms.summand);
}

// A slope is drawn as a double whatever the dtype, between bounds that have the dtype.
template <class T>
T drawn_slope(Generator& g, double low, double high) {
  if constexpr (std::is_same_v<T, double>) {
    return g.uniform() * (high - low) + low;
  } else {
    const double first = T(static_cast<float>(low)), last = T(static_cast<float>(high));
    return T(static_cast<float>(g.uniform() * (last - first) + first));
  }
}

// The slopes of a random leaky ReLU: 1 where the input is positive.
Tensor rrelu_slopes(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                    Generator* generator) {
  const double low = lower.to_double(), high = upper.to_double();
  FACULA_CHECK(low <= high, kRuntime, "rrelu: Lower bound should be less than or equal to the ",
               "upper bound, got ", low, " and ", high);
  if (!self.is_floating_point()) no_type("rrelu", self);
  const Tensor slopes = new_empty_as(self, self.dtype());
  if (slopes.is_meta()) return slopes;
  const bool same = self.strides() == slopes.strides();
  Tensor input = self;
  if (!same) {
    input = new_empty_as(slopes, self.dtype());
    copy_raw(input, self);
  }
  random::draw(generator, self.numel(), [&](Generator& g) {
    visit_floating(self.dtype(), [&]<class T>() {
      const T* in = input.data_as<T>();
      T* out = slopes.data_as<T>();
      for (int64_t i = 0; i < self.numel(); ++i) {
        if (static_cast<double>(in[i]) > 0) {
          out[i] = T(1.0f);
        } else if (training) {
          out[i] = drawn_slope<T>(g, low, high);
        } else {
          if constexpr (std::is_same_v<T, double>) {
            out[i] = (low + high) / 2;
          } else {
            out[i] = T(static_cast<float>((low + high) / 2));
          }
        }
      }
    });
  });
  return slopes;
}

}  // namespace

namespace forward {

void bernoulli_(const Tensor& self, double p, Generator* generator) {
  check_probability(p, "bernoulli_");
  with_dense(self, "bernoulli_",
             [&](const Tensor& t) { write_ones(t, p, generator, "bernoulli_"); });
}

void bernoulli_tensor_(const Tensor& self, const Tensor& p, Generator* generator) {
  with_dense(self, "bernoulli_",
             [&](const Tensor& t) { write_ones(t, p, generator, "bernoulli_"); });
}

Tensor bernoulli(const Tensor& self, Generator* generator) {
  const Tensor r = new_empty_as(self, self.dtype());
  write_ones(r, self, generator, "bernoulli");
  return r;
}

Tensor bernoulli_p(const Tensor& self, double p, Generator* generator) {
  check_probability(p, "bernoulli");
  const Tensor r = new_empty_as(self, self.dtype());
  write_ones(r, p, generator, "bernoulli");
  return r;
}

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   Generator* generator) {
  FACULA_CHECK(self.is_floating_point(), kRuntime,
               "multinomial only supports floating-point dtypes for input, got: ",
               dtype_title(self.dtype()));
  FACULA_CHECK(self.dim() == 1 || self.dim() == 2, kRuntime,
               "multinomial: prob_dist must be 1 or 2 dim, got ", self.dim());
  FACULA_CHECK(num_samples > 0, kRuntime, "multinomial: cannot sample n_sample <= 0 samples, got ",
               num_samples);
  const int64_t width = self.size(-1);
  FACULA_CHECK(replacement || num_samples <= width, kRuntime, "multinomial: cannot sample ",
               "n_sample > prob_dist.size(-1) samples without replacement, got ", num_samples,
               " > ", width);
  Sizes shape = self.sizes().to_sizes();
  shape.back() = num_samples;
  const Tensor r = new_empty(shape, kInt64, self.device());
  if (r.is_meta()) return r;
  const Tensor weights = to_contiguous(self);
  const int64_t rows = self.dim() == 2 ? self.size(0) : 1;
  visit_floating(self.dtype(), [&]<class T>() {
    const T* from = weights.data_as<T>();
    const random::MultinomialFault fault = random::check_weights(from, rows, width);
    FACULA_CHECK(fault != random::MultinomialFault::kNegativeOrNotFinite, kRuntime,
                 "multinomial: ", "probability tensor contains either `inf`, `nan` or element < 0");
    FACULA_CHECK(fault == random::MultinomialFault::kNone, kRuntime,
                 "multinomial: ", "invalid multinomial distribution (sum of probabilities <= 0)");
    random::draw(generator, rows * (width + num_samples), [&](Generator& g) {
      if (replacement && num_samples > 1) {
        random::multinomial(g, r.data_as<int64_t>(), num_samples, from, rows, width);
      } else {
        random::multinomial_distinct(g, r.data_as<int64_t>(), num_samples, from, rows, width);
      }
    });
  });
  return r;
}

Tensor poisson(const Tensor& self, Generator* generator) {
  if (!self.is_floating_point()) no_type("poisson", self);
  const Tensor r = new_empty(self.sizes(), self.dtype(), self.device());
  if (r.is_meta()) return r;
  const Tensor rates = to_contiguous(self);
  visit_floating(self.dtype(), [&]<class T>() {
    const T* from = rates.data_as<T>();
    const bool valid = std::all_of(from, from + rates.numel(),
                                   [](const T& rate) { return static_cast<double>(rate) >= 0; });
    FACULA_CHECK(valid, kRuntime,
                 "poisson: invalid Poisson rate, expected rate to be non-negative");
    random::draw(generator, rates.numel(),
                 [&](Generator& g) { random::poisson(g, r.data_as<T>(), from, rates.numel()); });
  });
  return r;
}

Tensor binomial(const Tensor& count, const Tensor& prob, Generator* generator) {
  FACULA_CHECK(
      count.is_floating_point(), kValue,
      "binomial only supports floating-point dtypes for count, got: ", dtype_title(count.dtype()));
  FACULA_CHECK(
      prob.is_floating_point(), kValue,
      "binomial only supports floating-point dtypes for prob, got: ", dtype_title(prob.dtype()));
  const Sizes shape = broadcast_sizes(count.sizes(), prob.sizes(), "binomial");
  const DType t = promote(count.dtype(), prob.dtype());
  const Tensor r = new_empty(shape, t, count.device());
  if (r.is_meta()) return r;
  const Tensor trials = new_empty(shape, t), chances = new_empty(shape, t);
  copy_raw(trials, count);
  copy_raw(chances, prob);
  visit_floating(t, [&]<class T>() {
    random::draw(generator, r.numel(), [&](Generator& g) {
      random::binomial(g, r.data_as<T>(), trials.data_as<T>(), chances.data_as<T>(), r.numel());
    });
  });
  return r;
}

Tensor dropout_with(const Tensor& self, double p, int64_t key) {
  if (self.is_complex()) return complex_dropped(self, p, key);
  if (!self.is_floating_point()) no_type("dropout", self);
  // Row by row, so that a gradient of another layout meets the same decisions.
  const Tensor in = to_contiguous(self);
  const Tensor out = new_empty(self.sizes(), self.dtype(), self.device());
  apply_dropout(out, in, p, std::bit_cast<uint64_t>(key));
  if (in.is_same(self)) return out;
  const Tensor formed = new_empty_as(self, self.dtype());
  copy_raw(formed, out);
  return formed;
}

void dropout_with_(const Tensor& self, double p, int64_t key) {
  if (!is_inexact(self.dtype())) no_type("dropout_", self);
  check_no_internal_overlap(self, "dropout_");
  if (self.is_complex()) return copy_raw(self, complex_dropped(self, p, key));
  const Tensor in = to_contiguous(self);
  apply_dropout(in, in, p, std::bit_cast<uint64_t>(key));
  if (!in.is_same(self)) copy_raw(self, in);
}

}  // namespace forward

// Generated: they offer these composites to interpreters, as vmap decides how samples draw.
bool boxed_dropout(Tensor& out, const Tensor& self, double p, bool train);
bool boxed_dropout_(Tensor& out, const Tensor& self, double p, bool train);
bool boxed_feature_dropout(Tensor& out, const Tensor& self, double p, bool train);
bool boxed_feature_dropout_(Tensor& out, const Tensor& self, double p, bool train);
bool boxed_alpha_dropout(Tensor& out, const Tensor& self, double p, bool train);
bool boxed_alpha_dropout_(Tensor& out, const Tensor& self, double p, bool train);
bool boxed_feature_alpha_dropout(Tensor& out, const Tensor& self, double p, bool train);
bool boxed_feature_alpha_dropout_(Tensor& out, const Tensor& self, double p, bool train);
bool boxed_rrelu(Tensor& out, const Tensor& self, const Scalar& lower, const Scalar& upper,
                 bool training, Generator* generator);
bool boxed_rrelu_(Tensor& out, const Tensor& self, const Scalar& lower, const Scalar& upper,
                  bool training, Generator* generator);

Tensor dropout(const Tensor& self, double p, bool train) {
  check_dropout(p, "dropout");
  if (p == 0 || !train || self.numel() == 0) return self;
  if (intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_dropout(out, self, p, train)) return out;
  }
  return dropout_with(self, p, fresh_stream());
}

Tensor dropout_(const Tensor& self, double p, bool train) {
  check_dropout(p, "dropout_");
  if (p == 0 || !train || self.numel() == 0) return self;
  if (intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_dropout_(out, self, p, train)) return out;
  }
  return dropout_with_(self, p, fresh_stream());
}

Tensor feature_dropout(const Tensor& self, double p, bool train) {
  check_dropout(p, "feature_dropout");
  if (p == 0 || !train || self.numel() == 0) return self;
  if (intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_feature_dropout(out, self, p, train)) return out;
  }
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  return mul(self, mul(feature_noise(self, p, "feature_dropout"), scale));
}

Tensor feature_dropout_(const Tensor& self, double p, bool train) {
  check_dropout(p, "feature_dropout_");
  if (p == 0 || !train || self.numel() == 0) return self;
  if (intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_feature_dropout_(out, self, p, train)) return out;
  }
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  return mul_(self, mul(feature_noise(self, p, "feature_dropout_"), scale));
}

Tensor alpha_dropout(const Tensor& self, double p, bool train) {
  if (train && intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_alpha_dropout(out, self, p, train)) return out;
  }
  return alpha_dropped(self, p, train, false, "alpha_dropout");
}

Tensor alpha_dropout_(const Tensor& self, double p, bool train) {
  if (train && intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_alpha_dropout_(out, self, p, train)) return out;
  }
  return alpha_drop_in_place(self, p, train, false, "alpha_dropout_");
}

Tensor feature_alpha_dropout(const Tensor& self, double p, bool train) {
  if (train && intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_feature_alpha_dropout(out, self, p, train)) return out;
  }
  return alpha_dropped(self, p, train, true, "feature_alpha_dropout");
}

Tensor feature_alpha_dropout_(const Tensor& self, double p, bool train) {
  if (train && intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_feature_alpha_dropout_(out, self, p, train)) return out;
  }
  return alpha_drop_in_place(self, p, train, true, "feature_alpha_dropout_");
}

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
             Generator* generator) {
  if (training && intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_rrelu(out, self, lower, upper, training, generator)) return out;
  }
  return mul(self, rrelu_slopes(self, lower, upper, training, generator));
}

Tensor rrelu_(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
              Generator* generator) {
  if (training && intercepted_above(self)) [[unlikely]] {
    Tensor out;
    if (boxed_rrelu_(out, self, lower, upper, training, generator)) return out;
  }
  return mul_(self, rrelu_slopes(self, lower, upper, training, generator));
}

}  // namespace facula
