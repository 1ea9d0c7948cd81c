// Variances, norms and log-sum-exp, with their gradients.
#include <cmath>

#include "facula/kernels/reduce.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matrix_functions.h"
#include "facula/ops/query_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"

namespace facula {
namespace {

using kernels::view;

double correction_of(const std::optional<Scalar>& c) { return c ? c->to_double() : 1.0; }
std::optional<Scalar> correction_from(bool unbiased) { return Scalar(unbiased ? 1 : 0); }

void check_moments(const Tensor& self) {
  if (!is_inexact(self.dtype())) {
    raise_error(ErrorKind::kNotImplemented,
                "std and var only support floating point and complex dtypes");
  }
}

// warn_of_few warns where the elements of a result leave no degrees of freedom.
void warn_of_few(const Tensor& self, uint64_t mask, double correction, const char* op) {
  double kept = 1, folded = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    (mask >> d & 1 ? folded : kept) *= static_cast<double>(self->sizes[d]);
  }
  if (kept == 0) folded = 0;
  if (folded <= correction) warn_of_no_freedom(op, correction, "elements that make a result");
}

// part views the real (0) or imaginary (1) parts of a complex tensor.
Tensor part(const Tensor& z, int64_t which) {
  Sizes strides = z.strides().to_sizes();
  for (int64_t& s : strides) s *= 2;
  return alias_storage(z, z.sizes(), strides, 2 * z.storage_offset() + which, real_type(z.dtype()));
}

Tensor variance(const Tensor& self, uint64_t mask, double correction, bool keepdim, bool root) {
  Tensor r = reduced_result(self, mask, keepdim, real_type(self.dtype()));
  if (self.is_meta()) return r;
  LongWork work(self.numel());
  if (!self.is_complex()) {
    kernels::reduce->moments(view(r), view(Tensor()), view(self), mask, correction, root);
    return r;
  }
  Tensor other = reduced_result(self, mask, keepdim, r.dtype());
  kernels::reduce->moments(view(r), view(Tensor()), view(part(self, 0)), mask, correction, false);
  kernels::reduce->moments(view(other), view(Tensor()), view(part(self, 1)), mask, correction,
                           false);
  NoGrad no_grad;
  Tensor total = add(r, other);
  return root ? sqrt(total) : total;
}

Tensor moment(const Tensor& self, OptIntList dim, const std::optional<Scalar>& correction,
              bool keepdim, bool root) {
  check_moments(self);
  uint64_t mask = dim_mask(dim, self.dim(), root ? "std" : "var");
  double c = correction_of(correction);
  warn_of_few(self, mask, c, root ? "std" : "var");
  return variance(self, mask, c, keepdim, root);
}

// power_slope is the gradient's factor |x|^(p-1) sgn(x) for the general p.
Tensor power_slope(const Tensor& self, double p) {
  Tensor size = abs(self);
  if (p < 2) {  // |x|^(p-2) is infinite at 0, where the gradient is taken as 0
    Tensor scaled = mul(self, pow(size, Scalar(p - 2)));
    return where(eq(self, Scalar(0)), Scalar(0), scaled);
  }
  return mul(self, pow(size, Scalar(p - 2)));
}

}  // namespace

