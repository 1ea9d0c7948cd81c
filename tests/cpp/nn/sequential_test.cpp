// Tests of containers: names, order of draws, shared modules.
#include "facula/nn/sequential.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "facula/base/error.h"
#include "facula/nn/functions.h"
#include "facula/nn/layers.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

TEST(Sequential, DrawsFromLeftToRight) {
  manual_seed(5);
  Sequential both{Linear(3, 4), ReLU(), Linear(4, 2)};
  manual_seed(5);
  Linear first(3, 4), second(4, 2);
  auto named = both.named_parameters();
  ASSERT_EQ(named.size(), 4u);
  EXPECT_EQ(named[0].first, "0.weight");
  EXPECT_EQ(named[2].first, "2.weight");
  EXPECT_EQ(values_of(named[0].second), values_of(first.weight));
  EXPECT_EQ(values_of(named[3].second), values_of(second.bias));
  Tensor x = rand({5, 3});
  EXPECT_EQ(values_of(both(x)), values_of(second(relu(first(x)))));
}

TEST(Sequential, IndexesAndPrints) {
  Sequential chain{Tanh()};
  chain.push_back(Sigmoid());
  EXPECT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[1].type_name(), "Sigmoid");
  EXPECT_THROW(chain[2], std::out_of_range);
  EXPECT_EQ(chain.repr(), "Sequential(\n  (0): Tanh()\n  (1): Sigmoid()\n)");
  EXPECT_EQ(Sequential().repr(), "Sequential()");
}

TEST(Sequential, SharesModulesByPointer) {
  auto layer = std::make_shared<Linear>(3, 3);
  Sequential twice{layer, layer};
  EXPECT_EQ(twice.named_parameters().size(), 4u);
  EXPECT_EQ(twice.parameters().size(), 2u);
  EXPECT_THROW(twice.push_back(std::shared_ptr<Linear>()), Error);
}

TEST(Sequential, ListsKeepTheirType) {
  ModuleList<Linear> list;
  list.push_back(Linear(2, 3));
  list.push_back(Linear(3, 1));
  EXPECT_EQ(list[1].weight.size(1), 3);
  EXPECT_EQ(list.named_parameters()[2].first, "1.weight");
  EXPECT_THROW(list.forward(ones({1})), Error);
}

}  // namespace
}  // namespace facula::nn
