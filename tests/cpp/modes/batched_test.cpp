// Tests of batched tensors: what they look like, how samples are hidden and shown beneath levels.
#include "facula/modes/batched.h"

#include "against_loop.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"

namespace facula {
namespace {

TEST(Batched, LooksLikeOneSample) {
  Tensor value = randn(IntList({3, 2, 4}));
  Tensor t = make_batched(value, 1000);
  EXPECT_TRUE(t.sizes() == IntList({2, 4}));
  EXPECT_EQ(t.dtype(), kFloat32);
  EXPECT_EQ(batch_level(t), 1000);
  EXPECT_TRUE(batch_value(t).is_same(value));
  EXPECT_EQ(t.data(), nullptr);
  EXPECT_EQ(batch_level(value), 0);
}

TEST(Batched, WantsAGradientIfTheValueDoes) {
  Tensor value = randn(IntList({3, 2}));
  EXPECT_FALSE(requires_grad(make_batched(value, 1000)));
  set_requires_grad(value, true);
  EXPECT_TRUE(requires_grad(make_batched(value, 1000)));
}

TEST(Batched, OperatorsRefuseItOnceTheVmapIsOver) {
  Tensor t = make_batched(randn(IntList({3, 2})), 1000);
  EXPECT_THROW(add(t, t), Error);
}

TEST(Batched, HidesAndShowsBeneathHigherLevels) {
  Tensor x = randn(IntList({2, 3, 4}));
  int64_t outer = push_vmap(2, Randomness::kError), inner = push_vmap(3, Randomness::kError);
  Tensor by_inner = hide_batch(transpose(x, 0, 1), inner);  // [2, 4], samples of 3
  Tensor both = hide_batch(by_inner, outer);                // [4]
  EXPECT_TRUE(both.sizes() == IntList({4}));
  EXPECT_EQ(batch_level(both), inner);
  EXPECT_TRUE(is_batched_at(both, outer));
  Tensor back = show_batch(both, outer, 2);
  EXPECT_TRUE(back.sizes() == IntList({2, 4}));
  EXPECT_FALSE(is_batched_at(back, outer));
  Tensor plain = show_batch(back, inner, 3);
  for (int i = 0; i < 2; ++i) InterpreterStack::of_thread().pop(StackSide::kAbove);
  EXPECT_TRUE(equal(plain, transpose(x, 0, 1)));
}

TEST(Batched, ShowExpandsWhatIsShared) {
  Tensor x = randn(IntList({4}));
  Tensor wide = show_batch(x, 1000, 3);
  EXPECT_TRUE(wide.sizes() == IntList({3, 4}));
  EXPECT_EQ(wide.stride(0), 0);
}

TEST(Batched, DetachKeepsTheSamples) {
  Tensor value = randn(IntList({3, 2}));
  set_requires_grad(value, true);
  Tensor t = detach(make_batched(value, 1000));
  EXPECT_EQ(batch_level(t), 1000);
  EXPECT_FALSE(requires_grad(t));
  EXPECT_THROW(make_batched(randn(IntList()), 1), Error);
}

}  // namespace
}  // namespace facula