namespace forward {

Tensor var(const Tensor& self, OptIntList dim, std::optional<Scalar> correction, bool keepdim) {
  return moment(self, dim, correction, keepdim, false);
}
Tensor std(const Tensor& self, OptIntList dim, std::optional<Scalar> correction, bool keepdim) {
  return moment(self, dim, correction, keepdim, true);
}

Tensor vector_norm(const Tensor& self, const Scalar& ord, OptIntList dim, bool keepdim,
                   std::optional<DType> dtype) {
  const char* op = "linalg.vector_norm";
  if (!is_inexact(dtype.value_or(self.dtype()))) {
    raise_error(ErrorKind::kNotImplemented, op,
                ": Expected a floating point or complex tensor as input. Got ",
                dtype_title(self.dtype()));
  }
  if (dtype && is_complex(*dtype) != self.is_complex()) {
    raise_error(ErrorKind::kRuntime, op, ": dtype should be ",
                self.is_complex() ? "complex" : "real", " for ",
                self.is_complex() ? "complex" : "real", " inputs, but got ", dtype_name(*dtype));
  }
  double p = ord.to_double();
  uint64_t mask = dim_mask(dim, self.dim(), op);
  Tensor in = dtype ? to_dtype(self, *dtype) : self;
  Tensor r = reduced_result(self, mask, keepdim, real_type(in.dtype()));
  bool empty = false;
  for (int64_t d = 0; d < self.dim(); ++d) empty |= (mask >> d & 1) && self.sizes()[d] == 0;
  if (empty && (p < 0 || std::isinf(p))) {
    raise_error(ErrorKind::kRuntime, op, ": cannot compute the ", p,
                " norm on an empty tensor because the operation does not have an identity");
  }
  if (self.is_meta()) return r;
  if (in.is_complex()) {
    NoGrad no_grad;
    in = facula::abs(in);
  }
  LongWork work(self.numel());
  kernels::reduce->norm(view(r), view(in), mask, p);
  return r;
}

Tensor logsumexp(const Tensor& self, IntList dim, bool keepdim) {
  uint64_t mask = dim_mask(dim, self.dim(), "logsumexp");
  Tensor in = is_inexact(self.dtype()) ? self : to_dtype(self, default_dtype());
  if (in.is_complex() && !in.is_meta()) {
    NoGrad no_grad;
    Tensor top = facula::amax(part(in, 0), dim, true);
    top = where(isinf(top), Scalar(0), top);
    Tensor total = log(facula::sum(exp(sub(in, top)), dim, true));
    return facula::reshape(add(total, top), reduced_shape(self.sizes(), mask, keepdim));
  }
  Tensor r = reduced_result(self, mask, keepdim, in.dtype());
  if (self.is_meta()) return r;
  LongWork work(self.numel());
  kernels::reduce->logsumexp(view(r), view(in), mask);
  return r;
}

}  // namespace forward

Tensor var_unbiased(const Tensor& self, bool unbiased) {
  return var(self, std::nullopt, correction_from(unbiased), false);
}
Tensor var_dim(const Tensor& self, OptIntList dim, bool unbiased, bool keepdim) {
  return var(self, dim, correction_from(unbiased), keepdim);
}
Tensor std_unbiased(const Tensor& self, bool unbiased) {
  return facula::std(self, std::nullopt, correction_from(unbiased), false);
}
Tensor std_dim(const Tensor& self, OptIntList dim, bool unbiased, bool keepdim) {
  return facula::std(self, dim, correction_from(unbiased), keepdim);
}

std::tuple<Tensor, Tensor> var_mean(const Tensor& self, OptIntList dim,
                                    std::optional<Scalar> correction, bool keepdim) {
  return {var(self, dim, correction, keepdim), mean(self, dim, keepdim)};
}
std::tuple<Tensor, Tensor> var_mean_unbiased(const Tensor& self, bool unbiased) {
  return var_mean(self, std::nullopt, correction_from(unbiased), false);
}
std::tuple<Tensor, Tensor> var_mean_dim(const Tensor& self, OptIntList dim, bool unbiased,
                                        bool keepdim) {
  return var_mean(self, dim, correction_from(unbiased), keepdim);
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, OptIntList dim,
                                    std::optional<Scalar> correction, bool keepdim) {
  return {facula::std(self, dim, correction, keepdim), mean(self, dim, keepdim)};
}
std::tuple<Tensor, Tensor> std_mean_unbiased(const Tensor& self, bool unbiased) {
  return std_mean(self, std::nullopt, correction_from(unbiased), false);
}
std::tuple<Tensor, Tensor> std_mean_dim(const Tensor& self, OptIntList dim, bool unbiased,
                                        bool keepdim) {
  return std_mean(self, dim, correction_from(unbiased), keepdim);
}

