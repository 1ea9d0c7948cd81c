// cross_entropy, nll_loss and linear_cross_entropy. The class dimension is 1, or 0 for an unbatched
// vector of scores.
#include "facula/base/error.h"
#include "facula/kernels/softmax.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/loss_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/recompute.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula {
namespace {

DType loss_type(DType t) { return t == kFloat64 ? kFloat64 : kFloat32; }

void check_reduction(std::string_view reduction) {
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    raise_error(ErrorKind::kValue, reduction, " is not a valid value for reduction");
  }
}

// Scores, targets and weight of a call, made dense and of the types that the kernels take.
struct LossCall {
  Tensor input, target, weight;
  kernels::ClassLoss loss{};
};

void check_call(const char* op, const Tensor& input, const Tensor& target, const Tensor& weight) {
  int64_t dims = input.dim();
  if (dims == 0)
    raise_error(ErrorKind::kRuntime, op, ": input should be 1D or more, got a 0-D tensor");
  if (!input.is_floating_point()) {
    raise_error(ErrorKind::kNotImplemented, '"', op, "\" not implemented for '",
                dtype_title(input.dtype()), "'");
  }
  if (target.dim() > 0 && dims > 1 && target->sizes[0] != input->sizes[0]) {
    raise_error(ErrorKind::kValue, op, ": Expected input batch_size (", input->sizes[0],
                ") to match target batch_size (", target->sizes[0], ").");
  }
  if (target.dtype() != kInt64 && target.dtype() != kUInt8) {
    raise_error(ErrorKind::kRuntime, op, ": expected target dtype to be Long or Byte, but got ",
                dtype_title(target.dtype()));
  }
  bool together =
      input.device() == target.device() && (!weight.defined() || weight.device() == input.device());
  if (!together) {
    raise_error(ErrorKind::kRuntime, op, ": expected all tensors to be on the same device, got ",
                device_text(input.device()), " and ", device_text(target.device()));
  }
  int64_t classes = input.size(dims == 1 ? 0 : 1);
  Sizes wanted;
  for (int64_t d = 0; d < dims; ++d) {
    if (d != (dims == 1 ? 0 : 1)) wanted.push_back(input->sizes[d]);
  }
  bool single = dims == 1 && target.dim() == 1 && target->sizes[0] == 1;
  if (!single && !(IntList(wanted) == target.sizes())) {
    raise_error(ErrorKind::kRuntime, op, ": Expected target size ", list_text(wanted), ", got ",
                list_text(target.sizes()), " (multi-target not supported)");
  }
  if (weight.defined() && (weight.dim() != 1 || weight->sizes[0] != classes)) {
    raise_error(
        ErrorKind::kRuntime, op, ": weight tensor should be defined either for all ", classes,
        " classes or no classes but got weight tensor of shape: ", list_text(weight.sizes()));
  }
  if (weight.defined() && weight.dtype() != input.dtype()) {
    raise_error(ErrorKind::kRuntime, op, ": expected weight of scalar type ",
                dtype_title(input.dtype()), " but found ", dtype_title(weight.dtype()));
  }
}

kernels::Rows class_rows(IntList sizes) {
  kernels::Rows r{1, 1, 1};
  if (sizes.size() == 1) {
    r.n = sizes[0];
    return r;
  }
  r.outer = sizes[0];
  r.n = sizes[1];
  for (size_t d = 2; d < sizes.size(); ++d) r.inner *= sizes[d];
  return r;
}

LossCall prepare_loss(const Tensor& input, const Tensor& target, const Tensor& weight, DType dtype,
                      IntList sizes, int64_t ignore_index, double smoothing) {
  LossCall c;
  c.target = to_contiguous(to_dtype(target, kInt64));
  c.loss.dtype = dtype;
  c.loss.rows = class_rows(sizes);
  if (input.defined()) {
    c.input = to_contiguous(input);
    c.loss.input = c.input.data();
  }
  c.loss.target = c.target.data_as<int64_t>();
  if (weight.defined()) {
    c.weight = to_contiguous(to_dtype(weight, loss_type(dtype)));
    c.loss.weight = c.weight.data();
  }
  c.loss.ignore_index = ignore_index;
  c.loss.smoothing = smoothing;
  return c;
}

