// Tests of the base class: groups, gradients, state dicts.
#include "facula/nn/optim/optimizer.h"

#include <gtest/gtest.h>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/nn/optim/optimizers.h"

namespace facula::optim {
namespace {

Tensor param(float value, float gradient) {
  Tensor t = new_empty({2}, kFloat32), g = new_empty({2}, kFloat32);
  for (int i = 0; i < 2; ++i) {
    t.data_as<float>()[i] = value;
    g.data_as<float>()[i] = gradient;
  }
  set_requires_grad(t, true);
  set_grad(t, g);
  return t;
}

TEST(Optimizer, GroupsHaveTheirOwnRates) {
  Tensor a = param(1, 1), b = param(1, 1);
  SGD sgd({a}, {.lr = 0.5});
  sgd.add_group({b}, {.lr = 0.25});
  sgd.step();
  EXPECT_EQ(a.data_as<float>()[0], 0.5f);
  EXPECT_EQ(b.data_as<float>()[0], 0.75f);
  sgd.set_lr(0, 1);
  EXPECT_EQ(sgd.lr(0), 0.5);
  sgd.step();
  EXPECT_EQ(a.data_as<float>()[0], 0.0f);
  EXPECT_EQ(b.data_as<float>()[0], 0.75f);
  EXPECT_EQ(sgd.num_groups(), 2u);
}

TEST(Optimizer, ParametersWithoutGradientStay) {
  Tensor a = param(1, 1), b = new_empty({1}, kFloat32);
  b.data_as<float>()[0] = 3;
  set_requires_grad(b, true);
  Adam adam({a, b});
  adam.step();
  EXPECT_EQ(b.data_as<float>()[0], 3.0f);
  EXPECT_EQ(adam.state(1).step, 0);
}

TEST(Optimizer, ZeroGrad) {
  Tensor a = param(1, 1);
  SGD sgd({a});
  sgd.zero_grad(false);
  EXPECT_EQ(grad(a).data_as<float>()[1], 0.0f);
  sgd.zero_grad();
  EXPECT_FALSE(grad(a).defined());
}

TEST(Optimizer, StateDictResumesExactly) {
  Tensor a = param(1, 0.5), b = param(1, 0.5);
  Adam one({a}), two({b});
  one.step();
  two.load_state_dict(one.state_dict());
  EXPECT_EQ(two.state(0).step, 1);
  EXPECT_NE(two.state(0).slots[0].data(), one.state(0).slots[0].data());
  b.data_as<float>()[0] = a.data_as<float>()[0];
  one.step();
  two.step();
  EXPECT_EQ(a.data_as<float>()[0], b.data_as<float>()[0]);
  auto dict = one.state_dict();
  EXPECT_EQ(dict.size(), 3u);
  EXPECT_EQ(*dict.at("0.step").data_as<float>(), 2.0f);
  dict["1.exp_avg"] = dict.at("0.exp_avg");
  EXPECT_THROW(two.load_state_dict(dict), Error);
}

TEST(Optimizer, Refusals) {
  Tensor a = param(1, 1);
  EXPECT_THROW(SGD({}), Error);
  EXPECT_THROW(SGD({Tensor()}), Error);
  SGD sgd({a});
  EXPECT_THROW(sgd.add_group({a}, {}), Error);
  Tensor z = new_empty({2}, kComplex64);
  set_requires_grad(z, true);
  set_grad(z, new_empty({2}, kComplex64));
  SGD complex({z});
  EXPECT_THROW(complex.step(), Error);
}

TEST(Optimizer, StepsAreNoticed) {
  Tensor a = param(1, 1);
  uint32_t before = a->version->value.load();
  SGD({a}).step();
  EXPECT_GT(a->version->value.load(), before);
}

}  // namespace
}  // namespace facula::optim
