// Tests of the random rows: streams through tensors, strides, checks of arguments, meta tensors,
// and gradients of dropout.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "facula/autograd/engine.h"
#include "facula/base/error.h"
#include "facula/core/generator.h"
#include "facula/ops/functions.h"
#include "facula/ops/rules.h"

namespace facula {
namespace {

std::vector<double> values_of(const Tensor& t) {
  const Tensor plain = to_contiguous(to_dtype(t, kFloat64));
  const double* p = plain.data_as<double>();
  return {p, p + plain.numel()};
}

void expect_values(const Tensor& t, const std::vector<double>& expected) {
  const std::vector<double> got = values_of(t);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-6) << i;
}

Ref<Generator> seeded(uint64_t seed) { return make_ref<Generator>(seed); }

template <class F>
void expect_error(ErrorKind kind, const std::string& part, F f) {
  try {
    f();
    FAIL() << "nothing was raised; expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(Factories, DrawFromTheDefaultGenerator) {
  default_generator().manual_seed(0);
  expect_values(rand({3}), {0.49625659, 0.76822180, 0.08847743});
  expect_values(rand({2}), {0.13203049, 0.30742282});
}

TEST(Factories, TakeAGenerator) {
  const Ref<Generator> g = seeded(0);
  const Tensor t = rand({3, 1}, g.get(), kFloat64);
  EXPECT_EQ(t.dtype(), kFloat64);
  EXPECT_EQ(t.size(0), 3);
  EXPECT_EQ(values_of(randint(10, {2}, seeded(0).get())), (std::vector<double>{4, 9}));
  EXPECT_EQ(randint_low(5, 6, {2, 2}, g.get(), kUInt8).dtype(), kUInt8);
  EXPECT_EQ(values_of(randperm(10, seeded(0).get())),
            (std::vector<double>{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}));
}

TEST(Factories, LikeATensorKeepItsLayout) {
  const Tensor t = transpose(rand({3, 4}), 0, 1);
  const Tensor r = rand_like(t, seeded(1).get());
  EXPECT_TRUE(r.strides() == t.strides());
  EXPECT_EQ(values_of(transpose(r, 0, 1)), values_of(rand({3, 4}, seeded(1).get())));
}

TEST(Factories, ComplexNumbersCountAsTwo) {
  const Tensor r = rand({4}, seeded(2).get(), kComplex64);
  EXPECT_EQ(values_of(reshape(view_as_real(r), {8})), values_of(rand({8}, seeded(2).get())));
  const Tensor n = randn({20}, seeded(2).get(), kComplex64);
  const std::vector<double> got = values_of(reshape(view_as_real(n), {40}));
  const std::vector<double> parts = values_of(randn({40}, seeded(2).get()));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], parts[i] / std::sqrt(2.0), 1e-6);
}

TEST(Factories, MetaTensorsHaveNoValuesAndTakeNoNumbers) {
  const Ref<Generator> g = seeded(3);
  EXPECT_TRUE(rand({3}, g.get(), std::nullopt, kMeta).is_meta());
  EXPECT_TRUE(multinomial(rand({3}, g.get(), std::nullopt, kMeta), 2).is_meta());
  EXPECT_TRUE(dropout(rand({3}, g.get(), std::nullopt, kMeta), 0.5, true).is_meta());
  EXPECT_EQ(g->random(), seeded(3)->random());
}

TEST(Fills, StridedTensorsAreFilledInTheOrderOfMemory) {
  const Tensor whole = zeros({5, 2});
  const Tensor column = select(whole, 1, 0);
  uniform_(column, 0, 1, seeded(4).get());
  EXPECT_EQ(values_of(column), values_of(rand({5}, seeded(4).get())));
  EXPECT_EQ(values_of(select(whole, 1, 1)), (std::vector<double>(5, 0)));
}

TEST(Fills, RefuseTensorsThatOverlapThemselves) {
  const Tensor t = expand(zeros({1}), {3});
  for (auto fill : {+[](const Tensor& x) { uniform_(x); }, +[](const Tensor& x) { normal_(x); },
                    +[](const Tensor& x) { bernoulli_(x); }}) {
    expect_error(ErrorKind::kRuntime, "more than one element", [&] { fill(t); });
  }
}

