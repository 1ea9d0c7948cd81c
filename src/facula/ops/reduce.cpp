// Reductions: sums, products, truth and extremes, and their gradients.
#include "facula/kernels/reduce.h"

#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

using kernels::view;
using ReduceFn = void (*)(const kernels::View& out, const kernels::View& in, uint64_t mask);

// reduced folds the dimensions of a mask with a kernel.
Tensor reduced(const Tensor& self, uint64_t mask, bool keepdim, DType dtype, ReduceFn kernel) {
  Tensor r = reduced_result(self, mask, keepdim, dtype);
  if (self.is_meta()) return r;
  LongWork work(self.numel());
  kernel(view(r), view(self), mask);
  return r;
}

uint64_t all_dims(const Tensor& t) { return dim_mask(std::nullopt, t.dim(), "reduce"); }

DType sum_type(const Tensor& self, std::optional<DType> dtype) {
  return dtype.value_or(is_inexact(self.dtype()) ? self.dtype() : kInt64);
}

// check_extreme refuses to look for the largest of no elements.
void check_extreme(const Tensor& self, uint64_t mask, bool given, const char* op,
                   ErrorKind without_dim = ErrorKind::kRuntime) {
  if (self.numel() != 0) return;
  if (!given) {
    raise_error(without_dim, op,
                "(): Expected reduction dim to be specified for input.numel() == 0. ",
                "Specify the reduction dim with the 'dim' argument.");
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if ((mask >> d & 1) && self.sizes()[d] == 0) {
      raise_error(ErrorKind::kIndex, op, "(): Expected reduction dim ", d,
                  " to have non-zero size.");
    }
  }
}

bool is_given(OptIntList dim) { return dim.has_value() && !dim->empty(); }

Tensor extreme(const Tensor& self, OptIntList dim, bool keepdim, const char* op, ReduceFn kernel) {
  refuse_complex(self, op);
  uint64_t mask = dim_mask(dim, self.dim(), op);
  check_extreme(self, mask, is_given(dim), op);
  return reduced(self, mask, keepdim, self.dtype(), kernel);
}

using PositionFn = void (*)(const kernels::View& values, const kernels::View& indices,
                            const kernels::View& in, int64_t dim);

std::tuple<Tensor, Tensor> extreme_dim(const Tensor& self, int64_t dim, bool keepdim,
                                       const char* op, PositionFn kernel) {
  refuse_complex(self, op, ErrorKind::kType);
  dim = wrap_dim(dim, self.dim(), op);
  uint64_t mask = uint64_t{1} << dim;
  check_extreme(self, mask, true, op);
  Tensor values = reduced_result(self, mask, keepdim, self.dtype());
  Tensor indices = reduced_result(self, mask, keepdim, kInt64);
  if (!self.is_meta()) {
    LongWork work(self.numel());
    kernel(view(values), view(indices), view(self), dim);
  }
  return {values, indices};
}

Tensor position(const Tensor& self, std::optional<int64_t> dim, bool keepdim, const char* op,
                PositionFn kernel) {
  refuse_complex(self, op, ErrorKind::kType);
  uint64_t mask = dim ? uint64_t{1} << wrap_dim(*dim, self.dim(), op) : all_dims(self);
  check_extreme(self, mask, dim.has_value(), op, ErrorKind::kIndex);
  Tensor r = reduced_result(self, mask, keepdim, kInt64);
  if (self.is_meta()) return r;
  Tensor in = self;
  int64_t at = dim ? wrap_dim(*dim, self.dim(), op) : 0;
  if (!dim) {
    in = to_contiguous(self);
    in = alias_storage(in, {in.numel()}, {1}, in.storage_offset());
  }
  Tensor flat = dim ? r : alias_storage(r, {}, {}, r.storage_offset());
  LongWork work(self.numel());
  kernel(view(Tensor()), view(flat), view(in), at);
  return r;
}

Tensor truth(const Tensor& self, OptIntList dim, bool keepdim, const char* op, ReduceFn kernel) {
  DType type = self.dtype() == kUInt8 ? kUInt8 : kBool;
  if (dim && dim->empty()) return facula::cast(ne(self, Scalar(0)), type);  // reduces nothing
  return reduced(self, dim_mask(dim, self.dim(), op), keepdim, type, kernel);
}

// restored gives a reduced tensor its folded dimensions back, of size 1.
Tensor restored(const Tensor& t, int64_t ndim, OptIntList dim, bool keepdim) {
  if (keepdim) return t;
  uint64_t mask = dim_mask(dim, ndim, "reduce");
  Tensor r = t;
  for (int64_t d = 0; d < ndim; ++d) {
    if (mask >> d & 1) r = unsqueeze(r, d);
  }
  return r;
}

// product_of_others multiplies, for each position of the last dimension, the elements at the other
// positions.
Tensor product_of_others(const Tensor& last) {
  int64_t n = last.sizes().back();
  Tensor own = eye(n, kBool, last.device());
  Tensor rows = unsqueeze(last, -2);
  return prod_dim(where(own, Scalar(1), rows), -1, false);
}

}  // namespace

