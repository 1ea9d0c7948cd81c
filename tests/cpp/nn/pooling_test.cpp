// Tests of pooling. Values were recorded from PyTorch 2.15.
#include "facula/nn/pooling.h"

#include "checksum.h"
#include "facula/base/error.h"

namespace facula::nn {
namespace {

TEST(Pooling, HasTheValuesOfPython) {
  Tensor x = wave({2, 3, 8}), y = wave({2, 3, 6, 6}), z = wave({1, 2, 4, 4, 4});
  EXPECT_NEAR(checksum(MaxPool1d(3, 2)(x)), 0.485355, 2e-4);
  EXPECT_NEAR(checksum(MaxPool3d({.kernel_size = 2, .stride = 1, .padding = 1})(z)), -8.078898,
              2e-4);
  EXPECT_NEAR(checksum(AvgPool1d({.kernel_size = 3, .padding = 1, .count_include_pad = false})(x)),
              0.472248, 2e-4);
  EXPECT_NEAR(checksum(AvgPool3d(2)(z)), -0.026039, 2e-4);
  EXPECT_NEAR(checksum(AdaptiveAvgPool1d(3)(x)), 0.524461, 2e-4);
  EXPECT_NEAR(checksum(AdaptiveAvgPool2d(Extent<2>(2, -1))(y)), -0.525704, 2e-4);
  EXPECT_NEAR(checksum(AdaptiveAvgPool3d(2)(z)), -0.026039, 2e-4);
  EXPECT_NEAR(checksum(AdaptiveMaxPool1d(3)(x)), -1.228241, 2e-4);
  EXPECT_NEAR(checksum(AdaptiveMaxPool2d(4)(y)), 1.588206, 2e-4);
  EXPECT_NEAR(checksum(AdaptiveMaxPool3d(3)(z)), 0.313041, 2e-4);
  EXPECT_NEAR(checksum(LPPool1d(2.0, 2)(abs(x))), -0.622423, 2e-4);
  EXPECT_NEAR(checksum(LPPool2d(3.0, 2)(abs(y))), 0.081218, 2e-4);
  EXPECT_NEAR(checksum(LPPool3d(2.0, 2)(abs(z))), 0.81494, 2e-4);
}

TEST(Pooling, UnpoolingPutsMaximaBack) {
  Tensor x = abs(wave({1, 2, 8}));
  MaxPool1d pool(2);
  MaxUnpool1d back(2);
  auto [values, indices] = pool.options().with_indices(x);
  Tensor out = back(values, indices);
  EXPECT_EQ(item(sum(abs(pool(out) - values))), 0);
  EXPECT_NEAR(item(sum(out)), item(sum(values)), 1e-6);
  EXPECT_EQ(back(values, indices, Extent<1>(9)).size(2), 9);
  auto [v2, i2] = max_pool2d_with_indices(wave({1, 1, 4, 4}), Sizes{2, 2});
  EXPECT_EQ(MaxUnpool2d(2)(v2, i2).size(3), 4);
  auto [v3, i3] = MaxPool3d(2).options().with_indices(wave({1, 1, 4, 4, 4}));
  EXPECT_EQ(MaxUnpool3d(2)(v3, i3).size(4), 4);
}

TEST(Pooling, FractionalWindowsHaveTheirSize) {
  Tensor out = FractionalMaxPool2d(2, 3)(wave({2, 3, 7, 7}));
  EXPECT_EQ(out.size(2), 3);
  EXPECT_LE(item(max(out)), 1);
  EXPECT_EQ(FractionalMaxPool3d(2, 2)(wave({2, 5, 5, 5})).size(1), 2);
}

TEST(Pooling, PrintsAsInPython) {
  EXPECT_EQ(MaxPool1d(3, 2).repr(),
            "MaxPool1d(kernel_size=3, stride=2, padding=0, dilation=1, ceil_mode=False)");
  EXPECT_EQ(AvgPool1d(3).repr(), "AvgPool1d(kernel_size=(3,), stride=(3,), padding=(0,))");
  EXPECT_EQ(AdaptiveAvgPool2d(Extent<2>(2, 3)).repr(), "AdaptiveAvgPool2d(output_size=(2, 3))");
  EXPECT_EQ(MaxUnpool2d(2).repr(), "MaxUnpool2d(kernel_size=2, stride=2, padding=0)");
  EXPECT_THROW(MaxPool1d(2).Module::operator()(wave({2})), Error);
}

}  // namespace
}  // namespace facula::nn
