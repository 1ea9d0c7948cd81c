// Tests of in-place writes, of views, and of the errors about them.
#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "small_ops.h"

namespace facula {
namespace {

using namespace small;

class Inplace : public ::testing::Test {
  SmallOps ops_;
};

TEST_F(Inplace, ChangesTheHistory) {
  Tensor x = leaf({2, 3});
  Tensor y = mul(x, vec({1, 1}));
  mul_(y, x);
  backward(sum(y));
  EXPECT_EQ(values(grad(x)), (Numbers{4, 6}));
  Tensor z = mul(x, vec({1, 1}));
  mul_(z, z);  // the node keeps a copy, and so no reference to itself
  backward(sum(z));
  EXPECT_EQ(values(grad(x)), (Numbers{8, 12}));
}

TEST_F(Inplace, OldValuesAreKeptForTheFormula) {
  Tensor a = vec({2, 3}), w = leaf({5, 7});
  Tensor y = mul(a, vec({1, 1}));
  mul_(y, w);  // the gradient of w needs the old y
  backward(sum(y));
  EXPECT_EQ(values(grad(w)), (Numbers{2, 3}));
}

TEST_F(Inplace, AViewRebasesItsBase) {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor y = mul(x, vec({1, 1, 1, 1}));
  Tensor v = as_strided(y, {2}, {1}, 1), w = as_strided(y, {2}, {1}, 2);
  mul_(v, vec({10, 100}));
  EXPECT_STREQ(grad_fn(y)->name(), "CopySlices");
  EXPECT_STREQ(grad_fn(v)->name(), "AsStridedBackward0");
  EXPECT_STREQ(grad_fn(w)->name(), "AsStridedBackward0");
  BackwardOptions keep{.retain_graph = true};
  Tensor sw = sum(w), sy = sum(y), sv = sum(v);
  EXPECT_EQ(values(grad({&sw, 1}, {&x, 1}, {}, keep)[0]), (Numbers{0, 0, 100, 1}));
  EXPECT_EQ(values(grad({&sv, 1}, {&x, 1}, {}, keep)[0]), (Numbers{0, 10, 100, 0}));
  EXPECT_EQ(values(grad({&sy, 1}, {&x, 1}, {}, keep)[0]), (Numbers{1, 10, 100, 1}));
}

TEST_F(Inplace, ViewsOfViewsAndSeveralWrites) {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor y = mul(x, vec({1, 1, 1, 1}));
  Tensor m = as_strided(y, {2, 2}, {2, 1}, 0);
  Tensor row = select(m, 1);
  mul_(row, mul(row, of({}, {1})));
  mul_(m, of({2, 2}, {2}));
  sigmoid_(select(m, 0));
  backward(sum(y));
  double a = sigmoid_of(2), b = sigmoid_of(4);
  Numbers got = values(grad(x)), want{2 * a * (1 - a), 2 * b * (1 - b), 12, 16};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(got[i], want[i], 1e-12);
}

TEST_F(Inplace, ABaseWithoutHistoryGetsOne) {
  Tensor base = vec({1, 2, 3}), w = leaf({5});
  Tensor v = as_strided(base, {1}, {1}, 1);
  mul_(v, w);
  EXPECT_TRUE(requires_grad(base));
  EXPECT_TRUE(requires_grad(v));
  EXPECT_FALSE(is_leaf(base));
  backward(sum(mul(base, base)));
  EXPECT_EQ(values(base), (Numbers{1, 10, 3}));
  EXPECT_EQ(values(grad(w)), (Numbers{2 * 10 * 2}));
}

TEST_F(Inplace, FillingABufferPartByPart) {
  Tensor w = leaf({1, 2});
  Tensor buffer = of({2, 2}, {0});
  copy_(select(buffer, 0), w);
  copy_(select(buffer, 1), mul(w, w));
  backward(sum(mul(buffer, of({2, 2}, {1, 2, 3, 4}))));
  EXPECT_EQ(values(grad(w)), (Numbers{1 + 3 * 2, 2 + 4 * 4}));
}

TEST_F(Inplace, SecondDerivativesThroughViews) {
  Tensor x = leaf({2, 3});
  Tensor y = mul(x, vec({1, 1}));
  Tensor v = as_strided(y, {1}, {1}, 0);
  mul_(v, mul(v, vec({1})));
  mul_(v, as_strided(x, {1}, {1}, 0));  // y = [x0^3, x1]
  Tensor s = sum(mul(y, y));
  Tensor g = grad({&s, 1}, {&x, 1}, {}, {.create_graph = true})[0];
  EXPECT_EQ(values(g), (Numbers{6 * 32, 6}));
  Tensor t = sum(g);
  EXPECT_EQ(values(grad({&t, 1}, {&x, 1})[0]), (Numbers{30 * 16, 2}));
}

TEST_F(Inplace, OverlappingViewsAddUp) {
  Tensor x = leaf({1, 2, 3});
  Tensor y = mul(x, vec({1, 1, 1}));
  Tensor v = as_strided(y, {2, 2}, {1, 1}, 0);  // rows share the middle element
  mul_(y, vec({2, 3, 4}));
  backward(sum(v));
  EXPECT_EQ(values(grad(x)), (Numbers{2, 6, 4}));
}

TEST_F(Inplace, LeavesRefuse) {
  Tensor x = leaf({1, 2});
  EXPECT_EQ(message_of([&] { mul_(x, x); }),
            "a leaf Variable that requires grad is being used in an in-place operation.");
  EXPECT_EQ(message_of([&] { mul_(select(x, 0), of({}, {2})); }),
            "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  NoGrad off;
  mul_(x, x);
  mul_(select(x, 1), of({}, {2}));
  EXPECT_EQ(values(x), (Numbers{1, 8}));
  EXPECT_TRUE(requires_grad(x));
  EXPECT_TRUE(is_leaf(x));
}

TEST_F(Inplace, ViewsOfSeveralOutputsRefuse) {
  Tensor x = leaf({1, 2});
  Tensor y = mul(x, x);
  std::vector<Tensor> parts = unbind(y);
  EXPECT_TRUE(says(message_of([&] { mul_(parts[1], of({}, {2})); }),
                   "Output 1 of Unbind is a view and is being modified inplace. This view is the "
                   "output of a function that returns multiple views."));
  mul_(y, vec({2, 2}));
  EXPECT_TRUE(requires_grad(parts[0]));
  EXPECT_TRUE(says(message_of([&] { grad_fn(parts[0]); }),
                   "its base or another view of its base has been modified inplace"));
}

TEST_F(Inplace, ViewsMadeUnderNoGradRefuse) {
  Tensor x = leaf({1, 2});
  Tensor y = mul(x, x), v;
  {
    NoGrad off;
    v = select(y, 0);
  }
  EXPECT_TRUE(requires_grad(v));
  EXPECT_TRUE(
      says(message_of([&] { mul_(v, of({}, {2})); }),
           "A view was created in no_grad mode and is being modified inplace with grad mode "
           "enabled."));
  Tensor plain = vec({1, 2});
  {
    NoGrad off;
    v = select(plain, 0);
  }
  EXPECT_NO_THROW(mul_(v, of({}, {2})));
  Tensor w = leaf({3});
  EXPECT_TRUE(says(message_of([&] { mul_(v, select(w, 0)); }), "created in no_grad mode"));
  EXPECT_EQ(values(plain), (Numbers{2, 2}));  // refused before the write
}

TEST_F(Inplace, ExpandedAndReadOnlyMemoryRefuses) {
  Tensor e = expanded(vec({1}), {3});
  EXPECT_TRUE(says(message_of([&] { mul_(e, vec({2})); }),
                   "more than one element of the written-to tensor refers to a single memory"));
  static double data[2] = {1, 2};
  Storage* s = Storage::external(data, sizeof data, nullptr, nullptr, true);
  Tensor t = tensor_over(s, {2}, {1}, 0, kFloat64);
  s->release();
  EXPECT_TRUE(says(message_of([&] { mul_(t, vec({2})); }), "read-only"));
}

TEST_F(Inplace, InferenceTensors) {
  Tensor t;
  {
    InferenceMode mode;
    t = vec({1, 2});
    mul_(t, t);
    EXPECT_FALSE(requires_grad(mul(leaf({1, 1}), t)));
  }
  EXPECT_TRUE(says(message_of([&] { mul_(t, t); }), "Inplace update to inference tensor outside"));
  EXPECT_TRUE(says(message_of([&] { mul(leaf({1, 1}), t); }),
                   "Inference tensors cannot be saved for backward."));
  EXPECT_TRUE(says(message_of([&] { set_requires_grad(t, true); }), "inference tensor"));
}

TEST_F(Inplace, DroppedViewsDoNotKeepTheGraphBusy) {
  Tensor w = leaf({1});
  Tensor state = of({4}, {0});
  for (int step = 0; step < 3; ++step) {
    for (int64_t i = 0; i < 4; ++i) add_(as_strided(state, {1}, {1}, i), w);
  }
  backward(sum(state));
  EXPECT_EQ(values(grad(w)), (Numbers{12}));
}

}  // namespace
}  // namespace facula