namespace forward {

Tensor sum(const Tensor& self, OptIntList dim, bool keepdim, std::optional<DType> dtype) {
  uint64_t mask = dim_mask(dim, self.dim(), "sum");
  return reduced(self, mask, keepdim, sum_type(self, dtype), kernels::reduce->sum);
}

Tensor nansum(const Tensor& self, OptIntList dim, bool keepdim, std::optional<DType> dtype) {
  if (self.is_complex()) {
    raise_error(ErrorKind::kNotImplemented, "nansum on CPU does not support complex inputs");
  }
  uint64_t mask = dim_mask(dim, self.dim(), "nansum");
  return reduced(self, mask, keepdim, sum_type(self, dtype), kernels::reduce->nansum);
}

Tensor mean(const Tensor& self, OptIntList dim, bool keepdim, std::optional<DType> dtype) {
  DType type = dtype.value_or(self.dtype());
  if (!is_inexact(type)) {
    raise_error(ErrorKind::kNotImplemented,
                "mean(): could not infer output dtype. Input dtype must be either a floating point "
                "or complex dtype. Got: ",
                dtype_title(type));
  }
  return reduced(self, dim_mask(dim, self.dim(), "mean"), keepdim, type, kernels::reduce->mean);
}

Tensor prod(const Tensor& self, std::optional<DType> dtype) {
  return reduced(self, all_dims(self), false, sum_type(self, dtype), kernels::reduce->prod);
}

Tensor prod_dim(const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype) {
  uint64_t mask = dim_mask(IntList(dim), self.dim(), "prod");
  return reduced(self, mask, keepdim, sum_type(self, dtype), kernels::reduce->prod);
}

Tensor any(const Tensor& self, OptIntList dim, bool keepdim) {
  return truth(self, dim, keepdim, "any", kernels::reduce->any);
}

Tensor all(const Tensor& self, OptIntList dim, bool keepdim) {
  return truth(self, dim, keepdim, "all", kernels::reduce->all);
}

Tensor count_nonzero(const Tensor& self, OptIntList dim) {
  uint64_t mask = dim_mask(dim, self.dim(), "count_nonzero");
  return reduced(self, mask, false, kInt64, kernels::reduce->count_nonzero);
}

Tensor amax(const Tensor& self, OptIntList dim, bool keepdim) {
  return extreme(self, dim, keepdim, "amax", kernels::reduce->amax);
}
Tensor amin(const Tensor& self, OptIntList dim, bool keepdim) {
  return extreme(self, dim, keepdim, "amin", kernels::reduce->amin);
}
Tensor max(const Tensor& self) {
  return extreme(self, std::nullopt, false, "max", kernels::reduce->amax);
}
Tensor min(const Tensor& self) {
  return extreme(self, std::nullopt, false, "min", kernels::reduce->amin);
}
std::tuple<Tensor, Tensor> max_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_dim(self, dim, keepdim, "max", kernels::reduce->argmax);
}
std::tuple<Tensor, Tensor> min_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_dim(self, dim, keepdim, "min", kernels::reduce->argmin);
}
Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return position(self, dim, keepdim, "argmax", kernels::reduce->argmax);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return position(self, dim, keepdim, "argmin", kernels::reduce->argmin);
}

}  // namespace forward

Tensor expand_reduced(const Tensor& grad, IntList sizes, OptIntList dim, bool keepdim) {
  return expand(restored(grad, sizes.ssize(), dim, keepdim), sizes);
}

Tensor nanmean(const Tensor& self, OptIntList dim, bool keepdim, std::optional<DType> dtype) {
  Tensor count = sum(logical_not(isnan(self)), dim, keepdim);
  return div(nansum(self, dim, keepdim, dtype), count);
}

Tensor prod_dim_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim,
                         bool keepdim) {
  if (self.dim() == 0) return grad;
  Tensor g = keepdim ? grad : unsqueeze(grad, dim), r = keepdim ? result : unsqueeze(result, dim);
  // Inside vmap the values are out of reach: the way that also holds for zeros is taken.
  bool zeros =
      !self.is_meta() && (!has_data(self) || facula::any(eq(self, Scalar(0))).data_as<bool>()[0]);
  if (!zeros) return div(mul(g, conj(r)), conj(self));
  Tensor others = transpose(product_of_others(transpose(self, dim, -1)), dim, -1);
  return mul(g, conj(others));
}

Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  Tensor flat = reshape(self, {-1});
  return reshape(prod_dim_backward(grad, flat, result, 0, false), self.sizes());
}

Tensor trace(const Tensor& self) {
  FACULA_CHECK(self.dim() == 2, kRuntime, "trace: expected a matrix, but got tensor with dim ",
               self.dim());
  return sum(diagonal(self, 0, 0, 1));
}

Tensor extreme_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                        OptIntList dim, bool keepdim) {
  Tensor best = eq(self, restored(result, self.dim(), dim, keepdim));
  Tensor count = sum(best, dim, true);
  return where(best, div(restored(grad, self.dim(), dim, keepdim), count), Scalar(0));
}

Tensor picked_backward(const Tensor& grad, int64_t dim, const Tensor& indices, IntList sizes,
                       bool keepdim) {
  Tensor zero = zeros(sizes, grad.dtype(), grad.device());
  if (sizes.empty()) return reshape(grad, sizes);
  Tensor g = keepdim ? grad : unsqueeze(grad, dim),
         at = keepdim ? indices : unsqueeze(indices, dim);
  return scatter(zero, dim, at, g);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  refuse_complex(self, "aminmax", ErrorKind::kType);
  FACULA_CHECK(!dim || self.dim() == 0 || self.size(*dim) > 0, kIndex,
               "aminmax: Expected reduction dim ", dim.value_or(0), " to have non-zero size.");
  if (self.numel() == 0 && !dim) {
    raise_error(ErrorKind::kRuntime,
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                "identity.");
  }
  if (!dim) return {amin(self, std::nullopt, keepdim), amax(self, std::nullopt, keepdim)};
  return {amin(self, IntList(*dim), keepdim), amax(self, IntList(*dim), keepdim)};
}

}  // namespace facula
