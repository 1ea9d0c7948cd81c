// Tests of schedules. The rates were recorded from PyTorch 2.15, ten steps from a rate of 1.
#include "facula/nn/optim/schedule.h"

#include <gtest/gtest.h>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/nn/optim/optimizers.h"

namespace facula::optim {
namespace {

Tensor parameter() {
  Tensor p = new_empty({1}, kFloat32);
  set_requires_grad(p, true);
  return p;
}

using Rates = std::vector<double>;

void expect_rates(LRScheduler& scheduler, const Rates& expected) {
  Rates rates = scheduler.get_last_lr();
  for (size_t i = 1; i < expected.size(); ++i) {
    scheduler.step();
    rates.push_back(scheduler.optimizer().lr());
  }
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(rates[i], expected[i], 1e-9) << i;
}

template <class S, class... Arguments>
void follows(const Rates& expected, Arguments... arguments) {
  SGD optimizer({parameter()}, {.lr = 1, .momentum = 0.5});
  S scheduler(optimizer, arguments...);
  expect_rates(scheduler, expected);
}

TEST(Schedule, FollowsPython) {
  follows<StepLR>({1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125}, int64_t{3}, 0.5);
  follows<MultiStepLR>({1.0, 1.0, 0.5, 0.5, 0.5, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125},
                       std::vector<int64_t>{2, 5, 5}, 0.5);
  follows<ConstantLR>({0.25, 0.25, 0.25, 0.25, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, 0.25,
                      int64_t{4});
  follows<LinearLR>({0.25, 0.3875, 0.525, 0.6625, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8}, 0.25, 0.8,
                    int64_t{4});
  follows<ExponentialLR>({1.0, 0.9, 0.81, 0.729, 0.6561, 0.59049, 0.531441, 0.4782969, 0.43046721,
                          0.387420489, 0.3486784401},
                         0.9);
  follows<PolynomialLR>({1.0, 0.734693877551, 0.510204081633, 0.326530612245, 0.183673469388,
                         0.0816326530612, 0.0204081632653, 0.0, 0.0, 0.0, 0.0},
                        int64_t{7}, 2.0);
  follows<CosineAnnealingLR>({1.0, 0.868198051534, 0.55, 0.231801948466, 0.1, 0.231801948466, 0.55,
                              0.868198051534, 1.0, 0.868198051534, 0.55},
                             int64_t{4}, 0.1);
  follows<CosineAnnealingWarmRestarts>({1.0, 0.55, 1.0, 0.868198051534, 0.55, 0.231801948466, 1.0,
                                        0.96574578963, 0.868198051534, 0.722207544564, 0.55},
                                       int64_t{2}, int64_t{2}, 0.1);
  follows<CosineAnnealingWarmRestarts>(
      {1.0, 0.853553390593, 0.5, 0.146446609407, 1.0, 0.853553390593, 0.5, 0.146446609407, 1.0,
       0.853553390593, 0.5},
      int64_t{4});
  follows<CyclicLR>({0.1, 0.233333333333, 0.366666666667, 0.5, 0.3, 0.1, 0.166666666667,
                     0.233333333333, 0.3, 0.2, 0.1},
                    0.1, 0.5,
                    CyclicOptions{.step_size_up = 3, .step_size_down = 2, .mode = "triangular2"});
  follows<CyclicLR>({0.1, 0.19, 0.262, 0.3187, 0.36244, 0.277147, 0.2062882, 0.14782969, 0.1,
                     0.1387420489, 0.16973568802},
                    0.1, 0.5, CyclicOptions{.step_size_up = 4, .mode = "exp_range", .gamma = 0.9});
  follows<OneCycleLR>({0.02, 0.26, 0.5, 0.475242316007, 0.405872826975, 0.305631010968,
                       0.194370989032, 0.0941291730251, 0.0247596839933, 2e-06},
                      0.5, int64_t{10});
  follows<OneCycleLR>(
      {0.02, 0.26, 0.5, 0.26, 0.02, 0.0160004, 0.0120008, 0.0080012, 0.0040016, 2e-06}, 0.5,
      int64_t{10}, OneCycleOptions{.anneal_strategy = "linear", .three_phase = true});
  follows<LambdaLR>({1.0, 0.5, 0.333333333333, 0.25, 0.2, 0.166666666667, 0.142857142857, 0.125,
                     0.111111111111, 0.1, 0.0909090909091},
                    [](int64_t t) { return 1.0 / static_cast<double>(t + 1); });
  follows<MultiplicativeLR>({1.0, 0.5, 0.25, 0.125, 0.1875, 0.28125, 0.421875, 0.6328125,
                             0.94921875, 1.423828125, 2.1357421875},
                            [](int64_t t) { return t < 4 ? 0.5 : 1.5; });
}

TEST(Schedule, SchedulersOfSchedulers) {
  SGD a({parameter()}, {.lr = 1}), b({parameter()}, {.lr = 1});
  SequentialLR sequence(
      a,
      {std::make_shared<ConstantLR>(a, 0.1, 2), std::make_shared<ExponentialLR>(a, 0.9),
       std::make_shared<StepLR>(a, 2, 0.5)},
      {3, 7});
  expect_rates(sequence, {0.1, 0.1, 1.0, 1.0, 0.9, 0.81, 0.729, 1.0, 1.0, 0.5, 0.5});
  ChainedScheduler chain(
      {std::make_shared<ConstantLR>(b, 0.1, 4), std::make_shared<ExponentialLR>(b, 0.9)});
  expect_rates(chain, {0.1, 0.09, 0.081, 0.0729, 0.6561, 0.59049, 0.531441, 0.4782969, 0.43046721,
                       0.387420489, 0.3486784401});
}

TEST(Schedule, MomentumMovesTheOtherWay) {
  Adam optimizer({parameter()}, {.lr = 1});
  CyclicLR scheduler(optimizer, 0.1, 0.5, {.step_size_up = 4});
  EXPECT_DOUBLE_EQ(*optimizer.momentum(), 0.9);
  for (int i = 0; i < 4; ++i) scheduler.step();
  EXPECT_NEAR(*optimizer.momentum(), 0.8, 1e-12);
  EXPECT_NEAR(optimizer.lr(), 0.5, 1e-12);
  Adagrad without({parameter()}, {.lr = 1});
  EXPECT_THROW(CyclicLR(without, 0.1, 0.5), Error);
  EXPECT_THROW(OneCycleLR(without, 0.1, 5), Error);
}

TEST(Schedule, PlateausLowerTheRate) {
  SGD optimizer({parameter()}, {.lr = 1});
  ReduceLROnPlateau scheduler(optimizer, {.factor = 0.5, .patience = 1, .cooldown = 1});
  Rates rates;
  for (double loss : {1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.4}) {
    scheduler.step(loss);
    rates.push_back(scheduler.get_last_lr()[0]);
  }
  EXPECT_EQ(rates, (Rates{1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25}));
  EXPECT_THROW(ReduceLROnPlateau(optimizer, {.factor = 1}), Error);
}

TEST(Schedule, RefusesWhatMakesNoSense) {
  SGD optimizer({parameter()}, {.lr = 1}), other({parameter()}, {.lr = 1});
  EXPECT_THROW(LinearLR(optimizer, 0), Error);
  EXPECT_THROW(ConstantLR(optimizer, 2), Error);
  EXPECT_THROW(CosineAnnealingWarmRestarts(optimizer, 0), Error);
  auto a = std::make_shared<StepLR>(optimizer, 2), b = std::make_shared<StepLR>(other, 2);
  EXPECT_THROW(ChainedScheduler({a, b}), Error);
  EXPECT_THROW(SequentialLR(optimizer, {a}, {3}), Error);
  EXPECT_THROW(ChainedScheduler({}), Error);
}

}  // namespace
}  // namespace facula::optim
