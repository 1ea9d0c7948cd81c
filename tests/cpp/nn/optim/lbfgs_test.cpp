// Tests of L-BFGS on functions whose minimum is known; gradients are written out by hand.
#include "facula/nn/optim/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"

namespace facula::optim {
namespace {

Tensor leaf(std::vector<double> values, DType dtype = kFloat64) {
  Tensor t = new_empty({static_cast<int64_t>(values.size())}, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kFloat64) t.data_as<double>()[i] = values[i];
    if (dtype == kFloat32) t.data_as<float>()[i] = static_cast<float>(values[i]);
  }
  set_requires_grad(t, true);
  return t;
}

// (1 - x)^2 + 100 (y - x^2)^2
double rosenbrock(const Tensor& p) {
  double x = p.data_as<double>()[0], y = p.data_as<double>()[1];
  Tensor g = new_empty({2}, kFloat64);
  g.data_as<double>()[0] = -2 * (1 - x) - 400 * x * (y - x * x);
  g.data_as<double>()[1] = 200 * (y - x * x);
  set_grad(p, g);
  return (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x);
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrock) {
  Tensor p = leaf({-1.5, 2});
  LBFGS o({p}, {.strong_wolfe = true});
  double first = o.step([&] { return rosenbrock(p); });
  EXPECT_NEAR(first, 6.25 + 100 * 0.0625, 1e-9);
  for (int i = 0; i < 4; ++i) o.step([&] { return rosenbrock(p); });
  EXPECT_NEAR(p.data_as<double>()[0], 1, 1e-5);
  EXPECT_NEAR(p.data_as<double>()[1], 1, 1e-5);
}

TEST(Lbfgs, SeveralParametersWithoutSearch) {
  Tensor a = leaf({5}), b = leaf({-3, 2}, kFloat32);
  LBFGS o({a, b}, {.lr = 0.5});
  auto closure = [&] {
    Tensor ga = new_empty({1}, kFloat64), gb = new_empty({2}, kFloat32);
    double loss = 0;
    double x = a.data_as<double>()[0] - 1;
    ga.data_as<double>()[0] = 2 * x;
    loss += x * x;
    for (int i = 0; i < 2; ++i) {
      float y = b.data_as<float>()[i] - 2;
      gb.data_as<float>()[i] = 6 * y;
      loss += 3 * y * y;
    }
    set_grad(a, ga);
    set_grad(b, gb);
    return loss;
  };
  for (int i = 0; i < 6; ++i) o.step(closure);
  EXPECT_NEAR(a.data_as<double>()[0], 1, 1e-4);
  EXPECT_NEAR(b.data_as<float>()[0], 2, 1e-4);
  EXPECT_NEAR(b.data_as<float>()[1], 2, 1e-4);
}

TEST(Lbfgs, CountsAndStops) {
  Tensor p = leaf({0, 0});
  LBFGS o({p}, {.lr = 1e-3, .max_iter = 4});
  int calls = 0;
  o.step([&] {
    ++calls;
    return rosenbrock(p);
  });
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(o.evaluations(), 4);
  EXPECT_EQ(o.iterations(), 4);
  Tensor q = leaf({1, 1});
  LBFGS still({q});
  still.step([&] { return rosenbrock(q); });
  EXPECT_EQ(still.evaluations(), 1);
  still.zero_grad();
  EXPECT_FALSE(grad(q).defined());
}

TEST(Lbfgs, Refusals) {
  EXPECT_THROW(LBFGS({}), Error);
  EXPECT_THROW(LBFGS({new_empty({2}, kInt64)}), Error);
  EXPECT_THROW(LBFGS({new_empty({2}, kFloat64)}, {.lr = -1}), Error);
}

}  // namespace
}  // namespace facula::optim
