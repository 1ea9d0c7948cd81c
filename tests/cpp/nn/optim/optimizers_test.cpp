// Every optimiser of the front end moves a parameter towards the minimum of (p - 3)^2.
#include "facula/nn/optim/optimizers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "facula/autograd/meta.h"

namespace facula::optim {
namespace {

double distance_after(Optimizer& o, const Tensor& p, int steps) {
  for (int i = 0; i < steps; ++i) {
    Tensor g = new_empty({4}, kFloat64);
    for (int k = 0; k < 4; ++k) g.data_as<double>()[k] = 2 * (p.data_as<double>()[k] - 3);
    set_grad(p, g);
    o.step();
  }
  double worst = 0;
  for (int k = 0; k < 4; ++k) worst = std::max(worst, std::abs(p.data_as<double>()[k] - 3));
  return worst;
}

template <class T, class Options>
void converges(Options options, int steps, double wanted) {
  Tensor p = new_empty({4}, kFloat64);
  for (int k = 0; k < 4; ++k) p.data_as<double>()[k] = k;
  set_requires_grad(p, true);
  T o({p}, options);
  EXPECT_EQ(o.options().lr, options.lr);
  EXPECT_LT(distance_after(o, p, steps), wanted);
}

TEST(Optimizers, Converge) {
  converges<SGD>(SgdOptions{.lr = 0.1, .momentum = 0.5, .nesterov = true}, 60, 1e-4);
  converges<Adam>(AdamOptions{.lr = 0.1, .amsgrad = true}, 400, 1e-2);
  converges<RMSprop>(RmspropOptions{.lr = 0.01, .momentum = 0.5, .centered = true}, 600, 5e-2);
  converges<Adagrad>(AdagradOptions{.lr = 1}, 400, 1e-2);
  converges<Adadelta>(AdadeltaOptions{.lr = 1, .eps = 1e-3}, 600, 0.2);
  converges<Adamax>(AdamaxOptions{.lr = 0.1}, 400, 1e-2);
  converges<NAdam>(NadamOptions{.lr = 0.1}, 400, 1e-2);
  converges<RAdam>(RadamOptions{.lr = 0.1}, 600, 5e-2);
  converges<ASGD>(AsgdOptions{.lr = 0.1}, 60, 1e-2);
  converges<Rprop>(RpropOptions{}, 100, 1e-3);
}

TEST(Optimizers, AdamWDecaysTheParameterByDefault) {
  Tensor p = new_empty({1}, kFloat64), g = new_empty({1}, kFloat64);
  p.data_as<double>()[0] = 1;
  g.data_as<double>()[0] = 0;
  set_requires_grad(p, true);
  set_grad(p, g);
  AdamW o({p}, {.lr = 0.1});
  o.step();
  EXPECT_DOUBLE_EQ(p.data_as<double>()[0], 1 - 0.1 * 0.01);
}

TEST(Optimizers, MaximizeClimbs) {
  Tensor p = new_empty({1}, kFloat64), g = new_empty({1}, kFloat64);
  p.data_as<double>()[0] = 0;
  g.data_as<double>()[0] = 1;
  set_requires_grad(p, true);
  set_grad(p, g);
  Adam o({p}, {.lr = 0.5, .maximize = true});
  o.step();
  EXPECT_NEAR(p.data_as<double>()[0], 0.5, 1e-6);
}

}  // namespace
}  // namespace facula::optim
