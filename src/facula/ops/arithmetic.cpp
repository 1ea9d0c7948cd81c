// The hand-written half of arithmetic, math and comparisons: argument checks, dispatch by rounding
// mode, and derivatives that need more than one expression.
#include <algorithm>
#include <cmath>

#include "facula/autograd/detach.h"
#include "facula/base/error.h"
#include "facula/core/intercept.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/checks.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/fits.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/overlap.h"
#include "facula/ops/query_functions.h"
#include "facula/ops/scatter_mode.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

template <class T, class S>
Operand combine(const TensorOrScalar& a, const TensorOrScalar& b, T on_tensors, S on_numbers) {
  if (a.tensor || b.tensor) return Operand(on_tensors());
  return Operand(on_numbers(a.scalar, b.scalar));
}

DType type_of(const TensorOrScalar& v) { return v.tensor ? v.tensor->dtype : v.scalar.kind; }

bool any_zero(const TensorOrScalar& v) {
  if (!v.tensor) return v.scalar.is_zero();
  Tensor t = all_samples(Tensor::borrow(v.tensor));
  if (t.numel() == 0 || t.is_meta()) return false;
  NoGrad no_grad;
  Tensor zero = eq(t, 0);
  Tensor flat = to_contiguous(zero);
  const bool* p = flat.data_as<bool>();
  for (int64_t i = 0; i < flat.numel(); ++i) {
    if (p[i]) return true;
  }
  return false;
}

}  // namespace

Operand operand_add(const TensorOrScalar& a, const TensorOrScalar& b) {
  return combine(a, b, [&] { return add(a, b); }, [](Scalar x, Scalar y) { return x + y; });
}
Operand operand_sub(const TensorOrScalar& a, const TensorOrScalar& b) {
  return combine(a, b, [&] { return sub(a, b); }, [](Scalar x, Scalar y) { return x - y; });
}
Operand operand_mul(const TensorOrScalar& a, const TensorOrScalar& b) {
  return combine(a, b, [&] { return mul(a, b); }, [](Scalar x, Scalar y) { return x * y; });
}
Operand operand_div(const TensorOrScalar& a, const TensorOrScalar& b) {
  return combine(
      a, b, [&] { return div(a, b); },
      [](Scalar x, Scalar y) {
        if (x.is_complex() || y.is_complex()) return Scalar(x.to_complex() / y.to_complex());
        return Scalar(x.to_double() / y.to_double());
      });
}

void check_scale(const char* op, const char* name, DType type, const Scalar& factor) {
  if (factor.is_bool() && type != kBool) {
    fail(ErrorKind::kRuntime, str(op, ": Boolean ", name, " only supported for Boolean results."));
  }
  if (!is_inexact(type) && !factor.is_integral() && !factor.is_bool()) {
    fail(ErrorKind::kRuntime, str(op, ": For integral input tensors, argument ", name,
                                  " must not be a floating point number."));
  }
  if (!is_complex(type) && factor.is_complex()) {
    fail(ErrorKind::kRuntime, str(op, ": For non-complex input tensors, argument ", name,
                                  " must not be a complex number."));
  }
  check_fits(type, factor);
}

void check_alpha(const char* op, const TensorOrScalar& a, const TensorOrScalar& b,
                 const Scalar& alpha) {
  if (alpha.kind == kInt64 && alpha.i == 1) return;
  check_scale(op, "alpha", result_type({a, b}), alpha);
}

namespace {

// Small numbers fit every type, and are the ones that most calls have.
bool is_small(const Scalar& number) { return number.kind == kInt64 && number.i >> 7 == 0; }

DType widened(DType type) { return is_reduced(type) ? kFloat32 : type; }

}  // namespace

void check_number(std::initializer_list<TensorOrScalar> operands, const Scalar& number, bool wide) {
  if (is_small(number)) return;
  DType type = result_type(operands);
  check_fits(wide ? widened(type) : type, number);
}

void check_factor(const Tensor& self, const Scalar& factor) {
  if (is_inexact(self.dtype())) check_fits(widened(self.dtype()), factor);
}

void check_choices(const TensorOrScalar& self, const TensorOrScalar& other) {
  bool fits = (self.tensor || is_small(self.scalar)) && (other.tensor || is_small(other.scalar));
  if (fits || (!self.tensor && !other.tensor)) return;
  // Numbers of other floating types become infinite instead, as where they are cast.
  DType type = result_type({self, other});
  if (is_inexact(type) && type != kFloat32) return;
  check_fits(type, self.tensor ? other.scalar : self.scalar);
}

