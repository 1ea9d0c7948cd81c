// Elements picked along one dimension, by position in row-major order or by mask, and their
// gradients.
#include "facula/kernels/index.h"

#include <algorithm>

#include "facula/kernels/copy.h"
#include "facula/kernels/reduce.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/counts.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

using kernels::Fault;
using kernels::view;

// expanded gives a tensor another shape by broadcasting, without recording.
Tensor expanded(const Tensor& t, IntList sizes) {
  if (t.sizes() == sizes) return t;
  Geometry g = expand_geometry(t, sizes);
  return alias_storage(t, g.sizes, g.strides, g.offset);
}

int64_t count_true(const Tensor& t) {
  Tensor n = new_empty({}, kInt64);
  kernels::reduce->count_nonzero(view(n), view(t), dim_mask(std::nullopt, t.dim(), "count"));
  return n.data_as<int64_t>()[0];
}

void check_mask(const Tensor& mask, const char* op) {
  FACULA_CHECK(mask.dtype() == kBool || mask.dtype() == kUInt8, kRuntime, op,
               ": expected BoolTensor for mask, got ", dtype_name(mask.dtype()));
}

[[noreturn]] void refuse_meta(const char* op) {
  raise_error(ErrorKind::kNotImplemented, op,
              ": the shape of the result depends on data, which meta tensors do not have");
}

Tensor triangle(const Tensor& self, int64_t k, bool upper, const char* op) {
  FACULA_CHECK(self.dim() >= 2, kRuntime, op, ": input tensor must have at least 2 dimensions");
  Tensor r = new_empty(self.sizes(), self.dtype(), self.device());
  if (self.is_meta()) return r;
  k = std::clamp(k, -self.size(-2), self.size(-1));  // row + k must not overflow
  LongWork work(self.numel());
  (upper ? kernels::index->triu : kernels::index->tril)(view(r), view(self), k);
  return r;
}

}  // namespace

namespace forward {

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  dim = wrap_dim(dim, self.dim(), "index_select");
  FACULA_CHECK(index.dim() <= 1, kIndex, "index_select(): Index is supposed to be a vector, got ",
               index.dim(), " dimensions");
  Tensor at = index_tensor(index, "index_select()");
  Sizes sizes = self.sizes().to_sizes();
  if (!sizes.empty()) sizes[dim] = at.numel();
  FACULA_CHECK(self.dim() > 0 || at.numel() == 1, kIndex,
               "index_select(): expected one index for a 0-d tensor, got ", at.numel());
  Tensor r = new_empty(sizes, self.dtype(), self.device());
  if (self.is_meta()) return r;
  Fault fault;
  {
    LongWork work(r.numel());
    kernels::index->index_select(view(r), view(self), dim, view(at), &fault);
  }
  check_position(fault, "index_select", ErrorKind::kIndex);
  return r;
}

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  dim = wrap_dim(dim, self.dim(), "gather");
  Tensor r = new_empty(index.sizes(), self.dtype(), self.device());
  if (index.numel() == 0) return r;
  Tensor at = index_tensor(index, "gather()");
  FACULA_CHECK(std::max<int64_t>(1, at.dim()) == std::max<int64_t>(1, self.dim()), kRuntime,
               "gather: Index tensor must have the same number of dimensions as input tensor, got ",
               at.dim(), " and ", self.dim());
  for (int64_t d = 0; d < std::min(at.dim(), self.dim()); ++d) {
    FACULA_CHECK(d == dim || at.sizes()[d] <= self.sizes()[d], kRuntime,
                 "gather: Size does not match at dimension ", d, " expected index ",
                 list_text(at.sizes()), " to be no larger than self ", list_text(self.sizes()),
                 " apart from dimension ", dim);
  }
  if (self.is_meta()) return r;
  Tensor in = self, to = r;
  if (at.dim() != self.dim()) {  // one of them is 0-d: treat both as vectors
    in = alias_storage(self, {self.numel()}, {1}, self.storage_offset());
    at = alias_storage(at, {at.numel()}, {1}, at.storage_offset());
    to = alias_storage(r, {r.numel()}, {1}, r.storage_offset());
  }
  Fault fault;
  {
    LongWork work(r.numel());
    kernels::index->gather(view(to), view(in), dim, view(at), &fault);
  }
  check_position(fault, "gather", ErrorKind::kRuntime);
  return r;
}

Tensor take(const Tensor& self, const Tensor& index) {
  FACULA_CHECK(index.dtype() == kInt64, kRuntime,
               "take(): Expected a long tensor for index, but got ", dtype_title(index.dtype()));
  FACULA_CHECK(self.numel() > 0 || index.numel() == 0, kIndex,
               "take(): tried to take from an empty tensor");
  Tensor r = new_empty(index.sizes(), self.dtype(), self.device());
  if (self.is_meta() || index.numel() == 0) return r;
  Fault fault;
  {
    LongWork work(r.numel());
    kernels::index->take(view(r), view(self), view(index), &fault);
  }
  check_position(fault, "take", ErrorKind::kIndex);
  return r;
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  check_mask(mask, "masked_select");
  if (self.is_meta() || mask.is_meta()) refuse_meta("masked_select");
  Sizes shape = broadcast_sizes(self.sizes(), mask.sizes(), "masked_select");
  Tensor in = expanded(self, shape), where_true = expanded(mask, shape);
  LongWork work(in.numel());
  Tensor r = new_empty({count_true(where_true)}, self.dtype());
  kernels::index->masked_select(view(r), view(in), view(where_true));
  return r;
}

