// What the normalisations share: operands as the kernels take them.
#pragma once
#include "facula/autograd/meta.h"
#include "facula/core/tensor.h"
#include "facula/kernels/norm.h"
#include "facula/ops/conv_products.h"
#include "facula/ops/rules.h"

namespace facula::norm_layer {

// The type in which statistics and weights are computed.
inline DType compute_type(DType t) { return t == kFloat64 ? kFloat64 : kFloat32; }

// A weight or bias as the kernels take it; undefined stays so.
inline Tensor parameter(const Tensor& t, DType type) {
  return t.defined() ? to_contiguous(to_dtype(t, compute_type(type))) : t;
}
inline void* pointer(const Tensor& t) { return t.defined() ? t.data() : nullptr; }

// An image as the kernels take it: contiguous, or channels last.
inline Tensor image(const Tensor& t) { return is_channels_last(t) ? t : to_contiguous(t); }

// The planes of [batch, channels, positions...].
inline kernels::Planes planes_of(const Tensor& t, bool last) {
  kernels::Planes p{t.dim() ? t->sizes[0] : 1, t.dim() > 1 ? t->sizes[1] : 1, 1, last};
  for (int64_t d = 2; d < t.dim(); ++d) p.length *= t->sizes[d];
  return p;
}

inline void check_floating(const char* op, const Tensor& t) {
  if (t.is_floating_point()) return;
  raise_error(ErrorKind::kNotImplemented, '"', op, "\" not implemented for '",
              dtype_title(t.dtype()), "'");
}

// Weights, biases and running statistics have the input's dtype, or are all float32 beside a half
// type.
inline void check_parameter_types(const char* op, const Tensor& input,
                                  std::initializer_list<const Tensor*> parameters) {
  bool same = true, single = is_reduced(input.dtype());
  const Tensor* other = nullptr;
  for (const Tensor* t : parameters) {
    if (!t->defined()) continue;
    same = same && t->dtype() == input.dtype();
    single = single && t->dtype() == kFloat32;
    if (t->dtype() != input.dtype()) other = t;
  }
  if (same || single || input.numel() == 0) return;
  raise_error(ErrorKind::kRuntime, op, ": mixed dtypes: expected all parameters to be ",
              dtype_name(input.dtype()), is_reduced(input.dtype()) ? " or all to be float32" : "",
              ", got ", dtype_name(other->dtype()));
}

// Running statistics have no gradient. Those of a tensor that is seen as it is have to be such as
// may be written in place; others are written by copy_, which asks.
inline void check_running(const char* op, const Tensor& running_mean, const Tensor& running_var,
                          bool written) {
  for (const Tensor* t : {&running_mean, &running_var}) {
    if (!t->defined()) continue;
    FACULA_CHECK(!grad_enabled() || !requires_grad(*t), kRuntime, op, ": ",
                 t == &running_mean ? "running_mean" : "running_var",
                 " cannot have requires_grad True: there is no gradient with respect to it");
    if (written && (*t)->intercept == 0) check_inplace(*t, op);
  }
}

}  // namespace facula::norm_layer