void check_not_bool(const char* op, const TensorOrScalar& a, const TensorOrScalar& b) {
  bool first = type_of(a) == kBool, second = type_of(b) == kBool;
  if (!first && !second) return;
  if (op[0] == 'n') {
    fail(ErrorKind::kNotImplemented,
         "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
         "invert a mask, use the `~` or `logical_not()` operator instead.");
  }
  fail(ErrorKind::kNotImplemented,
       first && second
           ? "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` "
             "or `logical_xor()` operator instead."
           : "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
             "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
}

void check_divisor(const char* op, const TensorOrScalar& a, const TensorOrScalar& b) {
  if (is_inexact(type_of(a)) || is_inexact(type_of(b))) return;
  // A number wraps in the type of the quotient, where it may be 0.
  bool wraps = !b.tensor && (b.scalar.i & 0xff) == 0 && !b.scalar.is_zero();
  if (wraps) {
    int bits = static_cast<int>(item_size(result_type({a, b})) * 8);
    wraps = bits < 64 && (b.scalar.i & ((int64_t{1} << bits) - 1)) == 0;
  }
  if (wraps || any_zero(b))
    fail(ErrorKind::kRuntime, str(op, ": ZeroDivisionError: integer division by zero"));
}

void check_integer_power(const Tensor& self, const TensorOrScalar& exponent) {
  if (exponent.tensor || is_inexact(self.dtype())) return;
  if ((exponent.scalar.is_integral() || exponent.scalar.is_bool()) && exponent.scalar.i < 0) {
    fail(ErrorKind::kRuntime, "pow: Integers to negative integer powers are not allowed.");
  }
  if (exponent.scalar.is_integral()) check_fits(self.dtype(), exponent.scalar);
}

void check_addcdiv(const Tensor& self, const Tensor& a, const Tensor& b) {
  if (!is_inexact(a.dtype()) && !is_inexact(b.dtype())) {
    fail(ErrorKind::kRuntime,
         "Integer division with addcdiv is no longer supported; use div with a rounding mode "
         "and add instead.");
  }
}

void check_lerp(const Tensor& self, const Tensor& end, const TensorOrScalar& weight) {
  if (self.dtype() != end.dtype()) {
    fail(ErrorKind::kRuntime, str("lerp: expected dtype ", dtype_title(self.dtype()),
                                  " for `end` but got dtype ", dtype_title(end.dtype())));
  }
  // Beside a tensor with dimensions a real 0-d weight is a number.
  bool number = weight.tensor && weight.tensor->ndim == 0 && self.dim() > 0 &&
                !is_complex(weight.tensor->dtype);
  if (weight.tensor && !number && weight.tensor->dtype != self.dtype()) {
    fail(ErrorKind::kRuntime,
         str("lerp: expected dtype ", dtype_title(self.dtype()), " for `weight` but got dtype ",
             dtype_title(weight.tensor->dtype)));
  }
  if (!is_inexact(self.dtype())) {
    fail(ErrorKind::kNotImplemented,
         str("\"lerp\" not implemented for '", dtype_title(self.dtype()), "'"));
  }
  if (!weight.tensor) check_fits(widened(self.dtype()), weight.scalar);
}

void check_condition(const Tensor& condition) {
  if (condition.dtype() != kBool && condition.dtype() != kUInt8) {
    fail(ErrorKind::kRuntime,
         str("where expected condition to be a boolean tensor, but got a tensor with dtype ",
             dtype_title(condition.dtype())));
  }
}

Tensor rsub(const Tensor& self, const TensorOrScalar& other, const Scalar& alpha) {
  return sub(other, self, alpha);
}

Tensor div_mode(const TensorOrScalar& self, const TensorOrScalar& other,
                std::optional<std::string_view> mode) {
  if (!mode) return div(self, other);
  if (*mode == "trunc") {
    // In half precision the quotient is rounded before it is truncated.
    if (!is_reduced(type_of(self)) && !is_reduced(type_of(other))) return div_trunc(self, other);
    Tensor quotient = div(self, other);
    return is_reduced(quotient.dtype()) ? trunc(quotient) : div_trunc(self, other);
  }
  if (*mode == "floor") return floor_divide(self, other);
  fail(ErrorKind::kRuntime,
       str("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode,
           "'"));
}

Tensor div_mode_(const Tensor& self, const TensorOrScalar& other,
                 std::optional<std::string_view> mode) {
  if (!mode) return div_(self, other);
  if (*mode == "trunc")
    return is_reduced(self.dtype()) ? trunc_(div_(self, other)) : div_trunc_(self, other);
  if (*mode == "floor") return floor_divide_(self, other);
  fail(ErrorKind::kRuntime,
       str("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode,
           "'"));
}

Tensor logaddexp_any(const Tensor& self, const Tensor& other) {
  if (!self.is_complex() && !other.is_complex()) return logaddexp(self, other);
  // The term with the larger real part is taken out of the sum, which keeps its imaginary part
  // whole.
  Tensor a = real(self), b = real(other), first = ge(a, b);
  Tensor top = where(first, self, other), low = where(first, other, self);
  Tensor nothing = logical_and(eq(a, -INFINITY), eq(b, -INFINITY));
  return where(nothing, top, add(top, log1p(exp(where(nothing, -INFINITY, sub(low, top))))));
}

Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const TensorOrScalar& exponent) {
  if (!exponent.tensor) {
    if (exponent.scalar.is_zero()) return zeros_like(grad);
    Tensor slope = mul(pow(self, exponent.scalar - Scalar(1)), exponent.scalar);
    return mul(grad, conj_operand(slope));
  }
  Tensor e = Tensor::borrow(exponent.tensor);
  return mul(grad, conj_operand(where(eq(e, 0), 0, mul(e, pow(self, sub(e, 1))))));
}

