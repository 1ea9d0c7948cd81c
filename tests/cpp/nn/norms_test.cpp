// Tests of norms: what they normalise, what they keep.
#include "facula/nn/norms.h"

#include <gtest/gtest.h>

#include "facula/base/error.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

TEST(Norms, BatchNormKeepsStatistics) {
  manual_seed(2);
  BatchNorm2d norm(3);
  Tensor x = randn({8, 3, 4, 4}) * 2 + 5;
  Tensor y = norm(x);
  EXPECT_NEAR(item(mean(y)), 0, 1e-5);
  EXPECT_NEAR(item(mean(y * y)), 1, 1e-3);
  EXPECT_EQ(item_int(norm.num_batches_tracked), 1);
  EXPECT_NEAR(item(mean(norm.running_mean)), 0.5, 0.05);
  norm.eval();
  EXPECT_GT(item(mean(norm(x))), 1);
  EXPECT_EQ(item_int(norm.num_batches_tracked), 1);
  EXPECT_THROW(norm(randn({8, 3})), Error);
}

TEST(Norms, NoMomentumAveragesAllBatches) {
  BatchNorm2d norm(1, {.momentum = std::nullopt});
  norm(full({2, 1, 1, 2}, 1.0));
  norm(full({2, 1, 1, 2}, 3.0));
  EXPECT_NEAR(item(norm.running_mean), 2, 1e-6);
}

TEST(Norms, WithoutStatisticsTheBatchCounts) {
  BatchNorm2d norm(2, {.affine = false, .track_running_stats = false});
  EXPECT_TRUE(norm.state_dict().empty());
  norm.eval();
  EXPECT_NEAR(item(mean(norm(randn({4, 2, 3, 3}) + 7))), 0, 1e-5);
}

TEST(Norms, LayerNormTakesTheLastDimensions) {
  LayerNorm norm({3, 4});
  Tensor y = norm(randn({5, 3, 4}) * 3 + 1);
  EXPECT_LT(item(max(abs(mean(y, {1, 2})))), 1e-5);
  EXPECT_EQ(norm.repr(), "LayerNorm((3, 4), eps=1e-05, elementwise_affine=True, bias=True)");
  EXPECT_EQ(LayerNorm(4, {.bias = false}).repr(),
            "LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=False)");
}

}  // namespace
}  // namespace facula::nn
