// The composites of the special family: the multivariate gamma function, and refusals of
// derivatives.
#include <cmath>

#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/math_functions.h"
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

}  // namespace facula