Tensor nonzero(const Tensor& self) {
  if (self.is_meta()) refuse_meta("nonzero");
  LongWork work(self.numel());
  Tensor r = new_empty({count_true(self), self.dim()}, kInt64);
  if (r.numel()) kernels::index->nonzero(view(r), view(self));
  return r;
}

Tensor repeat_index(const Tensor& repeats) {
  FACULA_CHECK(repeats.dim() <= 1, kRuntime,
               "repeat_interleave only accept 1D vector as repeats, got ", repeats.dim(),
               " dimensions");
  FACULA_CHECK(repeats.dtype() == kInt64 || repeats.dtype() == kInt32, kRuntime,
               "repeats has to be Long or Int tensor, got ", dtype_title(repeats.dtype()));
  if (repeats.is_meta()) refuse_meta("repeat_interleave");
  Tensor counts = to_contiguous(to_dtype(repeats, kInt64));
  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    int64_t n = counts.data_as<int64_t>()[i];
    FACULA_CHECK(n >= 0, kRuntime, "repeats can not be negative, got ", n);
    add_count("repeat_interleave", total, n);
  }
  Tensor r = new_empty({total}, kInt64);
  kernels::index->repeat_index(view(r), view(counts));
  return r;
}

Tensor flip(const Tensor& self, IntList dims) {
  uint64_t mask = dim_mask(dims, self.dim(), "flip", false);
  Tensor r = new_empty_as(self, self.dtype());
  if (self.is_meta() || self.numel() == 0) return r;
  // a view from the far ends with negative steps, which only kernels may see
  kernels::View from = view(self);
  Sizes strides = self.strides().to_sizes();
  char* base = static_cast<char*>(from.data);
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!(mask >> d & 1)) continue;
    base += (self.sizes()[d] - 1) * strides[d] * item_size(self.dtype());
    strides[d] = -strides[d];
  }
  from.data = base;
  from.strides = strides.data();
  from.contiguous = from.contiguous && mask == 0;
  LongWork work(self.numel());
  kernels::copy->copy_strided(view(r), from);
  return r;
}

Tensor roll_dim(const Tensor& self, int64_t shift, int64_t dim) {
  int64_t n = self.size(dim);
  Tensor r = new_empty(self.sizes(), self.dtype(), self.device());
  if (self.is_meta() || self.numel() == 0) return r;
  int64_t start = (n - shift % n) % n;  // what comes first
  if (shift % n == 0) start = 0;
  auto piece = [&](const Tensor& t, int64_t from, int64_t length) {
    Geometry g = narrow_geometry(t, dim, from, length);
    return alias_storage(t, g.sizes, g.strides, g.offset);
  };
  LongWork work(self.numel());
  copy_raw(piece(r, 0, n - start), piece(self, start, n - start));
  if (start) copy_raw(piece(r, n - start, start), piece(self, 0, start));
  return r;
}

Tensor tril(const Tensor& self, int64_t diagonal) {
  return triangle(self, diagonal, false, "tril");
}
Tensor triu(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, true, "triu"); }

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  FACULA_CHECK(self.dtype() == kInt64, kRuntime,
               "one_hot is only applicable to index tensor of type LongTensor, got ",
               dtype_name(self.dtype()));
  if (self.is_meta()) refuse_meta("one_hot");
  FACULA_CHECK(self.numel() > 0 || num_classes > 0, kRuntime,
               "Can not infer total number of classes from empty tensor.");
  Tensor at = to_contiguous(self);
  const int64_t* p = at.data_as<int64_t>();
  int64_t top = -1;
  for (int64_t i = 0; i < at.numel(); ++i) {
    FACULA_CHECK(p[i] >= 0, kRuntime, "Class values must be non-negative, got ", p[i]);
    top = std::max(top, p[i]);
  }
  if (num_classes == -1) num_classes = top + 1;
  FACULA_CHECK(num_classes > 0, kRuntime, "num_classes should be positive, got ", num_classes);
  FACULA_CHECK(top < num_classes, kRuntime, "Class values must be smaller than num_classes, got ",
               top);
  Sizes sizes = self.sizes().to_sizes();
  sizes.push_back(num_classes);
  Tensor r = new_empty(sizes, kInt64);
  fill_raw(r, Scalar(0));
  for (int64_t i = 0; i < at.numel(); ++i) r.data_as<int64_t>()[i * num_classes + p[i]] = 1;
  return r;
}

}  // namespace forward

