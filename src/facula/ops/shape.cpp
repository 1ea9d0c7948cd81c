// Rearrangements that views and copies make up: reshape, flatten, repeat, diagonals, scatters, and
// the copies and fills under them.
#include <algorithm>

#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/fits.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"

namespace facula {
namespace {

Tensor fresh_zeros(IntList sizes, const Tensor& like) {
  Tensor r = new_empty(sizes, like.dtype(), like.device());
  fill_raw(r, 0);
  return r;
}

Tensor put_into_zeros(const Tensor& grad, IntList sizes,
                      Geometry (*geometry)(const Tensor&, const void*), const void* context) {
  Tensor r = fresh_zeros(sizes, grad);
  Geometry g = geometry(r, context);
  copy_raw(alias_storage(r, g.sizes, g.strides, g.offset), grad);
  return r;
}

// in_zeros makes zeros of a shape with `grad` in the view that `geometry` computes.
template <class F>
Tensor in_zeros(const Tensor& grad, IntList sizes, F geometry) {
  return put_into_zeros(
      grad, sizes, [](const Tensor& t, const void* f) { return (*static_cast<const F*>(f))(t); },
      &geometry);
}

}  // namespace

namespace forward {

Tensor select_backward(const Tensor& grad, IntList sizes, int64_t dim, int64_t index) {
  return in_zeros(grad, sizes, [&](const Tensor& t) { return select_geometry(t, dim, index); });
}

Tensor slice_backward(const Tensor& grad, IntList sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step) {
  return in_zeros(grad, sizes,
                  [&](const Tensor& t) { return slice_geometry(t, dim, start, end, step); });
}

Tensor narrow_backward(const Tensor& grad, IntList sizes, int64_t dim, int64_t start) {
  int64_t length = grad.size(dim);
  return in_zeros(grad, sizes,
                  [&](const Tensor& t) { return narrow_geometry(t, dim, start, length); });
}

Tensor diagonal_backward(const Tensor& grad, IntList sizes, int64_t offset, int64_t dim1,
                         int64_t dim2) {
  return in_zeros(grad, sizes,
                  [&](const Tensor& t) { return diagonal_geometry(t, offset, dim1, dim2); });
}

// add_through_view adds grad, element by element in order, into a view that may overlap itself.
static void add_through_view(const Tensor& view, const Tensor& grad) {
  Tensor wide = view;
  if (!may_overlap_itself(view)) {
    NoGrad no_grad;
    copy_raw(view, facula::add(view, grad));
    return;
  }
  // one slice of the outermost dimension at a time until the pieces do not overlap
  for (int64_t i = 0; i < view.sizes()[0]; ++i) {
    Geometry v = select_geometry(view, 0, i), g = select_geometry(grad, 0, i);
    add_through_view(alias_storage(view, v.sizes, v.strides, v.offset),
                     alias_storage(grad, g.sizes, g.strides, g.offset));
  }
}

Tensor unfold_backward(const Tensor& grad, IntList sizes, int64_t dim, int64_t size, int64_t step) {
  Tensor r = fresh_zeros(sizes, grad);
  Geometry g = unfold_geometry(r, dim, size, step);
  if (grad.numel()) {
    // windows overlap only along the window dimension: bring that first
    Tensor view = alias_storage(r, g.sizes, g.strides, g.offset);
    int64_t last = view.dim() - 1;
    Geometry v = movedim_geometry(view, {last}, {0}), w = movedim_geometry(grad, {last}, {0});
    add_through_view(alias_storage(r, v.sizes, v.strides, v.offset),
                     alias_storage(grad, w.sizes, w.strides, w.offset));
  }
  return r;
}

// storage_extent counts the elements from the first to the last that a geometry reaches.
static int64_t storage_extent(IntList sizes, IntList strides) {
  int64_t n = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    n += (sizes[d] - 1) * strides[d];
  }
  return n;
}

Tensor as_strided_backward(const Tensor& grad, IntList in_sizes, IntList in_strides,
                           int64_t in_offset, IntList sizes, IntList strides,
                           std::optional<int64_t> offset) {
  int64_t out_at = offset.value_or(in_offset);
  int64_t first = std::min(in_offset, out_at);
  int64_t end = std::max(in_offset + storage_extent(in_sizes, in_strides),
                         out_at + storage_extent(sizes, strides));
  Tensor flat = fresh_zeros({std::max<int64_t>(end - first, 0)}, grad);
  if (grad.numel()) add_through_view(alias_storage(flat, sizes, strides, out_at - first), grad);
  Tensor in = alias_storage(flat, in_sizes, in_strides, in_offset - first);
  if (in.numel() && may_overlap_itself(in)) {
    // every index of the input that names a shared element gets an equal part of its gradient
    Tensor count = fresh_zeros(flat.sizes(), grad);
    Tensor ones = new_empty(in_sizes, grad.dtype(), grad.device());
    fill_raw(ones, 1);
    add_through_view(alias_storage(count, in_sizes, in_strides, in_offset - first), ones);
    NoGrad no_grad;
    return facula::div(in, alias_storage(count, in_sizes, in_strides, in_offset - first));
  }
  return in;
}

Tensor as_laid_out(const Tensor& self, IntList size, IntList stride, int64_t offset) {
  Tensor flat = fresh_zeros({offset + storage_extent(size, stride)}, self);
  Tensor r = alias_storage(flat, size, stride, offset);
  copy_raw(r, self);
  return r;
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> format) {
  MemoryFormat f = format.value_or(MemoryFormat::kPreserve);
  Tensor r = f == MemoryFormat::kPreserve
                 ? new_empty_as(self, self.dtype())
                 : new_formatted(self.sizes(), self.dtype(), self.device(), f);
  copy_raw(r, self);
  return r;
}

Tensor cast(const Tensor& self, DType dtype) {
  Tensor r = new_empty_as(self, dtype);
  copy_raw(r, self);
  return r;
}

void copy_(const Tensor& self, const Tensor& src, bool) {
  if (self.is_same(src)) return;
  warn_of_discarded_part(src.dtype(), self.dtype());
  check_no_internal_overlap(self, "copy_");
  if (self->storage == src->storage && memory_overlap(self, src) != Overlap::kNone) {
    Geometry g = expand_geometry(src, self.sizes());
    Tensor wide = alias_storage(src, g.sizes, g.strides, g.offset);
    Tensor snapshot = new_empty(wide.sizes(), src.dtype(), src.device());
    copy_raw(snapshot, wide);
    copy_raw(self, snapshot);
    return;
  }
  copy_raw(self, src);
}

void fill_(const Tensor& self, const TensorOrScalar& value) {
  if (!value.tensor) {
    check_fits(self.dtype(), value.scalar);
    fill_raw(self, value.scalar);
    return;
  }
  if (value.tensor->ndim != 0) {
    fail(ErrorKind::kRuntime,
         str("fill_ only supports 0-dimension value tensor but got tensor with ",
             value.tensor->ndim, " dimensions."));
  }
  copy_raw(self, facula::clone(Tensor::borrow(value.tensor)));
}

void zero_(const Tensor& self) { fill_raw(self, 0); }

Tensor view_dtype(const Tensor& self, DType dtype) {
  int64_t from = item_size(self.dtype()), to = item_size(dtype);
  Geometry g = geometry_of(self);
  if (from != to) {
    if (self.dim() == 0) {
      fail(ErrorKind::kRuntime,
           "view: self.dim() cannot be 0 to view as a dtype of a different size");
    }
    int64_t last = self.dim() - 1;
    if (g.strides[last] != 1) {
      fail(ErrorKind::kRuntime,
           "view: self.stride(-1) must be 1 to view as a dtype of a different size");
    }
    bool wider = to > from;
    int64_t ratio = wider ? to / from : from / to;
    if (wider && (g.sizes[last] % ratio || g.offset % ratio)) {
      fail(ErrorKind::kRuntime,
           str("view: self.size(-1) must be divisible by ", ratio, " to view ",
               dtype_title(self.dtype()), " as ", dtype_title(dtype), ", but got ", g.sizes[last]));
    }
    for (int64_t d = 0; d < last; ++d) {
      if (wider && g.strides[d] % ratio) {
        fail(ErrorKind::kRuntime, str("view: self.stride(", d, ") must be divisible by ", ratio));
      }
      g.strides[d] = wider ? g.strides[d] / ratio : g.strides[d] * ratio;
    }
    g.sizes[last] = wider ? g.sizes[last] / ratio : g.sizes[last] * ratio;
    g.offset = wider ? g.offset / ratio : g.offset * ratio;
  }
  return alias_storage(self, g.sizes, g.strides, g.offset, dtype);
}

void resize_(const Tensor& self, IntList size, std::optional<MemoryFormat> format) {
  if (requires_grad(self)) {
    fail(ErrorKind::kRuntime, "resize_: cannot resize variables that require grad");
  }
  int64_t n = count_elements(size, "resize_");
  MemoryFormat f = format.value_or(MemoryFormat::kContiguous);
  if (f == MemoryFormat::kPreserve) {
    fail(ErrorKind::kRuntime, "resize_: Unsupported memory format Preserve");
  }
  if (!format && self.sizes() == size) return;  // whatever its strides
  size_t need = static_cast<size_t>(self.storage_offset() + n) * item_size(self.dtype());
  if (n && need > self->storage->bytes()) self->storage->resize(need);
  Sizes strides = strides_of_format(size, f);
  set_geometry(self.impl(), size, strides, self.storage_offset());
}

}  // namespace forward

