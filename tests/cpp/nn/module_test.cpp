// Tests of registration, walks, state dicts and modes.
#include "facula/nn/module.h"

#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/core/thread_state.h"
#include "facula/nn/functions.h"
#include "facula/nn/layers.h"
#include "facula/nn/norms.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

struct Tower : Module {
  Tower()
      : Module("Tower"),
        first(register_module("first", Linear(2, 3))),
        norm(register_module("norm", BatchNorm2d(4))) {
    scale = register_parameter("scale", ones({1}));
    register_parameter("shift", Tensor());
  }
  Tensor forward(const Tensor& x) override { return first(x) * scale; }
  void add_twice() { register_parameter("scale", ones({1})); }
  void add_dotted() { register_buffer("a.b", ones({1})); }

  Linear& first;
  BatchNorm2d& norm;
  Tensor scale;
};

TEST(Module, NamesComeInOrderOwnFirst) {
  Tower tower;
  std::vector<std::string> names;
  for (auto& [name, tensor] : tower.named_parameters()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"scale", "first.weight", "first.bias", "norm.weight",
                                             "norm.bias"}));
  EXPECT_EQ(tower.named_buffers().size(), 3u);
  EXPECT_EQ(tower.named_buffers("x")[0].first, "x.norm.running_mean");
  EXPECT_EQ(tower.named_modules().size(), 3u);
  EXPECT_EQ(tower.parameters().size(), 5u);
}

TEST(Module, BadNamesAreRefused) {
  Tower tower;
  EXPECT_THROW(tower.add_twice(), Error);
  EXPECT_THROW(tower.add_dotted(), Error);
}

TEST(Module, PrintsATree) {
  Tower tower;
  EXPECT_EQ(tower.repr(),
            "Tower(\n  (first): Linear(in_features=2, out_features=3, bias=True)\n"
            "  (norm): BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, "
            "track_running_stats=True)\n)");
}

TEST(Module, StateIsCopiedAndStrict) {
  Tower a, b;
  std::map<std::string, Tensor> state = a.state_dict();
  EXPECT_EQ(state.size(), 8u);
  b.load_state_dict(state);
  EXPECT_EQ(values_of(b.first.weight), values_of(a.first.weight));
  EXPECT_FALSE(b.first.weight.is_same(a.first.weight));

  std::map<std::string, Tensor> fewer = state, more = state, other = state;
  fewer.erase("scale");
  more["unknown"] = ones({1});
  other["first.weight"] = ones({2, 2});
  other["scale"] = zeros({1});
  EXPECT_THROW(b.load_state_dict(fewer), Error);
  EXPECT_THROW(b.load_state_dict(more), Error);
  EXPECT_THROW(b.load_state_dict(other), Error);
  EXPECT_EQ(item(b.scale), 1);
}

TEST(Module, ModesReachChildren) {
  Tower tower;
  tower.eval();
  EXPECT_FALSE(tower.norm.is_training());
  tower.train();
  EXPECT_TRUE(tower.norm.is_training());
}

TEST(Module, GradientsAreDroppedOrZeroed) {
  Tower tower;
  backward(sum(tower(ones({1, 2}))));
  ASSERT_TRUE(grad(tower.scale).defined());
  tower.zero_grad(false);
  EXPECT_EQ(item(grad(tower.scale)), 0);
  tower.zero_grad();
  EXPECT_FALSE(grad(tower.scale).defined());
  tower.requires_grad(false);
  EXPECT_FALSE(tower(ones({1, 2}))->has(kRequiresGrad));
}

TEST(Module, MovesWithItsChildren) {
  Tower tower;
  Tensor expected = tower(ones({1, 2}));
  Tower moved = std::move(tower);
  EXPECT_EQ(values_of(moved(ones({1, 2}))), values_of(expected));
}