TEST(Fills, CheckTheirArguments) {
  const Tensor t = zeros({3});
  const Tensor whole = zeros({3}, kInt64), bytes = zeros({3}, kUInt8);
  const auto runtime = ErrorKind::kRuntime;
  expect_error(runtime, "found from=2 > to=1", [&] { uniform_(t, 2, 1); });
  expect_error(runtime, "to is out of bounds", [&] { uniform_(t, 0, INFINITY); });
  expect_error(runtime, "to-from", [&] { uniform_(t, -3e38, 3e38); });
  expect_error(ErrorKind::kNotImplemented, "'Long'", [&] { uniform_(whole); });
  expect_error(runtime, "std >= 0.0", [&] { normal_(t, 0, -1); });
  expect_error(runtime, "std >= 0.0", [&] { normal_(t, 0, NAN); });
  expect_error(runtime, "from=5 >= to=3", [&] { random_between_(t, 5, 3); });
  expect_error(runtime, "to - 1 is out of bounds", [&] { random_below_(bytes, 300); });
  expect_error(runtime, "from is out of bounds", [&] { random_between_(bytes, -1, 3); });
  expect_error(runtime, "lambda > 0.0", [&] { exponential_(t, 0); });
  expect_error(runtime, "continuous", [&] { exponential_(whole); });
  expect_error(runtime, "(0, 1)", [&] { geometric_(t, 1); });
  expect_error(runtime, "sigma > 0.0", [&] { cauchy_(t, 0, 0); });
  expect_error(runtime, "std > 0.0", [&] { log_normal_(t, 0, 0); });
  expect_error(runtime, "[0, 1]", [&] { bernoulli_(t, 1.5); });
  expect_error(runtime, "[0, 1]", [&] { bernoulli_tensor_(t, full({3}, 2.0)); });
  expect_error(runtime, "cannot be greater than", [&] { randperm(300, nullptr, kUInt8); });
  EXPECT_EQ(randperm(256, nullptr, kUInt8).numel(), 256);
}

TEST(Fills, WholeRangesOfIntegers) {
  const Tensor t = zeros({2000}, kInt8);
  random_between_(t, -128, std::nullopt, seeded(1).get());
  const std::vector<double> all = values_of(t);
  EXPECT_EQ(*std::min_element(all.begin(), all.end()), -128);
  EXPECT_EQ(*std::max_element(all.begin(), all.end()), 127);
  const Tensor bits = zeros({64}, kBool);
  random_(bits, seeded(1).get());
  const std::vector<double> coins = values_of(bits);
  EXPECT_EQ(std::count(coins.begin(), coins.end(), 0) + std::count(coins.begin(), coins.end(), 1),
            64);
}

TEST(Normal, TensorsOfParametersBroadcast) {
  const Tensor mean = full({2, 1}, 10.0), std = full({8}, 2.0);
  const std::vector<double> got = values_of(normal(mean, std, seeded(5).get()));
  const std::vector<double> unit = values_of(randn({2, 8}, seeded(5).get()));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], unit[i] * 2 + 10, 1e-5);
  expect_error(ErrorKind::kRuntime, "std >= 0.0", [&] { normal(mean, full({8}, -2.0)); });
}

TEST(Draws, Multinomial) {
  const Tensor weights = zeros({2, 3});
  fill_(select(weights, 1, 1), 1.0);
  EXPECT_EQ(values_of(multinomial(weights, 4, true)), std::vector<double>(8, 1));
  EXPECT_EQ(values_of(multinomial(weights, 1)), std::vector<double>(2, 1));
  const auto runtime = ErrorKind::kRuntime;
  expect_error(runtime, "sum of probabilities", [] { multinomial(zeros({3}), 1); });
  expect_error(runtime, "element < 0", [] { multinomial(full({3}, -1.0), 1); });
  expect_error(runtime, "n_sample <= 0", [] { multinomial(ones({3}), 0); });
  expect_error(runtime, "without replacement", [] { multinomial(ones({3}), 4); });
  expect_error(runtime, "1 or 2 dim", [] { multinomial(ones({1, 1, 1}), 1); });
}

