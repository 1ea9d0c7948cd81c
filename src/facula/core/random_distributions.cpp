// The serial distributions of random.h that are made one number at a time, in double precision:
// exponential, geometric, Cauchy, log-normal, Poisson, binomial, gamma, Dirichlet and multinomial.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <vector>

#include "facula/core/random.h"

namespace facula::random {
namespace {

template <class T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
double smallest_normal() {
  if constexpr (std::is_same_v<T, Half>) return 0x1p-14;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1p-126;
  if constexpr (std::is_same_v<T, float>) return std::numeric_limits<float>::min();
  return std::numeric_limits<double>::min();
}

// Hörmann, The transformed rejection method for generating Poisson random variables (1993),
// algorithm PTRS; for rates of at least ten.
double poisson_by_rejection(Generator& generator, double rate) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = generator.uniform() - 0.5;
    const double v = generator.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1)) {
      return k;
    }
  }
}

double poisson_number(Generator& generator, double rate) {
  if (rate >= 10) return poisson_by_rejection(generator, rate);
  if (rate == 0) return 0;
  // Multiplies uniform numbers until their product falls below exp(-rate).
  const double bound = std::exp(-rate);
  double product = generator.uniform();
  double k = 0;
  for (; product > bound; product *= generator.uniform()) ++k;
  return k;
}

// The difference of log(k!) and Stirling's formula for it.
double stirling_tail(double k) {
  constexpr double kExact[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                               0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                               0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                               0.00833056343336287};
  if (k <= 9) return kExact[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Hörmann, The generation of binomial random variates (1993), algorithm BTRS; for p <= 1/2 and an
// expectation of at least ten.
double binomial_by_rejection(Generator& generator, double trials, double p) {
  const double deviation = std::sqrt(trials * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = trials * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double r = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((trials + 1) * p);
  while (true) {
    const double u = generator.uniform() - 0.5;
    const double v = generator.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > trials) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (trials - m + 1))) +
                         (trials + 1) * std::log((trials - m + 1) / (trials - k + 1)) +
                         (k + 0.5) * std::log(r * (trials - k + 1) / (k + 1)) + stirling_tail(m) +
                         stirling_tail(trials - m) - stirling_tail(k) - stirling_tail(trials - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

// Adds up geometric waiting times until they exceed the number of trials.
double binomial_by_waiting(Generator& generator, double trials, double p) {
  const double log_failure = std::log1p(-p);
  double waited = 0, successes = 0;
  while (true) {
    waited += std::ceil(std::log(generator.uniform()) / log_failure);
    if (waited > trials) return successes;
    ++successes;
  }
}

double binomial_number(Generator& generator, double trials, double p) {
  if (trials <= 0 || p <= 0) return 0;
  if (p >= 1) return trials;
  if (std::isnan(trials) || std::isnan(p)) return std::numeric_limits<double>::quiet_NaN();
  const double smaller = p <= 0.5 ? p : 1 - p;
  const double k = trials * smaller >= 10 ? binomial_by_rejection(generator, trials, smaller)
                                          : binomial_by_waiting(generator, trials, smaller);
  return p <= 0.5 ? k : trials - k;
}

// Marsaglia and Tsang, A simple method for generating gamma variables (2000).
double gamma_number(Generator& generator, double alpha) {
  double scale = 1;
  if (alpha < 1) {
    if (alpha == 0) return 0;
    scale = std::pow(1 - generator.uniform(), 1 / alpha);
    alpha += 1;
  }
  const double d = alpha - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    double x, y;
    do {
      x = generator.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y;
    const double u = 1 - generator.uniform();
    const double xx = x * x;
    if (u < 1 - 0.0331 * xx * xx) return scale * d * v;
    if (std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

}  // namespace

template <class T>
void exponential(Generator& generator, T* out, int64_t count, double rate) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = rounded<T>(-1 / rate * std::log1p(-generator.uniform()));
  }
}

template <class T>
void geometric(Generator& generator, T* out, int64_t count, double p) {
  const double log_failure = std::log1p(-p);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = rounded<T>(std::ceil(std::log(generator.uniform()) / log_failure));
  }
}

template <class T>
void cauchy(Generator& generator, T* out, int64_t count, double median, double sigma) {
  for (int64_t i = 0; i < count; ++i) {
    const double turn = std::numbers::pi * (generator.uniform() - 0.5);
    out[i] = rounded<T>(median + sigma * std::tan(turn));
  }
}

template <class T>
void log_normal(Generator& generator, T* out, int64_t count, double mean, double deviation) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = rounded<T>(std::exp(generator.normal() * deviation + mean));
  }
}

template <class T>
void poisson(Generator& generator, T* out, const T* rates, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = rounded<T>(poisson_number(generator, rates[i]));
  }
}

template <class T>
void binomial(Generator& generator, T* out, const T* trials, const T* p, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = rounded<T>(binomial_number(generator, trials[i], p[i]));
  }
}

