// Tests of layers without weights against their operators and their printed form.
#include "facula/nn/functions.h"

#include <gtest/gtest.h>

#include "facula/base/error.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

Tensor ramp() { return linspace(-2, 2, 16); }

TEST(Functions, ActivationsAreTheirOperators) {
  EXPECT_EQ(values_of(ReLU()(ramp())), values_of(relu(ramp())));
  EXPECT_EQ(values_of(LeakyReLU(0.2)(ramp())), values_of(leaky_relu(ramp(), 0.2)));
  EXPECT_EQ(values_of(Tanh()(ramp())), values_of(tanh(ramp())));
  EXPECT_EQ(values_of(Sigmoid()(ramp())), values_of(sigmoid(ramp())));
  EXPECT_EQ(values_of(GELU("tanh")(ramp())), values_of(gelu(ramp(), "tanh")));
}

TEST(Functions, DropoutWorksInTrainingOnly) {
  Dropout half(0.5);
  Tensor x = ones({1000});
  Tensor dropped = half(x);
  double kept = item(sum(ne(dropped, 0)));
  EXPECT_GT(kept, 400);
  EXPECT_LT(kept, 600);
  EXPECT_EQ(item(max(dropped)), 2);
  half.eval();
  EXPECT_EQ(item(sum(half(x))), 1000);
  EXPECT_THROW(Dropout(1.5), Error);
}

TEST(Functions, PoolsAndFlattenHaveTheirShapes) {
  Tensor x = reshape(arange(0, 16, 1, kFloat32), {1, 1, 4, 4});
  EXPECT_EQ(values_of(MaxPool2d(2)(x)), (std::vector<double>{5, 7, 13, 15}));
  EXPECT_EQ(values_of(AvgPool2d(2)(x)), (std::vector<double>{2.5, 4.5, 10.5, 12.5}));
  EXPECT_EQ(MaxPool2d({2, 3}, {.stride = 1, .padding = 1})(x).size(3), 4);
  EXPECT_EQ(Flatten()(x).size(1), 16);
}

TEST(Functions, TextIsThatOfPython) {
  EXPECT_EQ(LeakyReLU(0.2).repr(), "LeakyReLU(negative_slope=0.2)");
  EXPECT_EQ(LeakyReLU(1).repr(), "LeakyReLU(negative_slope=1.0)");
  EXPECT_EQ(GELU().repr(), "GELU(approximate='none')");
  EXPECT_EQ(Dropout(0.25).repr(), "Dropout(p=0.25, inplace=False)");
  EXPECT_EQ(Flatten().repr(), "Flatten(start_dim=1, end_dim=-1)");
  EXPECT_EQ(MaxPool2d(2).repr(),
            "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)");
  EXPECT_EQ(AvgPool2d({2, 3}).repr(), "AvgPool2d(kernel_size=(2, 3), stride=(2, 3), padding=0)");
}

}  // namespace
}  // namespace facula::nn
