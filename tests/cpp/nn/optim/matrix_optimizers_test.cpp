// Tests of Adafactor and Muon. Values were recorded from PyTorch 2.15.
#include "facula/nn/optim/matrix_optimizers.h"

#include "../checksum.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"

namespace facula::optim {
namespace {

template <class O>
double after_three_steps(Sizes size, auto options) {
  Tensor p = nn::wave(size);
  set_requires_grad(p, true);
  O optimizer({p}, options);
  for (int i = 1; i <= 3; ++i) {
    set_grad(p, nn::wave(size, i));
    optimizer.step();
  }
  return nn::checksum(p);
}

TEST(MatrixOptimizers, StepAsInPython) {
  EXPECT_NEAR(
      after_three_steps<Adafactor>(Sizes{3, 4}, AdafactorOptions{.lr = 0.1, .weight_decay = 0.1}),
      -0.726257, 1e-4);
  EXPECT_NEAR(after_three_steps<Adafactor>(Sizes{5}, AdafactorOptions{}), 0.394215, 1e-4);
  EXPECT_NEAR(after_three_steps<Muon>(Sizes{3, 4}, MuonOptions{.lr = 0.1}), -0.529064, 2e-2);
  EXPECT_NEAR(after_three_steps<Muon>(
                  Sizes{5, 2}, MuonOptions{.lr = 0.1, .nesterov = false, .match_rms_adamw = true}),
              -0.442165, 2e-2);
}

TEST(MatrixOptimizers, RefuseWhatMakesNoSense) {
  Tensor vector = nn::wave({3});
  set_requires_grad(vector, true);
  EXPECT_THROW(Muon({vector}), Error);
  EXPECT_THROW(Adafactor({vector}, {.d = 0.5}), Error);
  EXPECT_THROW(Adafactor({vector}, {.eps1 = -1}), Error);
  EXPECT_THROW(Adafactor({vector}, {.eps2 = -1}), Error);
  Muon muon({[] {
    Tensor p = nn::wave({2, 2});
    set_requires_grad(p, true);
    return p;
  }()});
  EXPECT_EQ(muon.momentum(), &muon.options().momentum);
}

}  // namespace
}  // namespace facula::optim
