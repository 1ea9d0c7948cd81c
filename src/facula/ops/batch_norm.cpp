// batch_norm and instance_norm.
#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/core/intercept.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/norm_support.h"
#include "facula/ops/recompute.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

void check_parameter(const char* name, const Tensor& t, int64_t channels) {
  if (!t.defined() || t.numel() == channels) return;
  raise_error(ErrorKind::kRuntime, "batch_norm: ", name, " should contain ", channels,
              " elements not ", t.numel());
}

// running = (1 - momentum) * running + momentum * value, in place.
void update_running(const Tensor& running, const Tensor& value, double momentum) {
  NoGrad no_grad;
  if ((running->intercept | value->intercept) & kInterceptBatched) [[unlikely]] {
    copy_(running, add(mul(running, 1 - momentum), mul(cast(value, running.dtype()), momentum)));
    return;
  }
  Tensor next =
      add(mul(alias(running), 1 - momentum), mul(to_dtype(value, running.dtype()), momentum));
  copy_raw(running, next);
  bump_version(running, "batch_norm");
}

// Statistics of the batch; the running ones are updated where given.
void batch_statistics(const Tensor& x, const kernels::Planes& p, const Tensor& mean,
                      const Tensor& variance, const Tensor& running_mean, const Tensor& running_var,
                      double momentum) {
  kernels::norms->batch_stats(x.dtype(), mean.data(), variance.data(), x.data(), p);
  double count = static_cast<double>(p.batch) * static_cast<double>(p.length);
  if (running_mean.defined()) update_running(running_mean, mean, momentum);
  if (running_var.defined()) {
    NoGrad no_grad;
    update_running(running_var, mul(variance, count / (count - 1)), momentum);
  }
}

// rstd = 1 / sqrt(variance + eps), in place.
void invert_roots(const Tensor& t, double eps) {
  for (int64_t i = 0; i < t.numel(); ++i) {
    if (t.dtype() == kFloat64) {
      double& v = t.data_as<double>()[i];
      v = 1 / std::sqrt(v + eps);
    } else {
      float& v = t.data_as<float>()[i];
      v = static_cast<float>(1 / std::sqrt(static_cast<double>(v) + eps));
    }
  }
}

