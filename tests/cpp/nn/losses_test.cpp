// Tests of losses against their formulas.
#include "facula/nn/losses.h"

#include <gtest/gtest.h>

#include "facula/base/error.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

struct Losses : testing::Test {
  void SetUp() override { manual_seed(4); }
  Tensor scores = randn({6, 3}), labels = tensor_of(std::vector<int64_t>{0, 2, 1, 1, 0, 2}, {6});
  Tensor a = rand({6}), b = rand({6});
  void expect_near(const Tensor& got, const Tensor& expected) {
    EXPECT_NEAR(item(got), item(expected), 1e-6);
  }
};

TEST_F(Losses, DifferencesAreTheirFormulas) {
  expect_near(MSELoss()(a, b), mean((a - b) * (a - b)));
  expect_near(MSELoss("sum")(a, b), sum((a - b) * (a - b)));
  EXPECT_EQ(MSELoss("none")(a, b).size(0), 6);
  expect_near(L1Loss()(a, b), mean(abs(a - b)));
  expect_near(SmoothL1Loss(2)(a, b), mean((a - b) * (a - b)) * 0.25);
}

TEST_F(Losses, EntropiesAgreeWithEachOther) {
  Tensor expected = CrossEntropyLoss()(scores, labels);
  expect_near(NLLLoss()(log_softmax(scores, 1), labels), expected);
  Tensor weight = tensor_of(std::vector<float>{1, 2, 3}, {3});
  CrossEntropyLoss weighted({.weight = weight});
  EXPECT_EQ(weighted.state_dict().count("weight"), 1u);
  expect_near(weighted(scores, labels), NLLLoss(weight)(log_softmax(scores, 1), labels));
  expect_near(BCEWithLogitsLoss()(a, b), BCELoss()(sigmoid(a), b));
  expect_near(BCEWithLogitsLoss(full({1}, 2.0), "sum")(a, ones({6})),
              BCELoss("sum")(sigmoid(a), ones({6})) * 2);
}

TEST_F(Losses, IgnoredTargetsDoNotCount) {
  Tensor few = tensor_of(std::vector<int64_t>{0, 1, 1, 1, 0, 1}, {6});
  CrossEntropyLoss sum_all({.ignore_index = 1, .reduction = "sum"});
  Tensor all = CrossEntropyLoss({.reduction = "none"})(scores, few);
  expect_near(sum_all(scores, few), select(all, 0, 0) + select(all, 0, 4));
}

TEST_F(Losses, LinearCrossEntropyIsThatOfALinearMap) {
  LinearCrossEntropyLoss loss(3, 5, {.bias = true, .ignore_index = 2});
  expect_near(loss(scores, labels),
              CrossEntropyLoss({.ignore_index = 2})(loss.linear(scores), labels));
  LinearCrossEntropyLoss wide(3, 4, {.out_features = {2}});
  Tensor pairs =
      reshape(tensor_of(std::vector<int64_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, {12}), {6, 2});
  expect_near(wide(scores, pairs),
              CrossEntropyLoss()(reshape(wide.linear(scores), {6, 4, 2}), pairs));
  EXPECT_EQ(wide.parameters().size(), 1u);
}

TEST_F(Losses, AdaptiveSoftmaxIsADistribution) {
  AdaptiveLogSoftmaxWithLoss loss(8, 20, {4, 10}, {.div_value = 2});
  Tensor x = randn({6, 8}), target = tensor_of(std::vector<int64_t>{0, 3, 4, 9, 10, 19}, {6});
  Tensor all = loss.log_prob(x);
  for (double total : values_of(sum(exp(all), IntList({1})))) EXPECT_NEAR(total, 1, 1e-5);
  auto [output, value] = loss(x, target);
  Tensor expected = select(gather(all, 1, unsqueeze(target, 1)), 1, 0);
  for (double difference : values_of(output - expected)) EXPECT_NEAR(difference, 0, 1e-5);
  expect_near(value, -mean(expected));
  expect_near(loss(select(x, 0, 2), select(target, 0, 2)).output, select(expected, 0, 2));
  EXPECT_EQ(int_values_of(loss.predict(x)), int_values_of(argmax(all, 1)));
  EXPECT_EQ(loss.state_dict().count("tail.1.0.weight"), 1u);
  EXPECT_EQ(loss.state_dict().at("tail.1.0.weight").size(0), 2);
  EXPECT_THROW(loss(x, target + 1), Error);
  EXPECT_THROW(AdaptiveLogSoftmaxWithLoss(8, 20, {10, 4}), Error);
}

TEST_F(Losses, UnknownReductionsAreRefused) {
  EXPECT_THROW(MSELoss("median"), Error);
  MSELoss loss;
  EXPECT_THROW(loss.forward(a), Error);
}

}  // namespace
}  // namespace facula::nn
