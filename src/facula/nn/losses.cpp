// Weights of classes are buffers, so they are part of the state as in Python.
#include "facula/nn/losses.h"

#include <cmath>

#include "facula/base/error.h"
#include "facula/nn/options.h"
#include "facula/nn/values.h"
#include "facula/ops/loss_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula::nn {
namespace {

int64_t product(const LinearCrossEntropyLossOptions& options) {
  int64_t count = 1;
  for (int64_t n : options.out_features) count *= n;
  return count;
}

std::vector<int64_t> checked_cutoffs(std::vector<int64_t> cutoffs, int64_t n_classes) {
  FACULA_CHECK(!cutoffs.empty(), kValue, "cutoffs should be a sequence of length larger than 0");
  int64_t before = 0;
  for (int64_t c : cutoffs) {
    FACULA_CHECK(c > before && c < n_classes, kValue,
                 "cutoffs should be a sequence of unique, positive integers sorted in an "
                 "increasing order, where each value is between 1 and n_classes-1");
    before = c;
  }
  cutoffs.push_back(n_classes);
  return cutoffs;
}

// check_pair refuses inputs and targets that do not belong together.
void check_pair(const Tensor& input, const Tensor& target) {
  FACULA_CHECK(target.dim() <= 1, kRuntime,
               "0D or 1D target tensor expected, multi-target not supported");
  FACULA_CHECK(input.dim() == target.dim() + 1, kRuntime, target.dim(), "D target tensor expects ",
               target.dim() + 1, "D input tensors, but found inputs with size ",
               list_text(input.sizes()));
  FACULA_CHECK(target.dim() == 0 || input.size(0) == target.size(0), kRuntime,
               "Input and target should have the same size in the batch dimension.");
}

}  // namespace

Loss::Loss(const char* name, std::string reduction)
    : Module(name), reduction_(std::move(reduction)) {
  check_option(name, "reduction", reduction_, {"mean", "sum", "none"});
}

Tensor MSELoss::forward(const Tensor& input, const Tensor& target) {
  return mse_loss(input, target, reduction_);
}

Tensor L1Loss::forward(const Tensor& input, const Tensor& target) {
  return l1_loss(input, target, reduction_);
}

Tensor SmoothL1Loss::forward(const Tensor& input, const Tensor& target) {
  return smooth_l1_loss(input, target, reduction_, beta_);
}

CrossEntropyLoss::CrossEntropyLoss(const CrossEntropyLossOptions& options)
    : Loss("CrossEntropyLoss", options.reduction),
      weight_(register_buffer("weight", options.weight)),
      ignore_index_(options.ignore_index),
      label_smoothing_(options.label_smoothing) {}
Tensor CrossEntropyLoss::forward(const Tensor& input, const Tensor& target) {
  return cross_entropy(input, target, weight_, ignore_index_, reduction_, label_smoothing_);
}

NLLLoss::NLLLoss(const Tensor& weight, int64_t ignore_index, std::string reduction)
    : Loss("NLLLoss", std::move(reduction)),
      weight_(register_buffer("weight", weight)),
      ignore_index_(ignore_index) {}
Tensor NLLLoss::forward(const Tensor& input, const Tensor& target) {
  return nll_loss(input, target, weight_, ignore_index_, reduction_);
}

Tensor BCELoss::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy(input, target, Tensor(), reduction_);
}

BCEWithLogitsLoss::BCEWithLogitsLoss(const Tensor& pos_weight, std::string reduction)
    : Loss("BCEWithLogitsLoss", std::move(reduction)),
      pos_weight_(register_buffer("pos_weight", pos_weight)) {}
Tensor BCEWithLogitsLoss::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy_with_logits(input, target, Tensor(), pos_weight_, reduction_);
}