TEST(Module, ToConvertsInPlace) {
  Tower tower;
  Tensor weight = tower.first.weight;
  std::vector<double> before = values_of(weight);
  backward(sum(tower(ones({1, 2}))));
  tower.to(kFloat64);
  EXPECT_TRUE(weight.is_same(tower.first.weight));
  EXPECT_EQ(weight.dtype(), kFloat64);
  EXPECT_EQ(values_of(weight), before);
  EXPECT_TRUE(requires_grad(weight));
  EXPECT_EQ(grad(weight).dtype(), kFloat64);
  EXPECT_EQ(values_of(grad(weight)), (std::vector<double>{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(tower.norm.running_mean.dtype(), kFloat64);
  EXPECT_EQ(tower.norm.num_batches_tracked.dtype(), kInt64);
  backward(sum(tower(ones({1, 2}, kFloat64))));
  EXPECT_EQ(values_of(grad(weight)), (std::vector<double>{2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(Tower::to(ones({1}), kInt64).dtype(), kInt64);

  EXPECT_THROW(tower.to(kInt64), Error);
  EXPECT_THROW(tower.to(Device{DeviceType::kCuda, 0}, kFloat32), Error);
  EXPECT_EQ(weight.dtype(), kFloat64);
  tower.to(kCpu, kBFloat16);
  EXPECT_EQ(tower.scale.dtype(), kBFloat16);
  tower.to(kMeta);
  EXPECT_TRUE(weight.is_meta());
  EXPECT_EQ(weight.sizes(), IntList({3, 2}));
  EXPECT_THROW(tower.to(kCpu), Error);
}

TEST(Module, ClonesAreIndependent) {
  Tower tower;
  tower.to(kFloat64);
  tower.eval();
  tower.first.requires_grad(false);
  manual_seed(5);
  Tensor expected = rand({4});
  manual_seed(5);
  Tower copy = clone(tower);
  EXPECT_EQ(values_of(rand({4})), values_of(expected));
  EXPECT_EQ(copy.first.weight.dtype(), kFloat64);
  EXPECT_EQ(values_of(copy.first.weight), values_of(tower.first.weight));
  EXPECT_FALSE(requires_grad(copy.first.weight));
  EXPECT_TRUE(requires_grad(copy.scale));
  EXPECT_FALSE(copy.is_training());
  EXPECT_FALSE(copy.norm.is_training());
  {
    NoGrad off;
    fill_(copy.scale, 7);
  }
  EXPECT_EQ(item(tower.scale), 1);
  EXPECT_NEAR(item(sum(copy(ones({1, 2}, kFloat64)))), 7 * item(sum(tower(ones({1, 2}, kFloat64)))),
              1e-12);

  Linear layer(3, 2, {.bias = false});
  EXPECT_EQ(values_of(clone(layer, 3, 2, LinearOptions{.bias = false}).weight),
            values_of(layer.weight));
  EXPECT_THROW(clone(layer, 2, 3), Error);
  EXPECT_THROW(clone(layer, 3, 2), Error);
}

TEST(Module, CopiesKeepGradientsInTheNewType) {
  Tower from, to;
  from.to(kFloat64);
  set_grad(to.scale, ones(to.scale.sizes()));
  to.copy_from(from);
  EXPECT_EQ(to.scale.dtype(), kFloat64);
  EXPECT_EQ(grad(to.scale).dtype(), kFloat64);

  struct Plain : Module {
    Tensor value;
    explicit Plain(bool parameter) : Module("Plain") {
      value =
          parameter ? register_parameter("value", ones({2})) : register_buffer("value", ones({2}));
    }
  };
  Plain buffer(false), parameter(true);
  fill_(buffer.value, 3);
  EXPECT_THROW(parameter.copy_from(buffer), Error);
  EXPECT_EQ(item(sum(parameter.value)), 2);
}

TEST(Module, ForwardMustBeDefined) { EXPECT_THROW(Module("Empty").forward(ones({1})), Error); }

}  // namespace
}  // namespace facula::nn