Tensor t(const Tensor& self) {
  if (self.dim() > 2) {
    fail(ErrorKind::kRuntime,
         str("t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D"));
  }
  return self.dim() < 2 ? alias_view(self) : transpose(self, 0, 1);
}

Tensor contiguous(const Tensor& self, std::optional<MemoryFormat> format) {
  MemoryFormat f = format.value_or(MemoryFormat::kContiguous);
  if (f == MemoryFormat::kPreserve) {
    fail(ErrorKind::kRuntime, "preserve memory format is unsupported by the contiguous operator");
  }
  if (is_contiguous_as(self, f)) return self;
  return clone(self, f);
}

Tensor reshape(const Tensor& self, IntList shape) {
  Sizes sizes = infer_sizes(shape, self.numel(), "reshape");
  if (self.sizes() == IntList(sizes) && find_view_strides(self, sizes)) return alias_view(self);
  if (find_view_strides(self, sizes)) return view(self, sizes);
  return view(clone(self, MemoryFormat::kContiguous), sizes);
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  int64_t start = wrap_dim(start_dim, self.dim(), "flatten"),
          end = wrap_dim(end_dim, self.dim(), "flatten");
  if (start > end) {
    fail(ErrorKind::kRuntime, "flatten() has invalid args: start_dim cannot come after end_dim");
  }
  if (self.dim() == 0) return reshape(self, {1});
  if (start == end) return self;
  Sizes sizes;
  int64_t merged = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d >= start && d <= end)
      merged *= self.sizes()[d];
    else
      sizes.push_back(self.sizes()[d]);
    if (d == end) sizes.push_back(merged);
  }
  return reshape(self, sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntList sizes) {
  dim = wrap_dim(dim, self.dim(), "unflatten");
  if (sizes.empty()) fail(ErrorKind::kRuntime, "unflatten: sizes must be non-empty");
  if (self.dim() == 0) fail(ErrorKind::kRuntime, "unflatten: expected a tensor with dimensions");
  int64_t have = self.sizes()[dim], known = 1, holes = 0;
  for (int64_t s : sizes) {
    holes += s == -1;
    known *= s == -1 ? 1 : s;
  }
  bool fits = holes == 0 ? known == have : holes == 1 && known > 0 && have % known == 0;
  if (!fits) {
    fail(ErrorKind::kRuntime,
         str("unflatten: Provided sizes ", list_text(sizes),
             " don't multiply up to the size of dim ", dim, " (", have, ") in the input tensor"));
  }
  Sizes shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim)
      shape.push_back(self.sizes()[d]);
    else
      for (int64_t s : sizes) shape.push_back(s == -1 ? have / known : s);
  }
  return view(self, shape);
}

Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  if (start.dim() != 0 || !is_integral(start.dtype())) {
    fail(ErrorKind::kRuntime, "narrow: start must be an 0-dim integral Tensor.");
  }
  require_data("narrow", start);
  return narrow(self, dim, *to_dtype(start, kInt64).data_as<int64_t>(), length);
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  Sizes shape;
  for (const Tensor& t : tensors) shape = broadcast_sizes(shape, t.sizes(), "broadcast_tensors");
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) {
    out.push_back(t.sizes() == IntList(shape) ? t : expand(t, shape));
  }
  return out;
}

