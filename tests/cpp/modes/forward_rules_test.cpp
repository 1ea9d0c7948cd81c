// Tests of the rules of forward mode, judged by differences of the function's values.
#include <gtest/gtest.h>

#include <functional>

#include "facula/autograd/meta.h"
#include "facula/modes/forward.h"
#include "facula/ops/activation_functions.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/conv_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/pool_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/softmax_functions.h"
#include "facula/ops/sort_functions.h"

namespace facula {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

void expect_derivative(const Function& f, IntList shape) {
  Tensor x = cast(randn(shape), kFloat64), t = cast(randn(shape), kFloat64);
  double h = 1e-6;
  Tensor want = div(sub(f(add(x, mul(t, h))), f(sub(x, mul(t, h)))), 2 * h);
  auto level = std::make_shared<Forward>();
  PushInterpreter pushed(StackSide::kAbove, level);
  set_requires_grad(x, true);
  level->set(x, t, false);
  Tangent got = level->of(f(x));
  ASSERT_TRUE(got.known);
  ASSERT_TRUE(got.value.defined());
  EXPECT_TRUE(allclose(got.value, want, 1e-6, 1e-6, false));
}

TEST(ForwardRules, Pointwise) {
  expect_derivative([](const Tensor& x) { return mul(sin(x), exp(x)); }, {3, 4});
  expect_derivative([](const Tensor& x) { return div(x, add(mul(x, x), 1.0)); }, {5});
  expect_derivative([](const Tensor& x) { return mul(select(x, 0, 0), x); }, {3, 4});
  expect_derivative([](const Tensor& x) { return where(gt(x, 0), relu(x), mul(x, 3)); }, {9});
}

TEST(ForwardRules, Linear) {
  expect_derivative([](const Tensor& x) { return sum(x, IntList({1}), true); }, {3, 4});
  expect_derivative([](const Tensor& x) { return view(transpose(clone(x), 0, 0), {12}); }, {3, 4});
  expect_derivative([](const Tensor& x) { return cat(std::vector<Tensor>{x, mul(x, x)}, 0); }, {4});
  expect_derivative([](const Tensor& x) { return cumsum(flip(x, {0}), 0); }, {4});
}

TEST(ForwardRules, Products) {
  Tensor w = cast(randn(IntList({4, 2})), kFloat64), b = cast(randn(IntList({2})), kFloat64);
  expect_derivative([&](const Tensor& x) { return matmul(x, w); }, {3, 4});
  expect_derivative([](const Tensor& x) { return matmul(x, transpose(x, 0, 1)); }, {3, 4});
  expect_derivative([&](const Tensor& x) { return addmm(b, x, w, 2, 3); }, {3, 4});
  expect_derivative([](const Tensor& x) { return dot(x, x); }, {4});
}

TEST(ForwardRules, Softmax) {
  expect_derivative([](const Tensor& x) { return softmax(x, 1); }, {3, 4});
  expect_derivative([](const Tensor& x) { return log_softmax(x, 0); }, {3, 4});
}

TEST(ForwardRules, PickedElements) {
  expect_derivative([](const Tensor& x) { return std::get<0>(max_dim(x, 1, false)); }, {3, 4});
  expect_derivative([](const Tensor& x) { return std::get<0>(sort(x, 0, true)); }, {3, 4});
  expect_derivative([](const Tensor& x) { return std::get<0>(topk(x, 2, 1)); }, {3, 4});
}

}  // namespace
}  // namespace facula
