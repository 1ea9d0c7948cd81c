// Norms start from ones and zeros and draw nothing.
#include "facula/nn/norms.h"

#include "facula/base/error.h"
#include "facula/nn/init.h"
#include "facula/nn/values.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/norm_functions.h"

namespace facula::nn {

BatchNorm2d::BatchNorm2d(int64_t num_features, const BatchNormOptions& options)
    : Module("BatchNorm2d"), num_features_(num_features), options_(options) {
  auto vector = [&](bool wanted) {
    return wanted ? new_empty({num_features}, options.dtype) : Tensor();
  };
  bool tracked = options.track_running_stats;
  weight = register_parameter("weight", vector(options.affine));
  bias = register_parameter("bias", vector(options.affine));
  running_mean = register_buffer("running_mean", vector(tracked));
  running_var = register_buffer("running_var", vector(tracked));
  num_batches_tracked =
      register_buffer("num_batches_tracked", tracked ? new_empty({}, kInt64) : Tensor());
  reset_parameters();
}

void BatchNorm2d::reset_parameters() {
  if (options_.track_running_stats) {
    init::zeros_(running_mean);
    init::ones_(running_var);
    init::zeros_(num_batches_tracked);
  }
  if (options_.affine) {
    init::ones_(weight);
    init::zeros_(bias);
  }
}

Tensor BatchNorm2d::forward(const Tensor& input) {
  FACULA_CHECK(input.dim() == 4, kValue, "expected 4D input (got ", input.dim(), "D input)");
  double momentum = options_.momentum.value_or(0);
  bool tracked = options_.track_running_stats;
  bool training = is_training() || !tracked;
  if (is_training() && tracked) {
    add_(num_batches_tracked, 1);
    if (!options_.momentum) momentum = 1 / item(num_batches_tracked);
  }
  return batch_norm(input, running_mean, running_var, weight, bias, training, momentum,
                    options_.eps);
}

std::string BatchNorm2d::extra_repr() const {
  std::string momentum = options_.momentum ? float_text(*options_.momentum) : "None";
  return str(num_features_, ", eps=", float_text(options_.eps), ", momentum=", momentum,
             ", affine=", options_.affine, ", bias=", bias.defined(),
             ", track_running_stats=", options_.track_running_stats);
}

LayerNorm::LayerNorm(IntList normalized_shape, const LayerNormOptions& options)
    : Module("LayerNorm"), shape_(normalized_shape.to_sizes()), options_(options) {
  bool affine = options.elementwise_affine;
  weight = register_parameter("weight", affine ? new_empty(shape_, options.dtype) : Tensor());
  bias = register_parameter("bias",
                            affine && options.bias ? new_empty(shape_, options.dtype) : Tensor());
  reset_parameters();
}

void LayerNorm::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

Tensor LayerNorm::forward(const Tensor& input) {
  return layer_norm(input, shape_, weight, bias, options_.eps);
}

std::string LayerNorm::extra_repr() const {
  std::string shape;
  for (int64_t size : shape_) shape += (shape.empty() ? "" : ", ") + str(size);
  if (shape_.size() == 1) shape += ",";
  return str("(", shape, "), eps=", float_text(options_.eps),
             ", elementwise_affine=", options_.elementwise_affine, ", bias=", bias.defined());
}

}  // namespace facula::nn