Tensor sum_to_size(const Tensor& self, IntList size) {
  if (size.empty() && !is_inexact(self.dtype())) return sum(self);
  if (self.sizes() == size) return self;
  int64_t lead = self.dim() - size.ssize();
  Sizes dims;
  bool fits = lead >= 0;
  for (int64_t d = 0; fits && d < self.dim(); ++d) {
    if (d < lead) {
      dims.push_back(d);
    } else if (size[d - lead] != self.sizes()[d]) {
      fits = size[d - lead] == 1;
      dims.push_back(d);
    }
  }
  if (!fits) {
    fail(ErrorKind::kRuntime, str("size {", list_text(size), "} is not expandable to size {",
                                  list_text(self.sizes()), "}."));
  }
  if (dims.empty()) return self;
  Tensor r = sum(self, dims, true);
  return lead > 0 ? reshape(r, size) : r;
}

Tensor fill(const Tensor& self, const TensorOrScalar& value) {
  return fill_(clone(self, std::nullopt), value);
}

Tensor to_dtype_copy(const Tensor& self, DType dtype) { return cast(self, dtype); }

Tensor repeat(const Tensor& self, IntList repeats) {
  if (repeats.ssize() < self.dim()) {
    fail(ErrorKind::kRuntime,
         "Number of dimensions of repeat dims can not be smaller than number of "
         "dimensions of tensor");
  }
  int64_t lead = repeats.ssize() - self.dim();
  Sizes mid, wide, shape;
  for (int64_t d = 0; d < repeats.ssize(); ++d) {
    if (repeats[d] < 0) {
      fail(ErrorKind::kRuntime,
           str("repeat: Trying to create tensor with negative dimension ", repeats[d]));
    }
    int64_t s = d < lead ? 1 : self.sizes()[d - lead];
    mid.push_back(1);
    mid.push_back(s);
    wide.push_back(repeats[d]);
    wide.push_back(s);
    int64_t total;
    if (__builtin_mul_overflow(s, repeats[d], &total)) {
      fail(ErrorKind::kRuntime, "repeat: integer multiplication overflow");
    }
    shape.push_back(total);
  }
  count_elements(shape, "repeat");
  return reshape(clone(expand(reshape(self, mid), wide), MemoryFormat::kContiguous), shape);
}

