// Tests of layers with weights: shapes, draws, options, text.
#include "facula/nn/layers.h"

#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/nn/sequential.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

std::vector<int64_t> shape_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }
using Shape = std::vector<int64_t>;

TEST(Layers, LinearIsItsFormula) {
  Linear layer(3, 2);
  Tensor x = rand({4, 3});
  Tensor expected = matmul(x, transpose(layer.weight, 0, 1)) + layer.bias;
  EXPECT_LT(item(max(abs(layer(x) - expected))), 1e-6);
  Linear bare(3, 2, {.bias = false, .dtype = kFloat64});
  EXPECT_EQ(bare.parameters().size(), 1u);
  EXPECT_EQ(bare.weight.dtype(), kFloat64);
  EXPECT_EQ(bare.repr(), "Linear(in_features=3, out_features=2, bias=False)");
}

TEST(Layers, ConvolutionsHaveTheirShapes) {
  Conv2d conv(4, 6, {3, 5}, {.stride = 2, .padding = {1, 2}, .groups = 2});
  EXPECT_EQ(shape_of(conv.weight), (Shape{6, 2, 3, 5}));
  EXPECT_EQ(shape_of(conv(rand({2, 4, 8, 8}))), (Shape{2, 6, 4, 4}));
  EXPECT_EQ(conv.repr(),
            "Conv2d(4, 6, kernel_size=(3, 5), stride=(2, 2), padding=(1, 2), groups=2)");
  ConvTranspose2d up(4, 6, 2, {.stride = 2, .bias = false});
  EXPECT_EQ(shape_of(up.weight), (Shape{4, 6, 2, 2}));
  EXPECT_EQ(shape_of(up(rand({2, 4, 8, 8}))), (Shape{2, 6, 16, 16}));
  EXPECT_EQ(up.repr(), "ConvTranspose2d(4, 6, kernel_size=(2, 2), stride=(2, 2), bias=False)");
  EXPECT_THROW(Conv2d(3, 6, 3, {.groups = 2}), Error);
  EXPECT_THROW(Conv2d(3, 6, 3, {.groups = 0}), Error);
}

TEST(Layers, EmbeddingKeepsItsPadding) {
  Embedding table(5, 3, {.padding_idx = -1});
  EXPECT_EQ(table.repr(), "Embedding(5, 3, padding_idx=4)");
  Tensor out = table(tensor_of(std::vector<int64_t>{4, 0}, {2}));
  EXPECT_EQ(item(sum(abs(select(out, 0, 0)))), 0);
  backward(sum(out));
  EXPECT_EQ(values_of(sum(grad(table.weight), {1})), (std::vector<double>{3, 0, 0, 0, 0}));
  EXPECT_THROW(Embedding(5, 3, {.padding_idx = 5}), Error);
}

// The numbers are what the Python layers draw from seed 0.
TEST(Layers, ASeedGivesTheWeightsOfPython) {
  manual_seed(0);
  Linear layer(2, 2);
  std::vector<double> expected = {-0.0052940, 0.3793229,  -0.5819808,
                                  -0.5203875, -0.2723452, 0.1896159};
  std::vector<double> drawn = values_of(layer.weight), bias = values_of(layer.bias);
  drawn.insert(drawn.end(), bias.begin(), bias.end());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(drawn[i], expected[i], 5e-7) << i;
}

}  // namespace
}  // namespace facula::nn
