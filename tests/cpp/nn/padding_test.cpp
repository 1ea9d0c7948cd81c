// Tests of padding. Values were recorded from PyTorch 2.15.
#include "facula/nn/padding.h"

#include "checksum.h"
#include "facula/base/error.h"

namespace facula::nn {
namespace {

TEST(Padding, HasTheValuesOfPython) {
  Tensor x = wave({2, 3, 5}), y = wave({2, 4, 4}), z = wave({1, 2, 3, 3, 3});
  EXPECT_NEAR(checksum(ReflectionPad1d(Extent<2>(1, 2))(x)), -0.961778, 2e-4);
  EXPECT_NEAR(checksum(ReplicationPad1d(Extent<2>(1, 2))(x)), -1.606709, 2e-4);
  EXPECT_NEAR(checksum(CircularPad1d(Extent<2>(1, 2))(x)), -0.309691, 2e-4);
  EXPECT_NEAR(checksum(ZeroPad1d(Extent<2>(1, 2))(x)), -0.319801, 2e-4);
  EXPECT_NEAR(checksum(ConstantPad1d(Extent<2>(1, 2), 2.5)(x)), 1.962274, 2e-4);
  EXPECT_NEAR(checksum(ReflectionPad2d(1)(y)), 4.097175, 2e-4);
  EXPECT_NEAR(checksum(ReplicationPad2d(1)(y)), -8.633283, 2e-4);
  EXPECT_NEAR(checksum(CircularPad2d(1)(y)), -4.332726, 2e-4);
  EXPECT_NEAR(checksum(ZeroPad2d(1)(y)), -2.384537, 2e-4);
  EXPECT_NEAR(checksum(ConstantPad2d(1, 2.5)(y)), -13.339415, 2e-4);
  EXPECT_NEAR(checksum(ReflectionPad3d(Extent<6>(1, 0, 2, 1, 0, 1))(z)), -2.071973, 2e-4);
  EXPECT_NEAR(checksum(ReplicationPad3d(Extent<6>(1, 0, 2, 1, 0, 1))(z)), -5.577176, 2e-4);
  EXPECT_NEAR(checksum(CircularPad3d(Extent<6>(1, 0, 2, 1, 0, 1))(z)), -3.43355, 2e-4);
  EXPECT_NEAR(checksum(ZeroPad3d(Extent<6>(1, 0, 2, 1, 0, 1))(z)), -0.666566, 2e-4);
  EXPECT_NEAR(checksum(ConstantPad3d(Extent<6>(1, 0, 2, 1, 0, 1), 2.5)(z)), 2.391212, 2e-4);
}

TEST(Padding, NegativeNumbersCrop) {
  Tensor x = wave({1, 5});
  EXPECT_EQ(CircularPad1d(Extent<2>(-1, 2))(x).size(1), 6);
  EXPECT_EQ(ZeroPad1d(-1)(x).size(1), 3);
  EXPECT_THROW(CircularPad1d(6)(x), Error);
  EXPECT_THROW(ReflectionPad2d(1)(x), Error);
}

TEST(Padding, PrintsAsInPython) {
  EXPECT_EQ(ZeroPad2d(1).repr(), "ZeroPad2d((1, 1, 1, 1))");
  EXPECT_EQ(ConstantPad1d(1, 2.5).repr(), "ConstantPad1d(padding=(1, 1), value=2.5)");
}

}  // namespace
}  // namespace facula::nn