Tensor zeros_shaped(const Tensor& like, IntList sizes) {
  return zeros(sizes, like.dtype(), like.device());
}

Tensor index_select_backward(const Tensor& grad, IntList sizes, int64_t dim, const Tensor& index) {
  return index_add(zeros_shaped(grad, sizes), dim, index, grad);
}

Tensor gather_backward(const Tensor& grad, IntList sizes, int64_t dim, const Tensor& index) {
  return scatter_add(zeros_shaped(grad, sizes), dim, index, grad);
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  FACULA_CHECK(indices.dtype() == kInt64 || indices.dtype() == kInt32, kRuntime,
               "take_along_dim(): dtype of indices should be Long but got ",
               dtype_title(indices.dtype()));
  if (!dim) {
    Tensor at = reshape(indices, {-1});
    at = where(lt(at, Scalar(0)), add(at, Scalar(self.numel())), at);
    return gather(reshape(self, {-1}), 0, at);
  }
  FACULA_CHECK(self.dim() == indices.dim(), kRuntime,
               "take_along_dim(): input and indices should have the same number of dimensions, but "
               "got ",
               self.dim(), " and ", indices.dim());
  int64_t d = wrap_dim(*dim, self.dim(), "take_along_dim");
  Sizes a = self.sizes().to_sizes(), b = indices.sizes().to_sizes();
  int64_t own = a[d], other = b[d];
  a[d] = b[d] = 1;
  Sizes common = broadcast_sizes(a, b, "take_along_dim");
  common[d] = own;
  Tensor in = expand(self, common);
  common[d] = other;
  Tensor at = expand(indices, common);
  return gather(in, d, where(lt(at, Scalar(0)), add(at, Scalar(own)), at));
}

Tensor masked_select_backward(const Tensor& grad, IntList sizes, const Tensor& mask) {
  Sizes shape = broadcast_sizes(sizes, mask.sizes(), "masked_select");
  return sum_to_size(masked_scatter(zeros_shaped(grad, shape), mask, grad), sizes);
}

std::vector<Tensor> nonzero_tuple(const Tensor& self) {
  if (self.dim() == 0) return unbind(nonzero(unsqueeze(self, 0)), 1);
  return unbind(nonzero(self), 1);
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  FACULA_CHECK(size >= 0, kRuntime, "nonzero_static: 'size' must be an non-negative integer, got ",
               size);
  Tensor found = nonzero(self);
  Tensor r = full({size, self.dim()}, Scalar(fill_value), kInt64);
  int64_t n = std::min(size, found.size(0));
  copy_raw(narrow(r, 0, 0, n), narrow(found, 0, 0, n));
  return r;
}

Tensor repeat_interleave_counts(const Tensor& repeats, std::optional<int64_t> output_size) {
  Tensor r = repeat_index(repeats);
  FACULA_CHECK(!output_size || *output_size == r.numel(), kRuntime,
               "repeat_interleave: allocated size does not match required size: output_size is ",
               output_size.value_or(0), ", the repeats add up to ", r.numel());
  return r;
}

Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats,
                                std::optional<int64_t> dim, std::optional<int64_t> output_size) {
  Tensor in = dim ? self : reshape(self, {-1});
  int64_t d = dim.value_or(0);
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
    counts = expand(reshape(repeats, {1}), {in.dim() ? in.size(d) : 1});
  }
  if (in.dim() == 0) in = reshape(in, {1});
  FACULA_CHECK(counts.dim() != 1 || counts.size(0) == in.size(d), kRuntime,
               "repeats must have the same size as input along dim, but got repeats.size(0) = ",
               counts.size(0), " and input.size(", d, ") = ", in.size(d));
  return index_select(in, d, repeat_interleave_counts(counts, output_size));
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  return repeat_interleave_tensor(self, full({1}, Scalar(repeats), kInt64), dim, output_size);
}

Tensor fliplr(const Tensor& self) {
  FACULA_CHECK(self.dim() >= 2, kRuntime, "Input must be >= 2-d.");
  return flip(self, {1});
}
Tensor flipud(const Tensor& self) {
  FACULA_CHECK(self.dim() >= 1, kRuntime, "Input must be >= 1-d.");
  return flip(self, {0});
}

Tensor roll(const Tensor& self, IntList shifts, IntList dims) {
  if (dims.empty()) {
    FACULA_CHECK(shifts.size() == 1, kRuntime,
                 "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:0");
    return reshape(roll(reshape(self, {-1}), shifts, {0}), self.sizes());
  }
  FACULA_CHECK(shifts.size() == dims.size(), kRuntime,
               "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  FACULA_CHECK(self.dim() > 0, kIndex, "roll: Dimension specified as ", dims[0],
               " but tensor has no dimensions");
  Tensor r = self;
  for (size_t i = 0; i < dims.size(); ++i) {
    r = roll_dim(r, shifts[i], wrap_dim(dims[i], self.dim(), "roll"));
  }
  return r.is_same(self) ? clone(self) : r;
}

}  // namespace facula
