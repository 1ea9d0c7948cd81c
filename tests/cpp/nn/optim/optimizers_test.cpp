// Every optimiser of the front end moves a parameter towards the minimum of (p - 3)^2.
#include "facula/nn/optim/optimizers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"

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

// refusal gives the message with which a constructor refuses options, nothing if it takes them.
template <class T, class Options>
std::string refusal(Options options) {
  Tensor p = new_empty({1}, kFloat64);
  set_requires_grad(p, true);
  try {
    T made({p}, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kValue);
    return e.message();
  }
  return "";
}

TEST(Optimizers, RefuseOptionsOutOfRange) {
  EXPECT_EQ(refusal<SGD>(SgdOptions{.lr = -0.5}), "Invalid learning rate: -0.5");
  EXPECT_EQ(refusal<SGD>(SgdOptions{.lr = std::nan("")}), "Invalid learning rate: nan");
  EXPECT_EQ(refusal<SGD>(SgdOptions{.momentum = -0.5}), "Invalid momentum value: -0.5");
  EXPECT_EQ(refusal<SGD>(SgdOptions{.nesterov = true}),
            "Nesterov momentum requires a momentum and zero dampening");
  EXPECT_EQ(refusal<SGD>(SgdOptions{.lr = 0, .momentum = 0.5, .nesterov = true}), "");
  EXPECT_EQ(refusal<Adam>(AdamOptions{.beta1 = -0.5}), "Invalid beta parameter at index 0: -0.5");
  EXPECT_EQ(refusal<Adam>(AdamOptions{.eps = -0.5}), "Invalid epsilon value: -0.5");
  EXPECT_EQ(refusal<AdamW>(AdamwOptions{.beta2 = 1.5}), "Invalid beta parameter at index 1: 1.5");
  EXPECT_EQ(refusal<AdamW>(AdamwOptions{.weight_decay = -0.5}), "Invalid weight_decay value: -0.5");
  EXPECT_EQ(refusal<RMSprop>(RmspropOptions{.alpha = -0.5}), "Invalid alpha value: -0.5");
  EXPECT_EQ(refusal<Adagrad>(AdagradOptions{.lr_decay = -0.5}), "Invalid lr_decay value: -0.5");
  EXPECT_EQ(refusal<Adadelta>(AdadeltaOptions{.rho = 1.5}), "Invalid rho value: 1.5");
  EXPECT_EQ(refusal<Adamax>(AdamaxOptions{.lr = -0.5}), "Invalid learning rate: -0.5");
  EXPECT_EQ(refusal<NAdam>(NadamOptions{.momentum_decay = -0.5}),
            "Invalid momentum_decay value: -0.5");
  EXPECT_EQ(refusal<RAdam>(RadamOptions{.beta1 = 1.5}), "Invalid beta parameter at index 0: 1.5");
  EXPECT_EQ(refusal<ASGD>(AsgdOptions{.lambd = -0.5}), "Invalid lambd value: -0.5");
  EXPECT_EQ(refusal<Rprop>(RpropOptions{.eta_minus = 1.5}), "Invalid eta values: 1.5, 1.2");
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
