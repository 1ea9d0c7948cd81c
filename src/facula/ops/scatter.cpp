// Writes along one dimension at positions: scatter and its kin, index_add and its kin. Each has a
// functional form (on a copy) and writes into self in its in-place form.
#include "facula/kernels/scatter.h"

#include <algorithm>

#include "facula/ops/create_functions.h"
#include "facula/ops/fits.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/overlap.h"
#include "facula/ops/scatter_mode.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"

namespace facula {
namespace {

using kernels::Combine;
using kernels::Fault;
using kernels::view;

// copy_of gives the functional form something to write into.
Tensor copy_of(const Tensor& t) {
  Tensor r = new_empty(t.sizes(), t.dtype(), t.device());
  copy_raw(r, t);
  return r;
}

Tensor vector_of(const Tensor& t) {
  return t.dim() ? t : alias_storage(t, {1}, {1}, t.storage_offset());
}

void check_sizes(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src,
                 const char* op) {
  FACULA_CHECK(index.dim() == self.dim(), kRuntime, op,
               ": Index tensor must have the same number of dimensions as self tensor, got ",
               index.dim(), " and ", self.dim());
  FACULA_CHECK(!src || index.dim() == src->dim(), kRuntime, op,
               ": Index tensor must have the same number of dimensions as src tensor");
  for (int64_t d = 0; d < index.dim(); ++d) {
    bool fits = d == dim || index.sizes()[d] <= self.sizes()[d];
    fits &= !src || index.sizes()[d] <= src->sizes()[d];
    FACULA_CHECK(fits, kRuntime, op, ": Expected index ", list_text(index.sizes()),
                 " to be no larger than self ", list_text(self.sizes()), " apart from dimension ",
                 dim, src ? " and to be no larger size than src " : "",
                 src ? list_text(src->sizes()) : std::string());
  }
}

// scatter_into writes src (or value, when src is undefined) into self.
void scatter_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                  const Scalar& value, Combine how, const char* op) {
  dim = wrap_dim(dim, self.dim(), op);
  Tensor at = index;
  if (index.numel() > 0) at = index_tensor(index, op);
  FACULA_CHECK(!src.defined() || src.dtype() == self.dtype(), kRuntime, op,
               "(): Expected self.dtype to be equal to src.dtype, got ", dtype_name(self.dtype()),
               " and ", src.defined() ? dtype_name(src.dtype()) : "");
  if (how >= Combine::kMin) refuse_complex(self, op);
  if (!src.defined()) check_fits(self.dtype(), value);
  check_no_internal_overlap(self, op);
  if (at.numel() == 0) return;
  Tensor to = vector_of(self), from = src.defined() ? vector_of(src) : src;
  at = vector_of(at);
  check_sizes(to, dim, at, src.defined() ? &from : nullptr, op);
  if (self.is_meta()) return;
  Fault fault;
  {
    LongWork work(at.numel());
    if (src.defined()) {
      kernels::scatter->scatter(view(to), dim, view(at), view(from), how, &fault);
    } else {
      kernels::scatter->scatter_value(view(to), dim, view(at), value, how, &fault);
    }
  }
  check_position(fault, op, ErrorKind::kRuntime);
}

Combine named_combine(std::string_view name, const char* op) {
  if (name == "add") return Combine::kAdd;
  if (name == "multiply") return Combine::kProd;
  raise_error(ErrorKind::kRuntime, op, ": reduce argument must be either add or multiply, got ",
              std::string(name));
}

// index_into combines slices of source into self.
void index_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                const Scalar& alpha, Combine how, const char* op, ErrorKind kind) {
  dim = wrap_dim(dim, self.dim(), op);
  FACULA_CHECK(index.dim() <= 1, kIndex, op,
               ": Index is supposed to be a vector, but got dim: ", index.dim());
  Tensor at = vector_of(index_tensor(index, op));
  FACULA_CHECK(self.dtype() == source.dtype(), kRuntime, op, ": self (", dtype_title(self.dtype()),
               ") and source (", dtype_title(source.dtype()), ") must have the same scalar type");
  check_fits(self.dtype(), alpha);
  Tensor to = vector_of(self), from = vector_of(source);
  const ErrorKind mismatch = how == Combine::kAssign ? ErrorKind::kIndex : ErrorKind::kRuntime;
  if (to.dim() != from.dim()) {
    raise_error(mismatch, op, ": self and source have to have the same number of dimensions, got ",
                self.dim(), " and ", source.dim());
  }
  if (at.numel() != from.size(dim)) {
    raise_error(mismatch, op, ": Number of indices (", at.numel(),
                ") should be equal to source.size(dim): (", from.size(dim), "), for dim: ", dim);
  }
  for (int64_t d = 0; d < to.dim(); ++d) {
    FACULA_CHECK(d == dim || to.sizes()[d] == from.sizes()[d], kRuntime, op,
                 ": source shape must match self shape, excluding the specified dimension, got ",
                 list_text(source.sizes()), " and ", list_text(self.sizes()));
  }
  check_no_internal_overlap(self, op);
  if (self.is_meta() || from.numel() == 0) return;
  Fault fault;
  {
    LongWork work(from.numel());
    kernels::scatter->index_combine(view(to), dim, view(at), view(from), alpha, how, &fault);
  }
  check_position(fault, op, kind);
}

}  // namespace

