// Gradients that arrive at leaves: sums, hooks, layouts, threads.
#include <gtest/gtest.h>

#include <thread>

#include "facula/autograd/engine.h"
#include "small_ops.h"

namespace facula {
namespace {

using namespace small;

class Accumulate : public ::testing::Test {
  SmallOps ops_;
};

TEST_F(Accumulate, GradientsAccumulateOverPasses) {
  Tensor x = leaf({1, 2});
  for (int i = 1; i <= 3; ++i) {
    backward(sum(mul(x, x)));
    EXPECT_EQ(values(grad(x)), (Numbers{2.0 * i, 4.0 * i}));
  }
  Tensor kept = grad(x);
  backward(sum(x));
  EXPECT_TRUE(grad(x).is_same(kept));  // added in place
  EXPECT_EQ(values(kept), (Numbers{7, 13}));
}

TEST_F(Accumulate, LeafHooksSeeTheTotal) {
  Tensor x = leaf({1});
  int calls = 0;
  add_hook(x, hook([&](Gradients& g, const Gradients*) {
             ++calls;
             EXPECT_EQ(values(g[0]), (Numbers{5}));
             g[0] = mul(g[0], vec({2}));
           }));
  Tensor y = add(mul(x, vec({2})), mul(x, vec({3})));
  Tensor s = sum(y);
  EXPECT_EQ(values(grad({&s, 1}, {&x, 1}, {}, {.retain_graph = true})[0]), (Numbers{10}));
  backward(s);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(values(grad(x)), (Numbers{10}));
}

TEST_F(Accumulate, RetainedGradientsDoNotKeepTheirTensor) {
  Tensor x = leaf({1});
  Tensor y = mul(x, x);
  retain_grad(y);
  Tensor s = sum(y);
  y = Tensor();
  backward(s);
  EXPECT_EQ(values(grad(x)), (Numbers{2}));
}

TEST_F(Accumulate, ThreadsShareLeaves) {
  Tensor x = leaf({1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) backward(sum(mul(x, x)));
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(values(grad(x)), (Numbers{4000}));
}

TEST_F(Accumulate, GradientsAreStolenOrCopiedIntoTheLeafsLayout) {
  Tensor x = new_strided({2, 3}, {1, 2}, kFloat64);
  write(x, of({2, 3}, {1}));
  set_requires_grad(x, true);
  backward(sum(mul(x, x)));
  EXPECT_EQ(grad(x).strides(), x.strides());
  Tensor y = leaf({1, 2});
  backward(sum(y));  // an expanded gradient
  EXPECT_EQ(grad(y).strides(), IntList({1}));
}

}  // namespace
}  // namespace facula
