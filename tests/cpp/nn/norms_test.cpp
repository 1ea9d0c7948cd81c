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

TEST(Norms, OneAndThreeDimensions) {
  manual_seed(4);
  Tensor flat = randn({16, 3}) * 3 + 1, block = randn({2, 3, 2, 2, 2}) + 2;
  EXPECT_NEAR(item(mean(BatchNorm1d(3)(flat))), 0, 1e-5);
  EXPECT_NEAR(item(mean(BatchNorm3d(3)(block))), 0, 1e-5);
  EXPECT_THROW(BatchNorm3d(3)(flat), Error);
  InstanceNorm3d instances(3, {.affine = true, .track_running_stats = true});
  Tensor one = mean(instances(block), IntList({2, 3, 4}));
  EXPECT_LT(item(max(abs(one))), 1e-5);
  EXPECT_NEAR(item(mean(instances.running_mean)), 0.2, 0.1);
  EXPECT_EQ(InstanceNorm1d(4)(randn({4, 6})).dim(), 2);
  EXPECT_THROW(instances(randn({2, 4, 2, 2, 2})), Error);
}

TEST(Norms, GroupsAndRootMeanSquares) {
  Tensor x = randn({2, 6, 4}) + 3;
  Tensor grouped = reshape(GroupNorm(2, 6)(x), {2, 2, -1});
  EXPECT_LT(item(max(abs(mean(grouped, IntList({2}))))), 1e-5);
  Tensor y = RMSNorm(IntList({4}))(x);
  EXPECT_LT(item(max(abs(mean(y * y, IntList({2})) - 1))), 1e-5);
  EXPECT_THROW(GroupNorm(4, 6), Error);
  EXPECT_EQ(GroupNorm(2, 6).repr(), "GroupNorm(2, 6, eps=1e-05, affine=True, bias=True)");
  EXPECT_EQ(RMSNorm(IntList({4})).repr(), "RMSNorm((4,), eps=None, elementwise_affine=True)");
  EXPECT_EQ(InstanceNorm2d(3).repr(),
            "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, "
            "track_running_stats=False)");
}

}  // namespace
}  // namespace facula::nn
