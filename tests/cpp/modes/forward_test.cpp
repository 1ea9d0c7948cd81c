// Tests of forward mode's interpreter: which tangents are known, in-place writes, linked tensors.
#include "facula/modes/forward.h"

#include <gtest/gtest.h>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/linalg_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

Tensor leaf(double value) {
  Tensor t = full(IntList({3}), Scalar(value), kFloat64);
  set_requires_grad(t, true);
  return t;
}

double first(const Tensor& t) { return t.data_as<double>()[0]; }

struct Level {
  std::shared_ptr<Forward> forward = std::make_shared<Forward>();
  PushInterpreter pushed{StackSide::kAbove, forward};
  Tangent of(const Tensor& t) const { return forward->of(t); }
};

TEST(ForwardMode, CarriesTangentsThroughOperators) {
  Level level;
  Tensor x = leaf(2);
  level.forward->set(x, ones_like(x), false);
  Tensor y = mul(x, mul(x, x));
  ASSERT_TRUE(level.of(y).known);
  EXPECT_DOUBLE_EQ(first(level.of(y).value), 12);
  EXPECT_DOUBLE_EQ(first(level.of(sum(y)).value), 36);
}

TEST(ForwardMode, ConstantsHaveNoTangent) {
  Tensor w = leaf(3);
  Level level;
  Tensor x = leaf(2);
  level.forward->set(x, ones_like(x), false);
  EXPECT_TRUE(level.of(w).known);
  Tensor v = exp(w);
  EXPECT_TRUE(level.of(v).known);
  EXPECT_FALSE(level.of(v).value.defined());
  EXPECT_DOUBLE_EQ(first(level.of(mul(x, w)).value), 3);
  EXPECT_TRUE(requires_grad(level.of(mul(x, w)).value));  // it depends on w, outside the level
  EXPECT_FALSE(requires_grad(level.of(mul(x, x)).value));
}

TEST(ForwardMode, NothingIsKnownBehindAnOperatorWithoutARule) {
  Level level;
  Tensor x = full(IntList({2, 2}), Scalar(1.0), kFloat64);
  set_requires_grad(x, true);
  level.forward->set(x, ones_like(x), false);
  EXPECT_FALSE(level.of(linalg_det(add(x, eye(2, kFloat64)))).known);
}

TEST(ForwardMode, WritesForgetTheTangentsOfTheStorage) {
  Level level;
  Tensor x = leaf(2);
  level.forward->set(x, ones_like(x), false);
  Tensor y = mul(x, 2), part = narrow(y, 0, 0, 1);
  EXPECT_TRUE(level.of(part).known);
  mul_(y, x);
  EXPECT_FALSE(level.of(y).known);
  EXPECT_FALSE(level.of(part).known);
}

TEST(ForwardMode, RefusesTangentsOfAnotherShape) {
  Level level;
  Tensor x = leaf(2);
  EXPECT_THROW(level.forward->set(x, full(IntList({4}), Scalar(1.0), kFloat64), false), Error);
}

}  // namespace
}  // namespace facula