Tensor tile(const Tensor& self, IntList dims) {
  Sizes repeats(std::max<int64_t>(self.dim() - dims.ssize(), 0), 1);
  for (int64_t d : dims) repeats.push_back(d);
  return repeat(self, repeats);
}

Tensor rot90(const Tensor& self, int64_t k, IntList dims) {
  if (dims.size() != 2) {
    fail(ErrorKind::kRuntime,
         str("expected total rotation dims == 2, but got dims = ", dims.ssize()));
  }
  if (self.dim() < 2) {
    fail(ErrorKind::kRuntime, str("expected total dims >= 2, but got total dims = ", self.dim()));
  }
  int64_t a = wrap_dim(dims[0], self.dim(), "rot90"), b = wrap_dim(dims[1], self.dim(), "rot90");
  if (a == b) {
    fail(ErrorKind::kRuntime, str("expected rotation dims to be different, but got dim0 = ",
                                  dims[0], " and dim1 = ", dims[1]));
  }
  switch (((k % 4) + 4) % 4) {
    case 1: return transpose(flip(self, {b}), a, b);
    case 2: return flip(self, {a, b});
    case 3: return transpose(flip(self, {a}), a, b);
    default: return clone(self, MemoryFormat::kContiguous);
  }
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  if (self.dim() == 0) fail(ErrorKind::kIndex, "diag_embed: expected at least one dimension");
  int64_t nd = self.dim() + 1;
  int64_t a = wrap_dim(dim1, nd, "diag_embed"), b = wrap_dim(dim2, nd, "diag_embed");
  if (a == b) {
    fail(ErrorKind::kRuntime, str("diagonal dimensions cannot be identical ", dim1, ", ", dim2));
  }
  int64_t n = self.sizes().back() + std::abs(offset);
  Sizes shape(self.sizes().begin(), self.sizes().end() - 1);
  shape.insert(shape.begin() + std::min(a, b), n);
  shape.insert(shape.begin() + std::max(a, b), n);
  return diagonal_backward(self, shape, offset, a, b);
}

