// Clamps: bounds in the range of integers, and how their gradients are shared. A number takes no
// gradient, and none passes where an element meets it; a tensor shares the gradient of a tie.
#include "facula/base/error.h"
#include "facula/base/half.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/fits.h"
#include "facula/ops/generated_prelude.h"

namespace facula {

namespace {

// limit gives a bound in the range of the integers it bounds, for what no number of the type
// passes. Raises RuntimeError for a least number above the range and a largest one below it.
Scalar limit(const Tensor& self, const Scalar& bound, bool least) {
  DType type = self.dtype();
  if (bound.is_complex() || type == kBool) return bound;
  if (!is_integral(type)) {
    check_fits(type, bound);
    // Rounded as elements are, so that an element can meet it.
    if (type == kFloat16) return Scalar(double{Half(static_cast<float>(bound.re))});
    if (type == kBFloat16) return Scalar(double{BFloat16(static_cast<float>(bound.re))});
    return bound;
  }
  if (bound.is_floating()) return bound;
  int bits = static_cast<int>(item_size(type) * 8);
  bool beyond = bound.kind == kUInt64;  // above all of int64
  if (beyond && type == kUInt64) return bound;
  int64_t high = bits == 64 ? INT64_MAX : (int64_t{1} << (is_signed(type) ? bits - 1 : bits)) - 1;
  int64_t low = is_signed(type) ? -high - 1 : 0;
  bool above = beyond || bound.to_int() > high, below = !beyond && bound.to_int() < low;
  FACULA_CHECK(!(least ? above : below), kRuntime, "Clamp ", least ? "min" : "max", " value ",
               bound.re, " is outside the representable range of type ", dtype_title(type));
  return above ? Scalar(high) : below ? Scalar(low) : bound;
}

// Whether the rows of numbers take a bound: they do not promote.
bool keeps_type(const Tensor& self, const Scalar& bound) {
  return self.is_floating_point() && !bound.is_complex();
}

// require_bound raises RuntimeError for a clamp without bounds.
void require_bound(bool some) {
  FACULA_CHECK(some, kRuntime, "torch.clamp: At least one of 'min' or 'max' must not be None");
}

// ordered says where the lower bound lies under the upper one.
Tensor ordered(const TensorOrScalar& min, const TensorOrScalar& max) {
  return min.tensor ? lt(Tensor::borrow(min.tensor), max) : gt(Tensor::borrow(max.tensor), min);
}

}  // namespace

Tensor clamp(const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  require_bound(min || max);
  if (self.is_complex()) {
    fail(ErrorKind::kNotImplemented, "clamp is not supported for complex types");
  }
  if (!max) return clamp_min_any(self, *min);
  if (!min) return clamp_max_any(self, *max);
  const Scalar low = limit(self, *min, true), high = limit(self, *max, false);
  return keeps_type(self, low) && keeps_type(self, high) ? clamp_numbers(self, low, high)
                                                         : clamp_both(self, low, high);
}

Tensor clamp_tensors(const Tensor& self, const Tensor& min, const Tensor& max) {
  require_bound(min.defined() || max.defined());
  if (!max.defined()) return clamp_min(self, min);
  if (!min.defined()) return clamp_max(self, max);
  return clamp_both(self, min, max);
}

Tensor clamp_(const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  require_bound(min || max);
  if (!max) return clamp_min_any_(self, *min);
  if (!min) return clamp_max_any_(self, *max);
  const Scalar low = limit(self, *min, true), high = limit(self, *max, false);
  return keeps_type(self, low) && keeps_type(self, high) ? clamp_numbers_(self, low, high)
                                                         : clamp_both_(self, low, high);
}

Tensor clamp_tensors_(const Tensor& self, const Tensor& min, const Tensor& max) {
  require_bound(min.defined() || max.defined());
  if (!max.defined()) return clamp_min_(self, min);
  if (!min.defined()) return clamp_max_(self, max);
  return clamp_both_(self, min, max);
}

Tensor clamp_min_any(const Tensor& self, const TensorOrScalar& min) {
  if (min.tensor) return clamp_min(self, min);
  const Scalar bound = limit(self, min.scalar, true);
  return keeps_type(self, bound) ? clamp_min_number(self, bound) : clamp_min(self, bound);
}
Tensor clamp_min_any_(const Tensor& self, const TensorOrScalar& min) {
  if (min.tensor) return clamp_min_(self, min);
  const Scalar bound = limit(self, min.scalar, true);
  return keeps_type(self, bound) ? clamp_min_number_(self, bound) : clamp_min_(self, bound);
}
Tensor clamp_max_any(const Tensor& self, const TensorOrScalar& max) {
  if (max.tensor) return clamp_max(self, max);
  const Scalar bound = limit(self, max.scalar, false);
  return keeps_type(self, bound) ? clamp_max_number(self, bound) : clamp_max(self, bound);
}
Tensor clamp_max_any_(const Tensor& self, const TensorOrScalar& max) {
  if (max.tensor) return clamp_max_(self, max);
  const Scalar bound = limit(self, max.scalar, false);
  return keeps_type(self, bound) ? clamp_max_number_(self, bound) : clamp_max_(self, bound);
}

Tensor clamp_min_share(const Tensor& grad, const Tensor& self, const TensorOrScalar& min) {
  if (min.tensor) return max_share(grad, self, Tensor::borrow(min.tensor));
  return where(gt(self, min), grad, 0);
}

Tensor clamp_max_share(const Tensor& grad, const Tensor& self, const TensorOrScalar& max) {
  if (max.tensor) return max_share(grad, Tensor::borrow(max.tensor), self);
  return where(lt(self, max), grad, 0);
}

Tensor clamp_self_share(const Tensor& grad, const Tensor& self, const TensorOrScalar& min,
                        const TensorOrScalar& max) {
  if (!min.tensor && !max.tensor) return where(logical_and(gt(self, min), lt(self, max)), grad, 0);
  Tensor outside = logical_or(lt(self, min), gt(self, max));
  Tensor tie = logical_and(logical_or(eq(self, min), eq(self, max)), ordered(min, max));
  return where(outside, 0, where(tie, div(grad, 2), grad));
}

Tensor clamp_bound_share(const Tensor& grad, const Tensor& self, const TensorOrScalar& bound,
                         bool least) {
  Tensor limit = Tensor::borrow(bound.tensor);
  return least ? max_share(grad, limit, self) : max_share(grad, self, limit);
}

Tensor clamp_low_share(const Tensor& grad, const Tensor& self, const TensorOrScalar& min,
                       const TensorOrScalar& max) {
  Tensor low = Tensor::borrow(min.tensor);
  Tensor below = logical_and(gt(low, self), le(low, max));
  return where(below, grad, where(logical_and(eq(self, low), lt(low, max)), div(grad, 2), 0));
}

Tensor clamp_high_share(const Tensor& grad, const Tensor& self, const TensorOrScalar& min,
                        const TensorOrScalar& max) {
  Tensor high = Tensor::borrow(max.tensor);
  Tensor above = logical_or(lt(high, min), logical_and(lt(high, self), ge(high, min)));
  return where(above, grad, where(logical_and(eq(self, high), gt(high, min)), div(grad, 2), 0));
}

}  // namespace facula
