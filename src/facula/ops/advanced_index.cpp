// Reading subscripts of index tensors and masks; index and index_put.
#include "facula/ops/advanced_index.h"

#include <algorithm>
#include <numeric>

#include "facula/kernels/index.h"
#include "facula/kernels/scatter.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/overlap.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"

namespace facula {
namespace {

using kernels::Fault;
using kernels::view;

// A position tensor and the dimension that it indexes.
struct Indexed {
  Tensor at;
  int64_t dim;
};

Tensor permuted(const Tensor& t, IntList order) {
  Geometry g = permute_geometry(t, order);
  return alias_storage(t, g.sizes, g.strides, g.offset);
}

// add_mask turns a mask over several dimensions into one position tensor for each.
void add_mask(std::vector<Indexed>& out, const Tensor& self, const Tensor& mask, int64_t& dim) {
  for (int64_t d = 0; d < mask.dim(); ++d) {
    if (dim + d >= self.dim() || mask.sizes()[d] != self.sizes()[dim + d]) {
      raise_error(ErrorKind::kIndex, "index: The shape of the mask ", list_text(mask.sizes()),
                  " at index ", d, " does not match the shape of the indexed tensor ",
                  list_text(self.sizes()), " at index ", dim + d);
    }
  }
  Tensor rows = forward::nonzero(mask);
  for (int64_t d = 0; d < mask.dim(); ++d) {
    out.push_back({alias_storage(rows, {rows.size(0)}, {rows.stride(0)},
                                 rows.storage_offset() + d * rows.stride(1)),
                   dim++});
  }
}

// A 0-d mask adds a dimension of size 0 or 1 in front of the ones left.
Tensor with_flag_dim(const Tensor& self, int64_t dim) {
  Geometry g = unsqueeze_geometry(self, dim);
  return alias_storage(self, g.sizes, g.strides, g.offset);
}

std::vector<Indexed> read_indices(Tensor& self, TensorList indices) {
  std::vector<Indexed> out;
  int64_t dim = 0;
  for (const Tensor& t : indices) {
    if (!t.defined()) {
      ++dim;
      continue;
    }
    if (t.is_meta() && !self.is_meta()) fail_devices("index");
    DType type = t.dtype();
    if (type == kBool || type == kUInt8) {
      if (t.dim() == 0) {
        self = with_flag_dim(self, dim);
        Tensor flag = alias_storage(t, {1}, {1}, t.storage_offset());
        add_mask(out, self, flag, dim);
      } else {
        add_mask(out, self, t, dim);
      }
      continue;
    }
    if (type != kInt64 && type != kInt32 && type != kInt16 && type != kInt8) {
      raise_error(ErrorKind::kIndex,
                  "tensors used as indices must be long, int, byte or bool tensors, got ",
                  dtype_name(type));
    }
    out.push_back({to_dtype(t, kInt64), dim++});
  }
  if (dim > self.dim()) {
    raise_error(ErrorKind::kIndex, "too many indices for tensor of dimension ", self.dim(),
                " (got ", dim, ")");
  }
  return out;
}

Sizes common_shape(const std::vector<Indexed>& list) {
  Sizes shape = list[0].at.sizes().to_sizes();
  for (const Indexed& i : list) {
    IntList other = i.at.sizes();
    size_t n = std::max(shape.size(), other.size());
    Sizes merged(n, 1);
    for (size_t k = 0; k < n; ++k) {
      int64_t a = k < shape.size() ? shape[shape.size() - 1 - k] : 1;
      int64_t b = k < other.size() ? other[other.size() - 1 - k] : 1;
      if (a != b && a != 1 && b != 1) {
        std::string shapes;
        for (const Indexed& x : list) {
          shapes += (shapes.empty() ? "" : ", ") + list_text(x.at.sizes());
        }
        raise_error(ErrorKind::kIndex,
                    "shape mismatch: indexing tensors could not be broadcast together with shapes ",
                    shapes);
      }
      merged[n - 1 - k] = a == 1 ? b : a;
    }
    shape = merged;
  }
  return shape;
}

// is_full_mask says whether the subscript is one mask of self's shape.
bool is_full_mask(const Tensor& self, TensorList indices) {
  return indices.size() == 1 && indices[0].defined() && indices[0].dtype() == kBool &&
         self.dim() > 0 && indices[0].sizes() == self.sizes() && !self.is_meta();
}

// pick fills out, whose first dimensions are those of the positions, from in.
void pick(const kernels::View& out, const Tensor& in, const kernels::View* at, size_t count,
          int64_t numel) {
  Fault fault;
  {
    LongWork work(numel);
    kernels::index->index(out, view(in), at, static_cast<int>(count), &fault);
  }
  check_position(fault, "index", ErrorKind::kIndex);
}

Tensor index_into(const AdvancedIndex& plan) {
  Tensor r = new_empty(plan.result_sizes, plan.self.dtype(), plan.self.device());
  if (plan.self.is_meta()) return r;
  std::vector<kernels::View> at;
  for (const Tensor& t : plan.indices) at.push_back(view(t));
  Tensor out = plan.operand(r);
  pick(view(out), plan.self, at.data(), at.size(), r.numel());
  return r;
}

// is_rows says whether the subscript is one tensor of positions in the first dimension, which needs
// no plan.
bool is_rows(const Tensor& self, TensorList indices) {
  return indices.size() == 1 && indices[0].defined() && indices[0].dtype() == kInt64 &&
         self.dim() > 0 && !self.is_meta() && !indices[0].is_meta();
}

Tensor pick_rows(const Tensor& self, const Tensor& at) {
  Sizes sizes = at.sizes().to_sizes();
  for (int64_t d = 1; d < self.dim(); ++d) sizes.push_back(self.sizes()[d]);
  Tensor r = new_empty(sizes, self.dtype(), self.device());
  kernels::View positions = view(at);
  pick(view(r), self, &positions, 1, r.numel());
  return r;
}

}  // namespace

Tensor AdvancedIndex::operand(const Tensor& t) const {
  int64_t count = indices[0].dim();
  Sizes order;
  for (int64_t d = 0; d < count; ++d) order.push_back(first + d);
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d < first || d >= first + count) order.push_back(d);
  }
  return permuted(t, order);
}

