// Uniform, normal, integer and Bernoulli fills and permutations of random.h.
#include "facula/core/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

namespace facula::random {
namespace {

constexpr int64_t kChunk = 512;

// Bits of the significand, the hidden one included.
template <class T>
constexpr int kDigits = 0;
template <>
constexpr int kDigits<Half> = 11;
template <>
constexpr int kDigits<BFloat16> = 8;
template <>
constexpr int kDigits<float> = 24;
template <>
constexpr int kDigits<double> = 53;

template <class T>
constexpr bool kIsFloating = kDigits<T> != 0;

// The logarithm of x in [2^-24, 1], to an ulp; branch-free, so that loops over it are vectorised.
// log(m * 2^e) with m in [sqrt(1/2), sqrt(2)); the polynomial is a minimax fit of log(1 + f).
inline float log_of_unit(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  const int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const float f = std::bit_cast<float>(bits - (exponent << 23)) - 1;
  float p = -0x1.41eep-4f;
  p = p * f + 0x1.07d0eep-3f;
  p = p * f + -0x1.0ce07cp-3f;
  p = p * f + 0x1.226e4ap-3f;
  p = p * f + -0x1.54788ap-3f;
  p = p * f + 0x1.99a596p-3f;
  p = p * f + -0x1.00022p-2f;
  p = p * f + 0x1.55554ap-2f;
  const float square = f * f;
  const auto e = static_cast<float>(exponent);
  // log(2) in two parts, the first short enough for e times it to be exact.
  const float low = e * -0x1.bd0106p-13f + (p * f * square - 0.5f * square);
  return e * 0x1.63p-1f + (f + low);
}

struct SineCosine {
  float sine, cosine;
};

// Sine and cosine of an angle in [0, 2 pi], to an ulp or two; branch-free.
inline SineCosine sine_cosine(float angle) {
  const auto quarter = static_cast<int32_t>(angle * 0x1.45f306p-1f + 0.5f);
  const auto q = static_cast<float>(quarter);
  // pi / 2 in two parts; the products with 0 to 4 of the first are exact.
  const float r = (angle - q * 0x1.92p+0f) - q * 0x1.fb5444p-12f;
  const float square = r * r;
  float s = -0x1.994eb4p-13f;
  s = s * square + 0x1.11076p-7f;
  s = s * square + -0x1.555546p-3f;
  s = s * square * r + r;
  float c = 0x1.9a025ap-16f;
  c = c * square + -0x1.6c0c8cp-10f;
  c = c * square + 0x1.55554ap-5f;
  c = c * square * square + (1 - 0.5f * square);
  const float sine = (quarter & 1) != 0 ? c : s;
  const float cosine = (quarter & 1) != 0 ? s : c;
  return {(quarter & 2) != 0 ? -sine : sine, ((quarter + 1) & 2) != 0 ? -cosine : cosine};
}

// Sixteen normal numbers from sixteen uniform ones, in place, by Box and Muller: the first eight
// give radii, the last eight angles.
void normal_block(float* data, float mean, float deviation) {
  for (int i = 0; i < 8; ++i) {
    const float radius = std::sqrt(-2 * log_of_unit(1 - data[i]));
    const SineCosine turn = sine_cosine(static_cast<float>(2 * std::numbers::pi) * data[i + 8]);
    data[i] = std::fma(radius * turn.cosine, deviation, mean);
    data[i + 8] = std::fma(radius * turn.sine, deviation, mean);
  }
}

void normal_block(double* data, double mean, double deviation) {
  for (int i = 0; i < 8; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - data[i]));
    const double angle = 2 * std::numbers::pi * data[i + 8];
    data[i] = std::fma(radius * std::cos(angle), deviation, mean);
    data[i + 8] = std::fma(radius * std::sin(angle), deviation, mean);
  }
}

