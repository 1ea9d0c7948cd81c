// Tests of the losses. Values were recorded from PyTorch 2.15.
#include "facula/nn/criteria.h"

#include "checksum.h"
#include "facula/base/error.h"

namespace facula::nn {
namespace {

TEST(Criteria, HaveTheValuesOfPython) {
  Tensor x = wave({4, 5}), y = wave({4, 5}, 2), p = abs(y) + 0.1, signs = sign(y);
  Tensor classes = tensor_of(std::vector<int64_t>{1, 0, 4, 2}, {4});
  Tensor labels = tensor_of(std::vector<int64_t>{1, 0, -1, 2, 3}, {5}), z = wave({4, 5}, 3);
  Tensor weight = abs(wave({5}, 1));
  EXPECT_NEAR(checksum(HuberLoss({.delta = 0.5})(x, y)), 0.40777, 2e-4);
  EXPECT_NEAR(checksum(KLDivLoss({.reduction = "batchmean"})(x, p)), -0.767506, 2e-4);
  EXPECT_NEAR(checksum(KLDivLoss("sum", true)(x, y)), 17.307323, 2e-4);
  EXPECT_NEAR(checksum(PoissonNLLLoss()(x, p)), 1.252383, 2e-4);
  EXPECT_NEAR(checksum(PoissonNLLLoss({.log_input = false, .full = true})(p, p)), 0.889713, 2e-4);
  EXPECT_NEAR(checksum(GaussianNLLLoss({.full = true})(x, y, p)), 1.720012, 2e-4);
  EXPECT_NEAR(checksum(HingeEmbeddingLoss({.margin = 0.5})(x, signs)), 0.055835, 2e-4);
  EXPECT_NEAR(checksum(CosineEmbeddingLoss({.margin = 0.1})(x, y, select(signs, 1, 0))), 0.699995,
              2e-4);
  EXPECT_NEAR(checksum(MarginRankingLoss({.margin = 0.1, .reduction = "none"})(x, y, signs)),
              0.831907, 2e-4);
  EXPECT_NEAR(checksum(SoftMarginLoss()(x, signs)), 0.873624, 2e-4);
  EXPECT_NEAR(checksum(MultiLabelMarginLoss()(select(x, 0, 1), labels)), 2.766389, 2e-4);
  EXPECT_NEAR(checksum(MultiLabelSoftMarginLoss(weight)(x, cast(ge(signs, 0), kFloat32))), 0.610577,
              2e-4);
  EXPECT_NEAR(checksum(MultiMarginLoss({.p = 2, .weight = weight})(x, classes)), 1.18443, 2e-4);
  EXPECT_NEAR(checksum(TripletMarginLoss({.swap = true})(x, y, z)), 2.083848, 2e-4);
  EXPECT_NEAR(checksum(TripletMarginWithDistanceLoss({.swap = true, .reduction = "sum"})(x, y, z)),
              8.335393, 2e-4);
}

TEST(Criteria, CtcCountsAlignments) {
  // Of the 3^4 paths of four even steps 15 spell two different labels: choose(4 + 2, 2 * 2).
  Tensor even = log_softmax(zeros({4, 2, 3}), 2);
  Tensor labels = tensor_of(std::vector<int64_t>{1, 2, 2, 1}, {2, 2});
  Tensor each = CTCLoss({.reduction = "none"})(even, labels, Sizes{4, 4}, Sizes{2, 1});
  EXPECT_NEAR(values_of(each)[0], std::log(81.0 / 15), 1e-5);
  EXPECT_NEAR(values_of(each)[1], std::log(81.0 / 10), 1e-5);
  EXPECT_NEAR(item(CTCLoss()(even, labels, Sizes{4, 4}, Sizes{2, 1})),
              (std::log(81.0 / 15) / 2 + std::log(81.0 / 10)) / 2, 1e-5);
  Tensor one_step = narrow(even, 0, 0, 1);
  EXPECT_EQ(item(CTCLoss({.zero_infinity = true})(one_step, labels, Sizes{1, 1}, Sizes{2, 2})), 0);
  EXPECT_THROW(CTCLoss()(even, labels, Sizes{4}, Sizes{2, 1}), Error);
}

TEST(Criteria, RefuseWhatMakesNoSense) {
  EXPECT_THROW(HuberLoss({.reduction = "all"}), Error);
  EXPECT_THROW(TripletMarginLoss({.margin = 0}), Error);
  EXPECT_THROW(MultiMarginLoss({.p = 3}), Error);
  EXPECT_THROW(GaussianNLLLoss()(wave({2}), wave({2}), full({2}, -1.0)), Error);
  EXPECT_THROW(MarginRankingLoss()(wave({2}), wave({2}), wave({2, 1})), Error);
}

TEST(Criteria, AnyDistanceWillDo) {
  TripletMarginWithDistanceLoss loss(
      {.distance_function = [](const Tensor& a, const Tensor& b) { return abs(a - b); }});
  Tensor one = full({1}, 1.0), two = full({1}, 2.0), five = full({1}, 5.0);
  EXPECT_NEAR(item(loss(one, two, five)), 0, 1e-6);
  EXPECT_NEAR(item(loss(one, five, two)), 4, 1e-6);
}

}  // namespace
}  // namespace facula::nn
