// The hand-written half of activations: argument checks, and those made of several operators.
#include <cmath>

#include "facula/base/error.h"
#include "facula/ops/activation_functions.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/checks.h"
#include "facula/ops/fits.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/query_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {

void check_hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  if (min_val.re > max_val.re) fail(ErrorKind::kValue, "min_val cannot be greater than max_val");
  if (self.dtype() == kBool) {
    fail(ErrorKind::kNotImplemented, "Bool inputs not supported for hardtanh");
  }
  if (is_integral(self.dtype()) && !is_signed(self.dtype()) &&
      (min_val.to_int() < 0 || max_val.to_int() < 0)) {
    fail(ErrorKind::kRuntime, "cannot do hardtanh on an unsigned type with negative limits");
  }
  for (const Scalar& bound : {min_val, max_val}) {  // of integers their whole part
    bool whole = is_integral(self.dtype()) && std::isfinite(bound.re);
    check_fits(self.dtype(), whole ? Scalar(bound.to_int()) : bound);
  }
}

void check_celu(const Scalar& alpha) {
  if (alpha.is_zero()) fail(ErrorKind::kRuntime, "ZeroDivisionError: alpha cannot be 0 for CELU");
}

void check_softshrink(const Scalar& lambd) {
  if (!(lambd.re >= 0)) {
    fail(ErrorKind::kRuntime,
         str("lambda must be greater or equal to 0, but found to be ", lambd.re, "."));
  }
}

Tensor prelu(const Tensor& input, const Tensor& weight) {
  if (input.dtype() != weight.dtype()) {
    fail(ErrorKind::kRuntime,
         str("prelu: Type promoting not supported. Got ", dtype_title(input.dtype()), " and ",
             dtype_title(weight.dtype())));
  }
  if (weight.dim() > 1) {
    fail(ErrorKind::kRuntime,
         str("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ",
             weight.dim()));
  }
  int64_t channels = input.dim() > 1 ? input.sizes()[1] : 1;
  if (weight.numel() != 1) {
    if (input.dim() == 0) fail(ErrorKind::kRuntime, "Not allow zero-dim input tensor.");
    if (weight.numel() != channels) {
      fail(ErrorKind::kRuntime,
           str("Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
               weight.numel(), " and channel size = ", channels, "."));
    }
  }
  Sizes shape(input.dim(), 1);
  if (input.dim() > 1) shape[1] = weight.numel();
  return prelu_elements(input, reshape(weight, shape));
}

static bool by_tanh(std::string_view approximate) {
  if (approximate != "none" && approximate != "tanh") {
    fail(ErrorKind::kRuntime, "approximate argument must be either none or tanh.");
  }
  return approximate == "tanh";
}

Tensor gelu(const Tensor& self, std::string_view approximate) {
  return by_tanh(approximate) ? gelu_tanh(self) : gelu_erf(self);
}

Tensor gelu_(const Tensor& self, std::string_view approximate) {
  return by_tanh(approximate) ? gelu_tanh_(self) : gelu_erf_(self);
}

Tensor glu(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) fail(ErrorKind::kRuntime, "glu does not support 0-dimensional tensors");
  int64_t axis = wrap_dim(dim, self.dim(), "glu"), size = self.sizes()[axis];
  if (size % 2) {
    fail(ErrorKind::kRuntime,
         str("Halving dimension must be even, but dimension ", axis, " is size ", size));
  }
  return mul(narrow(self, axis, 0, size / 2), sigmoid(narrow(self, axis, size / 2, size / 2)));
}

}  // namespace facula
