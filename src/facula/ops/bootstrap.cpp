// Plain forms of sum and flip, until the reduce and index families land.
#include "facula/base/error.h"
#include "facula/ops/functions.h"
#include "facula/ops/generated_prelude.h"

namespace facula {

Tensor expand_reduced(const Tensor& grad, IntList sizes, OptIntList dim, bool keepdim) {
  uint64_t mask = dim_mask(dim, sizes.ssize(), "sum");
  Tensor g = grad;
  if (!keepdim) {
    for (int d = 0; d < sizes.ssize(); ++d) {
      if (mask >> d & 1) g = unsqueeze(g, d);
    }
  }
  return expand(g, sizes);
}

namespace forward {

Tensor sum(const Tensor& self, OptIntList dim, bool keepdim, std::optional<DType> dtype) {
  DType out = dtype.value_or(is_inexact(self.dtype()) ? self.dtype() : kInt64);
  uint64_t mask = dim_mask(dim, self.dim(), "sum");
  Tensor r = new_empty(reduced_shape(self.sizes(), mask, true), kFloat64);
  fill_raw(r, 0);
  Tensor x = to_contiguous(to_dtype(self, kFloat64));
  Geometry g = expand_geometry(r, self.sizes());
  double* o = r.data_as<double>();
  const double* p = x.data_as<double>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t at = 0, rest = i;
    for (int d = static_cast<int>(x.dim()) - 1; d >= 0; --d) {
      at += rest % x.sizes()[d] * g.strides[d];
      rest /= x.sizes()[d];
    }
    o[at] += p[i];
  }
  return facula::reshape(to_dtype(r, out), reduced_shape(self.sizes(), mask, keepdim));
}

Tensor flip(const Tensor& self, IntList dims) {
  uint64_t mask = dim_mask(dims, self.dim(), "flip", false);
  Tensor r = new_empty_as(self, self.dtype());
  for (int64_t i = 0; i < (self.dim() ? self.sizes()[0] : 0); ++i) {
    Geometry to = select_geometry(r, 0, mask & 1 ? self.sizes()[0] - 1 - i : i);
    Geometry from = select_geometry(self, 0, i);
    Tensor piece = alias_storage(self, from.sizes, from.strides, from.offset);
    Sizes rest;
    for (int64_t d = 1; d < self.dim(); ++d) {
      if (mask >> d & 1) rest.push_back(d - 1);
    }
    copy_raw(alias_storage(r, to.sizes, to.strides, to.offset), rest.empty() ? piece : facula::flip(piece, rest));
  }
  if (self.dim() == 0) copy_raw(r, self);
  return r;
}

Tensor index(const Tensor&, TensorList) { fail(ErrorKind::kNotImplemented, "index: indexing by tensors"); }
void index_put_(const Tensor&, TensorList, const Tensor&, bool) {
  fail(ErrorKind::kNotImplemented, "index_put_: assignment by index tensors");
}

}  // namespace forward
}  // namespace facula
