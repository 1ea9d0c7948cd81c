// Orders along a dimension, picks, quantiles.
#include "facula/kernels/sort.h"

#include <algorithm>
#include <cmath>

#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/sort_functions.h"

namespace facula {
namespace {

using kernels::Fault;
using kernels::Pick;
using kernels::view;
using Pair = std::tuple<Tensor, Tensor>;

// sorted_pair sorts along dim and keeps the first `count` entries.
Pair sorted_pair(const Tensor& self, int64_t dim, bool descending, int64_t count, const char* op) {
  Sizes sizes = self.sizes().to_sizes();
  if (!sizes.empty()) sizes[dim] = count;
  Tensor values = new_empty(sizes, self.dtype(), self.device());
  Tensor indices = new_empty(sizes, kInt64, self.device());
  if (self.is_meta()) return {values, indices};
  Fault fault;
  {
    LongWork work(self.numel());
    kernels::sort->sort(view(values), view(indices), view(self), dim, descending, &fault);
  }
  kernels::check_fault(fault, op);
  return {values, indices};
}

Pair picked(const Tensor& self, int64_t dim, bool keepdim, Pick what, int64_t k, const char* op) {
  refuse_complex(self, op);
  dim = wrap_dim(dim, self.dim(), op);
  if (self.dim() > 0 && self.sizes()[dim] == 0) {
    raise_error(ErrorKind::kIndex, op, "(): Expected reduction dim ", dim,
                " to have non-zero size.");
  }
  uint64_t mask = uint64_t{1} << dim;
  Tensor values = reduced_result(self, mask, keepdim, self.dtype());
  Tensor indices = reduced_result(self, mask, keepdim, kInt64);
  if (self.is_meta()) return {values, indices};
  Fault fault;
  {
    LongWork work(self.numel());
    kernels::sort->pick(view(values), view(indices), view(self), dim, what, k, &fault);
  }
  kernels::check_fault(fault, op);
  return {values, indices};
}

Tensor full_median(const Tensor& self, bool skip_nan) {
  refuse_complex(self, skip_nan ? "nanmedian" : "median");
  Tensor flat = reshape(self, {-1});
  if (flat.numel() == 0) {
    return full({}, is_floating(self.dtype()) ? Scalar(std::nan("")) : Scalar(0), self.dtype(),
                self.device());
  }
  return std::get<0>(skip_nan ? nanmedian_dim(flat, 0) : median_dim(flat, 0));
}

enum class Interpolation { kLinear, kLower, kHigher, kMidpoint, kNearest };

Interpolation interpolation_of(std::string_view name, const char* op) {
  if (name == "linear") return Interpolation::kLinear;
  if (name == "lower") return Interpolation::kLower;
  if (name == "higher") return Interpolation::kHigher;
  if (name == "midpoint") return Interpolation::kMidpoint;
  if (name == "nearest") return Interpolation::kNearest;
  raise_error(ErrorKind::kRuntime, op, "() interpolation must be one of linear, lower, higher, ",
              "midpoint or nearest, but got ", std::string(name));
}

void check_quantile(const Tensor& self, const Tensor& q, const char* op) {
  FACULA_CHECK(self.dtype() == kFloat32 || self.dtype() == kFloat64, kRuntime, op,
               "() input tensor must be either float or double dtype");
  FACULA_CHECK(self.numel() > 0, kRuntime, op, "() input tensor must be non-empty");
  FACULA_CHECK(q.dim() <= 1, kRuntime, op, "() q must be a scalar or 1D tensor");
  FACULA_CHECK(q.dtype() == self.dtype(), kRuntime, op,
               "() q tensor must be same dtype as the input tensor");
  const Tensor inside = logical_and(ge(q, Scalar(0)), le(q, Scalar(1)));
  FACULA_CHECK(!any_true(logical_not(inside)), kRuntime, op,
               "() q values must be in the range [0, 1]");
}

// The quantiles come in front; lines are sorted along the last dimension.
Tensor quantiles(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                 std::string_view interpolation, bool skip_nan) {
  const char* op = skip_nan ? "nanquantile" : "quantile";
  Interpolation how = interpolation_of(interpolation, op);
  check_quantile(self, q, op);
  int64_t d = dim ? wrap_dim(*dim, self.dim(), op) : 0;
  Tensor lines = dim && self.dim() ? transpose(self, d, -1) : reshape(self, {-1});
  Tensor sorted = std::get<0>(sort(lines, -1));
  int64_t n = sorted.size(-1);
  Tensor rank;  // [.., quantile], as numbers
  Tensor points = reshape(q, {-1});
  Tensor bad = facula::any(isnan(sorted), IntList(-1), true);
  if (skip_nan) {
    Tensor last = sub(sum(logical_not(isnan(sorted)), IntList(-1), true), Scalar(1));
    rank = mul(points, cast(clamp(last, Scalar(0)), self.dtype()));
  } else {
    Sizes shape(static_cast<size_t>(sorted.dim()), 1);
    shape.back() = points.numel();
    Tensor plain = mul(points, Scalar(static_cast<double>(n - 1)));
    rank = where(bad, Scalar(static_cast<double>(n - 1)), reshape(plain, shape));
  }
  if (how == Interpolation::kLower) rank = floor(rank);
  if (how == Interpolation::kHigher) rank = ceil(rank);
  if (how == Interpolation::kNearest) rank = round(rank);
  Sizes wide = sorted.sizes().to_sizes();
  wide.back() = points.numel();
  rank = expand(rank, wide);
  Tensor below = cast(floor(rank), kInt64);
  Tensor r = gather(sorted, -1, below);
  if (how == Interpolation::kLinear || how == Interpolation::kMidpoint) {
    Tensor above = gather(sorted, -1, cast(ceil(rank), kInt64));
    Tensor weight = how == Interpolation::kMidpoint ? full_like(rank, Scalar(0.5))
                                                    : sub(rank, cast(below, rank.dtype()));
    r = where(eq(above, r), r, lerp(r, above, weight));
  }
  r = movedim(r, {-1}, {0});
  if (dim && self.dim()) {
    r = unsqueeze(r, -1);
    r = transpose(r, d + 1, -1);
    if (!keepdim) r = squeeze_dim(r, {d + 1});
  } else if (keepdim) {
    Sizes shape(static_cast<size_t>(self.dim() + 1), 1);
    shape[0] = points.numel();
    r = reshape(r, shape);
  }
  return q.dim() == 0 ? squeeze_dim(r, {0}) : r;
}

Tensor number_tensor(const Tensor& self, double q, const char* op) {
  FACULA_CHECK(q >= 0 && q <= 1, kRuntime, op, "() q must be in the range [0, 1] but got ", q);
  return full({}, Scalar(q), is_floating(self.dtype()) ? self.dtype() : kFloat32, self.device());
}

}  // namespace

namespace forward {

Pair sort(const Tensor& self, int64_t dim, bool descending, std::optional<bool>) {
  if (self.is_complex()) {
    raise_error(ErrorKind::kType, "sort: Sort does not support complex dtypes on CPU");
  }
  dim = wrap_dim(dim, self.dim(), "sort");
  return sorted_pair(self, dim, descending, self.dim() ? self.sizes()[dim] : 1, "sort");
}

Pair topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  refuse_complex(self, "topk", ErrorKind::kType);
  dim = wrap_dim(dim, self.dim(), "topk");
  int64_t n = self.dim() ? self.sizes()[dim] : 1;
  FACULA_CHECK(k >= 0 && k <= n, kRuntime, "topk: selected index k out of range, got ", k,
               " for a dimension of size ", n);
  if (self.dim() == 0 && k == 0) return sorted_pair(self, 0, largest, 1, "topk");
  return sorted_pair(self, dim, largest, k, "topk");
}

Pair kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  int64_t d = wrap_dim(dim, self.dim(), "kthvalue"), n = self.dim() ? self.sizes()[d] : 1;
  FACULA_CHECK(n == 0 || (k >= 1 && k <= n), kRuntime,
               "kthvalue(): selected number k out of range for dimension ", d);
  return picked(self, d, keepdim, Pick::kKth, k - 1, "kthvalue");
}

