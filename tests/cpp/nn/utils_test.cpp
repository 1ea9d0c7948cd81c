// Tests of clipping and of parameters as one vector.
#include "facula/nn/utils.h"

#include <limits>

#include "checksum.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/nn/layers.h"

namespace facula::nn::utils {
namespace {

Linear model_with_gradients() {
  Linear model(2, 2);
  set_grad(model.weight, tensor_of(std::vector<float>{3, 0, 0, 4}, {2, 2}));
  set_grad(model.bias, tensor_of(std::vector<float>{0, 12}, {2}));
  return model;
}

TEST(Utils, ClippingScalesToTheNorm) {
  Linear model = model_with_gradients();
  EXPECT_NEAR(item(clip_grad_norm_(model.parameters(), 1.3)), 13, 1e-5);
  EXPECT_NEAR(values_of(grad(model.bias))[1], 1.2, 1e-5);
  EXPECT_NEAR(values_of(grad(model.weight))[0], 0.3, 1e-5);
  EXPECT_NEAR(item(clip_grad_norm_(model.parameters(), 5)), 1.3, 1e-5);
  EXPECT_NEAR(values_of(grad(model.bias))[1], 1.2, 1e-5);
}

TEST(Utils, OtherNormsAndValues) {
  Linear model = model_with_gradients();
  double most = std::numeric_limits<double>::infinity();
  EXPECT_EQ(item(get_total_norm({grad(model.weight), grad(model.bias)}, most)), 12);
  EXPECT_EQ(item(get_total_norm({})), 0);
  clip_grad_value_(model.parameters(), 3.5);
  EXPECT_EQ(values_of(grad(model.weight)), (std::vector<double>{3, 0, 0, 3.5}));
  Tensor bad = full({1}, most);
  EXPECT_THROW(get_total_norm({bad}, 2, true), Error);
}

TEST(Utils, VectorsGoThereAndBack) {
  Linear model(2, 3);
  Tensor vector = parameters_to_vector(model.parameters());
  EXPECT_EQ(vector.numel(), 9);
  vector_to_parameters(wave({9}), model.parameters());
  EXPECT_EQ(item(sum(abs(parameters_to_vector(model.parameters()) - wave({9})))), 0);
  EXPECT_THROW(vector_to_parameters(wave({8}), model.parameters()), Error);
}

}  // namespace
}  // namespace facula::nn::utils