void check_targets(const kernels::Fault& fault, const char* op) {
  if (!fault) return;
  raise_error(ErrorKind::kIndex, op, ": Target ", fault.value,
              " is out of bounds: expected 0 <= target < ", fault.bound);
}

// The sum of the losses in the order of the elements.
template <class T>
double sum_losses(const Tensor& losses) {
  const T* p = losses.data_as<T>();
  double sum = 0;
  for (int64_t i = 0; i < losses.numel(); ++i) sum += static_cast<double>(p[i]);
  return sum;
}

// The losses themselves, their sum, or their sum over `total`.
Tensor reduced_losses(const Tensor& losses, std::string_view reduction, double total) {
  if (reduction == "none") return losses;
  Tensor out = new_empty({}, losses.dtype(), losses.device());
  if (out.is_meta()) return out;
  double divide = reduction == "mean" ? total : 1;
  if (losses.dtype() == kFloat32) {
    *out.data_as<float>() = static_cast<float>(sum_losses<float>(losses) / divide);
  } else if (losses.dtype() == kFloat64) {
    *out.data_as<double>() = sum_losses<double>(losses) / divide;
  } else {
    fill_raw(out, sum_losses<float>(to_dtype(losses, kFloat32)) / divide);
  }
  return out;
}

// The factor of each loss in the result, one number or one a position, of the compute type.
Tensor loss_scale(const Tensor& grad_output, const Tensor& total, std::string_view reduction,
                  DType dtype, int64_t* step) {
  Tensor scale = to_contiguous(to_dtype(grad_output, loss_type(dtype)));
  *step = reduction == "none" ? 1 : 0;
  if (reduction != "mean") return scale;
  Tensor one = new_empty({}, scale.dtype());
  double t = *total.data_as<double>();
  if (one.dtype() == kFloat32)
    *one.data_as<float>() = static_cast<float>(*scale.data_as<float>() / t);
  else
    *one.data_as<double>() = *scale.data_as<double>() / t;
  return one;
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor, Tensor> cross_entropy_classes(const Tensor& input, const Tensor& target,
                                                         const Tensor& weight, int64_t ignore_index,
                                                         std::string_view reduction,
                                                         double label_smoothing) {
  check_call("cross_entropy", input, target, weight);
  Tensor losses = new_empty(target.sizes(), input.dtype(), input.device());
  Tensor lse = new_empty(target.sizes(), loss_type(input.dtype()), input.device());
  Tensor total = new_empty({}, kFloat64, input.device());
  if (losses.is_meta()) return {reduced_losses(losses, reduction, 1), lse, total};
  LossCall c = prepare_loss(input, target, weight, input.dtype(), input.sizes(), ignore_index,
                            label_smoothing);
  kernels::Fault fault;
  kernels::softmaxes->cross_entropy(c.loss, losses.data(), lse.data(), &fault);
  check_targets(fault, "cross_entropy");
  *total.data_as<double>() = reduction == "mean" ? kernels::softmaxes->target_weight(c.loss) : 1;
  return {reduced_losses(losses, reduction, *total.data_as<double>()), lse, total};
}

Tensor cross_entropy_backward_fused(const Tensor& grad_output, const Tensor& input,
                                    const Tensor& target, const Tensor& weight, const Tensor& lse,
                                    const Tensor& total, int64_t ignore_index,
                                    std::string_view reduction, double label_smoothing) {
  Tensor out = new_empty(input.sizes(), input.dtype(), input.device());
  if (out.is_meta()) return out;
  LossCall c = prepare_loss(input, target, weight, input.dtype(), input.sizes(), ignore_index,
                            label_smoothing);
  int64_t step;
  Tensor scale = loss_scale(grad_output, total, reduction, input.dtype(), &step);
  Tensor sums = to_contiguous(lse);
  kernels::softmaxes->cross_entropy_backward(c.loss, out.data(), sums.data(), scale.data(), step);
  return out;
}

std::tuple<Tensor, Tensor> nll_loss_classes(const Tensor& input, const Tensor& target,
                                            const Tensor& weight, int64_t ignore_index,
                                            std::string_view reduction) {
  check_call("nll_loss", input, target, weight);
  Tensor losses = new_empty(target.sizes(), input.dtype(), input.device());
  Tensor total = new_empty({}, kFloat64, input.device());
  if (losses.is_meta()) return {reduced_losses(losses, reduction, 1), total};
  LossCall c = prepare_loss(input, target, weight, input.dtype(), input.sizes(), ignore_index, 0);
  kernels::Fault fault;
  kernels::softmaxes->nll_loss(c.loss, losses.data(), &fault);
  check_targets(fault, "nll_loss");
  *total.data_as<double>() = reduction == "mean" ? kernels::softmaxes->target_weight(c.loss) : 1;
  return {reduced_losses(losses, reduction, *total.data_as<double>()), total};
}

Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& target, const Tensor& weight,
                         const Tensor& total, IntList size, int64_t ignore_index,
                         std::string_view reduction) {
  Tensor out = new_empty(size, grad_output.dtype(), grad_output.device());
  if (out.is_meta()) return out;
  LossCall c = prepare_loss(Tensor(), target, weight, out.dtype(), size, ignore_index, 0);
  int64_t step;
  Tensor scale = loss_scale(grad_output, total, reduction, out.dtype(), &step);
  kernels::softmaxes->nll_loss_backward(c.loss, out.data(), scale.data(), step);
  return out;
}

}  // namespace forward