template <class T>
void standard_gamma(Generator& generator, T* out, const T* alpha, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = rounded<T>(std::max(smallest_normal<T>(), gamma_number(generator, alpha[i])));
  }
}

template <class T>
void dirichlet(Generator& generator, T* out, const T* alpha, int64_t rows, int64_t width) {
  std::vector<double> gammas(static_cast<size_t>(width));
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) {
      const double g = gamma_number(generator, alpha[row * width + i]);
      gammas[static_cast<size_t>(i)] = std::max(smallest_normal<T>(), g);
      sum += gammas[static_cast<size_t>(i)];
    }
    for (int64_t i = 0; i < width; ++i) {
      const double share = gammas[static_cast<size_t>(i)] / sum;
      out[row * width + i] = rounded<T>(std::max(smallest_normal<T>(), share));
    }
  }
}

template <class T>
MultinomialFault check_weights(const T* weights, int64_t rows, int64_t width) {
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) {
      const double weight = weights[row * width + i];
      if (!(weight >= 0) || std::isinf(weight)) return MultinomialFault::kNegativeOrNotFinite;
      sum += weight;
    }
    if (!(sum > 0)) return MultinomialFault::kSumNotPositive;
  }
  return MultinomialFault::kNone;
}

template <class T>
void multinomial(Generator& generator, int64_t* out, int64_t samples, const T* weights,
                 int64_t rows, int64_t width) {
  using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<Compute> cumulative(static_cast<size_t>(width));
  for (int64_t row = 0; row < rows; ++row) {
    Compute sum = 0;
    for (int64_t i = 0; i < width; ++i) {
      sum += static_cast<Compute>(weights[row * width + i]);
      cumulative[static_cast<size_t>(i)] = sum;
    }
    for (Compute& reached : cumulative) reached /= sum;
    for (int64_t i = 0; i < samples; ++i) {
      // The last weight takes what rounding has left.
      const auto found =
          std::lower_bound(cumulative.begin(), cumulative.end() - 1, generator.uniform());
      out[row * samples + i] = found - cumulative.begin();
    }
  }
}

template <class T>
void multinomial_distinct(Generator& generator, int64_t* out, int64_t samples, const T* weights,
                          int64_t rows, int64_t width) {
  using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<T> keys(static_cast<size_t>(width));
  std::vector<int64_t> order(static_cast<size_t>(width));
  for (int64_t row = 0; row < rows; ++row) {
    exponential(generator, keys.data(), width, 1);
    for (int64_t i = 0; i < width; ++i) {
      T& key = keys[static_cast<size_t>(i)];
      key = T(static_cast<Compute>(weights[row * width + i]) / static_cast<Compute>(key));
    }
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + samples, order.end(),
                      [&keys](int64_t a, int64_t b) {
                        const Compute key_a = keys[static_cast<size_t>(a)];
                        const Compute key_b = keys[static_cast<size_t>(b)];
                        return key_a != key_b ? key_a > key_b : a < b;
                      });
    std::copy(order.begin(), order.begin() + samples, out + row * samples);
  }
}

#define FACULA_FLOATING(T)                                                                         \
  template FACULA_API void exponential(Generator&, T*, int64_t, double);                           \
  template FACULA_API void geometric(Generator&, T*, int64_t, double);                             \
  template FACULA_API void cauchy(Generator&, T*, int64_t, double, double);                        \
  template FACULA_API void log_normal(Generator&, T*, int64_t, double, double);                    \
  template FACULA_API void poisson(Generator&, T*, const T*, int64_t);                             \
  template FACULA_API void binomial(Generator&, T*, const T*, const T*, int64_t);                  \
  template FACULA_API void standard_gamma(Generator&, T*, const T*, int64_t);                      \
  template FACULA_API void dirichlet(Generator&, T*, const T*, int64_t, int64_t);                  \
  template FACULA_API MultinomialFault check_weights(const T*, int64_t, int64_t);                  \
  template FACULA_API void multinomial(Generator&, int64_t*, int64_t, const T*, int64_t, int64_t); \
  template FACULA_API void multinomial_distinct(Generator&, int64_t*, int64_t, const T*, int64_t,  \
                                                int64_t);
FACULA_FLOATING(float)
FACULA_FLOATING(double)
FACULA_FLOATING(Half)
FACULA_FLOATING(BFloat16)
#undef FACULA_FLOATING

template FACULA_API void geometric(Generator&, uint8_t*, int64_t, double);
template FACULA_API void geometric(Generator&, int8_t*, int64_t, double);
template FACULA_API void geometric(Generator&, int16_t*, int64_t, double);
template FACULA_API void geometric(Generator&, int32_t*, int64_t, double);
template FACULA_API void geometric(Generator&, int64_t*, int64_t, double);

}  // namespace facula::random
