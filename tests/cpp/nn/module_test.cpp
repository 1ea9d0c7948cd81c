// Tests of registration, walks, state dicts and modes.
#include "facula/nn/module.h"

#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
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

TEST(Module, ForwardMustBeDefined) { EXPECT_THROW(Module("Empty").forward(ones({1})), Error); }

}  // namespace
}  // namespace facula::nn
