// Running sums, products and extremes; differences and integrals.
#include "facula/kernels/scan.h"

#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

using kernels::view;

DType scan_type(const Tensor& self, std::optional<DType> dtype) {
  return dtype.value_or(is_inexact(self.dtype()) ? self.dtype() : kInt64);
}

Tensor scanned(const Tensor& self, int64_t dim, DType dtype, const char* op,
               void (*kernel)(const kernels::View&, const kernels::View&, int64_t)) {
  dim = wrap_dim(dim, self.dim(), op);
  Tensor in = to_dtype(self, dtype), r = new_empty(self.sizes(), dtype, self.device());
  if (self.is_meta()) return r;
  LongWork work(self.numel());
  kernel(view(r), view(in), dim);
  return r;
}

using ExtremeFn = void (*)(const kernels::View&, const kernels::View&, const kernels::View&,
                           int64_t);

std::tuple<Tensor, Tensor> scanned_extreme(const Tensor& self, int64_t dim, const char* op,
                                           ExtremeFn kernel) {
  refuse_complex(self, op);
  dim = wrap_dim(dim, self.dim(), op);
  Tensor values = new_empty(self.sizes(), self.dtype(), self.device());
  Tensor indices = new_empty(self.sizes(), kInt64, self.device());
  if (self.is_meta()) return {values, indices};
  LongWork work(self.numel());
  kernel(view(values), view(indices), view(self), dim);
  return {values, indices};
}

Tensor reverse_cumsum(const Tensor& t, int64_t dim) { return flip(cumsum(flip(t, dim), dim), dim); }
Tensor reverse_logcumsumexp(const Tensor& t, int64_t dim) {
  return flip(logcumsumexp(flip(t, dim), dim), dim);
}

// products_without gives [.., i, j] = the product of the elements 0..j without element i.
Tensor products_without(const Tensor& last) {
  Tensor own = eye(last.sizes().back(), kBool, last.device());
  return cumprod(where(own, Scalar(1), unsqueeze(last, -2)), -1);
}

// along takes [start, end) of a dimension.
Tensor along(const Tensor& t, int64_t dim, int64_t start, int64_t length) {
  return narrow(t, dim, start, length);
}

// neighbour_sums gives the sums of neighbours along a dimension.
Tensor neighbour_sums(const Tensor& t, int64_t dim) {
  int64_t n = t.size(dim);
  return add(along(t, dim, 1, n - 1), along(t, dim, 0, n - 1));
}

void refuse_bool(const Tensor& y, const char* op) {
  FACULA_CHECK(y.dtype() != kBool, kNotImplemented, op,
               ": received a bool input for `y`, but bool ", "is not supported");
}

// areas gives the trapezoids between neighbouring points.
Tensor areas(const Tensor& y, const Tensor& x, int64_t dim, const char* op) {
  refuse_bool(y, op);
  Tensor points = x;
  if (x.dim() == 1) {
    FACULA_CHECK(x.size(0) == y.size(dim), kRuntime, op, ": There must be one `x` value for each ",
                 "sample point, got ", x.size(0), " and ", y.size(dim));
    Sizes shape(static_cast<size_t>(y.dim()), 1);
    shape[wrap_dim(dim, y.dim(), op)] = x.size(0);
    points = reshape(x, shape);
  } else if (x.dim() < y.dim()) {
    Sizes shape(static_cast<size_t>(y.dim() - x.dim()), 1);
    for (int64_t s : x.sizes()) shape.push_back(s);
    points = reshape(x, shape);
  }
  int64_t n = points.size(dim);
  Tensor width = sub(along(points, dim, 1, n - 1), along(points, dim, 0, n - 1));
  return mul(neighbour_sums(y, dim), width);
}

Tensor no_points(const Tensor& y, int64_t dim) { return zeros_like(sum(y, IntList(dim))); }

}  // namespace

namespace forward {

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return scanned(self, dim, scan_type(self, dtype), "cumsum", kernels::scan->cumsum);
}
Tensor cumprod(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return scanned(self, dim, scan_type(self, dtype), "cumprod", kernels::scan->cumprod);
}
Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  if (!is_inexact(self.dtype())) {
    raise_error(ErrorKind::kNotImplemented, "\"logcumsumexp\" not implemented for '",
                dtype_title(self.dtype()), "'");
  }
  return scanned(self, dim, self.dtype(), "logcumsumexp", kernels::scan->logcumsumexp);
}
std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  return scanned_extreme(self, dim, "cummax", kernels::scan->cummax);
}
std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) {
  return scanned_extreme(self, dim, "cummin", kernels::scan->cummin);
}

}  // namespace forward

