// Tests of activations and dropouts. Values were recorded from PyTorch 2.15.
#include "facula/nn/activations.h"

#include "checksum.h"
#include "facula/base/error.h"

namespace facula::nn {
namespace {

TEST(Activations, HaveTheValuesOfPython) {
  Tensor x = wave({2, 4, 6}) * 2;
  EXPECT_NEAR(checksum(ELU(0.5)(x)), -0.111, 2e-4);
  EXPECT_NEAR(checksum(CELU({.alpha = 2})(x)), -0.111137, 2e-4);
  EXPECT_NEAR(checksum(SELU()(x)), -0.11391, 2e-4);
  EXPECT_NEAR(checksum(ReLU6()(x)), -0.112102, 2e-4);
  EXPECT_NEAR(checksum(Hardtanh(-0.5, 0.7)(x)), -0.15342, 2e-4);
  EXPECT_NEAR(checksum(Hardsigmoid()(x)), 0.039662, 2e-4);
  EXPECT_NEAR(checksum(Hardswish()(x)), -0.044758, 2e-4);
  EXPECT_NEAR(checksum(Hardshrink(0.3)(x)), 0.324752, 2e-4);
  EXPECT_NEAR(checksum(Softshrink(0.3)(x)), 0.073343, 2e-4);
  EXPECT_NEAR(checksum(Tanhshrink()(x)), 0.028152, 2e-4);
  EXPECT_NEAR(checksum(Softplus({.beta = 2, .threshold = 3})(x)), -0.016239, 2e-4);
  EXPECT_NEAR(checksum(Softsign()(x)), -0.124817, 2e-4);
  EXPECT_NEAR(checksum(SiLU()(x)), -0.037979, 2e-4);
  EXPECT_NEAR(checksum(Mish()(x)), -0.047126, 2e-4);
  EXPECT_NEAR(checksum(LogSigmoid()(x)), -0.146648, 2e-4);
  EXPECT_NEAR(checksum(GLU(1)(x)), -3.218299, 2e-4);
  EXPECT_NEAR(checksum(Threshold(0.1, 20)(x)), 22.488606, 2e-4);
  EXPECT_NEAR(checksum(Softmax(1)(x)), 0.031562, 2e-4);
  EXPECT_NEAR(checksum(Softmin(2)(x)), 0.018444, 2e-4);
  EXPECT_NEAR(checksum(LogSoftmax(-1)(x)), -0.423164, 2e-4);
  EXPECT_NEAR(checksum(Softmax2d()(x)), 0.093832, 2e-4);
  EXPECT_NEAR(checksum(with_waves(PReLU(4))(x)), 0.06668, 2e-4);
}

TEST(Activations, DropoutsDropWholeChannels) {
  manual_seed(0);
  Tensor ones = full({8, 16, 5}, 1.0);
  Dropout1d drop(0.5);
  Tensor out = drop(ones), first = narrow(out, 2, 0, 1);
  EXPECT_EQ(item(sum(abs(out - first))), 0);
  EXPECT_GT(item(sum(out)), 0);
  EXPECT_LT(item(mean(first)), 2);
  drop.eval();
  EXPECT_EQ(item(sum(abs(drop(ones) - ones))), 0);
  EXPECT_THROW(Dropout2d(1.5), Error);
  EXPECT_THROW(drop(full({3}, 1.0)), Error);
  RReLU slopes;
  slopes.eval();
  EXPECT_NEAR(item(slopes(full({1}, -1.0))), -(1.0 / 8 + 1.0 / 3) / 2, 1e-6);
}

TEST(Activations, PrintAsInPython) {
  EXPECT_EQ(ELU(0.5).repr(), "ELU(alpha=0.5)");
  EXPECT_EQ(Softplus().repr(), "Softplus(beta=1.0, threshold=20.0)");
  EXPECT_EQ(Hardshrink().repr(), "Hardshrink(0.5)");
  EXPECT_EQ(SELU().repr(), "SELU()");
  EXPECT_EQ(PReLU(3).repr(), "PReLU(num_parameters=3)");
  EXPECT_EQ(Dropout3d().repr(), "Dropout3d(p=0.5, inplace=False)");
  EXPECT_THROW(Hardtanh(1, -1), Error);
}

}  // namespace
}  // namespace facula::nn