Tensor diag(const Tensor& self, int64_t diagonal_offset) {
  if (self.dim() == 1) return diag_embed(self, diagonal_offset, 0, 1);
  if (self.dim() == 2) return clone(diagonal(self, diagonal_offset, 0, 1), std::nullopt);
  fail(ErrorKind::kRuntime, str("diag(): Supports 1D or 2D tensors. Got ", self.dim(), "D"));
}

Tensor adjoint(const Tensor& self) {
  if (self.dim() == 1) {
    fail(ErrorKind::kRuntime,
         "tensor.adjoint() is only supported on matrices or batches of matrices. "
         "Got 1-D tensor.");
  }
  return self.dim() == 0 ? conj(self) : conj_operand(transpose(self, -2, -1));
}

Tensor matrix_H(const Tensor& self) {
  if (self.dim() != 0 && self.dim() != 2) {
    fail(ErrorKind::kRuntime, str("tensor.H is only supported on matrices (2-D tensors). Got ",
                                  self.dim(), "-D tensor."));
  }
  return adjoint(self);
}

Tensor reverse_dims(const Tensor& self) {
  Sizes dims;
  for (int64_t d = self.dim() - 1; d >= 0; --d) dims.push_back(d);
  return permute(self, dims);
}

namespace {
// scattered copies self and writes src into the view that `take` makes of the copy.
template <class F>
Tensor scattered(const Tensor& self, const Tensor& src, const char* op, F take) {
  Tensor r = with_samples_of(clone(self, std::nullopt), src);
  Tensor slot = take(r);
  if (!(slot.sizes() == src.sizes())) {
    fail(ErrorKind::kRuntime,
         str(op, ": expected src to have a size equal to the slice of self. src size = ",
             list_text(src.sizes()), ", slice size = ", list_text(slot.sizes())));
  }
  copy_(slot, src);
  return r;
}
}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  return scattered(self, src, "select_scatter",
                   [&](const Tensor& r) { return select(r, dim, index); });
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim,
                     std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  return scattered(self, src, "slice_scatter",
                   [&](const Tensor& r) { return slice(r, dim, start, end, step); });
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                        int64_t dim2) {
  return scattered(self, src, "diagonal_scatter",
                   [&](const Tensor& r) { return diagonal(r, offset, dim1, dim2); });
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntList size, IntList stride,
                          std::optional<int64_t> offset) {
  return scattered(self, src, "as_strided_scatter",
                   [&](const Tensor& r) { return as_strided(r, size, stride, offset); });
}

}  // namespace facula
