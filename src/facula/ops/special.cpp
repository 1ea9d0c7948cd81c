// The composites of the special family: the multivariate gamma function, and refusals of
// derivatives; and the neighbours of numbers of 16 bits.
#include <cmath>

#include "facula/autograd/detach.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/pointwise.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/special_functions.h"

namespace facula {

Tensor neg_product(const TensorOrScalar& a, const Tensor& b) { return neg(mul(a, b)); }

Tensor no_order_gradient(std::string_view name, std::string_view input, const Tensor&) {
  raise_error(ErrorKind::kNotImplemented, name, ": the derivative with respect to ", input,
              " is not implemented");
}

// sum over j < p of lgamma(x - j / 2), plus p (p - 1) / 4 log(pi) (DLMF 35.3.5).
Tensor mvlgamma(const Tensor& self, int64_t p) {
  FACULA_CHECK(p >= 1, kRuntime, "mvlgamma: expected p to be at least 1, got ", p);
  FACULA_CHECK(p <= 1 << 16, kRuntime, "mvlgamma: expected p of at most 65536, got ", p);
  double number = static_cast<double>(p);
  Tensor total = lgamma(self);
  for (int64_t j = 1; j < p; ++j) total = add(total, lgamma(sub(self, Scalar(j * 0.5))));
  return add(total, Scalar(number * (number - 1) / 4 * std::log(3.14159265358979323846)));
}

namespace {

// The neighbours of a towards b, both of one 16-bit type: away from zero the bits grow by one.
Tensor next_in_bits(const Tensor& a, const Tensor& b) {
  Tensor grows = cast(eq(lt(a, b), gt(a, 0)), kInt16);
  Tensor bits = add(view_dtype(a, kInt16), sub(mul(grows, 2), 1));
  Tensor tiny = add(mul(cast(lt(b, 0), kInt16), -32768), 1);  // the least number, with b's sign
  Tensor next = view_dtype(where(eq(a, 0), tiny, bits), a.dtype());
  next = where(eq(a, b), b, next);
  return where(logical_or(isnan(a), isnan(b)), add(a, b), next);
}

}  // namespace

Tensor nextafter(const Tensor& self, const Tensor& other) {
  DType type = result_type({self, other});
  if (!is_reduced(type)) return nextafter_wide(self, other);
  Tensor a = as_dtype(self, type), next;
  {
    NoGrad no_grad;
    next = next_in_bits(a, cast(other, type));
  }
  if (!grad_enabled() || !requires_grad(a)) return next;
  // A step is constant, so the gradient is that of a; no number is left of infinities.
  return where(isfinite(a), add(next, sub(a, detach(a))), next);
}

}  // namespace facula
