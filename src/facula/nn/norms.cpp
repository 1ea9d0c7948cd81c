// Norms start from ones and zeros and draw nothing.
#include "facula/nn/norms.h"

#include "facula/base/error.h"
#include "facula/nn/init.h"
#include "facula/nn/simple.h"
#include "facula/nn/values.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn {

template <int N>
BatchNormNd<N>::BatchNormNd(int64_t num_features, const BatchNormOptions& options)
    : Module(N == 1   ? "BatchNorm1d"
             : N == 2 ? "BatchNorm2d"
                      : "BatchNorm3d"),
      num_features_(num_features),
      options_(options) {
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

template <int N>
void BatchNormNd<N>::reset_parameters() {
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

template <int N>
Tensor BatchNormNd<N>::forward(const Tensor& input) {
  bool fits = input.dim() == N + 2 || (N == 1 && input.dim() == 2);
  FACULA_CHECK(fits, kValue,
               N == 1   ? "expected 2D or 3D input (got "
               : N == 2 ? "expected 4D input (got "
                        : "expected 5D input (got ",
               input.dim(), "D input)");
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

template <int N>
std::string BatchNormNd<N>::extra_repr() const {
  std::string momentum = options_.momentum ? float_text(*options_.momentum) : "None";
  return str(num_features_, ", eps=", float_text(options_.eps), ", momentum=", momentum,
             ", affine=", options_.affine, ", bias=", bias.defined(),
             ", track_running_stats=", options_.track_running_stats);
}
template class BatchNormNd<1>;
template class BatchNormNd<2>;
template class BatchNormNd<3>;

template <int N>
InstanceNormNd<N>::InstanceNormNd(int64_t num_features, const InstanceNormOptions& options)
    : Module(N == 1   ? "InstanceNorm1d"
             : N == 2 ? "InstanceNorm2d"
                      : "InstanceNorm3d"),
      num_features_(num_features),
      options_(options) {
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

template <int N>
void InstanceNormNd<N>::reset_parameters() {
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

template <int N>
Tensor InstanceNormNd<N>::forward(const Tensor& input) {
  bool batched = input.dim() == N + 2;
  FACULA_CHECK(batched || input.dim() == N + 1, kValue, "expected ", N + 1, "D or ", N + 2,
               "D input (got ", input.dim(), "D input)");
  int64_t channels = input.size(batched ? 1 : 0);
  FACULA_CHECK(channels == num_features_ || !options_.affine, kValue,
               "expected input's size at dim=", batched ? 1 : 0, " to match num_features (",
               num_features_, "), but got: ", channels, ".");
  bool own = is_training() || !options_.track_running_stats;
  Tensor out = instance_norm(batched ? input : unsqueeze(input, 0), running_mean, running_var,
                             weight, bias, own, options_.momentum, options_.eps);
  return batched ? out : squeeze_dim(out, {0});
}

template <int N>
std::string InstanceNormNd<N>::extra_repr() const {
  return str(num_features_, ", ") + fields("eps", options_.eps, "momentum", options_.momentum,
                                           "affine", options_.affine, "bias", bias.defined(),
                                           "track_running_stats", options_.track_running_stats);
}
template class InstanceNormNd<1>;
template class InstanceNormNd<2>;
template class InstanceNormNd<3>;

GroupNorm::GroupNorm(int64_t num_groups, int64_t num_channels, const GroupNormOptions& options)
    : Module("GroupNorm"), num_groups_(num_groups), num_channels_(num_channels), options_(options) {
  FACULA_CHECK(num_groups > 0 && num_channels % num_groups == 0, kValue, "num_channels (",
               num_channels, ") must be divisible by num_groups (", num_groups, ")");
  auto vector = [&] {
    return options.affine ? new_empty({num_channels}, options.dtype) : Tensor();
  };
  weight = register_parameter("weight", vector());
  bias = register_parameter("bias", vector());
  reset_parameters();
}

void GroupNorm::reset_parameters() {
  if (!options_.affine) return;
  init::ones_(weight);
  init::zeros_(bias);
}

Tensor GroupNorm::forward(const Tensor& input) {
  return group_norm(input, num_groups_, weight, bias, options_.eps);
}

std::string GroupNorm::extra_repr() const {
  return str(num_groups_, ", ", num_channels_, ", ") +
         fields("eps", options_.eps, "affine", options_.affine, "bias", bias.defined());
}

RMSNorm::RMSNorm(IntList normalized_shape, const RMSNormOptions& options)
    : Module("RMSNorm"), shape_(normalized_shape.to_sizes()), options_(options) {
  weight = register_parameter(
      "weight", options.elementwise_affine ? new_empty(shape_, options.dtype) : Tensor());
  reset_parameters();
}

void RMSNorm::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}

Tensor RMSNorm::forward(const Tensor& input) {
  return rms_norm(input, shape_, weight, options_.eps);
}

std::string RMSNorm::extra_repr() const {
  return tuple_text(shape_) + ", " +
         fields("eps", options_.eps, "elementwise_affine", options_.elementwise_affine);
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