template <class T>
T convert(double value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace

template <class T>
void uniform(Generator& generator, T* out, int64_t count, double low, double high) {
  if constexpr (std::is_same_v<T, double>) {
    const double range = high - low;
    for (int64_t i = 0; i < count; ++i) {
      const double value = std::fma(generator.uniform(), range, low);
      out[i] = value == high ? low : value;
    }
  } else {
    constexpr uint32_t kMask = (1u << kDigits<float>)-1;
    constexpr float kUnit = 1.0f / (1u << kDigits<float>);
    // Half types are rounded once, from numbers between the bounds in float.
    const T first = convert<T>(low), end = convert<T>(high);
    const auto from = static_cast<float>(low);
    const float to = end, range = static_cast<float>(high) - from;
    uint32_t words[kChunk];
    for (int64_t start = 0; start < count; start += kChunk) {
      const int64_t size = std::min(kChunk, count - start);
      generator.fill(words, static_cast<size_t>(size));
      for (int64_t i = 0; i < size; ++i) {
        const float unit = static_cast<float>(static_cast<int32_t>(words[i] & kMask)) * kUnit;
        const T value = T(std::fma(unit, range, from));
        out[start + i] = static_cast<float>(value) == to ? first : value;
      }
    }
  }
}

template <class T>
void normal_one_by_one(Generator& generator, T* out, int64_t count, double mean, double deviation) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = convert<T>(std::fma(generator.normal(), deviation, mean));
  }
}

template <class T>
void normal(Generator& generator, T* out, int64_t count, double mean, double deviation) {
  using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr int64_t kBlock = 16;
  if (count < kBlock) return normal_one_by_one(generator, out, count, mean, deviation);
  auto make = [&](T* to) {
    Compute block[kBlock];
    uniform(generator, block, kBlock, 0, 1);
    normal_block(block, static_cast<Compute>(mean), static_cast<Compute>(deviation));
    for (int64_t i = 0; i < kBlock; ++i) to[i] = T(block[i]);
  };
  // The last block overlaps the one before when the count is no multiple of 16. For float and
  // double it comes after the uniform numbers of a part block, which nothing uses.
  int64_t start = 0;
  for (; start + kBlock <= count; start += kBlock) make(out + start);
  if (start < count) {
    if constexpr (std::is_same_v<T, Compute>) {
      T unused[kBlock];
      uniform(generator, unused, count - start, 0, 1);
    }
    make(out + count - kBlock);
  }
}

template <class T>
void integers(Generator& generator, T* out, int64_t count, uint64_t range, int64_t base) {
  auto value = [base](uint64_t offset) {
    const auto sum = static_cast<int64_t>(offset + static_cast<uint64_t>(base));
    if constexpr (kIsFloating<T> && kDigits<T> < 24) {
      return T(static_cast<float>(sum));
    } else {
      return static_cast<T>(sum);
    }
  };
  constexpr uint64_t kTwoWords = uint64_t{1} << 28;
  if (range == 0) {  // all numbers of 64 bits; the base would only turn the circle
    for (int64_t i = 0; i < count; ++i)
      out[i] = value(generator.random64() - static_cast<uint64_t>(base));
  } else if (range >= kTwoWords) {
    for (int64_t i = 0; i < count; ++i) out[i] = value(generator.random64() % range);
  } else {
    const auto narrow = static_cast<uint32_t>(range);
    for (int64_t i = 0; i < count; ++i) out[i] = value(generator.random() % narrow);
  }
}

template <class T>
void all_integers(Generator& generator, T* out, int64_t count) {
  if constexpr (std::is_same_v<T, bool>) {
    for (int64_t i = 0; i < count; ++i) out[i] = (generator.random() & 1) != 0;
  } else if constexpr (kIsFloating<T>) {
    integers(generator, out, count, (uint64_t{1} << kDigits<T>)+1, 0);
  } else {
    using Limits = std::numeric_limits<T>;
    constexpr uint64_t kRange = static_cast<uint64_t>(Limits::max()) + 1;  // 0 for uint64_t
    if constexpr (sizeof(T) == 8) {
      integers(generator, out, count, kRange, 0);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(generator.random() % kRange);
    }
  }
}

template <class T>
void permutation(Generator& generator, T* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kIsFloating<T> && kDigits<T> < 24) {
      out[i] = T(static_cast<float>(i));
    } else {
      out[i] = static_cast<T>(i);
    }
  }
  // A word of 32 bits is even enough below a twentieth of its range.
  const bool narrow = count < std::numeric_limits<uint32_t>::max() / 20;
  for (int64_t i = 0; i < count - 1; ++i) {
    const auto left = static_cast<uint64_t>(count - i);
    const uint64_t step =
        narrow ? generator.random() % static_cast<uint32_t>(left) : generator.random64() % left;
    std::swap(out[i], out[i + static_cast<int64_t>(step)]);
  }
}

