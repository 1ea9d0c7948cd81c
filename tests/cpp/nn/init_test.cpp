// Tests of bounds, fans and gains.
#include "facula/nn/init.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "facula/base/error.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

double largest(const Tensor& t) { return item(max(abs(t))); }

TEST(Init, FansCountTheReceptiveField) {
  EXPECT_EQ(init::fan_in_and_fan_out(zeros({8, 4, 3, 5})), (std::pair<int64_t, int64_t>(60, 120)));
  EXPECT_THROW(init::fan_in_and_fan_out(zeros({8})), Error);
}

TEST(Init, GainsAreNamed) {
  EXPECT_EQ(init::calculate_gain("conv2d"), 1);
  EXPECT_EQ(init::calculate_gain("tanh"), 5.0 / 3);
  EXPECT_NEAR(init::calculate_gain("leaky_relu", 0.2), std::sqrt(2 / 1.04), 1e-15);
  EXPECT_THROW(init::calculate_gain("nothing"), Error);
}

TEST(Init, UniformStaysInItsBounds) {
  manual_seed(1);
  Tensor w = new_empty({200, 50}, kFloat32);
  init::kaiming_uniform_(w, 0);
  double bound = std::sqrt(6.0 / 50);
  EXPECT_LE(largest(w), bound * 1.000001);
  EXPECT_GT(largest(w), bound * 0.99);
  init::xavier_uniform_(w);
  EXPECT_NEAR(largest(w), std::sqrt(6.0 / 250), 1e-3);
}

TEST(Init, NormalHasItsDeviation) {
  manual_seed(1);
  Tensor w = new_empty({200, 50}, kFloat32);
  init::kaiming_normal_(w, 0, init::FanMode::kFanOut, "relu");
  EXPECT_NEAR(item(mean(w * w)), 2.0 / 200, 5e-4);
  init::xavier_normal_(w);
  EXPECT_NEAR(item(mean(w * w)), 2.0 / 250, 5e-4);
}

TEST(Init, TheDefaultDrawsTheWeightFirst) {
  manual_seed(3);
  Tensor w = new_empty({5, 16}, kFloat32), b = new_empty({5}, kFloat32);
  init::default_weight_and_bias_(w, b);
  EXPECT_LE(std::max(largest(w), largest(b)), 0.25);
  manual_seed(3);
  Tensor again = new_empty({5, 16}, kFloat32);
  init::default_weight_and_bias_(again, Tensor());
  EXPECT_EQ(values_of(again), values_of(w));
}

TEST(Init, EmptyTensorsStay) {
  Tensor w = new_empty({0, 3}, kFloat32), b = new_empty({3}, kFloat32);
  init::kaiming_uniform_(w);
  init::default_weight_and_bias_(new_empty({3, 0}, kFloat32), b);
  EXPECT_EQ(largest(b), 0);
}

TEST(Init, TruncatedDrawsStayWithin) {
  Tensor t = new_empty({1000}, kFloat32);
  manual_seed(3);
  init::trunc_normal_(t, 0, 1, -1, 1.5);
  EXPECT_GE(item(min(t)), -1);
  EXPECT_LE(item(max(t)), 1.5);
  EXPECT_NEAR(item(mean(t)), 0.13, 0.1);
  init::trunc_normal_(t, 0, 1, 3, 3.5);  // far in the tail: by acceptance
  EXPECT_GE(item(min(t)), 3);
  EXPECT_LT(item(mean(t)), 3.25);
  EXPECT_THROW(init::trunc_normal_(t, 0, -1), Error);
}

TEST(Init, StructuredWeights) {
  Tensor square = new_empty({2, 3}, kFloat32);
  init::eye_(square);
  EXPECT_EQ(values_of(square), (std::vector<double>{1, 0, 0, 0, 1, 0}));
  Tensor kernel = new_empty({4, 2, 3}, kFloat32);
  init::dirac_(kernel, 2);
  EXPECT_EQ(item(sum(kernel)), 4);
  EXPECT_EQ(item(select(select(select(kernel, 0, 3), 0, 1), 0, 1)), 1);
  EXPECT_THROW(init::dirac_(kernel, 3), Error);
  Tensor wide = new_empty({3, 5}, kFloat32), tall = new_empty({5, 3}, kFloat32);
  for (const Tensor& t : {wide, tall}) {
    init::orthogonal_(t, 2);
    Tensor rows = t.size(0) < t.size(1) ? t : transpose(t, 0, 1);
    Tensor gram = matmul(rows, transpose(rows, 0, 1)), identity = new_empty({3, 3}, kFloat32);
    init::eye_(identity);
    EXPECT_LT(item(max(abs(gram - identity * 4))), 1e-5);
  }
  Tensor holes = new_empty({10, 4}, kFloat32);
  init::sparse_(holes, 0.25);
  EXPECT_EQ(item_int(sum(eq(holes, 0))), 12);  // ceil(2.5) a column
}

}  // namespace
}  // namespace facula::nn
