// Tests of the rules of pooling, normalisation, attention and losses.
#include "against_loop.h"
#include "facula/base/error.h"
#include "facula/ops/attention_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/pool_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula {
namespace {

using Args = std::vector<Tensor>;

TEST(BatchLayers, Pools) {
  Tensor x = randn(IntList({3, 2, 4, 6, 6}));
  expect_like_loop([](const Args& t) { return max_pool2d(t[0], {2, 2}); }, {x}, 1);
  expect_like_loop([](const Args& t) { return avg_pool2d(t[0], {3, 3}); }, {x}, 1);
  expect_like_loop([](const Args& t) { return adaptive_avg_pool2d(t[0], {2, 3}); }, {x}, 1);
}

TEST(BatchLayers, Norms) {
  Tensor x = randn(IntList({3, 2, 4, 6})), w = randn(IntList({3, 6})), c = randn(IntList({3, 4}));
  expect_like_loop([](const Args& t) { return layer_norm(t[0], {6}, t[1], t[1]); }, {x, w}, 3);
  expect_like_loop([](const Args& t) { return rms_norm(t[0], {6}, t[1]); }, {x, w}, 3);
  expect_like_loop([](const Args& t) { return group_norm(t[0], 2, t[1], t[1]); }, {x, c}, 3);
  expect_like_loop(
      [](const Args& t) { return batch_norm(t[0], Tensor(), Tensor(), t[1], t[1], true); }, {x, c},
      3);
  Tensor mean = zeros(IntList({4})), variance = ones(IntList({4}));
  expect_like_loop(
      [&](const Args& t) { return batch_norm(t[0], mean, variance, t[1], t[1], false); }, {x, c},
      3);
  EXPECT_THROW(
      under_vmap([&](const Args& t) { return batch_norm(t[0], mean, variance, {}, {}, true); }, {x},
                 1, 3),
      Error);
}

TEST(BatchLayers, AttentionAndLosses) {
  Tensor q = randn(IntList({3, 2, 2, 5, 4})), x = randn(IntList({3, 6, 4})),
         t = randint(4, IntList({3, 6}));
  expect_like_loop([](const Args& a) { return scaled_dot_product_attention(a[0], a[0], a[0]); },
                   {q}, 1);
  for (const char* reduction : {"mean", "sum", "none"}) {
    expect_like_loop(
        [&](const Args& a) { return cross_entropy(a[0], a[1], Tensor(), 1, reduction); }, {x, t},
        3);
  }
  expect_like_loop([](const Args& a) { return nll_loss(a[0], a[1]); }, {x, t}, 3);
}

}  // namespace
}  // namespace facula
