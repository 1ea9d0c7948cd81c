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

std::vector<double> stream(const std::string& name, uint64_t seed, size_t count) {
  using Fill = std::vector<double> (*)(uint64_t, size_t);
  static const std::map<std::string, Fill> fills = {
      {"rand",
       [](uint64_t s, size_t n) {
         return filled<float>(s, n,
                              [](auto& g, float* o, int64_t c) { random::uniform(g, o, c, 0, 1); });
       }},
      {"rand_double",
       [](uint64_t s, size_t n) {
         return filled<double>(
             s, n, [](auto& g, double* o, int64_t c) { random::uniform(g, o, c, 0, 1); });
       }},
      {"uniform",
       [](uint64_t s, size_t n) {
         return filled<float>(
             s, n, [](auto& g, float* o, int64_t c) { random::uniform(g, o, c, -2, 3); });
       }},
      {"randn",
       [](uint64_t s, size_t n) {
         return filled<float>(s, n,
                              [](auto& g, float* o, int64_t c) { random::normal(g, o, c, 0, 1); });
       }},
      {"randn_double",
       [](uint64_t s, size_t n) {
         return filled<double>(
             s, n, [](auto& g, double* o, int64_t c) { random::normal(g, o, c, 0, 1); });
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
         return filled<int64_t>(
             s, n, [](auto& g, int64_t* o, int64_t c) { random::permutation(g, o, c); });
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
  return fills.at(name)(seed, count);
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

TEST(RandomStreams, SerialDistributions) {
  expect_stream(
      filled<float>(11, 4, [](auto& g, float* o, int64_t n) { random::exponential(g, o, n, 1.5); }),
      {0.1424042, 1.4435792, 0.742242, 0.7284456});
  expect_stream(
      filled<float>(11, 6, [](auto& g, float* o, int64_t n) { random::geometric(g, o, n, 0.3); }),
      {5, 1, 2, 2, 2, 6});
  expect_stream(filled<int64_t>(
                    11, 6, [](auto& g, int64_t* o, int64_t n) { random::geometric(g, o, n, 0.3); }),
                {5, 1, 2, 2, 2, 6});
  expect_stream(
      filled<double>(11, 4, [](auto& g, double* o, int64_t n) { random::cauchy(g, o, n, 1, 2); }),
      {-1.8969933, 6.3075849, 2.1959586, 2.1381124});
  expect_stream(
      filled<float>(11, 4,
                    [](auto& g, float* o, int64_t n) { random::log_normal(g, o, n, 1, 0.5); }),
      {3.9306891, 7.1919661, 1.9159799, 1.4174384});
}

TEST(RandomStreams, DistributionsWithParameters) {
  auto poisson = [](float rate) {
    return filled<float>(11, 6, [rate](auto& g, float* o, int64_t n) {
      random::poisson(g, o, std::vector<float>(6, rate).data(), n);
    });
  };
  expect_stream(poisson(0.5f), {0, 1, 1, 0, 0, 0});
  expect_stream(poisson(3), {4, 1, 2, 4, 0, 3});
  expect_stream(poisson(50), {43, 54, 52, 42, 57, 55});
  expect_stream(poisson(1000), {969, 1016, 1007, 966, 1033, 1020});
  expect_stream(poisson(0), {0, 0, 0, 0, 0, 0});
  auto binomial = [](float trials, float p) {
    return filled<float>(11, 6, [=](auto& g, float* o, int64_t n) {
      random::binomial(g, o, std::vector<float>(6, trials).data(), std::vector<float>(6, p).data(),
                       n);
    });
  };
  expect_stream(binomial(10, 0.3f), {4, 1, 3, 3, 0, 3});
  expect_stream(binomial(100, 0.3f), {32, 31, 25, 35, 33, 23});
  expect_stream(binomial(1000, 0.7f), {714, 693, 697, 715, 685, 691});
  expect_stream(binomial(10, 1), {10, 10, 10, 10, 10, 10});
  expect_stream(binomial(0, 0.5f), {0, 0, 0, 0, 0, 0});
  auto gamma = [](float alpha) {
    return filled<float>(11, 4, [alpha](auto& g, float* o, int64_t n) {
      random::standard_gamma(g, o, std::vector<float>(4, alpha).data(), n);
    });
  };
  expect_stream(gamma(0.1f), {0.26304266, 3.4360935e-05, 0.34765181, 3.9629326e-15});
  expect_stream(gamma(2.5f), {3.443892, 6.4786153, 1.4955758, 1.7935358});
  expect_stream(gamma(100), {107.21351, 120.38305, 94.629913, 96.999123});
  expect_stream(filled<float>(11, 6,
                              [](auto& g, float* o, int64_t) {
                                random::dirichlet(g, o, std::vector<float>(6, 1.5f).data(), 2, 3);
                              }),
                {0.28262678, 0.62631357, 0.091059677, 0.29657924, 0.56872123, 0.13469957});
}

TEST(RandomStreams, Multinomial) {
  const std::vector<float> weights = {1, 2, 3, 4, 0, 5};
  expect_stream(filled<int64_t>(11, 8,
                                [&](auto& g, int64_t* o, int64_t n) {
                                  random::multinomial(g, o, n, weights.data(), 1, 6);
                                }),
                {1, 5, 5, 3, 3, 1, 1, 1}, 0);
  expect_stream(filled<int64_t>(11, 5,
                                [&](auto& g, int64_t* o, int64_t n) {
                                  random::multinomial_distinct(g, o, n, weights.data(), 1, 6);
                                }),
                {5, 0, 3, 2, 1}, 0);
}

TEST(CheckWeights, NamesTheFault) {
  using random::MultinomialFault;
  auto check = [](std::vector<float> weights) {
    return random::check_weights(weights.data(), 1, static_cast<int64_t>(weights.size()));
  };
  EXPECT_EQ(check({0, 1, 2}), MultinomialFault::kNone);
  EXPECT_EQ(check({0, -1, 2}), MultinomialFault::kNegativeOrNotFinite);
  EXPECT_EQ(check({0, NAN, 2}), MultinomialFault::kNegativeOrNotFinite);
  EXPECT_EQ(check({0, INFINITY, 2}), MultinomialFault::kNegativeOrNotFinite);
  EXPECT_EQ(check({0, 0}), MultinomialFault::kSumNotPositive);
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

}  // namespace
}  // namespace facula
