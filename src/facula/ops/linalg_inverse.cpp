// Pseudo-inverses, least squares, polar factors and functions of matrices, with their derivatives.
#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/kernels/lapack.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/linalg_functions.h"
#include "facula/ops/linalg_support.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/spectral_functions.h"

namespace facula {

using namespace linalg;

namespace {

kernels::LeastSquares driver_of(std::string_view name) {
  if (name == "gels") return kernels::LeastSquares::kGels;
  if (name == "gelsy") return kernels::LeastSquares::kGelsy;
  if (name == "gelsd") return kernels::LeastSquares::kGelsd;
  FACULA_CHECK(
      name == "gelss", kRuntime,
      "linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got ", name);
  return kernels::LeastSquares::kGelss;
}

// within takes what was found for a broadcast batch back to the batch of one operand, on which
// alone it depends; `behind` dimensions follow the batch.
Tensor within(Tensor found, IntList batch, int64_t behind) {
  if (found.numel() == 0) return found;
  while (found.dim() - behind > batch.ssize()) found = facula::select(found, 0, 0);
  for (int64_t d = 0; d < batch.ssize(); ++d) {
    if (found.size(d) != batch[static_cast<size_t>(d)]) found = facula::narrow(found, d, 0, 1);
  }
  return found;
}

// The numerator coefficients of the Pade approximant of degree 13 (Higham 2005, table 2.3).
constexpr double kPade[] = {64764752532480000.,
                            32382376266240000.,
                            7771770303897600.,
                            1187353796428800.,
                            129060195264000.,
                            10559470521600.,
                            670442572800.,
                            33522128640.,
                            1323241920.,
                            40840800.,
                            960960.,
                            16380.,
                            182.,
                            1.};

// pade gives exp(A) for matrices of 1-norm up to 5.37.
Tensor pade(const Tensor& a) {
  auto term = [](const Tensor& t, int k) { return mul(t, Scalar(kPade[k])); };
  Tensor one = identity(a.size(-1), a);
  Tensor a2 = product(a, a), a4 = product(a2, a2), a6 = product(a4, a2);
  Tensor high = product(a6, add(add(term(a6, 13), term(a4, 11)), term(a2, 9)));
  Tensor low = add(add(term(a6, 7), term(a4, 5)), add(term(a2, 3), term(one, 1)));
  Tensor odd = product(a, add(high, low));
  high = product(a6, add(add(term(a6, 12), term(a4, 10)), term(a2, 8)));
  low = add(add(term(a6, 6), term(a4, 4)), add(term(a2, 2), term(one, 0)));
  Tensor even = add(high, low);
  return std::get<0>(linalg_solve_ex(sub(even, odd), add(even, odd), true, false));
}

}  // namespace

namespace forward {

Tensor pseudo_inverse(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  const char* op = "linalg.pinv";
  hermitian ? check_square(op, A) : check_matrix(op, A);
  NoGrad no_grad;
  int64_t m = A.size(-2), n = A.size(-1);
  if (A.numel() == 0) return new_empty(with(batch_sizes(A), {n, m}), A.dtype(), A.device());
  if (A.is_meta()) return new_empty(with(batch_sizes(A), {n, m}), A.dtype(), A.device());
  // Columns times the inverse of their significant values, and 0 for the others.
  auto divided = [&](const Tensor& columns, const Tensor& values) {
    Tensor kept = significant(facula::abs(values), std::max(m, n), atol, rtol);
    Tensor inverse = facula::where(kept, reciprocal(values), Scalar(0));
    return mul(columns, unsqueeze(facula::cast(inverse, columns.dtype()), -2));
  };
  if (hermitian) {
    auto [w, v] = facula::linalg_eigh(A, "L");
    return product(divided(v, w), adjoint_of(v));
  }
  auto [u, s, vh] = facula::linalg_svd(A, false, std::nullopt);
  return product(divided(adjoint_of(vh), s), adjoint_of(u));
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq_parts(const Tensor& A, const Tensor& B,
                                                       std::optional<double> rcond,
                                                       std::string_view driver) {
  const char* op = "linalg.lstsq";
  auto kind = driver_of(driver);
  NoGrad no_grad;
  int64_t m = A.size(-2), n = A.size(-1), k = B.size(-1), small = std::min(m, n);
  Sizes batch = broadcast_sizes(batch_sizes(A), batch_sizes(B), op);
  Device device = A.device();
  DType type = A.dtype(), real = real_type(type);
  bool has_rank = kind != kernels::LeastSquares::kGels;
  bool has_values = has_rank && kind != kernels::LeastSquares::kGelsy;
  Tensor rank = has_rank ? facula::zeros(batch, kInt64, device) : new_empty({0}, kInt64, device);
  Tensor values =
      has_values ? facula::zeros(with(batch, {small}), real, device) : new_empty({0}, real, device);
  Tensor none = new_empty({0}, real, device);
  if (A.is_meta()) return {new_empty(with(batch, {n, k}), type, device), none, rank, values};
  if (m == 0 || n == 0 || k == 0) {
    // No column explains anything: all of B remains.
    bool all = n == 0 && m != 0 && kind != kernels::LeastSquares::kGelsy;
    Tensor rest = all ? facula::sum(square(facula::abs(B)), IntList(-2), false) : none;
    return {facula::zeros(with(batch, {n, k}), type, device), rest, rank, values};
  }
  double eps = epsilon_of(real);
  Tensor a = columns(A, batch);
  Tensor x = new_columns(batch, std::max(m, n), k, type, device);
  fill_raw(x, Scalar(0));
  copy_raw(facula::narrow(x, -2, 0, m), B);
  Tensor info = new_empty(batch, kInt32);
  {
    LongWork work(a.numel());
    kernels::least_squares(type, info.numel(), kind, m, n, k,
                           rcond.value_or(eps * static_cast<double>(std::max(m, n))), a.data(),
                           x.data(), has_rank ? rank.data_as<int64_t>() : nullptr,
                           has_values ? values.data() : nullptr, info.data_as<int32_t>());
  }
  check_info(op, info, Trouble::kRank);
  Tensor solution = facula::narrow(x, -2, 0, n);
  // gelsy leaves no residuals below the solution.
  bool rest = m > n && kind != kernels::LeastSquares::kGelsy;
  if (!rest || (has_rank && any_true(ne(rank, Scalar(n))))) {
    return {alias(solution), none, rank, values};
  }
  Tensor gap = facula::abs(facula::narrow(x, -2, n, m - n));
  return {alias(solution), facula::sum(square(gap), IntList(-2), false), rank, values};
}

std::tuple<Tensor, Tensor> linalg_polar(const Tensor& A) {
  check_matrix("linalg.polar", A);
  FACULA_CHECK(A.size(-2) >= A.size(-1), kRuntime,
               "linalg.polar: input must have at least as many rows as columns, but got ",
               A.size(-2), " by ", A.size(-1), " matrices");
  NoGrad no_grad;
  auto [u, s, vh] = facula::linalg_svd(A, false, std::nullopt);
  Tensor v = adjoint_of(vh);
  return {product(u, vh), product(mul(v, unsqueeze(facula::cast(s, v.dtype()), -2)), vh)};
}

Tensor sylvester(const Tensor& H, const Tensor& C) {
  NoGrad no_grad;
  auto [w, v] = facula::linalg_eigh(H, "L");
  Tensor inner = product(adjoint_of(v), product(C, v));
  Tensor sums = add(unsqueeze(w, -2), unsqueeze(w, -1));
  return product(v, product(div(inner, sums), adjoint_of(v)));
}

Tensor linalg_matrix_sqrth(const Tensor& self) {
  check_square("linalg.matrix_sqrth", self);
  NoGrad no_grad;
  auto [w, v] = facula::linalg_eigh(self, "L");
  return product(mul(v, unsqueeze(facula::cast(sqrt(w), v.dtype()), -2)), adjoint_of(v));
}

Tensor matrix_exp(const Tensor& self) {
  NoGrad no_grad;
  if (is_reduced(self.dtype())) {
    return facula::cast(forward::matrix_exp(facula::cast(self, kFloat32)), self.dtype());
  }
  check_square("linalg.matrix_exp", self);
  if (self.numel() == 0 || self.is_meta()) {
    return new_empty(self.sizes(), self.dtype(), self.device());
  }
  // Halve each matrix until its norm is small, then square as often.
  Tensor norms =
      facula::amax(facula::sum(facula::abs(self), IntList(-2), false), IntList(-1), false);
  Tensor halvings = ceil(log2(div(norms, Scalar(5.371920351148152))));
  halvings = clamp_min(facula::where(isfinite(halvings), halvings, Scalar(0)), Scalar(0));
  Tensor most = facula::cast(facula::max(halvings), kFloat64);
  int64_t rounds = static_cast<int64_t>(most.data_as<double>()[0]);
  auto each = [](const Tensor& t) { return unsqueeze(unsqueeze(t, -1), -1); };
  Tensor result = pade(mul(self, facula::cast(each(exp2(neg(halvings))), self.dtype())));
  for (int64_t i = 0; i < rounds; ++i) {
    Tensor squared = product(result, result);
    result = facula::where(each(gt(halvings, Scalar(i))), squared, result);
  }
  return result;
}

}  // namespace forward

Tensor pinv_backward(const Tensor& grad, const Tensor& pinv, const Tensor& A) {
  Tensor gh = adjoint_of(grad), ph = adjoint_of(pinv);
  Tensor first = neg(product(ph, product(grad, ph)));
  Tensor right = product(gh, product(pinv, ph)), left = product(product(ph, pinv), gh);
  Tensor outside_rows = sub(right, product(A, product(pinv, right)));
  Tensor outside_columns = sub(left, product(product(left, pinv), A));
  return add(first, add(outside_rows, outside_columns));
}

Tensor linalg_pinv(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                   bool hermitian) {
  check_matrix("linalg.pinv", self);
  return pseudo_inverse(self, tolerance(atol, self), tolerance(rtol, self), hermitian);
}
Tensor linalg_pinv_tensor(const Tensor& self, const Tensor& atol, const Tensor& rtol,
                          bool hermitian) {
  return pseudo_inverse(self, atol, rtol, hermitian);
}
Tensor linalg_pinv_rcond(const Tensor& self, double rcond, bool hermitian) {
  return linalg_pinv(self, 0.0, rcond, hermitian);
}
Tensor linalg_pinv_rcond_tensor(const Tensor& self, const Tensor& rcond, bool hermitian) {
  check_matrix("linalg.pinv", self);
  return pseudo_inverse(self, tolerance(0.0, self), rcond, hermitian);
}
Tensor pinverse(const Tensor& self, double rcond) { return linalg_pinv(self, 0.0, rcond, false); }

std::tuple<Tensor, Tensor> lstsq_backward(const Tensor& grad_solution, const Tensor& grad_residuals,
                                          const Tensor& A, const Tensor& B, const Tensor& solution,
                                          uint64_t mask) {
  Tensor a, b;
  auto include = [](Tensor& sum, const Tensor& t) { sum = sum.defined() ? add(sum, t) : t; };
  if (grad_solution.defined()) {
    Tensor inverse = linalg_pinv(A, std::nullopt, std::nullopt, false);
    if (mask & 1) include(a, pinv_backward(product(grad_solution, adjoint_of(B)), inverse, A));
    if (mask & 2) include(b, product(adjoint_of(inverse), grad_solution));
  }
  if (grad_residuals.defined() && grad_residuals.numel() != 0) {
    // r = |A X - B|^2 with A^H (A X - B) = 0, so that X counts as fixed.
    Tensor gap = sub(product(A, solution), B);
    Tensor slope =
        mul(mul(gap, Scalar(2)), unsqueeze(facula::cast(grad_residuals, gap.dtype()), -2));
    if (mask & 1) include(a, product(slope, adjoint_of(solution)));
    if (mask & 2) include(b, neg(slope));
  }
  return {a, b};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  const char* op = "linalg.lstsq";
  FACULA_CHECK(self.dim() >= 2, kRuntime, op, ": input must have at least 2 dimensions.");
  FACULA_CHECK(b.dim() >= 1, kRuntime, op, ": other must have at least 1 dimension.");
  check_matrix(op, self);
  check_same_type(op, self, b);
  bool vector = b.dim() == 1 || (self.dim() - 1 == b.dim() &&
                                 b.sizes() == IntList(self->sizes, static_cast<size_t>(b.dim())));
  Tensor right = vector ? unsqueeze(b, -1) : b;
  FACULA_CHECK(right.dim() >= 2 && self.size(-2) == right.size(-2), kRuntime, op,
               ": input.size(-2) ", "should match other.size(", vector ? -1 : -2, "), got ",
               list_text(self.sizes()), " and ", list_text(b.sizes()));
  auto [x, residuals, rank, values] = lstsq_parts(self, right, rcond, driver.value_or("gelsy"));
  IntList batch = batch_sizes(self);
  return {vector ? squeeze_dim(x, IntList(-1)) : x, residuals, within(rank, batch, 0),
          within(values, batch, 1)};
}

Tensor polar_backward(const Tensor& grad_U, const Tensor& grad_H, const Tensor& A, const Tensor& U,
                      const Tensor& H) {
  // U^H dA = W H + dH and dU = U W + (1 - U U^H) dA H^-1, W skew: W H + H W = U^H dA - dA^H U.
  Tensor m = sub(product(adjoint_of(U), grad_U), product(grad_H, adjoint_of(H)));
  Tensor turn = sylvester(H, sub(m, adjoint_of(m)));
  Tensor result = product(U, add(grad_H, turn));
  if (A.size(-2) == A.size(-1)) return result;
  Tensor outside = sub(grad_U, product(U, product(adjoint_of(U), grad_U)));
  return add(result, linalg_solve(adjoint_of(H), outside, false));
}

std::tuple<Tensor, Tensor> sylvester_backward(const Tensor& grad, const Tensor& H,
                                              const Tensor& result, uint64_t) {
  Tensor z = sylvester(H, grad);
  Tensor xh = adjoint_of(result);
  return {neg(add(product(xh, z), product(z, xh))), z};
}

Tensor matrix_sqrth_backward(const Tensor& grad, const Tensor& result) {
  return sylvester(result, mul(add(grad, adjoint_of(grad)), Scalar(0.5)));
}

Tensor matrix_exp_backward(const Tensor& grad, const Tensor& self) {
  // exp([[A^H, G], [0, A^H]]) has the derivative in direction G in its corner (Najfeld and Havel).
  if (self.numel() == 0) return facula::zeros_like(self);
  int64_t n = self.size(-1);
  Tensor ah = adjoint_of(self), g = expand(grad, self.sizes());
  Tensor top = cat(std::vector<Tensor>{ah, g}, -1);
  Tensor low = cat(std::vector<Tensor>{facula::zeros_like(ah), ah}, -1);
  Tensor whole = matrix_exp(cat(std::vector<Tensor>{top, low}, -2));
  return facula::narrow(narrow(whole, -2, 0, n), -1, n, n);
}

}  // namespace facula
