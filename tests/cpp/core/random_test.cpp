// Tests of random fills: recorded streams of PyTorch, and what must hold for any seed.
#include "facula/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "random_streams.h"

namespace facula {
namespace {

template <class T, class Fill>
std::vector<double> filled(uint64_t seed, size_t count, Fill fill) {
  Generator generator(seed);
  std::vector<T> values(count);
  fill(generator, values.data(), static_cast<int64_t>(count));
  return {values.begin(), values.end()};
}

using Fill = std::vector<double> (*)(uint64_t, size_t);
const std::map<std::string, Fill> kFills = {
    {"rand",
     [](uint64_t s, size_t n) {
       return filled<float>(s, n,
                            [](auto& g, float* o, int64_t c) { random::uniform(g, o, c, 0, 1); });
     }},
    {"rand_double",
     [](uint64_t s, size_t n) {
       return filled<double>(s, n,
                             [](auto& g, double* o, int64_t c) { random::uniform(g, o, c, 0, 1); });
     }},
    {"uniform",
     [](uint64_t s, size_t n) {
       return filled<float>(s, n,
                            [](auto& g, float* o, int64_t c) { random::uniform(g, o, c, -2, 3); });
     }},
    {"randn",
     [](uint64_t s, size_t n) {
       return filled<float>(s, n,
                            [](auto& g, float* o, int64_t c) { random::normal(g, o, c, 0, 1); });
     }},
    {"randn_double",
     [](uint64_t s, size_t n) {
       return filled<double>(s, n,
                             [](auto& g, double* o, int64_t c) { random::normal(g, o, c, 0, 1); });
     }},
    {"normal",
     [](uint64_t s, size_t n) {
       return filled<float>(s, n,
                            [](auto& g, float* o, int64_t c) { random::normal(g, o, c, 1, 2); });
     }},
    {"randint10",
     [](uint64_t s, size_t n) {
       return filled<int64_t>(
           s, n, [](auto& g, int64_t* o, int64_t c) { random::integers(g, o, c, 10, 0); });
     }},
    {"randint1000005",
     [](uint64_t s, size_t n) {
       return filled<int64_t>(
           s, n, [](auto& g, int64_t* o, int64_t c) { random::integers(g, o, c, 1000005, -5); });
     }},
    {"randint_2_40",
     [](uint64_t s, size_t n) {
       return filled<int64_t>(s, n, [](auto& g, int64_t* o, int64_t c) {
         random::integers(g, o, c, uint64_t{1} << 40, 0);
       });
     }},
    {"randperm",
     [](uint64_t s, size_t n) {
       return filled<int64_t>(s, n,
                              [](auto& g, int64_t* o, int64_t c) { random::permutation(g, o, c); });
     }},
    {"randn3_rand2",
     [](uint64_t s, size_t n) {
       return filled<float>(s, n, [](auto& g, float* o, int64_t) {
         random::normal(g, o, 3, 0, 1);
         random::uniform(g, o + 3, 2, 0, 1);
       });
     }},
    {"randn20_randn3",
     [](uint64_t s, size_t n) {
       return filled<float>(s, n, [](auto& g, float* o, int64_t) {
         random::normal(g, o, 20, 0, 1);
         random::normal(g, o + 20, 3, 0, 1);
       });
     }},
};

std::vector<double> stream(const std::string& name, uint64_t seed, size_t count) {
  return kFills.at(name)(seed, count);
}

// "randn17" -> "randn", "rand5_double" -> "rand_double"; names with a fill of their own stay.
std::string fill_name(std::string name) {
  if (name.starts_with("randint") || name.starts_with("randn3_") || name.starts_with("randn20_")) {
    return name;
  }
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

TEST(RandomStreams, EqualTheRecordedOnes) {
  for (const RecordedStream& recorded : kRecordedStreams) {
    const std::vector<double> got =
        stream(fill_name(recorded.name), recorded.seed, recorded.values.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], recorded.values[i], 2e-6 * (1 + std::fabs(recorded.values[i])))
          << recorded.name << " of seed " << recorded.seed << " at " << i;
    }
  }
}

// The number of 32-bit words that a fill takes from the engine.
template <class T, class Fill>
size_t words_taken(Fill fill) {
  Generator generator(1), counter(1);
  std::vector<T> values(100);
  fill(generator, values.data());
  const uint32_t next = generator.random();
  for (size_t words = 0; words < 1000; ++words) {
    if (counter.random() == next) return words;
  }
  return SIZE_MAX;
}

TEST(RandomStreams, TakeAsManyWordsAsPyTorch) {
  auto normal = [](auto count) {
    return [count](Generator& g, auto* out) { random::normal(g, out, count, 0, 1); };
  };
  EXPECT_EQ(words_taken<float>(normal(16)), 16u);
  EXPECT_EQ(words_taken<float>(normal(17)), 33u);
  EXPECT_EQ(words_taken<double>(normal(17)), 66u);
  EXPECT_EQ(words_taken<Half>(normal(17)), 32u);
  EXPECT_EQ(words_taken<Half>(normal(5)), 12u);
  auto below = [](uint64_t range) {
    return [range](Generator& g, auto* out) { random::integers(g, out, 10, range, 0); };
  };
  EXPECT_EQ(words_taken<int64_t>(below((1u << 28) - 1)), 10u);
  EXPECT_EQ(words_taken<int64_t>(below(1u << 28)), 20u);
  auto permutation = [](Generator& g, auto* out) { random::permutation(g, out, 10); };
  EXPECT_EQ(words_taken<int64_t>(permutation), 9u);
}

void expect_stream(const std::vector<double>& got, const std::vector<double>& expected,
                   double tolerance = 2e-6) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << i;
  }
}

