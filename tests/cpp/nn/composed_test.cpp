// Tests of functions that are made of operators.
#include "facula/nn/composed.h"

#include "checksum.h"
#include "facula/autograd/engine.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"

namespace facula {
namespace {

using nn::wave;
std::vector<int64_t> shape_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }
using Shape = std::vector<int64_t>;
using Values = std::vector<double>;

TEST(Composed, PadHasFourModes) {
  Tensor x = tensor_of(std::vector<float>{1, 2, 3}, {1, 3});
  EXPECT_EQ(values_of(pad(x, {1, 2})), (Values{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(values_of(pad(x, {1, 2}, "reflect")), (Values{2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(values_of(pad(x, {1, 2}, "replicate")), (Values{1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(values_of(pad(x, {1, 2}, "circular")), (Values{3, 1, 2, 3, 1, 2}));
  EXPECT_THROW(pad(x, {1}), Error);
  EXPECT_THROW(pad(x, {1, 1}, "mirror"), Error);
  EXPECT_THROW(pad(x, {1, 1}, "reflect", 2), Error);
}

TEST(Composed, NormalizeAndSoftmin) {
  Tensor x = tensor_of(std::vector<float>{3, 4, 0, 0}, {2, 2});
  EXPECT_EQ(values_of(normalize(x)), (Values{0.6f, 0.8f, 0, 0}));
  EXPECT_EQ(item(sum(abs(softmin(x, 1) - softmax(-x, 1)))), 0);
  EXPECT_EQ(shape_of(interpolate(wave({1, 1, 4, 4}), {.size = {2, 3}})), (Shape{1, 1, 2, 3}));
}

TEST(Composed, GumbelDrawsAreOneHotWithGradients) {
  manual_seed(0);
  Tensor logits = wave({6, 4});
  set_requires_grad(logits, true);
  Tensor hard = gumbel_softmax(logits, 1, true);
  EXPECT_NEAR(item(sum(hard)), 6, 1e-5);
  EXPECT_NEAR(item(max(hard)), 1, 1e-6);
  backward(sum(hard * wave({6, 4}, 1)));
  EXPECT_GT(item(sum(abs(grad(logits)))), 0);
}

TEST(Composed, ShapesBroadcast) {
  Sizes common = broadcast_shapes({Sizes{2, 1}, Sizes{int64_t{3}}, Sizes{}});
  EXPECT_EQ(Shape(common.begin(), common.end()), (Shape{2, 3}));
  EXPECT_THROW(broadcast_shapes({Sizes{2, 2}, Sizes{2, 3}}), Error);
}

}  // namespace
}  // namespace facula