AdvancedIndex prepare_index(const Tensor& self, TensorList indices) {
  AdvancedIndex plan{self, {}, {}, 0};
  std::vector<Indexed> list = read_indices(plan.self, indices);
  const Tensor& in = plan.self;
  if (list.empty()) {
    plan.result_sizes = in.sizes().to_sizes();
    return plan;
  }
  FACULA_CHECK(list.size() <= 16, kIndex, "index: expected at most 16 index tensors, got ",
               list.size());
  Sizes shape = common_shape(list);
  uint64_t mask = 0;
  for (const Indexed& i : list) mask |= uint64_t{1} << i.dim;
  bool adjacent = true;
  for (size_t i = 1; i < list.size(); ++i) adjacent &= list[i].dim == list[i - 1].dim + 1;
  plan.first = adjacent ? list[0].dim : 0;
  Sizes order, before, after;
  for (const Indexed& i : list) order.push_back(i.dim);
  for (int64_t d = 0; d < in.dim(); ++d) {
    if (mask >> d & 1) continue;
    order.push_back(d);
    (d < plan.first ? before : after).push_back(in.sizes()[d]);
  }
  for (int64_t s : before) plan.result_sizes.push_back(s);
  for (int64_t s : shape) plan.result_sizes.push_back(s);
  for (int64_t s : after) plan.result_sizes.push_back(s);
  for (const Indexed& i : list) {
    Geometry g = expand_geometry(i.at, shape);
    plan.indices.push_back(alias_storage(i.at, g.sizes, g.strides, g.offset));
  }
  plan.self = permuted(in, order);
  return plan;
}

