// Changes of geometry in place, mantissas and exponents, and parts of layers under older names.
#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/base/parallel.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/legacy_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/norm_support.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/recompute.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

// placed gives a tensor itself another geometry. A view stays one of its base, and its history is
// made again from there; others get a node.
Tensor placed(const Tensor& self, const Geometry& g, const char* op) {
  if (!self->base) return set_geometry_(self, g.sizes, g.strides, g.offset);
  check_inplace(self, op);
  set_geometry(self.impl(), g.sizes, g.strides, g.offset);
  bump_version(self, op);
  return self;
}

// split_number writes the mantissas and exponents of dense numbers.
template <class T>
void split_numbers(const Tensor& self, const Tensor& mantissa, const Tensor& exponent) {
  const T* x = self.data_as<T>();
  T* m = mantissa.data_as<T>();
  int32_t* e = exponent.data_as<int32_t>();
  parallel_for(0, self.numel(), 1 << 13, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int power = 0;
      m[i] = std::frexp(x[i], &power);
      e[i] = std::isfinite(x[i]) ? power : 0;
    }
  });
}

}  // namespace

namespace forward {

void set_geometry_(const Tensor& self, IntList size, IntList stride, int64_t storage_offset) {
  Geometry g = strided_geometry(self, size, stride, storage_offset);
  set_geometry(self.impl(), g.sizes, g.strides, g.offset);
}

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  FACULA_CHECK(is_floating(self.dtype()), kRuntime,
               "frexp() only supports floating-point dtypes, got ", dtype_title(self.dtype()));
  DType work = self.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor x = to_contiguous(to_dtype(self, work));
  Tensor mantissa = new_empty(self.sizes(), work, self.device());
  Tensor exponent = new_empty(self.sizes(), kInt32, self.device());
  if (!self.is_meta()) {
    LongWork unlocked(self.numel());
    if (work == kFloat64)
      split_numbers<double>(x, mantissa, exponent);
    else
      split_numbers<float>(x, mantissa, exponent);
  }
  return {to_dtype(mantissa, self.dtype()), exponent};
}

}  // namespace forward

