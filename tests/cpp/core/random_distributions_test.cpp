// Tests of the serial distributions against numbers that PyTorch draws.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "facula/core/random.h"

namespace facula {
namespace {

template <class T, class Fill>
std::vector<double> drawn(uint64_t seed, size_t count, Fill fill) {
  Generator generator(seed);
  std::vector<T> values(count);
  fill(generator, values.data(), static_cast<int64_t>(count));
  return {values.begin(), values.end()};
}

void expect_numbers(const std::vector<double>& got, const std::vector<double>& expected,
                    double tolerance = 2e-6) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << i;
  }
}

TEST(RandomDistributions, SerialOnes) {
  expect_numbers(
      drawn<float>(11, 4, [](auto& g, float* o, int64_t n) { random::exponential(g, o, n, 1.5); }),
      {0.1424042, 1.4435792, 0.742242, 0.7284456});
  expect_numbers(
      drawn<float>(11, 6, [](auto& g, float* o, int64_t n) { random::geometric(g, o, n, 0.3); }),
      {5, 1, 2, 2, 2, 6});
  expect_numbers(
      drawn<int64_t>(11, 6,
                     [](auto& g, int64_t* o, int64_t n) { random::geometric(g, o, n, 0.3); }),
      {5, 1, 2, 2, 2, 6});
  expect_numbers(
      drawn<double>(11, 4, [](auto& g, double* o, int64_t n) { random::cauchy(g, o, n, 1, 2); }),
      {-1.8969933, 6.3075849, 2.1959586, 2.1381124});
  expect_numbers(
      drawn<float>(11, 4,
                   [](auto& g, float* o, int64_t n) { random::log_normal(g, o, n, 1, 0.5); }),
      {3.9306891, 7.1919661, 1.9159799, 1.4174384});
}

TEST(RandomDistributions, ThoseWithParameters) {
  auto poisson = [](float rate) {
    return drawn<float>(11, 6, [rate](auto& g, float* o, int64_t n) {
      random::poisson(g, o, std::vector<float>(6, rate).data(), n);
    });
  };
  expect_numbers(poisson(0.5f), {0, 1, 1, 0, 0, 0});
  expect_numbers(poisson(3), {4, 1, 2, 4, 0, 3});
  expect_numbers(poisson(50), {43, 54, 52, 42, 57, 55});
  expect_numbers(poisson(1000), {969, 1016, 1007, 966, 1033, 1020});
  expect_numbers(poisson(0), {0, 0, 0, 0, 0, 0});
  auto binomial = [](float trials, float p) {
    return drawn<float>(11, 6, [=](auto& g, float* o, int64_t n) {
      random::binomial(g, o, std::vector<float>(6, trials).data(), std::vector<float>(6, p).data(),
                       n);
    });
  };
  expect_numbers(binomial(10, 0.3f), {4, 1, 3, 3, 0, 3});
  expect_numbers(binomial(100, 0.3f), {32, 31, 25, 35, 33, 23});
  expect_numbers(binomial(1000, 0.7f), {714, 693, 697, 715, 685, 691});
  expect_numbers(binomial(10, 1), {10, 10, 10, 10, 10, 10});
  expect_numbers(binomial(0, 0.5f), {0, 0, 0, 0, 0, 0});
  auto gamma = [](float alpha) {
    return drawn<float>(11, 4, [alpha](auto& g, float* o, int64_t n) {
      random::standard_gamma(g, o, std::vector<float>(4, alpha).data(), n);
    });
  };
  expect_numbers(gamma(0.1f), {0.26304266, 3.4360935e-05, 0.34765181, 3.9629326e-15});
  expect_numbers(gamma(2.5f), {3.443892, 6.4786153, 1.4955758, 1.7935358});
  expect_numbers(gamma(100), {107.21351, 120.38305, 94.629913, 96.999123});
  expect_numbers(drawn<float>(11, 6,
                              [](auto& g, float* o, int64_t) {
                                random::dirichlet(g, o, std::vector<float>(6, 1.5f).data(), 2, 3);
                              }),
                 {0.28262678, 0.62631357, 0.091059677, 0.29657924, 0.56872123, 0.13469957});
}

TEST(RandomDistributions, Multinomial) {
  const std::vector<float> weights = {1, 2, 3, 4, 0, 5};
  expect_numbers(drawn<int64_t>(11, 8,
                                [&](auto& g, int64_t* o, int64_t n) {
                                  random::multinomial(g, o, n, weights.data(), 1, 6);
                                }),
                 {1, 5, 5, 3, 3, 1, 1, 1}, 0);
  expect_numbers(drawn<int64_t>(11, 5,
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

}  // namespace
}  // namespace facula
