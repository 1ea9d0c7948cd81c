// Tests of the shorter calls against the operators that they stand for.
#include "facula/nn/shorthand.h"

#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "facula/base/error.h"
#include "facula/nn/values.h"

namespace facula {
namespace {

using Values = std::vector<double>;

TEST(Shorthand, ListsStandInBraces) {
  Tensor a = tensor({1., 2.}), b = tensor({3., 4.});
  EXPECT_EQ(values_of(cat({a, b, a})), (Values{1, 2, 3, 4, 1, 2}));
  EXPECT_EQ(values_of(cat({a})), (Values{1, 2}));
  EXPECT_EQ(values_of(stack({a, b}, 1)), (Values{1, 3, 2, 4}));
  EXPECT_EQ(values_of(hstack({a, b})), (Values{1, 2, 3, 4}));
  EXPECT_EQ(vstack({a, b}).sizes(), IntList({2, 2}));
  EXPECT_EQ(dstack({a, b}).sizes(), IntList({1, 2, 2}));
  EXPECT_EQ(values_of(column_stack({a, b})), (Values{1, 3, 2, 4}));
  EXPECT_EQ(values_of(block_diag({a, b})), (Values{1, 2, 0, 0, 0, 0, 3, 4}));
  EXPECT_EQ(item(einsum("i,i->", {a, b})), 11);
  EXPECT_EQ(values_of(broadcast_tensors({a, tensor({{7.}, {8.}})})[1]), (Values{7, 7, 8, 8}));
  EXPECT_EQ(values_of(meshgrid({a, b}, "xy")[1]), (Values{3, 3, 4, 4}));
  EXPECT_EQ(values_of(cartesian_prod({a, b})), (Values{1, 3, 1, 4, 2, 3, 2, 4}));
  Tensor m = tensor({{0., 1.}, {2., 0.}});
  EXPECT_EQ(values_of(multi_dot({m, m, m})), (Values{0, 2, 4, 0}));
  EXPECT_EQ(values_of(chain_matmul({m, m, m})), (Values{0, 2, 4, 0}));
  std::vector<Tensor> vector{a, b};
  EXPECT_EQ(values_of(cat(vector)), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values_of(meshgrid(vector)[0]), (Values{1, 1, 2, 2}));
}

TEST(Shorthand, BadListsAreRefused) {
  EXPECT_THROW(cat({}), Error);
  EXPECT_THROW(stack({ones({2}), ones({3})}), Error);
  EXPECT_THROW(cat({ones({2}), Tensor()}), Error);
}

TEST(Shorthand, GradientsOfSeveralRoots) {
  Tensor x = tensor({1., 2.}), y = tensor({3., 5.});
  set_requires_grad(x, true);
  set_requires_grad(y, true);
  EXPECT_EQ(values_of(grad({sum(x * y)}, {x})[0]), (Values{3, 5}));
  EXPECT_EQ(values_of(grad({x * y}, {x, y}, {tensor({1., 10.})})[1]), (Values{1, 20}));
  std::vector<Tensor> inputs{x};
  Tensor slope = grad({sum(x * x * x)}, inputs, {}, {.create_graph = true})[0];
  backward({sum(slope), sum(y)});
  EXPECT_EQ(values_of(grad(x)), (Values{6, 12}));
  EXPECT_EQ(values_of(grad(y)), (Values{1, 1}));
  Tensor z = x * 2, total = sum(z);
  backward({z}, {tensor({1., 0.})}, {.retain_graph = true});
  backward({&total, 1}, {}, {.retain_graph = false});
  EXPECT_EQ(values_of(grad(x)), (Values{10, 14}));
}

TEST(Shorthand, RangesAndConversions) {
  EXPECT_EQ(int_values_of(arange(3)), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(arange(3).dtype(), kInt64);
  EXPECT_EQ(arange(2.5).dtype(), kFloat32);
  EXPECT_EQ(arange(3, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(int_values_of(arange(1, 3)), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(values_of(arange(1, 3, kFloat32)), (Values{1, 2}));
  EXPECT_EQ(values_of(arange(1, 0, -0.5)), (Values{1, 0.5}));
  EXPECT_EQ(values_of(linspace(0, 1, 3)), (Values{0, 0.5, 1}));
  EXPECT_THROW(arange(-1), Error);
  Tensor t = ones({2});
  EXPECT_EQ(to(t, kInt64).dtype(), kInt64);
  EXPECT_TRUE(to(t, kFloat32).is_same(t));
}

}  // namespace
}  // namespace facula
