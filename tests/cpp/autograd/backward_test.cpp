// backward() and grad(): their arguments, seeds, inputs and errors.
#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "small_ops.h"

namespace facula {
namespace {

using namespace small;

class Backward : public ::testing::Test {
  SmallOps ops_;
};

TEST_F(Backward, GradOfInnerTensorsAndUnusedOnes) {
  Tensor x = leaf({2}), unused = leaf({1});
  Tensor y = mul(x, x), z = sum(mul(y, y));
  Tensor inputs[] = {y, x};
  std::vector<Tensor> g = grad({&z, 1}, inputs, {}, {.retain_graph = true});
  EXPECT_EQ(values(g[0]), (Numbers{8}));
  EXPECT_EQ(values(g[1]), (Numbers{32}));
  EXPECT_NE(message_of([&] {
              grad({&z, 1}, {&unused, 1}, {}, {.retain_graph = true});
            }).find("appears to not have been used in the graph"),
            std::string::npos);
  BackwardOptions lenient{.retain_graph = true, .allow_unused = true};
  EXPECT_FALSE(grad({&z, 1}, {&unused, 1}, {}, lenient)[0].defined());
  EXPECT_EQ(values(grad({&z, 1}, {&z, 1}, {}, lenient)[0]), (Numbers{1}));
  EXPECT_FALSE(grad(x).defined());
}

TEST_F(Backward, OnlyWhatLeadsToTheInputsRuns) {
  Tensor x = leaf({2}), y = leaf({3});
  Tensor a = mul(x, x), b = mul(y, y), z = sum(add(a, b));
  int calls = 0;
  b->grad_fn->make_hooks().pre.push_back({1, hook([&](Gradients&, const Gradients*) { ++calls; })});
  grad({&z, 1}, {&x, 1}, {}, {.retain_graph = true});
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(b->grad_fn->released);
  backward(std::span(&z, 1), {}, {}, std::span(&y, 1));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(grad(x).defined());
  EXPECT_EQ(values(grad(y)), (Numbers{6}));
}

TEST_F(Backward, BackwardInputsMayBeInner) {
  Tensor x = leaf({2});
  Tensor y = mul(x, x), z = sum(mul(y, y));
  backward(std::span(&z, 1), {}, {}, std::span(&y, 1));
  EXPECT_EQ(values(grad(y)), (Numbers{8}));
  EXPECT_FALSE(grad(x).defined());
}

TEST_F(Backward, ArgumentsAreChecked) {
  Tensor plain = vec({1}), x = leaf({1, 2});
  EXPECT_EQ(message_of([&] { backward(plain); }),
            "element 0 of tensors does not require grad and does not have a grad_fn");
  EXPECT_EQ(message_of([&] { backward(x); }),
            "grad can be implicitly created only for scalar outputs");
  Tensor seed = vec({1, 2, 3});
  EXPECT_EQ(
      message_of([&] { backward({&x, 1}, {&seed, 1}); }),
      "Mismatch in shape: grad_output[0] has a shape of [3] and output[0] has a shape of [2].");
  Tensor s = sum(x);
  EXPECT_EQ(message_of([&] { grad({&s, 1}, {&plain, 1}); }),
            "One of the differentiated Tensors does not require grad");
}

TEST_F(Backward, SeedsAreNotWrittenTo) {
  Tensor x = leaf({1, 2}), seed = vec({5, 7});
  Tensor y = add(x, x);
  Tensor roots[] = {y, y}, seeds[] = {seed, seed};
  backward(roots, seeds);
  EXPECT_EQ(values(seed), (Numbers{5, 7}));
  EXPECT_EQ(values(grad(x)), (Numbers{20, 28}));
  Tensor z = leaf({0, 0});
  backward({&z, 1}, {&seed, 1});
  EXPECT_FALSE(grad(z).is_same(seed));
}

}  // namespace
}  // namespace facula