Tensor cumprod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  // Inside vmap the values are out of reach: the way that also holds for zeros is taken.
  bool zeros =
      !self.is_meta() && (!has_data(self) || facula::any(eq(self, Scalar(0))).data_as<bool>()[0]);
  if (!zeros) return div(reverse_cumsum(mul(grad, conj(result)), dim), conj(self));
  // sum over j >= i of grad[j] times the product of the elements up to j without element i
  Tensor terms = mul(conj(products_without(transpose(self, dim, -1))),
                     unsqueeze(transpose(grad, dim, -1), -2));
  return transpose(sum(triu(terms), IntList(-1)), dim, -1);
}

Tensor scanned_backward(const Tensor& grad, int64_t dim, const Tensor& indices, IntList sizes) {
  if (sizes.empty()) return grad;
  return scatter_add(zeros(sizes, grad.dtype(), grad.device()), dim, indices, grad);
}

Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                             int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  // In logarithms, which cannot overflow. Where nothing but -inf came before, any finite result
  // serves, since exp(self) is 0 there.
  Tensor none = full_like(grad, Scalar(-INFINITY)), zero = eq(grad, Scalar(0));
  Tensor empty = eq(self.is_complex() ? real(result) : result, Scalar(-INFINITY));
  Tensor base = where(empty, Scalar(0), result);
  if (self.is_complex()) {
    Tensor size = where(zero, none, log(where(zero, Scalar(1), conj(grad))));
    return conj(exp(add(reverse_logcumsumexp(sub(size, base), dim), self)));
  }
  Tensor size = log(abs(where(zero, Scalar(1), grad)));
  Tensor up = where(le(grad, Scalar(0)), none, size), down = where(ge(grad, Scalar(0)), none, size);
  Tensor plus = exp(add(reverse_logcumsumexp(sub(up, base), dim), self));
  Tensor minus = exp(add(reverse_logcumsumexp(sub(down, base), dim), self));
  return sub(plus, minus);
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend,
            const Tensor& append) {
  FACULA_CHECK(self.dim() > 0, kRuntime, "diff expects input to be at least one-dimensional");
  FACULA_CHECK(n >= 0, kRuntime, "order must be non-negative but got ", n);
  dim = wrap_dim(dim, self.dim(), "diff");
  if (n == 0) return clone(self);
  Tensor r = self;
  if (prepend.defined() || append.defined()) {
    std::vector<Tensor> parts;
    if (prepend.defined()) parts.push_back(prepend);
    parts.push_back(self);
    if (append.defined()) parts.push_back(append);
    r = cat(TensorList(parts), dim);
  }
  for (int64_t i = 0; i < n && r.size(dim) > 0; ++i) {
    int64_t length = r.size(dim);
    Tensor high = along(r, dim, 1, length - 1), low = along(r, dim, 0, length - 1);
    r = r.dtype() == kBool ? logical_xor(high, low) : sub(high, low);
  }
  return r;
}

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  if (y.size(dim) == 0) return no_points(y, dim);
  return div(sum(areas(y, x, dim, "trapezoid"), IntList(dim)), Scalar(2.0));
}

namespace {
void check_step(const Scalar& dx, const char* op) {
  FACULA_CHECK(!dx.is_complex() && !dx.is_bool(), kRuntime, op,
               ": Currently, we only support dx as a real number.");
}
}  // namespace

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  refuse_bool(y, "trapezoid");
  check_step(dx, "trapezoid");
  if (y.size(dim) == 0) return no_points(y, dim);
  return mul(sum(neighbour_sums(y, dim), IntList(dim)), Scalar(dx.to_double() / 2));
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  return div(cumsum(areas(y, x, dim, "cumulative_trapezoid"), dim), Scalar(2.0));
}
Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  refuse_bool(y, "cumulative_trapezoid");
  check_step(dx, "cumulative_trapezoid");
  return mul(cumsum(neighbour_sums(y, dim), dim), Scalar(dx.to_double() / 2));
}

}  // namespace facula
