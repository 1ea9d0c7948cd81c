// Steps written as operators on whole tensors, in the order of Python's optimisers.
#include "facula/nn/optim/matrix_optimizers.h"

#include <algorithm>
#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/core/thread_state.h"
#include "facula/nn/values.h"

namespace facula::optim {
namespace {

constexpr Layout kAdafactorLayout{true, {}, {"row_var", "col_var", "variance"}};
constexpr Layout kMuonLayout{false, {}, {"momentum_buffer"}};

double root_mean_square(const Tensor& t) {
  double n = static_cast<double>(std::max<int64_t>(t.numel(), 1));
  return item(vector_norm(t, 2)) / std::sqrt(n);
}

// orthogonal brings the singular values near one by a quintic iteration in bfloat16, in which the
// result is too.
Tensor orthogonal(const Tensor& grad, const MuonOptions& o) {
  Tensor x = to(grad, std::nullopt, kBFloat16);
  bool tall = x.size(0) > x.size(1);
  if (tall) x = transpose(x, 0, 1);
  x = x / clamp_min(vector_norm(x, 2), o.eps);
  for (int64_t i = 0; i < o.ns_steps; ++i) {
    Tensor gram = matmul(x, transpose(x, 0, 1));
    x = addmm(x, addmm(gram, gram, gram, o.b, o.c), x, o.a);
  }
  return tall ? transpose(x, 0, 1) : x;
}

}  // namespace

Adafactor::Adafactor(std::vector<Tensor> params, AdafactorOptions options)
    : Optimizer("Adafactor.step", kAdafactorLayout) {
  add_group(std::move(params), options);
}
void Adafactor::add_group(std::vector<Tensor> params, AdafactorOptions o) {
  FACULA_CHECK(o.lr >= 0, kValue, "Learning rate should be >= 0 but is: ", o.lr);
  FACULA_CHECK(o.beta2_decay <= 0, kValue, "beta2_decay should be <= 0 but is: ", o.beta2_decay);
  FACULA_CHECK(!o.eps1 || *o.eps1 >= 0, kValue, "epsilon1 should be >= 0 but is: ", *o.eps1);
  FACULA_CHECK(o.eps2 >= 0, kValue, "epsilon2 should be >= 0 but is: ", o.eps2);
  FACULA_CHECK(o.d >= 1, kValue, "Clipping threshold d should be >= 1 but is: ", o.d);
  FACULA_CHECK(o.weight_decay >= 0, kValue, "weight_decay should be >= 0 but is: ", o.weight_decay);
  add_params(std::move(params));
  options_.push_back(o);
}

void Adafactor::update_param(size_t group, const Tensor& p, const Tensor& grad, ParamState& state) {
  NoGrad off;
  const AdafactorOptions& o = options_[group];
  Tensor g = detach(grad), square = g * g;
  double t = state.step += 1, weight = std::pow(t, o.beta2_decay);
  double eps1 = o.eps1.value_or(epsilon_of(p.dtype()));
  double alpha = std::max(o.eps2, root_mean_square(p)) * std::min(o.lr, 1 / std::sqrt(t));
  if (o.weight_decay != 0) mul_(p, 1 - o.lr * o.weight_decay);
  Tensor &row = state.slots[0], &column = state.slots[1], &all = state.slots[2], estimate;
  if (p.dim() > 1) {
    Tensor rows = mean(square, IntList({-1}), true), columns = mean(square, IntList({-2}), true);
    if (!row.defined()) row = zeros(rows.sizes(), p.dtype());
    if (!column.defined()) column = zeros(columns.sizes(), p.dtype());
    lerp_(row, rows, weight);
    lerp_(column, columns, weight);
    estimate = matmul(row, column) / clamp_min(mean(row, IntList({-2}), true), eps1);
  } else {
    if (!all.defined()) all = zeros(p.sizes(), p.dtype());
    lerp_(all, square, weight);
    estimate = all;
  }
  Tensor update = rsqrt(clamp_min(estimate, eps1 * eps1)) * g;
  sub_(p, update * (alpha / std::max(1.0, root_mean_square(update) / o.d)));
}

Muon::Muon(std::vector<Tensor> params, MuonOptions options) : Optimizer("Muon.step", kMuonLayout) {
  add_group(std::move(params), options);
}
void Muon::add_group(std::vector<Tensor> params, MuonOptions o) {
  FACULA_CHECK(o.lr >= 0, kValue, "Learning rate should be >= 0 but is: ", o.lr);
  FACULA_CHECK(o.momentum >= 0, kValue, "momentum should be >= 0 but is: ", o.momentum);
  FACULA_CHECK(o.weight_decay >= 0, kValue, "weight decay should be >= 0 but is: ", o.weight_decay);
  FACULA_CHECK(o.ns_steps < 100, kValue,
               "Number of steps must be less than 100 for computational efficiency");
  for (const Tensor& p : params) {
    FACULA_CHECK(!p.defined() || p.dim() == 2, kValue,
                 "Muon only supports 2D parameters whereas we found a parameter with size: ",
                 list_text(p.sizes()));
  }
  add_params(std::move(params));
  options_.push_back(o);
}

void Muon::update_param(size_t group, const Tensor& p, const Tensor& grad, ParamState& state) {
  NoGrad off;
  const MuonOptions& o = options_[group];
  Tensor g = detach(grad);
  Tensor& buffer = state.slots[0];
  if (!buffer.defined()) buffer = zeros(p.sizes(), p.dtype());
  lerp_(buffer, g, 1 - o.momentum);
  Tensor update = orthogonal(o.nesterov ? lerp(g, buffer, o.momentum) : buffer, o);
  double rows = static_cast<double>(p.size(0)), columns = static_cast<double>(p.size(1));
  double scale = o.match_rms_adamw ? 0.2 * std::sqrt(std::max(rows, columns))
                                   : std::sqrt(std::max(1.0, rows / columns));
  mul_(p, 1 - o.lr * o.weight_decay);
  add_(p, update, -o.lr * scale);
}

}  // namespace facula::optim
