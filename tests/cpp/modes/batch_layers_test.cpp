// Tests of the rules of pooling, normalisation, attention and losses.
#include "against_loop.h"
#include "facula/base/error.h"
#include "facula/ops/attention_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/pool_functions.h"
#include "facula/ops/recurrent_functions.h"

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

TEST(BatchLayers, NormsWithStatisticsOfEachSample) {
  Tensor x = randn(IntList({3, 2, 4, 6})), mean = randn(IntList({3, 4})),
         variance = add(rand(IntList({3, 4})), Scalar(0.5));
  for (bool training : {true, false}) {
    expect_like_loop(
        [&](const Args& t) { return batch_norm(t[0], clone(t[1]), clone(t[2]), {}, {}, training); },
        {x, mean, variance}, 7);
  }
  Tensor stored = clone(mean), first = clone(select(mean, 0, 0));
  Mapped train = [](const Args& t) { return batch_norm(t[0], t[1], t[2], {}, {}, true); };
  under_vmap(train, {x, stored, clone(variance)}, 7, 3);
  train({select(x, 0, 0), first, clone(select(variance, 0, 0))});
  EXPECT_TRUE(allclose(select(stored, 0, 0), first, 1e-5, 1e-5, false));
}

TEST(BatchLayers, Attention) {
  Tensor q = randn(IntList({3, 2, 2, 5, 4}));
  expect_like_loop([](const Args& a) { return scaled_dot_product_attention(a[0], a[0], a[0]); },
                   {q}, 1);
}

TEST(BatchLayers, RecurrentLayers) {
  Tensor x = randn(IntList({3, 7, 4})), h = randn(IntList({3, 3, 5})),
         c = randn(IntList({3, 3, 5}));
  Sizes steps{3, 2, 1, 1};
  for (const char* mode : {"tanh", "gru", "lstm"}) {
    int64_t gates = mode[0] == 't' ? 1 : mode[0] == 'g' ? 3 : 4;
    Tensor w = randn(IntList({gates * 5, 4})), u = randn(IntList({gates * 5, 5}));
    auto run = [&](const Args& t) {
      return recurrent_layer(t[0], steps, t[1], gates == 4 ? t[2] : Tensor(), w, u, {}, {}, {},
                             mode, gates == 3);
    };
    for (unsigned mapped : {1u, 2u, 7u}) {
      Args given{mapped & 1 ? x : select(x, 0, 0), mapped & 2 ? h : select(h, 0, 0),
                 mapped & 4 ? c : select(c, 0, 0)};
      expect_like_loop([&](const Args& t) { return std::get<0>(run(t)); }, given, mapped);
      expect_like_loop([&](const Args& t) { return std::get<1>(run(t)); }, given, mapped);
    }
  }
}

}  // namespace
}  // namespace facula