// rounded_parameters says whether everything is of the input's half precision: statistics of a
// batch are rounded to it then, as PyTorch does.
bool rounded_parameters(const Tensor& input, std::initializer_list<const Tensor*> parameters) {
  if (!is_reduced(input.dtype())) return false;
  for (const Tensor* t : parameters) {
    if (t->defined() && t->dtype() != input.dtype()) return false;
  }
  return true;
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor, Tensor> batch_norm_layer(const Tensor& input, const Tensor& weight,
                                                    const Tensor& bias, const Tensor& running_mean,
                                                    const Tensor& running_var, bool training,
                                                    double momentum, double eps) {
  norm_layer::check_floating("batch_norm", input);
  if (input.dim() == 1 && input.numel() == 0) {
    Tensor none = new_empty({0}, norm_layer::compute_type(input.dtype()), input.device());
    return {new_empty({0}, input.dtype(), input.device()), none, none};
  }
  if (input.dim() < 2) {
    raise_error(ErrorKind::kRuntime, "batch_norm: expected an input of at least 2 dimensions, got ",
                list_text(input.sizes()));
  }
  int64_t channels = input->sizes[1];
  if (!training && (!running_mean.defined() || !running_var.defined())) {
    raise_error(ErrorKind::kRuntime,
                "batch_norm: ", running_mean.defined() ? "running_var" : "running_mean",
                " must be defined in evaluation mode");
  }
  check_parameter("running_mean", running_mean, channels);
  check_parameter("running_var", running_var, channels);
  check_parameter("weight", weight, channels);
  check_parameter("bias", bias, channels);
  DType type = norm_layer::compute_type(input.dtype());
  Tensor mean = new_empty({channels}, type, input.device());
  Tensor rstd = new_empty({channels}, type, input.device());
  Tensor x = norm_layer::image(input);
  Tensor out = new_empty_as(x, x.dtype());
  if (out.is_meta() || out.numel() == 0) {
    fill_raw(mean, 0);
    fill_raw(rstd, 1);
    return {out, mean, rstd};
  }
  kernels::Planes p = norm_layer::planes_of(x, is_channels_last(x));
  if (training) {
    batch_statistics(x, p, mean, rstd, running_mean, running_var, momentum);
  } else {
    copy_raw(mean, running_mean);
    copy_raw(rstd, running_var);
  }
  invert_roots(rstd, eps);
  if (training && rounded_parameters(input, {&weight, &bias, &running_mean, &running_var})) {
    copy_raw(mean, to_dtype(mean, input.dtype()));
    copy_raw(rstd, to_dtype(rstd, input.dtype()));
  }
  Tensor w = norm_layer::parameter(weight, type), b = norm_layer::parameter(bias, type);
  kernels::norms->batch_norm(x.dtype(), out.data(), x.data(), mean.data(), rstd.data(),
                             norm_layer::pointer(w), norm_layer::pointer(b), p);
  return {out, mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward_fused(const Tensor& grad_output,
                                                             const Tensor& input,
                                                             const Tensor& weight,
                                                             const Tensor& mean, const Tensor& rstd,
                                                             bool training, uint64_t output_mask) {
  Tensor x = norm_layer::image(input), dx, dw, db;
  bool last = is_channels_last(x);
  Tensor g = to_dtype(grad_output, x.dtype());
  if (last && !is_channels_last(g)) {
    Tensor copy = new_empty_as(x, x.dtype());
    copy_raw(copy, g);
    g = copy;
  } else if (!last) {
    g = to_contiguous(g);
  }
  if (output_mask & 1) dx = new_empty_as(x, x.dtype());
  if (output_mask & 2) dw = new_empty(mean.sizes(), mean.dtype(), x.device());
  if (output_mask & 4) db = new_empty(mean.sizes(), mean.dtype(), x.device());
  if (x.is_meta()) return {dx, dw, db};
  if (x.numel() == 0) {
    if (dw.defined()) fill_raw(dw, 0);
    if (db.defined()) fill_raw(db, 0);
    return {dx, dw, db};
  }
  Tensor w = norm_layer::parameter(weight, x.dtype());
  kernels::norms->batch_norm_backward(x.dtype(), norm_layer::pointer(dx), norm_layer::pointer(dw),
                                      norm_layer::pointer(db), g.data(), x.data(), mean.data(),
                                      rstd.data(), norm_layer::pointer(w), training,
                                      norm_layer::planes_of(x, last));
  return {dx, dw, db};
}

}  // namespace forward

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(const Tensor& grad_output,
                                                       const Tensor& input, const Tensor& weight,
                                                       const Tensor& mean, const Tensor& rstd,
                                                       bool training, double eps,
                                                       uint64_t output_mask) {
  if (!recording_any({&grad_output, &input, &weight})) {
    return batch_norm_backward_fused(grad_output, input, weight, mean, rstd, training, output_mask);
  }
  if (input.dim() < 2) {  // only empty inputs have fewer dimensions
    auto zeros_of = [](const Tensor& t) { return t.defined() ? zeros_like(t) : Tensor(); };
    return {zeros_of(input), zeros_of(weight), zeros_of(mean)};
  }
  Sizes shape(static_cast<size_t>(input.dim()), int64_t{1}), dims;
  shape[1] = input->sizes[1];
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) dims.push_back(d);
  }
  // The bias takes part as zeros: only its gradient matters.
  Tensor bias = new_empty({input->sizes[1]}, input.dtype(), input.device());
  fill_raw(bias, 0);
  Tensor inputs[3] = {input, weight, bias};
  std::vector<Tensor> found = gradients_by_recomputing(
      inputs, {&grad_output, 1}, output_mask, [&](const std::vector<Tensor>& x) {
        double count = static_cast<double>(input.numel()) / static_cast<double>(input->sizes[1]);
        Tensor centred, scale;
        if (training) {
          centred = sub(x[0], div(sum(x[0], dims, true), count));
          scale = rsqrt(add(div(sum(mul(centred, centred), dims, true), count), eps));
        } else {
          centred = sub(x[0], to_dtype(reshape(mean, shape), input.dtype()));
          scale = to_dtype(reshape(rstd, shape), input.dtype());
        }
        Tensor y = mul(centred, scale);
        if (x[1].defined()) y = mul(y, reshape(x[1], shape));
        return std::vector<Tensor>{add(y, reshape(x[2], shape))};
      });
  return {found[0], found[1], found[2]};
}

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum,
                  double eps) {
  FACULA_CHECK(!training || eps > 0, kValue,
               "batch_norm eps must be positive during training, but got ", eps);
  FACULA_CHECK(eps >= 0, kValue, "batch_norm eps must be non-negative, but got ", eps);
  if (training && input.dim() >= 2 && input->sizes[1] > 0 && input.numel() == input->sizes[1]) {
    raise_error(ErrorKind::kValue,
                "batch_norm: Expected more than 1 value per channel when training,",
                " got input size ", list_text(input.sizes()));
  }
  norm_layer::check_parameter_types("batch_norm", input,
                                    {&weight, &bias, &running_mean, &running_var});
  norm_layer::check_running("batch_norm", running_mean, running_var, training);
  return std::get<0>(
      batch_norm_layer(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

Tensor batch_norm_positional(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             const Tensor& running_mean, const Tensor& running_var, bool training,
                             double momentum, double eps, bool) {
  norm_layer::check_parameter_types("batch_norm", input,
                                    {&weight, &bias, &running_mean, &running_var});
  norm_layer::check_running("batch_norm", running_mean, running_var, training);
  return std::get<0>(
      batch_norm_layer(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

Tensor instance_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats,
                     double momentum, double eps) {
  norm_layer::check_running("instance_norm", running_mean, running_var, use_input_stats);
  if (!use_input_stats) {
    norm_layer::check_parameter_types("instance_norm", input, {&weight, &bias});
    return std::get<0>(
        batch_norm_layer(input, weight, bias, running_mean, running_var, false, momentum, eps));
  }
  if (input.dim() < 3) {
    raise_error(ErrorKind::kRuntime,
                "instance_norm: expected an input of at least 3 dimensions, got ",
                list_text(input.sizes()));
  }
  int64_t channels = input->sizes[1], length = 1;
  for (int64_t d = 2; d < input.dim(); ++d) length *= input->sizes[d];
  if (length == 1) {
    raise_error(ErrorKind::kValue, "instance_norm: Expected more than 1 spatial element when ",
                "training, got input size ", list_text(input.sizes()));
  }
  Tensor result, mean, rstd;
  if (rounded_parameters(input, {&weight, &bias, &running_mean, &running_var})) {
    // The channels of all samples as the channels of one.
    int64_t batch = input->sizes[0];
    Tensor w = weight.defined() ? repeat(weight, {batch}) : weight;
    Tensor b = bias.defined() ? repeat(bias, {batch}) : bias;
    Tensor all = reshape(input, {1, batch * channels, length});
    std::tie(result, mean, rstd) = batch_norm_layer(all, w, b, {}, {}, true, momentum, eps);
    result = reshape(result, input.sizes());
    mean = reshape(mean, {batch, channels});
    rstd = reshape(rstd, {batch, channels});
  } else {
    std::tie(result, mean, rstd) = group_norm_layer(input, channels, weight, bias, eps);
  }
  if (input.is_meta() || input.numel() == 0) return result;
  NoGrad no_grad;
  double samples = static_cast<double>(input->sizes[0]);
  if (running_mean.defined()) {
    update_running(running_mean, div(sum(detach(mean), IntList({0})), samples), momentum);
  }
  if (running_var.defined()) {
    Tensor variance = sub(pow(detach(rstd), -2), eps);
    double factor = static_cast<double>(length) / static_cast<double>(length - 1);
    update_running(running_var, mul(div(sum(variance, IntList({0})), samples), factor), momentum);
  }
  return result;
}

Tensor instance_norm_positional(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                const Tensor& running_mean, const Tensor& running_var,
                                bool use_input_stats, double momentum, double eps, bool) {
  return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum,
                       eps);
}

}  // namespace facula
