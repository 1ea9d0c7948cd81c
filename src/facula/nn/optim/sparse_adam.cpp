// SparseAdam's step is made of operators on the values of the gradient.
#include "facula/nn/optim/sparse_adam.h"

#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/math_functions.h"

namespace facula::optim {
namespace {

void check_layout(const Tensor& grad) {
  FACULA_CHECK(layout_of(grad) == facula::Layout::kCoo, kRuntime,
               "SparseAdam does not support dense gradients, please consider Adam instead");
}

// moved brings a moment nearer to values by a share, at the rows of a gradient, and gives it there.
Tensor moved(const Tensor& moment, const SparseTensor& grad, const Tensor& values, double share) {
  Tensor old = facula::values(sparse_mask(moment, grad));
  Tensor change = mul(sub(values, old), Scalar(share));
  add_(moment, with_values(grad, change));
  return add(old, change);
}

}  // namespace

void update(const Tensor& param, const SparseTensor& grad, ParamState& state,
            const SparseAdamOptions& options) {
  check_layout(grad.handle());
  NoGrad no_grad;
  for (Tensor* slot : {&state.slots[0], &state.slots[1]}) {
    if (!slot->defined()) *slot = zeros_like(param);
  }
  state.step += 1;
  SparseTensor merged = coalesce(grad);
  Tensor values = facula::values(merged);
  if (values.numel() == 0) return;
  if (options.maximize) values = neg(values);
  Tensor mean = moved(state.slots[0], merged, values, 1 - options.beta1);
  Tensor square = moved(state.slots[1], merged, mul(values, values), 1 - options.beta2);
  double bias1 = 1 - std::pow(options.beta1, state.step);
  double bias2 = 1 - std::pow(options.beta2, state.step);
  double rate = options.lr * std::sqrt(bias2) / bias1;
  Tensor change = mul(div(mean, add(sqrt(square), Scalar(options.eps))), Scalar(-rate));
  add_(param, with_values(merged, change));
}

SparseAdam::SparseAdam(std::vector<Tensor> params, SparseAdamOptions options)
    : Optimizer("SparseAdam.step", kSparseAdamLayout) {
  add_group(std::move(params), options);
}

void SparseAdam::add_group(std::vector<Tensor> params, SparseAdamOptions options) {
  const auto& o = options;
  FACULA_CHECK(o.lr > 0, kValue, "Invalid learning rate: ", o.lr);
  FACULA_CHECK(o.eps > 0, kValue, "Invalid epsilon value: ", o.eps);
  bool fits = o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1;
  FACULA_CHECK(fits, kValue, "Invalid beta parameters: ", o.beta1, ", ", o.beta2);
  for (const Tensor& p : params) {
    FACULA_CHECK(!is_sparse(p), kValue, "SparseAdam requires dense parameter tensors");
  }
  add_params(std::move(params));
  options_.push_back(options);
}

void SparseAdam::check_gradient(const Tensor&, const Tensor& grad) const { check_layout(grad); }

void SparseAdam::update_param(size_t group, const Tensor& param, const Tensor& grad,
                              ParamState& state) {
  update(param, SparseTensor(grad), state, options_[group]);
}

}  // namespace facula::optim