Tensor unsqueeze_(const Tensor& self, int64_t dim) {
  return placed(self, unsqueeze_geometry(self, dim), "unsqueeze_");
}
Tensor squeeze_(const Tensor& self) {
  return placed(self, squeeze_geometry(self, std::nullopt), "squeeze_");
}
Tensor squeeze_dims_(const Tensor& self, IntList dim) {
  return placed(self, squeeze_geometry(self, dim), "squeeze_");
}
Tensor transpose_(const Tensor& self, int64_t dim0, int64_t dim1) {
  return placed(self, transpose_geometry(self, dim0, dim1, "transpose_"), "transpose_");
}
Tensor t_(const Tensor& self) {
  FACULA_CHECK(self.dim() <= 2, kRuntime,
               "t_() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return self.dim() < 2 ? placed(self, geometry_of(self), "t_") : transpose_(self, 0, 1);
}
Tensor as_strided_(const Tensor& self, IntList size, IntList stride,
                   std::optional<int64_t> storage_offset) {
  return placed(self, strided_geometry(self, size, stride, storage_offset), "as_strided_");
}
Tensor resize_as_(const Tensor& self, const Tensor& the_template,
                  std::optional<MemoryFormat> memory_format) {
  resize_(self, the_template.sizes(), memory_format);
  return self;
}

Tensor fill_diagonal_(const Tensor& self, const Scalar& fill_value, bool wrap) {
  FACULA_CHECK(self.dim() >= 2, kRuntime, "fill_diagonal_: dimensions must larger than 1");
  int64_t rows = self.size(0), columns = self.size(1), step = 0, most = rows;
  for (int64_t d = 0; d < self.dim(); ++d) {
    step += self.stride(d);
    most = std::min(most, self.size(d));
    FACULA_CHECK(self.dim() == 2 || self.size(d) == rows, kRuntime,
                 "fill_diagonal_: all dimensions of input must be of equal length");
  }
  int64_t first = self.storage_offset();
  fill_(as_strided(self, most, step, first), fill_value);
  if (!wrap || self.dim() != 2) return self;
  for (int64_t row = columns + 1; row < rows; row += columns + 1) {
    fill_(as_strided(self, std::min(columns, rows - row), step, first + row * self.stride(0)),
          fill_value);
  }
  return self;
}

Tensor polygamma_(const Tensor& self, int64_t n) {
  Tensor before = recording(self) ? clone(self) : self;
  return copy_checked(self, polygamma_checked(n, before), "polygamma_");
}

Tensor detach_copy(const Tensor& self) { return clone(detach(self)); }

Tensor empty_permuted(IntList size, IntList physical_layout, std::optional<DType> dtype,
                      std::optional<Device> device) {
  int64_t n = size.ssize();
  FACULA_CHECK(physical_layout.ssize() == n, kRuntime,
               "empty_permuted: Number of dimensions in size ",
               "does not match the length of the physical_layout; i.e. len(size) = ", n,
               " is not equal to len(physical_layout) = ", physical_layout.ssize());
  Sizes strides(static_cast<size_t>(n), int64_t{0});
  std::vector<bool> seen(static_cast<size_t>(n));
  int64_t step = 1;
  for (int64_t i = n - 1; i >= 0; --i) {
    int64_t d = physical_layout[i];
    FACULA_CHECK(d >= 0 && d < n, kRuntime,
                 "empty_permuted: Dimension out of range (expected to be ", "between 0 and ", n - 1,
                 ", but got ", d, " at index ", i, ")");
    FACULA_CHECK(!seen[d], kRuntime, "empty_permuted: Duplicate dim not allowed");
    seen[d] = true;
    strides[d] = step;
    step *= std::max<int64_t>(size[d], 1);
  }
  return empty_strided(size, strides, dtype, device);
}

namespace {

// statistic gives the mean or the deviation of a norm as users see it: in the type of the first
// parameter there is, else in the input's.
Tensor statistic(const Tensor& t, const Tensor& input, std::initializer_list<const Tensor*> like) {
  DType type = input.dtype();
  for (const Tensor* p : like) {
    if (!p->defined()) continue;
    type = p->dtype();
    break;
  }
  return as_dtype(t, type);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntList normalized_shape,
                                                     const Tensor& weight, const Tensor& bias,
                                                     double eps) {
  auto [result, mean, rstd] = layer_norm_rows(input, normalized_shape, weight, bias, eps);
  Sizes shape = input.sizes().to_sizes();
  for (size_t i = 0; i < normalized_shape.size(); ++i) shape[shape.size() - 1 - i] = 1;
  auto shown = [&](const Tensor& t) {
    return reshape(statistic(detach(t), input, {&weight, &bias}), shape);
  };
  return {result, shown(mean), shown(rstd)};
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight,
                                                     const Tensor& bias, int64_t N, int64_t C,
                                                     int64_t HxW, int64_t group, double eps) {
  FACULA_CHECK(N * C * HxW == input.numel(), kRuntime, "native_group_norm: expected ",
               input.numel(), " elements, got N * C * HxW = ", N * C * HxW);
  auto [result, mean, rstd] =
      group_norm_layer(reshape(input, {N, C, HxW}), group, weight, bias, eps);
  if (recording_any({&input})) {  // mean and deviation have gradients here
    Tensor wide = is_reduced(input.dtype()) ? cast(input, kFloat32) : input;
    Tensor rows = reshape(wide, {N, group, C / group * HxW});
    mean = facula::mean(rows, IntList({2}), true, std::nullopt);
    Tensor gap = sub(rows, mean);
    rstd = rsqrt(add(facula::mean(mul(gap, gap), IntList({2}), true, std::nullopt), eps));
  }
  auto shown = [&](const Tensor& t) {
    return reshape(statistic(t, input, {&weight, &bias}), {N, group});
  };
  return {reshape(result, input.sizes()), shown(mean), shown(rstd)};
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const Tensor& weight,
                                                     const Tensor& bias, const Tensor& running_mean,
                                                     const Tensor& running_var, bool training,
                                                     double momentum, double eps) {
  norm_layer::check_running("native_batch_norm", running_mean, running_var, training);
  auto [result, mean, rstd] =
      batch_norm_layer(input, weight, bias, running_mean, running_var, training, momentum, eps);
  auto shown = [&](const Tensor& t) {
    return statistic(detach(t), input, {&weight, &bias, &running_mean});
  };
  if (training) return {result, shown(mean), shown(rstd)};
  Tensor none = shown(new_empty({0}, mean.dtype(), input.device()));
  return {result, none, none};
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  if (!train.value_or(true)) return {clone(input), ones(input.sizes(), kBool, input.device())};
  FACULA_CHECK(p >= 0 && p <= 1, kRuntime,
               "native_dropout: dropout probability has to be between 0 ", "and 1, but got ", p);
  const Tensor like = input.is_complex()
                          ? ones(input.sizes(), real_type(input.dtype()), input.device())
                          : detach(input);
  Tensor mask = to_dtype(bernoulli_p(like, 1 - p), kBool);
  return {mul(mul(input, mask), p == 1 ? 0 : 1 / (1 - p)), mask};
}

}  // namespace facula
