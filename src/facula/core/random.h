// Random fills: what distributions make of the numbers of a Generator, over contiguous memory.
// Uniform, normal and integer fills, permutations and the other serial distributions follow
// PyTorch's CPU streams for the same seed; bernoulli and dropout have Philox streams of their own.
// The caller holds the generator's lock (draw takes it), checks arguments and takes care of
// strides.
#pragma once

#include <cstdint>
#include <mutex>

#include "facula/base/export.h"
#include "facula/base/half.h"
#include "facula/core/generator.h"
#include "facula/core/unlocked.h"

namespace facula::random {

// Calls f(generator) under the lock of the generator, which is the default one when null. During
// long draws the embedding language may run other threads; its lock is given back before the
// generator's is taken and taken again after that is released, so the two never wait for each
// other.
template <class F>
void draw(Generator* generator, int64_t count, F f) {
  Generator& source = generator != nullptr ? *generator : default_generator();
  constexpr int64_t kLong = 4096;
  if (count < kLong) {
    const std::lock_guard lock(source.mutex());
    f(source);
    return;
  }
  const Unlocked unlocked;
  const std::lock_guard lock(source.mutex());
  f(source);
}

// T is float, double, Half or BFloat16, unless said otherwise.

// Fills with numbers of [low, high) from 53 random bits for a double, 24 for the others. What
// rounds to high becomes low.
template <class T>
void uniform(Generator& generator, T* out, int64_t count, double low, double high);

// Fills with normal numbers. From 16 elements on they are made in blocks of 16, the last one anew
// when the count is no multiple; fewer come from Generator::normal.
template <class T>
void normal(Generator& generator, T* out, int64_t count, double mean, double deviation);

// Fills with normal numbers one by one, as PyTorch does for tensors that are not contiguous.
template <class T>
void normal_one_by_one(Generator& generator, T* out, int64_t count, double mean, double deviation);

// Fills with integers of [base, base + range), 0 meaning a range of 2^64; T is any integer, bool or
// floating-point type. Ranges from 2^28 on take two numbers of the generator an element.
template <class T>
void integers(Generator& generator, T* out, int64_t count, uint64_t range, int64_t base);

// Fills with integers of the whole non-negative range of T; for floating-point types from 0 to the
// largest integer up to which all are exact.
template <class T>
void all_integers(Generator& generator, T* out, int64_t count);

// Writes a random permutation of 0 .. count - 1; T is any type that holds count - 1.
template <class T>
void permutation(Generator& generator, T* out, int64_t count);

// Fills with numbers of density rate * exp(-rate * x).
template <class T>
void exponential(Generator& generator, T* out, int64_t count, double rate);

// Fills with the number of trials up to the first success of probability p in (0, 1); T may also be
// an integer type.
template <class T>
void geometric(Generator& generator, T* out, int64_t count, double p);

// Fills with Cauchy numbers.
template <class T>
void cauchy(Generator& generator, T* out, int64_t count, double median, double sigma);

// Fills with the exponentials of normal numbers.
template <class T>
void log_normal(Generator& generator, T* out, int64_t count, double mean, double deviation);

// Fills with Poisson numbers of the given rates, which are not negative.
template <class T>
void poisson(Generator& generator, T* out, const T* rates, int64_t count);

// Fills with the numbers of successes in trials[i] trials of probability p[i].
template <class T>
void binomial(Generator& generator, T* out, const T* trials, const T* p, int64_t count);

// Fills with gamma numbers of shape alpha[i] and scale 1.
template <class T>
void standard_gamma(Generator& generator, T* out, const T* alpha, int64_t count);

// Fills `rows` rows of `width` numbers that sum to one, Dirichlet numbers of the given
// concentrations.
template <class T>
void dirichlet(Generator& generator, T* out, const T* alpha, int64_t rows, int64_t width);

// What is wrong with the weights of a multinomial draw.
enum class MultinomialFault { kNone, kNegativeOrNotFinite, kSumNotPositive };

// Checks `rows` rows of weights.
template <class T>
MultinomialFault check_weights(const T* weights, int64_t rows, int64_t width);

// Draws `samples` indices from each of `rows` rows of weights with replacement.
template <class T>
void multinomial(Generator& generator, int64_t* out, int64_t samples, const T* weights,
                 int64_t rows, int64_t width);

// Draws `samples` different indices from each of `rows` rows of weights: those with the largest
// quotients of weight and an exponential number, in that order.
template <class T>
void multinomial_distinct(Generator& generator, int64_t* out, int64_t samples, const T* weights,
                          int64_t rows, int64_t width);

// Returns the threshold below which a Philox number means success: success(p) of 2^32 numbers.
FACULA_API uint64_t bernoulli_threshold(double p);

// Writes elements [begin, end) of a Bernoulli stream: out[i - begin] is 1 when number i of the
// stream is below the threshold, else 0. begin is a multiple of kPhiloxBlock. T is any type.
template <class T>
void bernoulli(PhiloxKey key, T* out, int64_t begin, int64_t end, uint64_t threshold);

// The same with a probability for each element.
template <class T, class P>
void bernoulli(PhiloxKey key, T* out, int64_t begin, int64_t end, const P* probabilities);

// Writes elements [begin, end) of a dropout: in[i] * scale where number i of the stream is below
// the threshold, in[i] * 0 elsewhere. begin is a multiple of kPhiloxBlock; in and out, which may be
// the same, point to element begin.
template <class T>
void dropout(PhiloxKey key, T* out, const T* in, int64_t begin, int64_t end, uint64_t threshold,
             double scale);

}  // namespace facula::random