uint64_t bernoulli_threshold(double p) {
  return static_cast<uint64_t>(std::llround(std::clamp(p, 0.0, 1.0) * 0x1p32));
}

namespace {

// Calls use(words, start, size) for the Philox numbers of [begin, end), block by block.
template <class Use>
void each_philox_block(PhiloxKey key, int64_t begin, int64_t end, Use use) {
  uint32_t words[kPhiloxBlock];
  for (int64_t start = begin; start < end; start += kPhiloxBlock) {
    philox_block(key, static_cast<uint64_t>(start / kPhiloxBlock), words);
    use(words, start, std::min(kPhiloxBlock, end - start));
  }
}

}  // namespace

template <class T>
void bernoulli(PhiloxKey key, T* out, int64_t begin, int64_t end, uint64_t threshold) {
  if (threshold == 0) {
    std::fill(out, out + (end - begin), T(0));
    return;
  }
  const auto last = static_cast<uint32_t>(threshold - 1);  // the largest number that succeeds
  each_philox_block(key, begin, end, [=](const uint32_t* words, int64_t start, int64_t size) {
    T* to = out + (start - begin);
    for (int64_t i = 0; i < size; ++i) to[i] = T(words[i] <= last ? 1 : 0);
  });
}

template <class T, class P>
void bernoulli(PhiloxKey key, T* out, int64_t begin, int64_t end, const P* probabilities) {
  each_philox_block(key, begin, end, [&](const uint32_t* words, int64_t start, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
      const uint64_t threshold = bernoulli_threshold(probabilities[start - begin + i]);
      out[start - begin + i] = T(words[i] < threshold ? 1 : 0);
    }
  });
}

template <class T>
void dropout(PhiloxKey key, T* out, const T* in, int64_t begin, int64_t end, uint64_t threshold,
             double scale) {
  using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto factor = static_cast<Compute>(threshold == 0 ? 0 : scale);
  const auto last = static_cast<uint32_t>(threshold - (threshold != 0));
  each_philox_block(key, begin, end, [=](const uint32_t* words, int64_t start, int64_t size) {
    T* to = out + (start - begin);
    const T* from = in + (start - begin);
    // out is in or does not touch it.
#pragma GCC ivdep
    for (int64_t i = 0; i < size; ++i) {
      const Compute kept = words[i] <= last ? factor : Compute{0};
      to[i] = T(static_cast<Compute>(from[i]) * kept);
    }
  });
}

#define FACULA_FLOATING(T)                                                             \
  template FACULA_API void uniform(Generator&, T*, int64_t, double, double);           \
  template FACULA_API void normal(Generator&, T*, int64_t, double, double);            \
  template FACULA_API void normal_one_by_one(Generator&, T*, int64_t, double, double); \
  template FACULA_API void dropout(PhiloxKey, T*, const T*, int64_t, int64_t, uint64_t, double);
FACULA_FLOATING(float)
FACULA_FLOATING(double)
FACULA_FLOATING(Half)
FACULA_FLOATING(BFloat16)
#undef FACULA_FLOATING

#define FACULA_ANY(T)                                                                \
  template FACULA_API void integers(Generator&, T*, int64_t, uint64_t, int64_t);     \
  template FACULA_API void all_integers(Generator&, T*, int64_t);                    \
  template FACULA_API void permutation(Generator&, T*, int64_t);                     \
  template FACULA_API void bernoulli(PhiloxKey, T*, int64_t, int64_t, uint64_t);     \
  template FACULA_API void bernoulli(PhiloxKey, T*, int64_t, int64_t, const float*); \
  template FACULA_API void bernoulli(PhiloxKey, T*, int64_t, int64_t, const double*);
FACULA_ANY(float)
FACULA_ANY(double)
FACULA_ANY(Half)
FACULA_ANY(BFloat16)
FACULA_ANY(bool)
FACULA_ANY(uint8_t)
FACULA_ANY(int8_t)
FACULA_ANY(int16_t)
FACULA_ANY(int32_t)
FACULA_ANY(int64_t)
FACULA_ANY(uint16_t)
FACULA_ANY(uint32_t)
FACULA_ANY(uint64_t)
#undef FACULA_ANY

}  // namespace facula::random
