// Distinct elements and slices, membership, searches in sorted sequences, histograms.
#include <algorithm>
#include <cmath>

#include "facula/kernels/reduce.h"
#include "facula/kernels/scatter.h"
#include "facula/kernels/sort.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/scatter_mode.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/sort_functions.h"
#include "facula/ops/warn.h"

namespace facula {
namespace {

using kernels::Fault;
using kernels::view;
using Triple = std::tuple<Tensor, Tensor, Tensor>;

Triple distinct_elements(const Tensor& self, bool sorted) {
  Tensor flat = reshape(self, {-1, 1});
  auto [first, inverse, counts] = unique_rows(flat, sorted);
  Tensor output = index_select(reshape(flat, {-1}), 0, first);
  return {output, reshape(inverse, self.sizes()), counts};
}

Triple distinct_slices(const Tensor& self, int64_t dim, bool sorted) {
  int64_t d = wrap_dim(dim, self.dim(), "unique_dim");
  FACULA_CHECK(self.dim() > 0, kIndex, "unique_dim: expected at least one dimension");
  int64_t n = self.size(d);
  Tensor rows = reshape(transpose(self, d, 0), {n, n ? self.numel() / n : 0});
  auto [first, inverse, counts] = unique_rows(rows, sorted);
  return {index_select(self, d, first), inverse, counts};
}

// check_search refuses shapes that do not go together, and bad sorters.
void check_search(const Tensor& sequence, const Tensor& values, const Tensor& sorter) {
  const char* op = "searchsorted";
  FACULA_CHECK(sequence.dim() > 0, kRuntime, op,
               "(): boundaries tensor should have positive dimension, but got 0 dimension");
  bool fits = sequence.dim() == 1 || sequence.dim() == values.dim();
  for (int64_t d = 0; fits && sequence.dim() > 1 && d + 1 < sequence.dim(); ++d) {
    fits = sequence.sizes()[d] == values.sizes()[d];
  }
  FACULA_CHECK(fits, kRuntime, op,
               "(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
               "boundaries tensor and input value tensor must match, but we got boundaries tensor ",
               list_text(sequence.sizes()), " and input value tensor ", list_text(values.sizes()));
  if (!sorter.defined()) return;
  FACULA_CHECK(sorter.dtype() == kInt64, kRuntime, op, "(): sorter must be a tensor of long dtype");
  FACULA_CHECK(sorter.sizes() == sequence.sizes(), kRuntime, op,
               "(): boundary and sorter must have the same size, but got ",
               list_text(sequence.sizes()), " and ", list_text(sorter.sizes()));
  if (sorter.is_meta()) return;
  Tensor at = to_contiguous(sorter);
  int64_t n = sequence.sizes().back();
  for (int64_t i = 0; i < at.numel(); ++i) {
    int64_t v = at.data_as<int64_t>()[i];
    FACULA_CHECK(v >= 0 && v < n, kRuntime, op, "(): sorter index out of range, got ", v);
  }
}

}  // namespace

namespace forward {

Triple unique_rows(const Tensor& rows, bool sorted) {
  refuse_complex(rows, "unique");
  if (rows.is_meta()) {
    raise_error(ErrorKind::kNotImplemented,
                "unique: the shape of the result depends on data, which meta tensors do not have");
  }
  Tensor dense = to_contiguous(rows), order;
  int64_t n = rows.sizes()[0];
  LongWork work(rows.numel());
  if (sorted) {
    order = new_empty({n}, kInt64);
    Fault fault;
    kernels::sort->order_rows(view(order), view(dense), &fault);
    kernels::check_fault(fault, "unique");
  }
  auto none = view(Tensor());
  int64_t runs = kernels::sort->runs(view(dense), view(order), none, none, none);
  Tensor first = new_empty({runs}, kInt64), inverse = new_empty({n}, kInt64);
  Tensor counts = new_empty({runs}, kInt64);
  kernels::sort->runs(view(dense), view(order), view(first), view(inverse), view(counts));
  return {first, inverse, counts};
}

// warn_of_copy warns, once a program, of an operand that has to be copied for the search.
void warn_of_copy(const Tensor& t, const char* what, std::atomic<bool>& said) {
  if (t.is_contiguous()) return;
  warn_once(said, "facula.searchsorted(): ", what, " tensor is non-contiguous, so it is copied at ",
            "every call: a contiguous one is searched faster.");
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  check_search(sorted_sequence, self, sorter);
  FACULA_CHECK(!side || *side == "left" || *side == "right", kRuntime,
               "searchsorted(): side can only be 'left' or 'right' but got ",
               std::string(side.value_or("")));
  FACULA_CHECK(!side || *side == "right" || !right, kRuntime,
               "searchsorted(): side and right can't be set to opposites, got side of left while "
               "right was True");
  if (side) right = *side == "right";
  refuse_complex(sorted_sequence, "searchsorted");
  refuse_complex(self, "searchsorted");
  static std::atomic<bool> said_of_set{false}, said_of_values{false}, said_of_order{false};
  warn_of_copy(sorted_sequence, "boundary", said_of_set);
  warn_of_copy(self, "input value", said_of_values);
  if (sorter.defined()) warn_of_copy(sorter, "sorter", said_of_order);
  DType common = promote(sorted_sequence.dtype(), self.dtype());
  Tensor r = new_empty(self.sizes(), out_int32 ? kInt32 : kInt64, self.device());
  if (self.is_meta() || r.numel() == 0) return r;
  Tensor sequence = to_contiguous(to_dtype(sorted_sequence, common));
  Tensor values = to_contiguous(to_dtype(self, common));
  Tensor order = sorter.defined() ? to_contiguous(sorter) : Tensor();
  LongWork work(values.numel());
  kernels::sort->searchsorted(view(r), view(sequence), view(values), view(order), right);
  return r;
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  if (!is_integral(self.dtype())) {
    raise_error(ErrorKind::kNotImplemented, "\"bincount_cpu\" not implemented for '",
                dtype_title(self.dtype()), "'");
  }
  require_data("bincount", self);
  FACULA_CHECK(minlength >= 0, kRuntime, "bincount: minlength should be >= 0, got ", minlength);
  FACULA_CHECK(self.dim() == 1 || self.numel() == 0, kRuntime,
               "bincount only supports 1-d non-negative integral inputs.");
  bool weighted = weights.defined();
  FACULA_CHECK(!weighted || (weights.dim() == 1 && weights.numel() == self.numel()), kRuntime,
               "bincount: weights should be 1-d and have the same length as input");
  Tensor at = to_contiguous(to_dtype(self, kInt64));
  int64_t bins = minlength;
  for (int64_t i = 0; i < at.numel(); ++i) {
    int64_t v = at.data_as<int64_t>()[i];
    FACULA_CHECK(v >= 0, kRuntime, "bincount only supports 1-d non-negative integral inputs.");
    FACULA_CHECK(v < INT64_MAX, kRuntime, "bincount: ", v, " bins and one are beyond memory");
    bins = std::max(bins, v + 1);
  }
  DType type = !weighted ? kInt64 : weights.dtype() == kFloat32 ? kFloat32 : kFloat64;
  Tensor r = new_empty({bins}, type);
  fill_raw(r, Scalar(0));
  if (at.numel() == 0) return r;
  Fault fault;
  if (weighted) {
    Tensor w = to_dtype(weights, type);
    kernels::scatter->scatter(view(r), 0, view(at), view(w), kernels::Combine::kAdd, &fault);
  } else {
    kernels::scatter->scatter_value(view(r), 0, view(at), Scalar(1), kernels::Combine::kAdd,
                                    &fault);
  }
  return r;
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  if (!is_floating(self.dtype())) {
    raise_error(ErrorKind::kNotImplemented, "\"histogram_cpu\" not implemented for '",
                dtype_title(self.dtype()), "'");
  }
  FACULA_CHECK(bins > 0, kRuntime, "histc: bins must be > 0, but got ", bins);
  double low = min.to_double(), high = max.to_double();
  Tensor r = new_empty({bins}, self.dtype(), self.device());
  if (self.is_meta()) return r;
  fill_raw(r, Scalar(0));
  if (low == high && self.numel() > 0) {
    Tensor a = new_empty({}, self.dtype()), b = new_empty({}, self.dtype());
    uint64_t mask = dim_mask(std::nullopt, self.dim(), "histc");
    kernels::reduce->amin(view(a), view(self), mask);
    kernels::reduce->amax(view(b), view(self), mask);
    low = scalar_of(a).to_double();
    high = scalar_of(b).to_double();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  FACULA_CHECK(std::isfinite(low) && std::isfinite(high), kRuntime, "histc: range of [", low, ", ",
               high, "] is not finite");
  FACULA_CHECK(low < high, kRuntime, "histc: max must be larger than min");
  LongWork work(self.numel());
  kernels::sort->histc(view(r), view(self), low, high);
  return r;
}

std::vector<Tensor> unravel_index(const Tensor& indices, IntList shape) {
  FACULA_CHECK(is_integral(indices.dtype()) && indices.dtype() != kBool, kType,
               "unravel_index: expected 'indices' to be integer dtype, but got ",
               dtype_name(indices.dtype()));
  for (int64_t n : shape) {
    FACULA_CHECK(n >= 0, kValue, "unravel_index: 'shape' cannot have negative values, but got ",
                 list_text(shape));
  }
  NoGrad no_grad;
  std::vector<Tensor> out(shape.size());
  Tensor rest = to_dtype(indices, kInt64);
  for (int d = shape.ssize() - 1; d >= 0; --d) {
    out[d] = facula::remainder(rest, Scalar(shape[d]));
    rest = facula::floor_divide(rest, Scalar(shape[d]));
  }
  return out;
}

}  // namespace forward

Triple unique_all(const Tensor& self, bool sorted) { return distinct_elements(self, true); }
Triple unique_dim(const Tensor& self, int64_t dim, bool sorted) {
  return distinct_slices(self, dim, true);
}
Triple unique_runs(const Tensor& self, std::optional<int64_t> dim) {
  return dim ? distinct_slices(self, *dim, false) : distinct_elements(self, false);
}

Tensor isin(const TensorOrScalar& elements, const TensorOrScalar& test_elements, bool,
            bool invert) {
  auto as_tensor = [](const TensorOrScalar& v) {
    if (v.tensor) return Tensor::borrow(v.tensor);
    return full({}, v.scalar, v.scalar.is_floating() ? default_dtype() : kInt64);
  };
  Tensor a = as_tensor(elements), b = as_tensor(test_elements);
  if (b.numel() == 0) return full(a.sizes(), Scalar(invert), kBool, a.device());
  DType common = promote(a.dtype(), b.dtype());
  Tensor values = cast(a, common);
  Tensor set = std::get<0>(sort(reshape(cast(b, common), {-1}), 0));
  Tensor at = clamp_max(searchsorted(set, contiguous(values), false, false, std::nullopt, Tensor()),
                        Scalar(set.numel() - 1));
  Tensor found = eq(reshape(index_select(set, 0, reshape(at, {-1})), a.sizes()), values);
  return invert ? logical_not(found) : found;
}

Tensor searchsorted_number(const Tensor& sorted_sequence, const Scalar& self, bool out_int32,
                           bool right, std::optional<std::string_view> side, const Tensor& sorter) {
  Tensor value = full({}, self, self.is_floating() ? default_dtype() : kInt64);
  return searchsorted(sorted_sequence, value, out_int32, right, side, sorter);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  FACULA_CHECK(boundaries.dim() == 1, kRuntime,
               "bucketize: boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(),
               ")");
  return searchsorted(boundaries, self, out_int32, right, std::nullopt, Tensor());
}
Tensor bucketize_number(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return searchsorted_number(boundaries, self, out_int32, right, std::nullopt, Tensor());
}

}  // namespace facula