Tensor pow_backward_exponent(const Tensor& grad, const TensorOrScalar& self, const Tensor& exponent,
                             const Tensor& result) {
  if (!self.tensor) {
    if (self.scalar.is_zero()) {
      Tensor slope = result;
      Tensor keep = exponent.is_complex() ? zeros_like(exponent) : ge(exponent, 0);
      return mul(grad, where(to_dtype(keep, kBool), 0, mul(slope, -INFINITY)));
    }
    std::complex<double> l = std::log(self.scalar.to_complex());
    bool real = !self.scalar.is_complex() && self.scalar.re > 0;
    if (!exponent.is_complex() && !real && !self.scalar.is_complex())
      return mul(grad, mul(result, NAN));
    return mul(grad, conj_operand(mul(result, real ? Scalar(l.real()) : Scalar(l))));
  }
  Tensor base = Tensor::borrow(self.tensor);
  Tensor zero = eq(base, 0);
  if (!exponent.is_complex() && !base.is_complex()) zero = logical_and(zero, ge(exponent, 0));
  return mul(grad, conj_operand(where(zero, 0, mul(result, log(base)))));
}

Tensor float_power(const TensorOrScalar& self, const TensorOrScalar& exponent) {
  bool cx = is_complex(type_of(self)) || is_complex(type_of(exponent));
  DType t = cx ? kComplex128 : kFloat64;
  auto wide = [&](const TensorOrScalar& v) { return cast(Tensor::borrow(v.tensor), t); };
  if (!self.tensor) return pow_number(self.scalar, wide(exponent));
  if (!exponent.tensor) return pow(wide(self), exponent.scalar);
  return pow(wide(self), wide(exponent));
}

Tensor float_power_(const Tensor& self, const TensorOrScalar& exponent) {
  bool cx = self.is_complex() || is_complex(type_of(exponent));
  DType t = cx ? kComplex128 : kFloat64;
  if (self.dtype() != t) {
    fail(ErrorKind::kRuntime,
         str("the base given to float_power_ has dtype ", dtype_title(self.dtype()),
             " but the operation's result requires dtype ", dtype_title(t)));
  }
  return pow_(self, exponent);
}

Tensor positive(const Tensor& self) {
  if (self.dtype() == kBool) {
    fail(ErrorKind::kNotImplemented, "The `+` operator, on a bool tensor is not supported.");
  }
  return self;
}

Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (!self.is_complex()) return zeros_like(grad);
  Tensor size = abs(self);
  Tensor along = complex(real(mul(conj(grad), result)), zeros_like(size));
  Tensor slope = div(sub(grad, mul(along, result)), size);
  return where(eq(size, 0), 0, slope);
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const TensorOrScalar& value) {
  Sizes shape = broadcast_sizes(self.sizes(), mask.sizes(), "masked_fill");
  Tensor r = with_samples_of(clone(expand(self, shape), MemoryFormat::kContiguous), mask);
  if (value.tensor) r = with_samples_of(r, Tensor::borrow(value.tensor));
  return masked_fill_(r, mask, value);
}

