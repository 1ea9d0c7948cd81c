// SparseAdam: Adam for sparse gradients (lazy Adam). Moments and parameters change at the rows that
// a gradient names, and nowhere else.
//
//   Tensor table = rand({10, 4});
//   set_requires_grad(table, true);
//   optim::SparseAdam optimizer({table}, {.lr = 0.1});
#pragma once
#include "facula/nn/optim/optimizer.h"
#include "facula/sparse/sparse.h"

namespace facula::optim {

struct SparseAdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  bool maximize = false;
};
inline constexpr Layout kSparseAdamLayout{true, {}, {"exp_avg", "exp_avg_sq"}};

// update performs one step on a strided parameter and counts it in `state`; RuntimeError for a
// gradient of another layout than COO.
FACULA_API void update(const Tensor& param, const SparseTensor& grad, ParamState& state,
                       const SparseAdamOptions& options);

// SparseAdam: RuntimeError in `step` for gradients that are strided.
class FACULA_API SparseAdam final : public Optimizer {
 public:
  explicit SparseAdam(std::vector<Tensor> params, SparseAdamOptions options = {});
  // add_group adds parameters with options of their own; ValueError for options out of range and
  // sparse parameters.
  void add_group(std::vector<Tensor> params, SparseAdamOptions options);
  SparseAdamOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  void check_gradient(const Tensor& param, const Tensor& grad) const override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<SparseAdamOptions> options_;
};

}  // namespace facula::optim