namespace forward {

Tensor index(const Tensor& self, TensorList indices) {
  if (is_full_mask(self, indices)) return forward::masked_select(self, indices[0]);
  if (is_rows(self, indices)) return pick_rows(self, indices[0]);
  AdvancedIndex plan = prepare_index(self, indices);
  if (!plan.indices.empty()) return index_into(plan);
  Tensor r = new_empty(self.sizes(), self.dtype(), self.device());
  copy_raw(r, self);
  return r;
}

void index_put_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  FACULA_CHECK(self.dtype() == values.dtype(), kRuntime,
               "Index put requires the source and destination dtypes match, got ",
               dtype_title(self.dtype()), " for the destination and ", dtype_title(values.dtype()),
               " for the source.");
  if (values.is_meta() && !self.is_meta()) fail_devices("index_put_");
  bool shared = warn_of_overlap(self, "index_put_");
  if (!shared && !accumulate && values.numel() == 1 && values.dim() <= 1 &&
      is_full_mask(self, indices)) {
    NoGrad no_grad;
    return copy_raw(self, facula::where(indices[0], values, self));
  }
  AdvancedIndex plan = prepare_index(self, indices);
  IntList wanted = plan.result_sizes, have = values.sizes();
  int64_t extra = have.ssize() - wanted.ssize();
  bool fits = true;
  for (int64_t d = 0; d < have.ssize(); ++d) {
    int64_t n = d < extra ? 1 : wanted[d - extra];
    fits &= have[d] == 1 || have[d] == n;
  }
  FACULA_CHECK(fits, kRuntime, "shape mismatch: value tensor of shape ", list_text(have),
               " cannot be broadcast to indexing result of shape ", list_text(wanted));
  Tensor source = values;
  while (source.dim() > wanted.ssize()) {
    Geometry g = select_geometry(source, 0, 0);
    source = alias_storage(source, g.sizes, g.strides, g.offset);
  }
  if (self.is_meta()) return;
  Geometry g = expand_geometry(source, plan.result_sizes);
  if (shared) {
    source = alias_storage(source, g.sizes, g.strides, g.offset);
    return put_shared(self, indices, source, accumulate);
  }
  if (plan.indices.empty()) return copy_raw(self, source);
  source = plan.operand(alias_storage(source, g.sizes, g.strides, g.offset));
  std::vector<kernels::View> at;
  for (const Tensor& t : plan.indices) at.push_back(view(t));
  Fault fault;
  {
    LongWork work(source.numel());
    kernels::scatter->index_put(view(plan.self), at.data(), static_cast<int>(at.size()),
                                view(source), accumulate, &fault);
  }
  check_position(fault, "index_put_", ErrorKind::kIndex);
}

Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  Tensor r = new_empty(self.sizes(), self.dtype(), self.device());
  copy_raw(r, self);
  forward::index_put_(r, indices, values, accumulate);
  return r;
}

}  // namespace forward

Tensor index_backward(const Tensor& grad, IntList sizes, TensorList indices) {
  return index_put(zeros_shaped(grad, sizes), indices, grad, true);
}

Tensor index_put_backward_self(const Tensor& grad, TensorList indices, bool accumulate) {
  if (accumulate) return grad;
  return index_put(grad, indices, zeros_shaped(grad, IntList()), false);
}

Tensor index_put_backward_values(const Tensor& grad, TensorList indices, IntList sizes) {
  return sum_to_size(index(grad, indices), sizes);
}

// ---- elements that share memory

bool warn_of_overlap(const Tensor& self, const char* op) {
  if (!overlaps_itself(self)) return false;
  warn(str("Use of ", op, " on expanded tensors is deprecated. Please clone() the tensor before ",
           "performing this operation."));
  return true;
}

Tensor distinct_elements(const Tensor& self) {
  Sizes sizes = self.sizes().to_sizes();
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self->strides[d] == 0 && sizes[d] > 1) sizes[d] = 1;
  }
  return alias_storage(self, sizes, self.strides(), self.storage_offset());
}

void fill_shared(const Tensor& self, const Tensor& mask, const Tensor& value) {
  NoGrad no_grad;
  Tensor elements = distinct_elements(self), any = mask;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (elements->sizes[d] != self->sizes[d]) any = facula::any(any, IntList(d), true);
  }
  copy_raw(elements, facula::where(any, value, elements));
}

void put_shared(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  NoGrad no_grad;
  Tensor elements = distinct_elements(self);
  Tensor numbers = new_empty(elements.sizes(), kInt64);
  std::iota(numbers.data_as<int64_t>(), numbers.data_as<int64_t>() + numbers.numel(), int64_t{0});
  Geometry g = expand_geometry(numbers, self.sizes());
  Tensor at = forward::index(alias_storage(numbers, g.sizes, g.strides, g.offset), indices);
  forward::put_(elements, at, values, accumulate);
}

}  // namespace facula