Tensor var_backward(const Tensor& grad, const Tensor& self, OptIntList dim,
                    std::optional<Scalar> correction, bool keepdim) {
  double n = static_cast<double>(reduced_numel(self.sizes(), dim));
  double divisor = n - correction_of(correction);
  Tensor wide = expand_reduced(grad, self.sizes(), dim, keepdim);
  if (divisor <= 0) return mul(wide, Scalar(std::nan("")));
  return mul(mul(wide, sub(self, mean(self, dim, true))), Scalar(2.0 / divisor));
}

Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptIntList dim,
                    std::optional<Scalar> correction, bool keepdim) {
  Tensor slope = where(eq(result, Scalar(0)), Scalar(0), div(grad, mul(result, Scalar(2))));
  return var_backward(slope, self, dim, correction, keepdim);
}

Tensor vector_norm_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                            const Scalar& ord, OptIntList dim, bool keepdim) {
  double p = ord.to_double();
  Tensor g = expand_reduced(grad, self.sizes(), dim, keepdim);
  Tensor r = expand_reduced(result, self.sizes(), dim, keepdim);
  if (p == 0) return zeros_like(self);
  if (p == 1) return mul(sgn(self), g);
  if (std::isinf(p)) {
    Tensor best = eq(abs(self), r);
    Tensor count = sum(best, dim, true);
    return mul(sgn(self), where(best, div(g, count), Scalar(0)));
  }
  Tensor none = eq(r, Scalar(0));
  if (p == 2) return mul(self, where(none, Scalar(0), div(g, r)));
  return mul(power_slope(self, p), where(none, Scalar(0), div(g, pow(r, Scalar(p - 1)))));
}

Tensor norm(const Tensor& self, std::optional<Scalar> p, OptIntList dim, bool keepdim,
            std::optional<DType> dtype) {
  return vector_norm(self, p.value_or(Scalar(2)), dim, keepdim, dtype);
}

Tensor norm_named(const Tensor& self, std::string_view p, OptIntList dim, bool keepdim,
                  std::optional<DType> dtype) {
  if (p == "fro") return vector_norm(self, Scalar(2), dim, keepdim, dtype);
  if (p == "nuc") {
    Tensor t = dtype ? cast(self, *dtype) : self;
    return dim ? nuclear_norm_dim(t, *dim, keepdim) : nuclear_norm(t, keepdim);
  }
  raise_error(ErrorKind::kRuntime, "norm: expected 'fro', 'nuc' or a number as p, got '",
              std::string(p), "'");
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return vector_norm(sub(self, other), p, std::nullopt, false);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  FACULA_CHECK(self.dim() > 1, kRuntime, "renorm: input needs at least 2 dimensions, got ",
               self.dim(), " dimensions");
  FACULA_CHECK(!p.is_complex() && p.to_double() > 0, kRuntime,
               "renorm: expected a positive real p");
  FACULA_CHECK(!maxnorm.is_complex(), kRuntime, "renorm: maxnorm must be real-valued");
  FACULA_CHECK(maxnorm.to_double() >= 0, kRuntime, "renorm: expected maxnorm to be >= 0 but got ",
               maxnorm.to_double());
  dim = wrap_dim(dim, self.dim(), "renorm");
  Sizes others;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim) others.push_back(d);
  }
  Tensor size = vector_norm(self, p, IntList(others), true);
  Tensor scale = div(Scalar(maxnorm), add(size, Scalar(1e-7)));
  return mul(self, where(gt(size, Scalar(maxnorm)), scale, Scalar(1)));
}

Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntList dim,
                          bool keepdim) {
  Tensor g = expand_reduced(grad, self.sizes(), dim, keepdim);
  Tensor r = expand_reduced(result, self.sizes(), dim, keepdim);
  if (self.is_complex()) return mul(g, conj(exp(sub(self, r))));
  return mul(g, exp(sub(self, where(isinf(r), Scalar(0), r))));
}

}  // namespace facula