TEST(RandomStreams, OtherTypes) {
  expect_stream(
      filled<Half>(11, 5, [](auto& g, Half* o, int64_t n) { random::uniform(g, o, n, -2, 3); }),
      {-1.2548828, 0.43286133, 2.9277344, -1.1582031, 0.91992188}, 1e-7);
  expect_stream(filled<BFloat16>(
                    11, 17, [](auto& g, BFloat16* o, int64_t n) { random::normal(g, o, n, 0, 1); }),
                {-0.51171875, 0.24804688, 1.5703125, -1.640625, -1.59375, -0.15429688, -1.09375,
                 1.3671875, 0.6875, -0.39257812, 0.6171875, 0.75390625, 0.6015625, 2.015625,
                 -1.171875, -1.3203125, 1.125},
                4e-3);
  auto all = [](auto& g, auto* o, int64_t n) { random::all_integers(g, o, n); };
  expect_stream(filled<int64_t>(11, 3, all),
                {3325388913236545024.0, 359254775711865920.0, 8544873655684927488.0}, 0);
  expect_stream(filled<uint8_t>(11, 5, all), {153, 191, 80, 91, 81}, 0);
  expect_stream(filled<float>(11, 5, all), {2500459, 8162990, 16536652, 2825137, 9796827}, 0);
}

TEST(RandomStreams, NormalOneByOne) {
  expect_stream(
      filled<float>(11, 18,
                    [](auto& g, float* o, int64_t n) { random::normal_one_by_one(g, o, n, 1, 2); }),
      {2.4752588, 4.8918581, -0.39908323, -1.6045947, -0.026524404, 0.46076086, 1.4923693,
       1.9678506, 1.9008356, -0.91366684, 4.0023756, 0.37285265, 0.5314312, -1.1426184, 1.3295969,
       1.2313089, 1.7668129, 0.75316828});
}

TEST(Uniform, NeverReachesTheEndOfTheInterval) {
  Generator generator(1);
  std::vector<float> values(1000);
  random::uniform(generator, values.data(), 1000, 1e8, 1e8 + 8);  // neighbouring floats
  for (float value : values) ASSERT_EQ(value, 1e8f);
  std::vector<BFloat16> coarse(1000);
  random::uniform(generator, coarse.data(), 1000, 0, 1);
  for (float value : coarse) ASSERT_LT(value, 1.0f);
}