namespace forward {

Tensor pow_number(const Scalar& self, const Tensor& exponent) {
  if (self.kind == kInt64 && self.i == 1) return facula::ones_like(exponent);
  Tensor base = new_empty({}, self.is_complex()    ? complex_type(default_dtype())
                              : self.is_floating() ? default_dtype()
                              : self.is_bool()     ? kBool
                                                   : kInt64);
  DType t = result_type({self, exponent});
  base = new_empty({}, t);
  fill_raw(base, self);
  return facula::pow(base, exponent);
}

void masked_fill_(const Tensor& self, const Tensor& mask, const TensorOrScalar& value) {
  if (mask.dtype() != kBool) {
    fail(ErrorKind::kRuntime, "masked_fill_ only supports boolean masks, but got mask with dtype " +
                                  std::string(dtype_title(mask.dtype())));
  }
  if (value.tensor && value.tensor->ndim != 0) {
    fail(ErrorKind::kRuntime,
         str("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
             value.tensor->ndim, " dimension(s)."));
  }
  const Scalar& s = value.scalar;
  if (value.tensor && !can_cast(value.tensor->dtype, self.dtype())) {
    check_fits(self.dtype(), scalar_of(Tensor::borrow(value.tensor)));
  }
  if (!value.tensor) check_fits(self.dtype(), s);
  Tensor v = new_empty({}, self.dtype(), value.tensor ? value.tensor->device : kCpu);
  if (value.tensor)
    copy_raw(v, Tensor::borrow(value.tensor));
  else
    fill_raw(v, value.scalar);
  NoGrad no_grad;
  Geometry g = expand_geometry(mask, self.sizes());
  Tensor wide = alias_storage(mask, g.sizes, g.strides, g.offset);
  if (warn_of_overlap(self, "masked_fill_")) return fill_shared(self, wide, v);
  copy_raw(self, where(wide, v,
                       alias_storage(self, self.sizes(), self.strides(), self.storage_offset())));
}

}  // namespace forward

// ---- math

Tensor atan2_scale(const Tensor& self, const Tensor& other) {
  Tensor r = reciprocal(add(mul(self, self), mul(other, other)));
  return where(isinf(r), 0, r);
}

Tensor logit(const Tensor& self, std::optional<double> eps) {
  if (!eps || *eps < 0) return logit_plain(self);
  Tensor x = is_inexact(self.dtype()) ? self : cast(self, default_dtype());
  double low = *eps, high = 1 - *eps;
  return logit_plain(where(lt(x, low), low, where(gt(x, high), high, x)));
}

Tensor polygamma_checked(int64_t n, const Tensor& self) {
  if (n < 0) fail(ErrorKind::kRuntime, "polygamma(n, x) does not support negative n.");
  return polygamma_number(self, n);
}

Tensor square(const Tensor& self) {
  return square_number(self.dtype() == kBool ? cast(self, kInt64) : self);
}
Tensor square_(const Tensor& self) { return square_number_(self); }

Tensor sinc_backward(const Tensor& grad, const Tensor& self) {
  Tensor x = mul(self, M_PI);
  Tensor slope = div(sub(mul(x, cos(x)), sin(x)), mul(mul(x, self), 1.0));
  return mul(grad, conj_operand(where(eq(self, 0), 0, slope)));
}

Tensor round_decimals(const Tensor& self, int64_t decimals) {
  if (decimals == 0 || !is_inexact(self.dtype())) {
    if (decimals != 0) {
      fail(ErrorKind::kNotImplemented, str("\"round_cpu\" not implemented for '",
                                           dtype_title(self.dtype()), "' with decimals != 0"));
    }
    return round(self);
  }
  double scale = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  return decimals > 0 ? div(round(mul(self, scale)), scale) : mul(round(div(self, scale)), scale);
}

Tensor angle_backward(const Tensor& grad, const Tensor& self) {
  if (!self.is_complex()) return zeros_like(grad);
  // d angle / dz = i z / |z|^2, as the conjugate convention has it
  Tensor size = abs(self);
  Tensor scaled = div(mul(self, std::complex<double>(0, 1)), mul(size, size));
  return where(eq(size, 0), 0, mul(scaled, grad));
}

Tensor conj(const Tensor& self) { return self.is_complex() ? conj_physical(self) : self; }

