// The modes of scatter_reduce and index_reduce, and their gradients.
#include "facula/ops/data_checks.h"
#include "facula/ops/scatter_mode.h"

#include <cmath>
#include <limits>

#include "facula/kernels/copy.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

// lowest and highest values of a type, as numbers.
Scalar limit_of(DType t, bool highest) {
  if (is_floating(t)) return Scalar(highest ? INFINITY : -INFINITY);
  switch (t) {
    case kBool: return Scalar(highest);
    case kUInt8: return Scalar(highest ? 255 : 0);
    case kInt8: return Scalar(highest ? 127 : -128);
    case kInt16: return Scalar(highest ? 32767 : -32768);
    case kInt32: return Scalar(static_cast<int64_t>(highest ? INT32_MAX : INT32_MIN));
    case kUInt16: return Scalar(highest ? 65535 : 0);
    case kUInt32: return Scalar(static_cast<int64_t>(highest ? UINT32_MAX : 0));
    case kUInt64: return Scalar(highest ? UINT64_MAX : uint64_t{0});
    default: return Scalar(highest ? INT64_MAX : INT64_MIN);
  }
}

// Terms is what the two gradients have in common, for scatter and for index positions.
struct Terms {
  Tensor index;  // of the shape of src
  int64_t dim;
  Tensor pick(const Tensor& t) const { return gather(t, dim, index); }
  Tensor add_to(const Tensor& t, const Tensor& src) const {
    return scatter_add(t, dim, index, src);
  }
};

// clear sets self's gradient to 0 where it was left out.
Tensor clear(const Tensor& grad, const Terms& at, bool include_self) {
  return include_self ? grad : scatter_value(grad, at.dim, at.index, Scalar(0));
}

std::tuple<Tensor, Tensor> product_backward(const Tensor& grad, const Tensor& self,
                                            const Tensor& src, const Tensor& result,
                                            const Terms& at, bool include_self) {
  Tensor grad_self = clear(div(mul(grad, result), self), at, include_self);
  Tensor grad_src = div(at.pick(mul(grad, result)), src);
  // where src is 0: the product of the other elements, if it is the only 0 there
  Tensor zero = eq(src, Scalar(0)), ones = cast(zero, kInt64);
  Tensor zeros_there = at.add_to(
      include_self ? cast(eq(self, Scalar(0)), kInt64) : zeros(self.sizes(), kInt64), ones);
  Tensor others = scatter_reduce(where(eq(self, Scalar(0)), Scalar(1), self), at.dim, at.index,
                                 where(zero, Scalar(1), src), "prod", include_self);
  Tensor lone = eq(zeros_there, Scalar(1));
  Tensor rest = mul(grad, where(lone, others, Scalar(0)));
  grad_src = where(zero, at.pick(rest), grad_src);
  grad_self = where(eq(self, Scalar(0)), clear(rest, at, include_self), grad_self);
  return {grad_self, grad_src};
}

std::tuple<Tensor, Tensor> combined_backward(const Tensor& grad, const Tensor& self,
                                             const Tensor& src, const Tensor& result,
                                             const Terms& at, std::string_view reduce,
                                             bool include_self) {
  if (reduce == "sum") return {clear(grad, at, include_self), at.pick(grad)};
  if (reduce == "prod") return product_backward(grad, self, src, result, at, include_self);
  Tensor one = include_self ? ones_like(self) : zeros_like(self);
  if (reduce == "mean") {
    Tensor count = at.add_to(one, ones_like(src));
    count = where(eq(count, Scalar(0)), Scalar(1), count);
    Tensor share = div(grad, count);
    return {clear(share, at, include_self), at.pick(share)};
  }
  Tensor own = clear(cast(eq(self, result), grad.dtype()), at, include_self);
  Tensor best = cast(eq(src, at.pick(result)), grad.dtype());
  Tensor count = at.add_to(own, best);
  Tensor share = div(grad, count);
  return {mul(own, share), mul(best, at.pick(share))};
}

}  // namespace

Scalar scalar_of(const Tensor& t) {
  require_data("reading a number", t);
  if (t.is_complex()) {
    double parts[2];
    kernels::copy->convert(parts, kComplex128, 16, t.data(), t.dtype(), 16, 1);
    return Scalar(std::complex<double>(parts[0], parts[1]));
  }
  if (is_floating(t.dtype())) {
    double v;
    kernels::copy->convert(&v, kFloat64, 8, t.data(), t.dtype(), item_size(t.dtype()), 1);
    return Scalar(v);
  }
  int64_t v;
  kernels::copy->convert(&v, kInt64, 8, t.data(), t.dtype(), item_size(t.dtype()), 1);
  return t.dtype() == kBool ? Scalar(v != 0) : Scalar(v);
}

Scalar ScatterMode::start(DType dtype) const {
  switch (combine) {
    case kernels::Combine::kProd: return Scalar(1);
    case kernels::Combine::kMin: return limit_of(dtype, true);
    case kernels::Combine::kMax: return limit_of(dtype, false);
    default: return Scalar(0);
  }
}

void ScatterMode::divide(const Tensor& sum, const Tensor& count) const {
  Tensor n = where(eq(count, Scalar(0)), Scalar(1), count);
  Tensor mean = is_inexact(sum.dtype()) ? facula::div(sum, n) : floor_divide(sum, n);
  copy_raw(sum, mean);
}

ScatterMode scatter_mode(std::string_view name, bool with_sum, const char* op) {
  using kernels::Combine;
  if (name == "sum" && with_sum) return {Combine::kAdd};
  if (name == "mean") return {Combine::kAdd, true};
  if (name == "prod") return {Combine::kProd};
  if (name == "amax") return {Combine::kMax};
  if (name == "amin") return {Combine::kMin};
  raise_error(ErrorKind::kRuntime, op, ": reduce argument must be either ", with_sum ? "sum, " : "",
              "prod, mean, amax or amin, got ", std::string(name));
}

std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self,
                                                   const Tensor& src, const Tensor& result,
                                                   int64_t dim, const Tensor& index,
                                                   std::string_view reduce, bool include_self,
                                                   uint64_t) {
  return combined_backward(grad, self, src, result, {index, dim}, reduce, include_self);
}

std::tuple<Tensor, Tensor> index_reduce_backward(const Tensor& grad, const Tensor& self,
                                                 const Tensor& source, const Tensor& result,
                                                 int64_t dim, const Tensor& index,
                                                 std::string_view reduce, bool include_self,
                                                 uint64_t) {
  Tensor at = index;
  if (source.dim() > 0) {
    Sizes shape(static_cast<size_t>(source.dim()), 1);
    shape[wrap_dim(dim, source.dim(), "index_reduce")] = index.numel();
    at = expand(reshape(index, shape), source.sizes());
  } else {
    at = reshape(index, IntList());
  }
  return combined_backward(grad, self, source, result, {at, dim}, reduce, include_self);
}

Tensor index_add_backward(const Tensor& grad, int64_t dim, const Tensor& index, IntList sizes,
                          const Scalar& alpha) {
  Tensor picked = reshape(index_select(grad, dim, index), sizes);
  return alpha.kind == kInt64 && alpha.i == 1 ? picked : mul(picked, alpha.conj());
}

}  // namespace facula
