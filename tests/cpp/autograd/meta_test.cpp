// What a tensor says about its history: leaves, detached twins, flags, retained gradients.
#include <gtest/gtest.h>

#include "facula/autograd/detach.h"
#include "facula/autograd/engine.h"
#include "small_ops.h"

namespace facula {
namespace {

using namespace small;

class Meta : public ::testing::Test {
  SmallOps ops_;
};

TEST_F(Meta, DetachAndFlags) {
  Tensor x = leaf({1, 2});
  Tensor y = mul(x, x);
  Tensor d = detach(y);
  EXPECT_FALSE(requires_grad(d));
  EXPECT_EQ(d.data(), y.data());
  EXPECT_TRUE(says(message_of([&] { detach_(select(y, 0)); }), "Can't detach views in-place"));
  EXPECT_TRUE(says(message_of([&] { set_requires_grad(y, false); }),
                   "you can only change requires_grad flags of leaf variables."));
  EXPECT_EQ(message_of([&] { set_requires_grad(new_empty({1}, kInt64), true); }),
            "only Tensors of floating point and complex dtype can require gradients");
  detach_(y);
  EXPECT_TRUE(is_leaf(y));
  EXPECT_FALSE(requires_grad(y));
  EXPECT_TRUE(says(message_of([&] { set_grad(x, x); }), "own grad"));
  EXPECT_TRUE(says(message_of([&] { set_grad(x, vec({1})); }),
                   "attempting to assign a gradient of size '[1]' to a tensor of size '[2]'"));
}

TEST_F(Meta, RetainedGradientsFollowAndHooksStay) {
  Tensor x = leaf({3});
  Tensor y = mul(x, vec({2}));
  retain_grad(y);
  Numbers seen;
  add_hook(y, hook([&](Gradients& g, const Gradients*) { seen = values(g[0]); }));
  mul_(y, vec({5}));
  backward(sum(y));
  EXPECT_EQ(values(grad(y)), (Numbers{1}));  // of the new value
  EXPECT_EQ(seen, (Numbers{5}));             // of the old one
  EXPECT_EQ(values(grad(x)), (Numbers{10}));
}

TEST_F(Meta, HooksWantAGradient) {
  Tensor plain = vec({1}), x = leaf({1});
  auto nothing = hook([](Gradients&, const Gradients*) {});
  EXPECT_TRUE(says(message_of([&] { add_hook(plain, nothing); }), "doesn't require gradient"));
  EXPECT_TRUE(says(message_of([&] { retain_grad(plain); }), "requires_grad=False"));
  EXPECT_TRUE(says(message_of([&] { add_accumulated_hook(mul(x, x), nothing); }), "non-leaf"));
  retain_grad(x);  // a leaf keeps its gradient anyway
  EXPECT_FALSE(meta_of(x.impl()).retains_grad());
}

TEST_F(Meta, RemovedHooksAreSkipped) {
  Tensor x = leaf({1});
  int calls = 0;
  auto counting = hook([&](Gradients&, const Gradients*) { ++calls; });
  Tensor y = mul(x, x);
  add_hook(y, counting);
  mul_(y, vec({1}));  // the hook stays with the old value, out of reach of remove_hook
  counting->removed = true;
  backward(sum(y));
  EXPECT_EQ(calls, 0);
}

TEST_F(Meta, DetachAsksTheInterpreterBehindATensor) {
  static int asked;
  asked = 0;
  auto before = detach_dispatched;
  detach_dispatched = [](const Tensor& t) {
    ++asked;
    return alias(t);
  };
  Tensor plain = vec({1}), hidden = vec({2});
  hidden->intercept |= kInterceptDispatch;
  detach(plain);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(values(detach(hidden)), (Numbers{2}));
  EXPECT_EQ(asked, 1);
  detach_dispatched = before;
}

}  // namespace
}  // namespace facula