namespace forward {

void scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_into(self, dim, index, src, Scalar(), Combine::kAssign, "scatter");
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor r = copy_of(self);
  forward::scatter_(r, dim, index, src);
  return r;
}

void scatter_value_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  scatter_into(self, dim, index, Tensor(), value, Combine::kAssign, "scatter");
}
Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  Tensor r = copy_of(self);
  forward::scatter_value_(r, dim, index, value);
  return r;
}

void scatter_combined_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       std::string_view reduce) {
  static std::atomic<bool> said{false};
  warn_once(said,
            "The reduce argument of facula.scatter with Tensor src is deprecated: use "
            "scatter_reduce, which has more reductions and gradients.");
  scatter_into(self, dim, index, src, Scalar(), named_combine(reduce, "scatter"), "scatter");
}
Tensor scatter_combined(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                        std::string_view reduce) {
  Tensor r = copy_of(self);
  forward::scatter_combined_(r, dim, index, src, reduce);
  return r;
}

void scatter_value_combined_(const Tensor& self, int64_t dim, const Tensor& index,
                             const Scalar& value, std::string_view reduce) {
  scatter_into(self, dim, index, Tensor(), value, named_combine(reduce, "scatter"), "scatter");
}
Tensor scatter_value_combined(const Tensor& self, int64_t dim, const Tensor& index,
                              const Scalar& value, std::string_view reduce) {
  Tensor r = copy_of(self);
  forward::scatter_value_combined_(r, dim, index, value, reduce);
  return r;
}

void scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_into(self, dim, index, src, Scalar(), Combine::kAdd, "scatter_add");
}
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor r = copy_of(self);
  forward::scatter_add_(r, dim, index, src);
  return r;
}

void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     std::string_view reduce, bool include_self) {
  ScatterMode mode = scatter_mode(reduce, true, "scatter_reduce");
  NoGrad no_grad;
  if (!include_self) {
    Scalar start = mode.start(self.dtype());
    scatter_into(self, dim, index, Tensor(), start, Combine::kAssign, "scatter_reduce");
  }
  scatter_into(self, dim, index, src, Scalar(), mode.combine, "scatter_reduce");
  if (mode.mean && self.numel()) {
    Tensor count = include_self ? ones_like(self) : zeros_like(self);
    scatter_into(count, dim, index, ones_like(src), Scalar(), Combine::kAdd, "scatter_reduce");
    mode.divide(self, count);
  }
}
Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  Tensor r = copy_of(self);
  forward::scatter_reduce_(r, dim, index, src, reduce, include_self);
  return r;
}

void index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                const Scalar& alpha) {
  index_into(self, dim, index, source, alpha, Combine::kAdd, "index_add_()",
             self.dim() > 1 ? ErrorKind::kRuntime : ErrorKind::kIndex);
}
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  Tensor r = copy_of(self);
  forward::index_add_(r, dim, index, source, alpha);
  return r;
}

void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  index_into(self, dim, index, source, Scalar(1), Combine::kAssign, "index_copy_()",
             ErrorKind::kIndex);
}
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  Tensor r = copy_of(self);
  forward::index_copy_(r, dim, index, source);
  return r;
}

void index_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                   std::string_view reduce, bool include_self) {
  const char* op = "index_reduce_()";
  ScatterMode mode = scatter_mode(reduce, false, "index_reduce");
  NoGrad no_grad;
  if (!include_self) forward::index_fill_(self, dim, index, mode.start(self.dtype()));
  index_into(self, dim, index, source, Scalar(1), mode.combine, op, ErrorKind::kIndex);
  if (mode.mean && self.numel()) {
    Tensor count = include_self ? ones_like(self) : zeros_like(self);
    index_into(count, dim, index, ones_like(source), Scalar(1), Combine::kAdd, op,
               ErrorKind::kIndex);
    mode.divide(self, count);
  }
}
Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  Tensor r = copy_of(self);
  forward::index_reduce_(r, dim, index, source, reduce, include_self);
  return r;
}

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  dim = wrap_dim(dim, self.dim(), "index_fill_");
  FACULA_CHECK(index.dim() <= 1, kIndex, "index_fill_(): Expected a vector of indices, got ",
               index.dim(), " dimensions");
  FACULA_CHECK(!value.is_complex() || self.is_complex(), kRuntime,
               "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  check_fits(self.dtype(), value);
  Tensor at = vector_of(index_tensor(index, "index_fill_()", ErrorKind::kIndex));
  warn_of_overlap(self, "index_fill_");
  if (self.is_meta()) return;
  Fault fault;
  kernels::scatter->index_fill(view(vector_of(self)), dim, view(at), value, &fault);
  check_position(fault, "index_fill_", ErrorKind::kIndex);
}
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  Tensor r = copy_of(self);
  forward::index_fill_(r, dim, index, value);
  return r;
}

void index_fill_tensor_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  FACULA_CHECK(value.dim() == 0, kRuntime,
               "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
               value.dim(), " dimension(s).");
  forward::index_fill_(self, dim, index, scalar_of(value));
}
Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& value) {
  Tensor r = copy_of(self);
  forward::index_fill_tensor_(r, dim, index, value);
  return r;
}

}  // namespace forward
}  // namespace facula
