// Weights of classes are buffers, so they are part of the state as in Python.
#include "facula/nn/losses.h"

#include "facula/base/error.h"
#include "facula/ops/loss_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula::nn {

Loss::Loss(const char* name, std::string reduction)
    : Module(name), reduction_(std::move(reduction)) {
  bool known = reduction_ == "mean" || reduction_ == "sum" || reduction_ == "none";
  FACULA_CHECK(known, kValue, reduction_, " is not a valid value for reduction");
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

}  // namespace facula::nn