TEST(Draws, Bernoulli) {
  const Tensor p = zeros({1000});
  fill_(slice(p, 0, 0, 500, 1), 1.0);
  EXPECT_EQ(values_of(bernoulli(p)), values_of(p));
  const Tensor coins = zeros({1000});
  bernoulli_tensor_(transpose(view(coins, {10, 100}), 0, 1), transpose(view(p, {10, 100}), 0, 1));
  EXPECT_EQ(values_of(coins), values_of(p));
  expect_error(ErrorKind::kNotImplemented, "'Long'", [] { bernoulli(zeros({2}, kInt64)); });
}

TEST(Draws, PoissonAndBinomial) {
  EXPECT_EQ(values_of(poisson(zeros({3}))), std::vector<double>(3, 0));
  expect_error(ErrorKind::kRuntime, "non-negative", [] { poisson(full({2}, -1.0)); });
  EXPECT_EQ(values_of(binomial(full({2}, 7.0), ones({2, 1}))), std::vector<double>(4, 7));
}

TEST(Dropout, OfNothingIsTheInputItself) {
  const Tensor t = ones({3});
  EXPECT_TRUE(dropout(t, 0.5, false).is_same(t));
  EXPECT_TRUE(dropout(t, 0, true).is_same(t));
  expect_error(ErrorKind::kValue, "between 0 and 1, but got 2", [&] { dropout(t, 2, true); });
}

TEST(Dropout, ScalesWhatItKeepsAndItsGradient) {
  Tensor t = ones({100, 100});
  t->flags |= kRequiresGrad;
  default_generator().manual_seed(1);
  const Tensor r = dropout(t, 0.25, true);
  const std::vector<double> kept = values_of(r);
  const double mean = std::count(kept.begin(), kept.end(), 0.0) / 10000.0;
  EXPECT_NEAR(mean, 0.25, 0.02);
  for (double v : kept) EXPECT_TRUE(v == 0 || std::fabs(v - 1 / 0.75) < 1e-6);
  EXPECT_TRUE(r->has(kRequiresGrad));
  NoGrad no_grad;
  const Tensor copy = ones({100, 100});
  default_generator().manual_seed(1);
  dropout_(transpose(copy, 0, 1), 0.25, true);
  EXPECT_EQ(values_of(transpose(copy, 0, 1)), kept);  // decisions follow the shape, not memory
}

TEST(Dropout, FeaturesFallTogether) {
  const std::vector<double> r = values_of(feature_dropout(ones({8, 4, 10}), 0.5, true));
  for (size_t c = 0; c < 32; ++c) {
    for (size_t i = 1; i < 10; ++i) EXPECT_EQ(r[c * 10 + i], r[c * 10]);
  }
}

TEST(Dropout, AlphaKeepsMeanAndVariance) {
  default_generator().manual_seed(3);
  const std::vector<double> r = values_of(alpha_dropout(randn({100, 1000}), 0.3, true));
  double mean = 0, square = 0;
  for (double v : r) {
    mean += v / 1e5;
    square += v * v / 1e5;
  }
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(square - mean * mean, 1, 0.02);
}

TEST(Rrelu, SlopesLieInTheirRange) {
  const Tensor t = full({1000}, -1.0);
  for (double v : values_of(rrelu(t, 0.1, 0.3, true))) {
    EXPECT_TRUE(-v >= 0.1 - 1e-7 && -v < 0.3 + 1e-7);
  }
  for (double v : values_of(rrelu(t, 0.1, 0.3, false))) EXPECT_NEAR(v, -0.2, 1e-7);
  EXPECT_EQ(values_of(rrelu(ones({3}), 0.1, 0.3, true)), std::vector<double>(3, 1));
}

}  // namespace
}  // namespace facula