Pair mode(const Tensor& self, int64_t dim, bool keepdim) {
  return picked(self, dim, keepdim, Pick::kMode, 0, "mode");
}
Pair median_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return picked(self, dim, keepdim, Pick::kMedian, 0, "median");
}
Pair nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return picked(self, dim, keepdim, Pick::kNanMedian, 0, "nanmedian");
}

}  // namespace forward

Tensor argsort(const Tensor& self, int64_t dim, bool descending, bool) {
  NoGrad no_grad;
  return std::get<1>(sort(self, dim, descending));
}

Tensor msort(const Tensor& self) { return std::get<0>(sort(self, 0)); }

Tensor median(const Tensor& self) { return full_median(self, false); }
Tensor nanmedian(const Tensor& self) { return full_median(self, true); }

Tensor quantile_tensor(const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                       bool keepdim, std::string_view interpolation) {
  return quantiles(self, q, dim, keepdim, interpolation, false);
}
Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantiles(self, number_tensor(self, q, "quantile"), dim, keepdim, interpolation, false);
}
Tensor nanquantile_tensor(const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                          bool keepdim, std::string_view interpolation) {
  return quantiles(self, q, dim, keepdim, interpolation, true);
}
Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantiles(self, number_tensor(self, q, "nanquantile"), dim, keepdim, interpolation, true);
}

}  // namespace facula