namespace {

// cross_entropy with class probabilities as the target.
Tensor with_probabilities(const Tensor& input, const Tensor& target, const Tensor& weight,
                          std::string_view reduction, double smoothing) {
  int64_t dim = input.dim() == 1 ? 0 : 1, classes = input.size(dim);
  if (!target.is_floating_point()) {
    raise_error(ErrorKind::kRuntime, "cross_entropy: Expected floating point type for target with ",
                "class probabilities, got ", dtype_title(target.dtype()));
  }
  if (weight.defined() && (weight.dim() != 1 || weight->sizes[0] != classes)) {
    raise_error(
        ErrorKind::kRuntime, "cross_entropy: weight tensor should be defined either for all ",
        classes,
        " classes or no classes but got weight tensor of shape: ", list_text(weight.sizes()));
  }
  Tensor t = target;
  if (smoothing > 0) {
    t = add(mul(t, 1 - smoothing), smoothing / static_cast<double>(classes));
  }
  Tensor products = mul(log_softmax(input, dim), t);
  if (weight.defined()) {
    Sizes shape(static_cast<size_t>(input.dim()), int64_t{1});
    shape[dim] = classes;
    products = mul(products, reshape(weight, shape));
  }
  Tensor losses = neg(sum(products, IntList(dim)));
  if (reduction != "mean") return reduction == "sum" ? sum(losses) : losses;
  int64_t count = 1;
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != dim) count *= input->sizes[d];
  }
  return div(sum(losses), static_cast<double>(count));
}

