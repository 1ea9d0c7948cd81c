// Tests of convolutions in one and three dimensions, Bilinear and EmbeddingBag. Values were
// recorded from PyTorch 2.15.
#include "facula/nn/convolutions.h"

#include "checksum.h"
#include "facula/base/error.h"

namespace facula::nn {
namespace {

TEST(Convolutions, HaveTheValuesOfPython) {
  Tensor x = wave({2, 4, 9}), z = wave({1, 2, 4, 4, 4});
  Tensor ids = tensor_of(std::vector<int64_t>{1, 2, 4, 5, 4, 3}, {6});
  Tensor starts = tensor_of(std::vector<int64_t>{0, 2, 2}, {3});
  EXPECT_NEAR(checksum(with_waves(Conv1d(4, 6, 3, {.stride = 2, .padding = 1, .groups = 2}))(x)),
              1.144273, 2e-4);
  EXPECT_NEAR(checksum(with_waves(Conv3d(2, 3, Extent<3>(2, 1, 2), {.dilation = 2}))(z)), 0.117442,
              2e-4);
  EXPECT_NEAR(checksum(with_waves(
                  ConvTranspose1d(4, 2, 3, {.stride = 2, .output_padding = 1, .bias = false}))(x)),
              0.536649, 2e-4);
  EXPECT_NEAR(checksum(with_waves(ConvTranspose3d(2, 3, 2))(z)), -0.172496, 2e-4);
  EXPECT_NEAR(checksum(with_waves(Bilinear(4, 5, 3))(wave({2, 4}), wave({2, 5}))), -0.981534, 2e-4);
  EXPECT_NEAR(checksum(with_waves(EmbeddingBag(6, 3))(ids, starts)), -0.019205, 2e-4);
  EXPECT_NEAR(checksum(with_waves(EmbeddingBag(6, 3, {.mode = "max"}))(reshape(ids, {2, 3}))),
              0.012778, 2e-4);
  EXPECT_NEAR(checksum(with_waves(EmbeddingBag(6, 3, {.mode = "sum", .padding_idx = -1}))(
                  ids, starts, wave({6}))),
              0.650481, 2e-4);
}

TEST(Convolutions, PrintAsInPython) {
  EXPECT_EQ(Conv1d(4, 6, 3, {.stride = 2, .padding = 1, .groups = 2}).repr(),
            "Conv1d(4, 6, kernel_size=(3,), stride=(2,), padding=(1,), groups=2)");
  EXPECT_EQ(ConvTranspose3d(2, 3, 2, {.bias = false}).repr(),
            "ConvTranspose3d(2, 3, kernel_size=(2, 2, 2), stride=(1, 1, 1), bias=False)");
  EXPECT_EQ(Bilinear(4, 5, 3).repr(),
            "Bilinear(in1_features=4, in2_features=5, out_features=3, bias=True)");
  EXPECT_EQ(EmbeddingBag(6, 3).repr(), "EmbeddingBag(6, 3, mode='mean')");
  EXPECT_THROW(Conv1d(3, 6, 3, {.groups = 2}), Error);
  EXPECT_THROW(EmbeddingBag(6, 3, {.mode = "min"}), Error);
  EXPECT_THROW(EmbeddingBag(6, 3)(tensor_of(std::vector<int64_t>{1}, {1})), Error);
}

}  // namespace
}  // namespace facula::nn
