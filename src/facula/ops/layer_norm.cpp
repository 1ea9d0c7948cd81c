// layer_norm, rms_norm and group_norm.
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/norm_support.h"
#include "facula/ops/recompute.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

struct RowShape {
  int64_t rows, n;
  Sizes outer;  // the dimensions that are not normalised
};

RowShape row_shape(const Tensor& input, IntList normalized_shape) {
  RowShape r{1, 1, {}};
  int64_t outer = input.dim() - normalized_shape.ssize();
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d < outer) r.outer.push_back(input->sizes[d]);
    (d < outer ? r.rows : r.n) *= input->sizes[d];
  }
  return r;
}

void check_shapes_of_rows(const char* op, const Tensor& input, IntList shape, const Tensor& weight,
                          const Tensor& bias) {
  if (shape.empty()) {
    raise_error(ErrorKind::kRuntime, op,
                ": Expected normalized_shape to be at least 1-dimensional,",
                " i.e., containing at least one element, but got normalized_shape = []");
  }
  auto check = [&](const char* name, const Tensor& t) {
    if (!t.defined() || t.sizes() == shape) return;
    raise_error(ErrorKind::kRuntime, op, ": Expected ", name,
                " to be of same shape as normalized_shape, but got ", name, " of shape ",
                list_text(t.sizes()), " and normalized_shape = ", list_text(shape));
  };
  check("weight", weight);
  check("bias", bias);
  int64_t outer = input.dim() - shape.ssize();
  bool fits = outer >= 0;
  for (int64_t d = 0; fits && d < shape.ssize(); ++d) fits = input->sizes[outer + d] == shape[d];
  if (!fits) {
    std::string wanted = "[*";
    for (int64_t s : shape) wanted += ", " + std::to_string(s);
    raise_error(ErrorKind::kRuntime, op, ": Given normalized_shape=", list_text(shape),
                ", expected input with shape ", wanted, "], but got input of size",
                list_text(input.sizes()));
  }
}

void check_normalized(const char* op, const Tensor& input, IntList shape, const Tensor& weight,
                      const Tensor& bias) {
  norm_layer::check_floating(op, input);
  check_shapes_of_rows(op, input, shape, weight, bias);
}

Sizes last_dims(int64_t count) {
  Sizes dims;
  for (int64_t d = -count; d < 0; ++d) dims.push_back(d);
  return dims;
}

// Runs the kernel; a mean that is not defined makes it rms_norm.
Tensor normalise_rows(const Tensor& input, IntList shape, const Tensor& weight, const Tensor& bias,
                      double eps, const Tensor& mean, const Tensor& rstd) {
  Tensor x = to_contiguous(input), out = new_empty(x.sizes(), x.dtype(), x.device());
  if (out.is_meta() || out.numel() == 0) return out;
  RowShape r = row_shape(x, shape);
  Tensor w = norm_layer::parameter(weight, x.dtype()), b = norm_layer::parameter(bias, x.dtype());
  kernels::norms->layer_norm(x.dtype(), out.data(), norm_layer::pointer(mean), rstd.data(),
                             x.data(), norm_layer::pointer(w), norm_layer::pointer(b), r.rows, r.n,
                             eps);
  return out;
}

Tensor new_statistic(const Tensor& input, IntList sizes) {
  return new_empty(sizes, norm_layer::compute_type(input.dtype()), input.device());
}