// cross_entropy with class indices, from operators that have derivatives.
Tensor from_parts(const Tensor& input, const Tensor& target, const Tensor& weight,
                  int64_t ignore_index, std::string_view reduction, double smoothing) {
  int64_t dim = input.dim() == 1 ? 0 : 1, classes = input.size(dim);
  Tensor scores = log_softmax(input, dim);
  Tensor loss = nll_loss(scores, target, weight, ignore_index, reduction);
  if (smoothing == 0) return loss;
  Sizes shape(static_cast<size_t>(input.dim()), int64_t{1});
  shape[dim] = classes;
  Tensor wide = weight.defined() ? mul(scores, reshape(weight, shape)) : scores;
  Tensor smooth = neg(sum(wide, IntList(dim)));
  Tensor kept = ne(reshape(target, smooth.sizes()), Scalar(ignore_index));
  smooth = mul(smooth, kept);
  if (reduction != "none") smooth = sum(smooth);
  if (reduction == "mean") {
    Tensor ones = facula::zeros_like(scores);
    Tensor total = nll_loss(sub(ones, 1), target, weight, ignore_index, "sum");
    smooth = div(smooth, total);
  }
  return add(mul(loss, 1 - smoothing), mul(smooth, smoothing / static_cast<double>(classes)));
}

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                     int64_t ignore_index, std::string_view reduction, double label_smoothing) {
  check_reduction(reduction);
  if (!(label_smoothing >= 0 && label_smoothing <= 1)) {
    raise_error(
        ErrorKind::kRuntime,
        "cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  }
  if (input.sizes() == target.sizes() && !(input.dim() == 1 && target.dtype() == kInt64)) {
    FACULA_CHECK(ignore_index < 0, kRuntime,
                 "cross_entropy: ignore_index is not supported for floating point target");
    return with_probabilities(input, target, weight, reduction, label_smoothing);
  }
  return std::get<0>(
      cross_entropy_classes(input, target, weight, ignore_index, reduction, label_smoothing));
}

Tensor cross_entropy_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target,
                              const Tensor& weight, const Tensor& lse, const Tensor& total,
                              int64_t ignore_index, std::string_view reduction,
                              double label_smoothing) {
  if (!recording_any({&grad_output, &input})) {
    return cross_entropy_backward_fused(grad_output, input, target, weight, lse, total,
                                        ignore_index, reduction, label_smoothing);
  }
  return gradients_by_recomputing(
      {&input, 1}, {&grad_output, 1}, 1, [&](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{
            from_parts(x[0], target, weight, ignore_index, reduction, label_smoothing)};
      })[0];
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                int64_t ignore_index, std::string_view reduction) {
  check_reduction(reduction);
  return std::get<0>(nll_loss_classes(input, target, weight, ignore_index, reduction));
}

Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target,
                            const Tensor& linear_bias, const Tensor& weight,
                            std::string_view reduction, std::optional<int64_t> ignore_index,
                            double label_smoothing) {
  FACULA_CHECK(input.dim() == 1 || input.dim() == 2, kRuntime,
               "expected input with dimensionality 1 or 2, got ", input.dim());
  FACULA_CHECK(linear_weight.dim() >= 2, kRuntime,
               "expected linear_weight with dimensionality 2 or more, got ", linear_weight.dim());
  int64_t features = linear_weight.size(-1);
  FACULA_CHECK(input.size(-1) == features, kRuntime,
               "expected equal input and linear_weight last dimensions (in_features), got ",
               input.size(-1), " and ", features, ", respectively");
  FACULA_CHECK(linear_weight.dim() == 2 || input.dim() == 2, kRuntime,
               "K-dimensional loss defined by linear_weight shape ",
               list_text(linear_weight.sizes()), " requires batched input, (N, ", features,
               "), got unbatched input with shape ", list_text(input.sizes()));
  FACULA_CHECK(!ignore_index || !is_floating(target.dtype()), kRuntime,
               "ignore_index cannot be specified when target contains probabilities");
  Tensor bias = linear_bias.defined() ? reshape(linear_bias, {-1}) : linear_bias;
  Tensor logits = linear(input, reshape(linear_weight, {-1, features}), bias);
  Sizes shape;
  if (input.dim() == 2) shape.push_back(input.size(0));
  for (int64_t d = 0; d + 1 < linear_weight.dim(); ++d) shape.push_back(linear_weight.size(d));
  return cross_entropy(reshape(logits, shape), target, weight, ignore_index.value_or(-100),
                       reduction, label_smoothing);
}

}  // namespace facula