TEST(Normal, MomentsOfAMillion) {
  Generator generator(5);
  std::vector<float> values(1'000'003);
  random::normal(generator, values.data(), 1'000'003, 3, 0.5);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 1'000'003;
  double variance = 0, fourth = 0;
  for (float value : values) {
    const double z = (value - mean) / 0.5;
    variance += z * z / 1'000'003;
    fourth += z * z * z * z / 1'000'003;
  }
  EXPECT_NEAR(mean, 3, 0.003);
  EXPECT_NEAR(variance, 1, 0.01);
  EXPECT_NEAR(fourth, 3, 0.05);
}

TEST(Normal, DegenerateDeviationsAndEmptyRanges) {
  Generator generator(5);
  std::vector<float> values(20, -1);
  random::normal(generator, values.data(), 20, 2, 0);
  for (float value : values) EXPECT_EQ(value, 2);
  const Ref<Generator> before = generator.clone();
  random::normal(generator, values.data(), 0, 0, 1);
  random::uniform(generator, values.data(), 0, 0, 1);
  EXPECT_EQ(before->random(), generator.random());
}

TEST(Permutation, IsOne) {
  Generator generator(5);
  for (int64_t n : {0, 1, 2, 100, 70'000}) {
    std::vector<int32_t> order(static_cast<size_t>(n));
    random::permutation(generator, order.data(), n);
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
  }
}

TEST(Bernoulli, EveryPartOfAStreamIsTheSame) {
  const PhiloxKey key{3, 4};
  const uint64_t threshold = random::bernoulli_threshold(0.3);
  std::vector<float> whole(1000), parts(1000);
  random::bernoulli(key, whole.data(), 0, 1000, threshold);
  for (int64_t begin = 0; begin < 1000; begin += 192) {
    const int64_t end = std::min<int64_t>(1000, begin + 192);
    random::bernoulli(key, parts.data() + begin, begin, end, threshold);
  }
  EXPECT_EQ(whole, parts);
  std::vector<double> probabilities(1000, 0.3);
  std::vector<uint8_t> bytes(1000);
  random::bernoulli(key, bytes.data(), 0, 1000, probabilities.data());
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), bytes.begin()));
}

TEST(Bernoulli, HasTheRightMeanAndExactEnds) {
  constexpr int64_t kCount = 1'000'000;
  std::vector<uint8_t> values(kCount);
  for (double p : {0.0, 1.0, 0.5, 0.01, 0.9}) {
    random::bernoulli(PhiloxKey{9, 9}, values.data(), 0, kCount, random::bernoulli_threshold(p));
    const auto sum = static_cast<double>(std::accumulate(values.begin(), values.end(), int64_t{0}));
    EXPECT_NEAR(sum / kCount, p, 4 * std::sqrt(p * (1 - p) / kCount));
  }
}

TEST(Dropout, KeepsScalesAndMakesTheSameDecisionsInParts) {
  const PhiloxKey key{5, 6};
  std::vector<float> in(1000), whole(1000), parts(1000);
  std::iota(in.begin(), in.end(), 1.0f);
  const uint64_t threshold = random::bernoulli_threshold(0.75);
  random::dropout(key, whole.data(), in.data(), 0, 1000, threshold, 1 / 0.75);
  random::dropout(key, parts.data(), in.data(), 0, 64, threshold, 1 / 0.75);
  random::dropout(key, parts.data() + 64, in.data() + 64, 64, 1000, threshold, 1 / 0.75);
  EXPECT_EQ(whole, parts);
  std::vector<float> ones(1000);
  random::bernoulli(key, ones.data(), 0, 1000, threshold);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(whole[i], ones[i] * (in[i] * static_cast<float>(1 / 0.75)));
  }
  random::dropout(key, in.data(), in.data(), 0, 1000, threshold, 1 / 0.75);
  EXPECT_EQ(in, whole);
}

}  // namespace
}  // namespace facula
