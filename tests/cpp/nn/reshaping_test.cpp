// Tests of modules that move, resize, compare or scale. Values were recorded from PyTorch 2.15.
#include "facula/nn/reshaping.h"

#include "checksum.h"
#include "facula/base/error.h"

namespace facula::nn {
namespace {

TEST(Reshaping, HasTheValuesOfPython) {
  Tensor y = wave({2, 4, 6, 6}), x = wave({3, 8}), w = wave({3, 8}, 1);
  EXPECT_NEAR(checksum(Identity()(x)), 0.455345, 2e-4);
  EXPECT_NEAR(checksum(Unflatten(1, Sizes{2, 4})(x)), 0.455345, 2e-4);
  EXPECT_NEAR(checksum(Unfold(3, 1, 1, 2)(y)), 0.348309, 2e-4);
  EXPECT_NEAR(checksum(Fold({.output_size = 6, .kernel_size = 2, .stride = 2})(wave({1, 4, 9}))),
              -0.104335, 2e-4);
  EXPECT_NEAR(checksum(PixelShuffle(2)(y)), 0.667872, 2e-4);
  EXPECT_NEAR(checksum(PixelUnshuffle(3)(y)), -1.967416, 2e-4);
  EXPECT_NEAR(checksum(ChannelShuffle(2)(y)), 2.536347, 2e-4);
  EXPECT_NEAR(checksum(Upsample({.scale_factor = 1.5})(y)), -2.030747, 2e-4);
  EXPECT_NEAR(checksum(Upsample({.size = {9, 4}, .mode = "bilinear"})(y)), 0.372439, 2e-4);
  EXPECT_NEAR(checksum(Upsample({.size = {9}, .mode = "linear"})(wave({1, 2, 5}))), -0.757034,
              2e-4);
  EXPECT_NEAR(checksum(UpsamplingNearest2d({.scale_factor = 2})(y)), -1.44257, 2e-4);
  EXPECT_NEAR(checksum(UpsamplingBilinear2d({.size = {8}})(y)), -2.851832, 2e-4);
  EXPECT_NEAR(checksum(CosineSimilarity()(x, w)), 0.57519, 2e-4);
  EXPECT_NEAR(checksum(PairwiseDistance({.p = 1})(x, w)), 5.749909, 2e-4);
  EXPECT_NEAR(checksum(LocalResponseNorm(3)(y)), 0.456452, 2e-4);
  EXPECT_NEAR(checksum(CrossMapLRN2d({.size = 7, .alpha = 0.1})(y)), 0.446987, 2e-4);
}

TEST(Reshaping, PrintsAsInPython) {
  EXPECT_EQ(Identity().repr(), "Identity()");
  EXPECT_EQ(Unflatten(1, Sizes{2, 4}).repr(), "Unflatten(dim=1, unflattened_size=(2, 4))");
  EXPECT_EQ(Unfold(3).repr(), "Unfold(kernel_size=3, dilation=1, padding=0, stride=1)");
  EXPECT_EQ(Upsample({.scale_factor = 2}).repr(), "Upsample(scale_factor=2.0, mode='nearest')");
  EXPECT_EQ(LocalResponseNorm(2).repr(), "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)");
  EXPECT_THROW(Upsample()(wave({1, 1, 4})), Error);
  EXPECT_THROW(Upsample({.size = {3}, .mode = "bilinear"})(wave({1, 1, 4})), Error);
}

}  // namespace
}  // namespace facula::nn
