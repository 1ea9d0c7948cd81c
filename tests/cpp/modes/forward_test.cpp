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

TEST(ForwardMode, OperatorsWithoutARuleTakeTwoReversePasses) {
  Level level;
  Tensor x = eye(2, kFloat64);
  set_requires_grad(x, true);
  level.forward->set(x, ones_like(x), false);
  Tangent found = level.of(linalg_det(mul(x, 3)));
  ASSERT_TRUE(found.known);
  EXPECT_DOUBLE_EQ(first(found.value), 18);  // of (3 + 3 h)^2 - (3 h)^2
}

TEST(ForwardMode, WritesChangeTheTangentsOfAllViews) {
  Level level;
  Tensor x = leaf(2);
  level.forward->set(x, ones_like(x), false);
  Tensor y = mul(x, 2), part = narrow(y, 0, 0, 1), rest = narrow(y, 0, 1, 2);
  mul_(part, narrow(x, 0, 0, 1));
  ASSERT_TRUE(level.of(y).known);
  EXPECT_DOUBLE_EQ(first(level.of(y).value), 8);  // of 2 x^2
  EXPECT_DOUBLE_EQ(level.of(y).value.data_as<double>()[1], 2);
  EXPECT_DOUBLE_EQ(first(level.of(part).value), 8);
  EXPECT_DOUBLE_EQ(first(level.of(rest).value), 2);
}

TEST(ForwardMode, WritesThatAreNotRecordedChangeNothing) {
  Level level;
  Tensor x = leaf(2);
  level.forward->set(x, ones_like(x), false);
  {
    NoGrad off;
    mul_(x, 3);
  }
  EXPECT_DOUBLE_EQ(first(level.of(mul(x, x)).value), 12);
}

TEST(ForwardMode, ResultsThatWereSavedHaveTheTangentOfTheResult) {
  Level level;
  Tensor x = leaf(2);
  level.forward->set(x, ones_like(x), false);
  Tensor y = mul(x, 2), twin = detach(y);
  twin->grad_fn = y->grad_fn;
  twin->grad_fn->retain();
  twin->flags |= kRequiresGrad;
  ASSERT_TRUE(level.of(twin).known);
  EXPECT_DOUBLE_EQ(first(level.of(twin).value), 2);
}

TEST(ForwardMode, LevelsAreTakenOffWhereverTheyAre) {
  auto outer = std::make_shared<Forward>(), inner = std::make_shared<Forward>();
  InterpreterStack& stack = InterpreterStack::of_thread();
  stack.push(StackSide::kAbove, outer);
  stack.push(StackSide::kAbove, inner);
  {
    Aside aside(outer.get());
    EXPECT_TRUE(stack.active(StackSide::kAbove).empty());
    Aside nothing(outer.get());
  }
  ASSERT_EQ(stack.active(StackSide::kAbove).size(), 2u);
  take_off(outer.get());
  ASSERT_EQ(stack.active(StackSide::kAbove).size(), 1u);
  EXPECT_EQ(stack.active(StackSide::kAbove)[0], inner);
  EXPECT_THROW(take_off(outer.get()), Error);
  take_off(inner.get());
}

TEST(ForwardMode, RefusesTangentsOfAnotherShape) {
  Level level;
  Tensor x = leaf(2);
  EXPECT_THROW(level.forward->set(x, full(IntList({4}), Scalar(1.0), kFloat64), false), Error);
}

}  // namespace
}  // namespace facula