Tensor zero_parameter(IntList sizes, const Tensor& like) {
  Tensor t = new_empty(sizes, like.dtype(), like.device());
  fill_raw(t, 0);
  return t;
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor, Tensor> layer_norm_rows(const Tensor& input, IntList normalized_shape,
                                                   const Tensor& weight, const Tensor& bias,
                                                   double eps) {
  check_normalized("layer_norm", input, normalized_shape, weight, bias);
  norm_layer::check_parameter_types("layer_norm", input, {&weight, &bias});
  Sizes outer = row_shape(input, normalized_shape).outer;
  Tensor mean = new_statistic(input, outer), rstd = new_statistic(input, outer);
  return {normalise_rows(input, normalized_shape, weight, bias, eps, mean, rstd), mean, rstd};
}

std::tuple<Tensor, Tensor> rms_norm_rows(const Tensor& input, IntList normalized_shape,
                                         const Tensor& weight, double eps) {
  check_normalized("rms_norm", input, normalized_shape, weight, Tensor());
  Tensor rstd = new_statistic(input, row_shape(input, normalized_shape).outer);
  return {normalise_rows(input, normalized_shape, weight, Tensor(), eps, Tensor(), rstd), rstd};
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward_fused(
    const Tensor& grad_output, const Tensor& input, IntList normalized_shape, const Tensor& weight,
    const Tensor& mean, const Tensor& rstd, uint64_t output_mask) {
  Tensor x = to_contiguous(input), g = to_contiguous(to_dtype(grad_output, x.dtype())), dx, dw, db;
  if (output_mask & 1) dx = new_empty(x.sizes(), x.dtype(), x.device());
  if (output_mask & 2) dw = new_statistic(x, normalized_shape);
  if (output_mask & 4) db = new_statistic(x, normalized_shape);
  if (x.is_meta()) return {dx, dw, db};
  if (x.numel() == 0) {
    if (dw.defined()) fill_raw(dw, 0);
    if (db.defined()) fill_raw(db, 0);
    return {dx, dw, db};
  }
  RowShape r = row_shape(x, normalized_shape);
  Tensor w = norm_layer::parameter(weight, x.dtype());
  kernels::norms->layer_norm_backward(x.dtype(), norm_layer::pointer(dx), norm_layer::pointer(dw),
                                      norm_layer::pointer(db), g.data(), x.data(),
                                      norm_layer::pointer(mean), rstd.data(),
                                      norm_layer::pointer(w), r.rows, r.n);
  return {dx, dw, db};
}

std::tuple<Tensor, Tensor, Tensor> group_norm_layer(const Tensor& input, int64_t num_groups,
                                                    const Tensor& weight, const Tensor& bias,
                                                    double eps) {
  norm_layer::check_floating("group_norm", input);
  if (input.dim() < 2) {
    raise_error(ErrorKind::kRuntime,
                "group_norm: Expected at least 2 dimensions for input tensor but ", "received ",
                input.dim());
  }
  int64_t channels = input->sizes[1], inner = 1;
  for (int64_t d = 2; d < input.dim(); ++d) inner *= input->sizes[d];
  FACULA_CHECK(channels > 0, kRuntime,
               "group_norm: Expected number of channels to be greater than 0, got 0");
  FACULA_CHECK(inner > 0, kRuntime, "group_norm: Expected HxW to be greater than 0, got 0");
  if (num_groups <= 0 || channels % num_groups != 0) {
    raise_error(ErrorKind::kRuntime, "group_norm: Expected number of channels in input to be ",
                "divisible by num_groups, but got input of shape ", list_text(input.sizes()),
                " and num_groups=", num_groups);
  }
  auto check = [&](const char* name, const Tensor& t) {
    if (!t.defined() || (t.dim() == 1 && t.numel() == channels)) return;
    raise_error(ErrorKind::kRuntime, "group_norm: Expected ", name,
                " to be a vector of size equal to the number of channels in input, but got ", name,
                " of shape ", list_text(t.sizes()), " and input of shape ",
                list_text(input.sizes()));
  };
  check("weight", weight);
  check("bias", bias);
  norm_layer::check_parameter_types("group_norm", input, {&weight, &bias});
  Tensor x = to_contiguous(input), out = new_empty(x.sizes(), x.dtype(), x.device());
  Tensor mean = new_statistic(x, {x->sizes[0], num_groups});
  Tensor rstd = new_statistic(x, {x->sizes[0], num_groups});
  if (out.is_meta() || out.numel() == 0) return {out, mean, rstd};
  Tensor w = norm_layer::parameter(weight, x.dtype()), b = norm_layer::parameter(bias, x.dtype());
  kernels::norms->group_norm(x.dtype(), out.data(), mean.data(), rstd.data(), x.data(),
                             norm_layer::pointer(w), norm_layer::pointer(b),
                             norm_layer::planes_of(x, false), num_groups, eps);
  return {out, mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> group_norm_backward_fused(
    const Tensor& grad_output, const Tensor& input, int64_t num_groups, const Tensor& weight,
    const Tensor& mean, const Tensor& rstd, uint64_t output_mask) {
  Tensor x = to_contiguous(input), g = to_contiguous(to_dtype(grad_output, x.dtype())), dx, dw, db;
  if (output_mask & 1) dx = new_empty(x.sizes(), x.dtype(), x.device());
  if (output_mask & 2) dw = new_statistic(x, {x->sizes[1]});
  if (output_mask & 4) db = new_statistic(x, {x->sizes[1]});
  if (x.is_meta()) return {dx, dw, db};
  if (x.numel() == 0) {
    if (dw.defined()) fill_raw(dw, 0);
    if (db.defined()) fill_raw(db, 0);
    return {dx, dw, db};
  }
  Tensor w = norm_layer::parameter(weight, x.dtype());
  kernels::norms->group_norm_backward(x.dtype(), norm_layer::pointer(dx), norm_layer::pointer(dw),
                                      norm_layer::pointer(db), g.data(), x.data(), mean.data(),
                                      rstd.data(), norm_layer::pointer(w),
                                      norm_layer::planes_of(x, false), num_groups);
  return {dx, dw, db};
}

}  // namespace forward

namespace {

// layer_norm (or, not centred, rms_norm) of parts that have derivatives.
Tensor rows_from_parts(const std::vector<Tensor>& x, int64_t dims, bool centred, double eps) {
  Sizes last = last_dims(dims);
  double n = 1;
  for (int64_t d = 0; d < dims; ++d) n *= static_cast<double>(x[0].size(-1 - d));
  Tensor c = centred ? sub(x[0], div(sum(x[0], last, true), n)) : x[0];
  Tensor y = mul(c, rsqrt(add(div(sum(mul(c, c), last, true), n), eps)));
  if (x[1].defined()) y = mul(y, x[1]);
  return x.size() > 2 ? add(y, x[2]) : y;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(
    const Tensor& grad_output, const Tensor& input, IntList normalized_shape, const Tensor& weight,
    const Tensor& mean, const Tensor& rstd, double eps, uint64_t output_mask) {
  if (!recording_any({&grad_output, &input, &weight})) {
    return layer_norm_backward_fused(grad_output, input, normalized_shape, weight, mean, rstd,
                                     output_mask);
  }
  Tensor inputs[3] = {input, weight, zero_parameter(normalized_shape, input)};
  std::vector<Tensor> found = gradients_by_recomputing(
      inputs, {&grad_output, 1}, output_mask, [&](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{rows_from_parts(x, normalized_shape.ssize(), true, eps)};
      });
  return {found[0], found[1], found[2]};
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad_output, const Tensor& input,
                                             IntList normalized_shape, const Tensor& weight,
                                             const Tensor& rstd, double eps, uint64_t output_mask) {
  if (!recording_any({&grad_output, &input, &weight})) {
    auto [dx, dw, db] = layer_norm_backward_fused(grad_output, input, normalized_shape, weight,
                                                  Tensor(), rstd, output_mask & 3);
    return {dx, dw};
  }
  Tensor inputs[2] = {input, weight};
  std::vector<Tensor> found = gradients_by_recomputing(
      inputs, {&grad_output, 1}, output_mask, [&](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{rows_from_parts(x, normalized_shape.ssize(), false, eps)};
      });
  return {found[0], found[1]};
}

std::tuple<Tensor, Tensor, Tensor> group_norm_backward(const Tensor& grad_output,
                                                       const Tensor& input, int64_t num_groups,
                                                       const Tensor& weight, const Tensor& mean,
                                                       const Tensor& rstd, double eps,
                                                       uint64_t output_mask) {
  if (!recording_any({&grad_output, &input, &weight})) {
    return group_norm_backward_fused(grad_output, input, num_groups, weight, mean, rstd,
                                     output_mask);
  }
  int64_t batch = input->sizes[0], channels = input->sizes[1];
  Sizes shape(static_cast<size_t>(input.dim()), int64_t{1});
  shape[1] = channels;
  Tensor inputs[3] = {input, weight, zero_parameter({channels}, input)};
  std::vector<Tensor> found = gradients_by_recomputing(
      inputs, {&grad_output, 1}, output_mask, [&](const std::vector<Tensor>& x) {
        Tensor rows = reshape(x[0], IntList({batch, num_groups, -1}));
        Tensor y = reshape(rows_from_parts({rows, Tensor()}, 1, true, eps), input.sizes());
        if (x[1].defined()) y = mul(y, reshape(x[1], shape));
        return std::vector<Tensor>{add(y, reshape(x[2], shape))};
      });
  return {found[0], found[1], found[2]};
}

Tensor layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, bool) {
  return std::get<0>(layer_norm_rows(input, normalized_shape, weight, bias, eps));
}

Tensor rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  if (input.is_complex()) {
    check_shapes_of_rows("rms_norm", input, normalized_shape, weight, Tensor());
    Tensor squares = mul(input, input);
    double n = static_cast<double>(row_shape(input, normalized_shape).n);
    Tensor mean = div(sum(squares, last_dims(normalized_shape.ssize()), true), n);
    Tensor y = mul(input, rsqrt(add(mean, eps.value_or(epsilon_of(input.dtype())))));
    return weight.defined() ? mul(y, weight) : y;
  }
  double small = eps.value_or(epsilon_of(input.dtype()));
  return std::get<0>(rms_norm_rows(input, normalized_shape, weight, small));
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  if (input.dim() >= 2 && num_groups > 0 && input.numel() == num_groups) {
    raise_error(ErrorKind::kValue,
                "group_norm: Expected more than 1 value per channel when training,",
                " got input size ", list_text(input.sizes()));
  }
  return std::get<0>(group_norm_layer(input, num_groups, weight, bias, eps));
}

}  // namespace facula
