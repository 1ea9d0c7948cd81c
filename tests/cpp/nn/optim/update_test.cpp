// Tests of the optimisers' steps for one parameter, against formulas written out in double. The
// Python tests hold all algorithms to NumPy; here are layouts, types, state and refusals.
#include "facula/nn/optim/update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/base/half.h"

namespace facula::optim {
namespace {

Tensor filled(std::vector<double> values, IntList sizes, DType dtype = kFloat64) {
  Tensor t = new_empty(sizes, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kFloat64) t.data_as<double>()[i] = values[i];
    if (dtype == kFloat32) t.data_as<float>()[i] = static_cast<float>(values[i]);
    if (dtype == kBFloat16) t.data_as<BFloat16>()[i] = BFloat16(static_cast<float>(values[i]));
  }
  return t;
}

TEST(Update, AdamFollowsItsFormula) {
  Tensor p = filled({1, -2, 3}, {3}), g = filled({0.5, 0.25, -1}, {3});
  ParamState state;
  AdamOptions o{.lr = 0.1, .weight_decay = 0.01};
  double w[3] = {1, -2, 3}, m[3] = {}, v[3] = {};
  for (int t = 1; t <= 4; ++t) {
    update(p, g, state, o);
    for (int i = 0; i < 3; ++i) {
      double x = g.data_as<double>()[i] + 0.01 * w[i];
      m[i] = 0.9 * m[i] + 0.1 * x;
      v[i] = 0.999 * v[i] + 0.001 * x * x;
      double bias1 = 1 - std::pow(0.9, t), bias2 = 1 - std::pow(0.999, t);
      w[i] -= 0.1 * (m[i] / bias1) / (std::sqrt(v[i] / bias2) + 1e-8);
      EXPECT_NEAR(p.data_as<double>()[i], w[i], 1e-12) << t << " " << i;
    }
  }
  EXPECT_EQ(state.step, 4);
  EXPECT_FALSE(state.slots[2].defined());
}

TEST(Update, SgdTakesTheFirstGradientWhole) {
  Tensor p = filled({1}, {1}), g = filled({2}, {1});
  ParamState state;
  SgdOptions o{.lr = 0.1, .momentum = 0.5, .dampening = 0.75};
  update(p, g, state, o);
  EXPECT_NEAR(p.data_as<double>()[0], 1 - 0.1 * 2, 1e-15);
  update(p, g, state, o);
  EXPECT_NEAR(p.data_as<double>()[0], 0.8 - 0.1 * (0.5 * 2 + 0.25 * 2), 1e-15);
}

TEST(Update, SixteenBitsComputeInFloat) {
  constexpr int64_t kLength = 1300;
  Tensor p = new_empty({kLength}, kBFloat16), g = new_empty({kLength}, kBFloat16);
  for (int64_t i = 0; i < kLength; ++i) {
    p.data_as<BFloat16>()[i] = BFloat16(static_cast<float>(i % 7));
    g.data_as<BFloat16>()[i] = BFloat16(1.0f);
  }
  ParamState state;
  update(p, g, state, SgdOptions{.lr = 0.5});
  for (int64_t i = 0; i < kLength; ++i) {
    ASSERT_EQ(static_cast<float>(p.data_as<BFloat16>()[i]), static_cast<float>(i % 7) - 0.5f) << i;
  }
}

TEST(Update, OtherLayoutsGiveTheSame) {
  // The same values, row-major, transposed, and with gaps.
  Tensor rows = filled({1, 2, 3, 4, 5, 6}, {2, 3}), g = filled({1, -1, 2, -2, 3, -3}, {2, 3});
  Tensor columns = new_strided({2, 3}, {1, 2}, kFloat64);
  Tensor wide = filled(std::vector<double>(12, 0), {2, 6});
  Tensor gaps = alias_storage(wide, {2, 3}, {6, 2}, 0);
  auto at = [](const Tensor& t, int64_t i, int64_t j) -> double& {
    return t.data_as<double>()[i * t.stride(0) + j * t.stride(1)];
  };
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) at(columns, i, j) = at(gaps, i, j) = at(rows, i, j);
  }
  ParamState a, b, c;
  AdamOptions o{.lr = 0.1, .amsgrad = true};
  for (int t = 0; t < 3; ++t) {
    update(rows, g, a, o);
    update(columns, g, b, o);
    update(gaps, g, c, o);
  }
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      EXPECT_EQ(at(rows, i, j), at(columns, i, j));
      EXPECT_EQ(at(rows, i, j), at(gaps, i, j));
    }
  }
  EXPECT_EQ(wide.data_as<double>()[1], 0);
  EXPECT_EQ(b.slots[0].strides(), columns.strides());
}

TEST(Update, StateThatDoesNotFitRaises) {
  Tensor p = filled({1, 2}, {2}), g = filled({1, 1}, {2});
  ParamState state;
  state.slots[0] = filled({1, 2, 3}, {3});
  EXPECT_THROW(update(p, g, state, AdamOptions{}), Error);
}

TEST(Update, RefusesWhatTheKernelsCannotTake) {
  Tensor p = filled({1, 2}, {2}), g = filled({1, 1}, {2}, kFloat32);
  EXPECT_FALSE(can_update(p, g));
  EXPECT_TRUE(can_update(p, p));
  EXPECT_FALSE(can_update(new_empty({2}, kComplex64), new_empty({2}, kComplex64)));
  EXPECT_FALSE(can_update(new_empty({2}, kFloat32, kMeta), new_empty({2}, kFloat32, kMeta)));
  EXPECT_FALSE(can_update(filled({1}, {1}), g));
  Tensor twice = alias_storage(p, {2, 2}, {0, 1}, 0);
  EXPECT_FALSE(can_update(twice, twice));
}

TEST(Update, EmptyParametersCountSteps) {
  Tensor p = new_empty({0, 3}, kFloat32);
  ParamState state;
  update(p, p, state, AdamOptions{});
  EXPECT_EQ(state.step, 1);
}

TEST(Update, ClearZeroesAndForgets) {
  Tensor g = filled({1, 2}, {2});
  set_requires_grad(g, true);
  clear(g);
  EXPECT_EQ(g.data_as<double>()[1], 0);
  EXPECT_FALSE(requires_grad(g));
}

}  // namespace
}  // namespace facula::optim
