// Copies and shape rules shared by hand-written and generated operators.
#include "facula/ops/rules.h"

#include "facula/autograd/detach.h"
#include "facula/base/error.h"
#include "facula/core/intercept.h"
#include "facula/core/unlocked.h"
#include "facula/kernels/copy.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/shape_functions.h"

namespace facula {

void copy_raw(const Tensor& to, const Tensor& from) {
  Tensor wide = from;
  if (!(to.sizes() == from.sizes())) {
    Geometry g = expand_geometry(from, to.sizes());
    wide = alias_storage(from, g.sizes, g.strides, g.offset);
  }
  if (to.numel() == 0 || to.is_meta()) return;
  FACULA_CHECK(!from.is_meta(), kNotImplemented, "Cannot copy out of meta tensor; no data!");
  require_data("a copy", to);
  require_data("a copy", from);
  kernels::copy->copy_strided(kernels::view(to), kernels::view(wide));
}

void fill_raw(const Tensor& t, const Scalar& value) {
  if (t.numel() == 0 || t.is_meta()) return;
  require_data("a fill", t);
  kernels::copy->fill(kernels::view(t), value);
}

Tensor (*samples_behind)(const Tensor& t) = nullptr;

Tensor all_samples(const Tensor& t) {
  return (t->intercept & kInterceptBatched) && samples_behind ? samples_behind(t) : t;
}

bool any_true(const Tensor& condition) {
  NoGrad no_grad;
  const Tensor all = all_samples(condition);
  return has_data(all) && facula::any(all).data_as<bool>()[0];
}

Tensor with_samples_of(const Tensor& self, const Tensor& other) {
  if (!(other->intercept & kInterceptBatched) || other.numel() == 0) return self;
  Tensor any_condition = cast(select(reshape(other, {-1}), 0, 0), kBool);
  return where(any_condition, self, self);
}

bool has_data(const Tensor& t) { return !t.is_meta() && !(t->intercept & kInterceptHidden); }

void require_data(const char* op, const Tensor& t) {
  if (!t.defined() || has_data(t)) return;
  FACULA_CHECK(!t.is_meta(), kNotImplemented, op,
               ": reads the values of its arguments, which meta tensors do not have");
  FACULA_CHECK(t->intercept & kInterceptBatched, kNotImplemented, op,
               ": reads the values of its arguments, which tensors of a class with a "
               "__torch_dispatch__ do not give");
  raise_error(
      ErrorKind::kRuntime, "vmap: ", op, " needs the values of a tensor inside vmap. It ",
      "looks like you're calling .item() on a Tensor or using it in data-dependent control ",
      "flow, which vmap does not support");
}

Tensor to_dtype(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  if (t->intercept & kInterceptHidden) [[unlikely]]
    return cast(t, dtype);
  Tensor r = new_empty_as(t, dtype);
  copy_raw(r, t);
  return r;
}

Tensor as_dtype(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : cast(t, dtype); }

Tensor to_contiguous(const Tensor& t) {
  if (t.is_contiguous()) return t;
  if (t->intercept & kInterceptHidden) [[unlikely]]
    return clone(t, MemoryFormat::kContiguous);
  Tensor r = new_empty(t.sizes(), t.dtype(), t.device());
  copy_raw(r, t);
  return r;
}

Sizes reduced_shape(IntList shape, uint64_t mask, bool keepdim) {
  Sizes out;
  for (int d = 0; d < shape.ssize(); ++d) {
    if (!(mask >> d & 1))
      out.push_back(shape[d]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

static void check_store(const Tensor& self, const Tensor& value, const char* op) {
  if (!(self.sizes() == value.sizes())) {
    fail(ErrorKind::kRuntime, str(op, ": output with shape ", list_text(self.sizes()),
                                  " doesn't match the broadcast shape ", list_text(value.sizes())));
  }
  if (!can_cast(value.dtype(), self.dtype())) {
    fail(ErrorKind::kRuntime,
         str(op, ": result type ", dtype_title(value.dtype()),
             " can't be cast to the desired output type ", dtype_title(self.dtype())));
  }
  check_no_internal_overlap(self, op);
}

void store_into(const Tensor& self, const Tensor& value, const char* op) {
  check_store(self, value, op);
  copy_raw(self, value);
}

Tensor copy_checked(const Tensor& self, const Tensor& value, const char* op) {
  check_store(self, value, op);
  return copy_(self, value);
}

}  // namespace facula
