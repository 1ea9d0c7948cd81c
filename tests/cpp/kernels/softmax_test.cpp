// Softmax and class losses against their definitions in double.
#include "facula/kernels/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace facula::kernels {
namespace {

std::vector<float> wavy(int64_t n) {
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i) v[i] = 3 * std::sin(0.7f * static_cast<float>(i));
  return v;
}

TEST(Softmax, MatchesTheDefinition) {
  for (Rows r : {Rows{5, 7, 1}, Rows{3, 100, 1}, Rows{2, 9, 70}, Rows{1, 1, 1}}) {
    auto x = wavy(r.outer * r.n * r.inner);
    std::vector<float> y(x.size()), l(x.size());
    softmaxes->softmax(kFloat32, y.data(), x.data(), r, false);
    softmaxes->softmax(kFloat32, l.data(), x.data(), r, true);
    for (int64_t o = 0; o < r.outer; ++o) {
      for (int64_t j = 0; j < r.inner; ++j) {
        double sum = 0;
        auto at = [&](int64_t i) { return (o * r.n + i) * r.inner + j; };
        for (int64_t i = 0; i < r.n; ++i) sum += std::exp(static_cast<double>(x[at(i)]));
        for (int64_t i = 0; i < r.n; ++i) {
          ASSERT_NEAR(y[at(i)], std::exp(static_cast<double>(x[at(i)])) / sum, 1e-6);
          ASSERT_NEAR(l[at(i)], x[at(i)] - std::log(sum), 1e-5);
        }
      }
    }
  }
}

TEST(Softmax, LargeNumbersAndNothingToChoose) {
  float inf = INFINITY, x[4] = {1000, 1000, -inf, 0}, y[4];
  softmaxes->softmax(kFloat32, y, x, {1, 4, 1}, false);
  EXPECT_FLOAT_EQ(y[0], 0.5f);
  EXPECT_EQ(y[2], 0.0f);
  float none[2] = {-inf, -inf};
  softmaxes->softmax(kFloat32, y, none, {1, 2, 1}, false);
  EXPECT_TRUE(std::isnan(y[0]));
}

// The backward kernel against differences of the forward one.
TEST(CrossEntropy, GradientMatchesDifferences) {
  for (Rows r : {Rows{4, 6, 1}, Rows{2, 5, 3}}) {
    int64_t count = r.outer * r.inner;
    std::vector<double> x(r.outer * r.n * r.inner), weight(r.n), losses(count), lse(count),
        dx(x.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(1.3 * static_cast<double>(i));
    for (int64_t i = 0; i < r.n; ++i) weight[i] = 0.5 + 0.25 * static_cast<double>(i);
    std::vector<int64_t> target(count);
    for (int64_t i = 0; i < count; ++i) target[i] = i % (r.n + 1) == r.n ? -100 : i % r.n;
    ClassLoss loss{kFloat64, r, x.data(), target.data(), weight.data(), -100, 0.1};
    Fault fault;
    auto total = [&] {
      softmaxes->cross_entropy(loss, losses.data(), lse.data(), &fault);
      double sum = 0;
      for (double v : losses) sum += v;
      return sum;
    };
    total();
    double one = 1;
    softmaxes->cross_entropy_backward(loss, dx.data(), lse.data(), &one, 0);
    for (size_t i = 0; i < x.size(); ++i) {
      double keep = x[i], step = 1e-6;
      x[i] = keep + step;
      double up = total();
      x[i] = keep - step;
      double down = total();
      x[i] = keep;
      ASSERT_NEAR(dx[i], (up - down) / (2 * step), 1e-7);
    }
    EXPECT_FALSE(static_cast<bool>(fault));
  }
}

TEST(CrossEntropy, NamesTheBadTarget) {
  float x[6] = {}, losses[2], lse[2];
  int64_t target[2] = {1, 5};
  ClassLoss loss{kFloat32, {2, 3, 1}, x, target, nullptr, -100, 0};
  Fault fault;
  softmaxes->cross_entropy(loss, losses, lse, &fault);
  EXPECT_TRUE(static_cast<bool>(fault));
  EXPECT_EQ(fault.value, 5);
  EXPECT_EQ(fault.bound, 3);
}

}  // namespace
}  // namespace facula::kernels
