// Tests of SparseAdam: rows without gradient stay, the others move as Adam moves them.
#include "facula/nn/optim/sparse_adam.h"

#include <gtest/gtest.h>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/nn/optim/optimizers.h"
#include "facula/nn/values.h"

namespace facula::optim {
namespace {

Tensor leaf(const Tensor& t) {
  set_requires_grad(t, true);
  return t;
}

SparseTensor rows(std::vector<int64_t> at, const Tensor& values, int64_t count) {
  Tensor places = tensor_of(at, {1, static_cast<int64_t>(at.size())});
  return sparse_coo_tensor(places, values, {{count, values.size(1)}});
}

TEST(SparseAdam, MovesOnlyTheRowsOfTheGradient) {
  Tensor p = leaf(ones({4, 2}));
  SparseAdam optimizer({p}, {.lr = 0.1});
  Tensor g = tensor_of(std::vector<float>{1, -2, 3, 4}, {2, 2});
  set_grad(p, rows({2, 0}, g, 4).handle());
  optimizer.step();
  std::vector<double> expected{0.9, 0.9, 1, 1, 0.9, 1.1, 1, 1}, found = values_of(p);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
  EXPECT_EQ(optimizer.state(0).step, 1);
  EXPECT_EQ(optimizer.state_dict().count("0.exp_avg_sq"), 1u);
}

TEST(SparseAdam, StepsAsAdamWhereAllRowsHaveGradients) {
  Tensor start = randn({3, 2}, nullptr, kFloat64);
  Tensor p = leaf(clone(start)), q = leaf(clone(start));
  SparseAdam lazy({p}, {.lr = 0.1, .eps = 1e-12, .maximize = true});
  Adam plain({q}, {.lr = 0.1, .eps = 1e-12, .maximize = true});
  for (int i = 0; i < 3; ++i) {
    Tensor g = randn({3, 2}, nullptr, kFloat64), half = g * 0.5;
    set_grad(q, g);
    set_grad(p, rows({0, 1, 2, 0, 1, 2}, cat(std::vector<Tensor>{half, half}), 3).handle());
    lazy.step();
    plain.step();
  }
  for (double difference : values_of(detach(p) - detach(q))) EXPECT_NEAR(difference, 0, 1e-8);
}

TEST(SparseAdam, RefusesDenseGradientsAndBadOptions) {
  Tensor p = leaf(ones({2, 2}));
  EXPECT_THROW(SparseAdam({p}, {.lr = 0}), Error);
  EXPECT_THROW(SparseAdam({p}, {.beta1 = 1}), Error);
  SparseAdam optimizer({p});
  set_grad(p, ones({2, 2}));
  EXPECT_THROW(optimizer.step(), Error);
}

}  // namespace
}  // namespace facula::optim