Tensor masked_log(const TensorOrScalar& self, const TensorOrScalar& other) {
  Operand o = other.tensor ? Operand(log(Tensor::borrow(other.tensor)))
                           : Operand(Scalar(std::log(other.scalar.re)));
  Tensor small = other.tensor ? le(Tensor::borrow(other.tensor), 0)
                              : scalar_tensor(Scalar(other.scalar.re <= 0), kBool);
  Tensor zero = self.tensor ? eq(Tensor::borrow(self.tensor), 0)
                            : scalar_tensor(Scalar(self.scalar.is_zero()), kBool);
  return where(logical_and(zero, small), 0.0, o);
}

Tensor masked_log1p(const TensorOrScalar& self, const TensorOrScalar& other) {
  Operand o = other.tensor ? Operand(log1p(Tensor::borrow(other.tensor)))
                           : Operand(Scalar(std::log1p(other.scalar.re)));
  Tensor small = other.tensor ? le(Tensor::borrow(other.tensor), -1)
                              : scalar_tensor(Scalar(other.scalar.re <= -1), kBool);
  Tensor zero = self.tensor ? eq(Tensor::borrow(self.tensor), 0)
                            : scalar_tensor(Scalar(self.scalar.is_zero()), kBool);
  return where(logical_and(zero, small), 0.0, o);
}

Tensor heaviside(const Tensor& self, const Tensor& values) {
  if (self.is_complex() || values.is_complex())
    fail(ErrorKind::kNotImplemented, "heaviside is not yet implemented for complex tensors.");
  if (self.dtype() != values.dtype()) {
    fail(ErrorKind::kRuntime,
         "heaviside is not yet implemented for tensors with different dtypes.");
  }
  Tensor step = where(gt(self, 0), 1, 0);
  return cast(where(eq(self, 0), values, step), self.dtype());
}

Tensor ldexp(const Tensor& self, const Tensor& other) {
  bool whole = is_integral(other.dtype()) && other.dtype() != kBool;
  if (!is_floating(self.dtype()) || !whole) return mul(self, pow_number(2.0, other));
  return ldexp_whole(self, cast(other, self.dtype()));
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (!is_inexact(self.dtype())) return clone(self);
  if (self.is_complex()) {
    return complex(nan_to_num(real(self), nan, posinf, neginf),
                   nan_to_num(imag(self), nan, posinf, neginf));
  }
  double largest = self.dtype() == kFloat64    ? 1.7976931348623157e308
                   : self.dtype() == kFloat16  ? 65504.0
                   : self.dtype() == kBFloat16 ? 3.3895313892515355e38
                                               : 3.4028234663852886e38;
  auto number = [&](double v) {  // infinite where it is too large for the type
    return Scalar(self.dtype() == kFloat64 ? v : static_cast<double>(static_cast<float>(v)));
  };
  Tensor r = where(isnan(self), number(nan.value_or(0.0)), self);
  r = where(isposinf(self), number(posinf.value_or(largest)), r);
  return where(isneginf(self), number(neginf.value_or(-largest)), r);
}

// ---- comparisons

Tensor isreal(const Tensor& self) {
  if (!self.is_complex()) return ones_like(self, std::nullopt, kBool, std::nullopt);
  return eq(imag(self), 0);
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  if (self.dtype() != other.dtype()) {
    fail(ErrorKind::kRuntime,
         str(dtype_title(self.dtype()), " did not match ", dtype_title(other.dtype())));
  }
  if (!(rtol >= 0)) fail(ErrorKind::kRuntime, "rtol must be greater than or equal to zero");
  if (!(atol >= 0)) fail(ErrorKind::kRuntime, "atol must be greater than or equal to zero");
  NoGrad no_grad;
  Tensor close = eq(self, other);
  if (equal_nan && is_inexact(self.dtype()))
    close = logical_or(close, logical_and(isnan(self), isnan(other)));
  if (rtol == 0 && atol == 0) return close;
  Tensor a = self, b = other;
  if (!is_inexact(self.dtype())) {
    a = cast(self, kFloat64);
    b = cast(other, kFloat64);
  }
  Tensor error = abs(sub(a, b));
  Tensor allowed = add(mul(abs(b), rtol), atol);
  return logical_or(close, logical_and(isfinite(error), le(error, allowed)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  Tensor close = isclose(self, other, rtol, atol, equal_nan);
  if (close->intercept & kInterceptHidden) require_data("allclose", close);
  return !any_zero(close);
}

bool equal(const Tensor& self, const Tensor& other) {
  if (!(self.sizes() == other.sizes())) return false;
  NoGrad no_grad;
  Tensor same = eq(self, other);
  if (same->intercept & kInterceptHidden) require_data("equal", same);
  return !any_zero(same);
}

}  // namespace facula