LinearCrossEntropyLoss::LinearCrossEntropyLoss(int64_t in_features, int64_t num_classes,
                                               const LinearCrossEntropyLossOptions& options)
    : Loss("LinearCrossEntropyLoss", options.reduction),
      linear(register_module("linear", Linear(in_features, num_classes * product(options),
                                              {.bias = options.bias, .dtype = options.dtype}))),
      weight_(register_buffer("weight", options.weight)),
      ignore_index_(options.ignore_index),
      label_smoothing_(options.label_smoothing) {
  shape_.push_back(num_classes);
  for (int64_t n : options.out_features) shape_.push_back(n);
  shape_.push_back(in_features);
}
Tensor LinearCrossEntropyLoss::forward(const Tensor& input, const Tensor& target) {
  return linear_cross_entropy(input, reshape(linear.weight, shape_), target, linear.bias, weight_,
                              reduction_, ignore_index_, label_smoothing_);
}

AdaptiveLogSoftmaxWithLoss::AdaptiveLogSoftmaxWithLoss(int64_t in_features, int64_t n_classes,
                                                       std::vector<int64_t> cutoffs,
                                                       const AdaptiveLogSoftmaxOptions& options)
    : Module("AdaptiveLogSoftmaxWithLoss"),
      cutoffs_(checked_cutoffs(std::move(cutoffs), n_classes)),
      head(register_module(
          "head", Linear(in_features, cutoffs_[0] + static_cast<int64_t>(cutoffs_.size()) - 1,
                         {.bias = options.head_bias, .dtype = options.dtype}))),
      tail(register_module("tail", ModuleList<Sequential>())) {
  LinearOptions plain{.bias = false, .dtype = options.dtype};
  for (size_t i = 0; i + 1 < cutoffs_.size(); ++i) {
    double divisor = std::pow(options.div_value, static_cast<double>(i + 1));
    auto hidden = static_cast<int64_t>(std::floor(static_cast<double>(in_features) / divisor));
    tail.push_back(Sequential{Linear(in_features, hidden, plain),
                              Linear(hidden, cutoffs_[i + 1] - cutoffs_[i], plain)});
  }
}

AdaptiveLogSoftmaxWithLoss::Output AdaptiveLogSoftmaxWithLoss::operator()(const Tensor& input,
                                                                          const Tensor& target) {
  check_pair(input, target);
  if (target.dim() == 0) {
    Output one = (*this)(unsqueeze(input, 0), unsqueeze(target, 0));
    return {select(one.output, 0, 0), one.loss};
  }
  int64_t count = target.size(0), used = 0, low = 0;
  Tensor places = arange(0, count, 1, kInt64, target.device());
  Tensor output = zeros({count}, input.dtype(), input.device()), at = zeros_like(target);
  for (size_t i = 0; i < cutoffs_.size(); low = cutoffs_[i++]) {
    Tensor rows = masked_select(places, logical_and(ge(target, low), lt(target, cutoffs_[i])));
    if (rows.numel() == 0) continue;
    used += rows.numel();
    Tensor own = index_select(target, 0, rows);
    if (i == 0) at = index_copy(at, 0, rows, own);
    if (i == 0) continue;
    Tensor log_probs = log_softmax(tail[i - 1](index_select(input, 0, rows)), 1);
    at = index_fill(at, 0, rows, cutoffs_[0] + static_cast<int64_t>(i) - 1);
    Tensor local = gather(log_probs, 1, unsqueeze(own - low, 1));
    output = index_copy(output, 0, rows, select(local, 1, 0));
  }
  FACULA_CHECK(used == count, kRuntime, "Target values should be in [0, ", cutoffs_.back() - 1,
               "], but values in range [", item(amin(target)), ", ", item(amax(target)),
               "] were found. ");
  Tensor head_probs = log_softmax(head(input), 1);
  output = output + select(gather(head_probs, 1, unsqueeze(at, 1)), 1, 0);
  return {output, -mean(output)};
}

Tensor AdaptiveLogSoftmaxWithLoss::log_prob(const Tensor& input) {
  Tensor head_probs = log_softmax(head(input), 1);
  std::vector<Tensor> parts{narrow(head_probs, 1, 0, cutoffs_[0])};
  for (size_t i = 0; i < tail.size(); ++i) {
    Tensor cluster = narrow(head_probs, 1, cutoffs_[0] + static_cast<int64_t>(i), 1);
    parts.push_back(log_softmax(tail[i](input), 1) + cluster);
  }
  return cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLoss::predict(const Tensor& input) {
  return argmax(log_prob(input), 1);
}

}  // namespace facula::nn
