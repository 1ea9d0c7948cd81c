// Systems of equations: triangular and general ones, inverses and determinants, with derivatives.
#include "facula/autograd/meta.h"
#include "facula/kernels/lapack.h"
#include "facula/ops/arithmetic_functions.h"
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
#include "facula/ops/warn.h"

namespace facula {

using namespace linalg;

namespace {

// batch_step gives the distance between the matrices of a batch if it is the same everywhere (0 for
// a single one), or -1.
int64_t batch_step(const Tensor& t) {
  int64_t step = -1, count = 1;
  for (int64_t d = t.dim() - 3; d >= 0; --d) {
    if (t->sizes[d] == 1) continue;
    if (step < 0) step = t->strides[d];
    if (t->strides[d] != step * count) return -1;
    count *= t->sizes[d];
  }
  return step < 0 ? 0 : step;
}

// set_triangle points a call at the matrices of `a`, as they lie or copied; returns their owner.
Tensor set_triangle(kernels::Triangular& t, const Tensor& a, IntList batch) {
  int64_t n = a.size(-1), row = a.stride(-2), col = a.stride(-1);
  bool by_columns = (row == 1 || n <= 1) && (col >= n || n <= 1);
  bool by_rows = (col == 1 || n <= 1) && (row >= n || n <= 1);
  int64_t step = batch_step(a);
  bool one = batch_count(batch_sizes(a)) == 1;
  Tensor owner = a;
  if (step < 0 || !(by_columns || by_rows) || !(one || batch_sizes(a) == batch)) {
    owner = one ? columns(a) : columns(a, batch);
    by_columns = true;
    step = n * n;
    col = owner.stride(-1);
  }
  t.transposed = !by_columns;
  if (t.transposed) t.upper = !t.upper;
  t.lda = std::max<int64_t>({by_columns ? col : row, n, 1});
  t.a_step = one ? 0 : step;
  t.a = owner.data();
  return owner;
}

// The sign of the permutations that pivots describe, as factors of the given type.
Tensor parity_of(const Tensor& pivots, DType dtype) {
  IntList batch(pivots->sizes, static_cast<size_t>(pivots.dim() - 1));
  Tensor out = new_empty(batch, kInt32);
  const int32_t* swaps = pivots.data_as<int32_t>();
  int64_t n = pivots.size(-1);
  for (int64_t b = 0; b < out.numel(); ++b) {
    int32_t sign = 1;
    for (int64_t i = 0; i < n; ++i) sign = swaps[b * n + i] == i + 1 ? sign : -sign;
    out.data_as<int32_t>()[b] = sign;
  }
  return to_dtype(out, dtype);
}

Tensor main_diagonal(const Tensor& t) { return diagonal(t, 0, -2, -1); }

// times_matrix multiplies matrices by one number each.
Tensor times_matrix(const Tensor& numbers, const Tensor& t) {
  return mul(unsqueeze(unsqueeze(numbers, -1), -1), t);
}

// adjugate_adjoint gives the adjoint of the adjugate from singular values: finite for singular
// matrices, where det(A) A^-H is not.
Tensor adjugate_adjoint(const Tensor& A) {
  auto [u, s, vh] = linalg_svd(A, false, std::nullopt);
  int64_t n = s.size(-1);
  // Products of all singular values but one: the diagonal of a table is replaced by ones.
  Tensor table = expand(unsqueeze(s, -2), with(batch_sizes(A), {n, n}));
  Tensor diagonal_mask = facula::cast(identity(n, s), kBool);
  Tensor others = prod_dim(facula::where(diagonal_mask, Scalar(1), table), -1, false);
  Tensor phase = conj_complex(linalg_det(product(u, vh)));
  Tensor scaled_u = mul(u, unsqueeze(facula::cast(others, u.dtype()), -2));
  return times_matrix(phase, product(scaled_u, vh));
}

// adjoint_solution gives A^-H b: from the factors, or anew where it will be differentiated again.
Tensor adjoint_solution(const Tensor& A, const Tensor& LU, const Tensor& pivots, const Tensor& b) {
  if (!grad_enabled()) return linalg_lu_solve(LU, pivots, b, true, true);
  return std::get<0>(linalg_solve_ex(adjoint_of(A), b, true, false));
}

}  // namespace

namespace forward {

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left,
                               bool unitriangular) {
  const char* op = "linalg.solve_triangular";
  check_system(op, self, B, left);
  Sizes batch = broadcast_sizes(batch_sizes(self), batch_sizes(B), op);
  Tensor x = columns(B, batch);
  if (x.is_meta() || x.numel() == 0) return x;
  kernels::Triangular t;
  t.dtype = x.dtype();
  t.left = left, t.upper = upper, t.unit = unitriangular;
  t.count = batch_count(batch), t.m = x.size(-2), t.n = x.size(-1);
  t.b = x.data();
  Tensor owner = set_triangle(t, self, batch);
  LongWork work(x.numel());
  kernels::solve_triangles(t);
  return x;
}

std::tuple<Tensor, Tensor, Tensor, Tensor> solve_factors(const Tensor& A, const Tensor& B,
                                                         bool left) {
  NoGrad no_grad;
  auto [lu, pivots, info] = facula::linalg_lu_factor_ex(A, true, false);
  return {linalg_lu_solve(lu, pivots, B, left, false), lu, pivots, info};
}

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors) {
  check_square("linalg.inv", A);
  NoGrad no_grad;
  auto [lu, pivots, info] = facula::linalg_lu_factor_ex(A, true, false);
  if (A.is_meta()) return {lu, info};
  {
    LongWork work(lu.numel());
    kernels::lu_inverse(lu.dtype(), info.numel(), lu.size(-1), lu.data(), pivots.data_as<int32_t>(),
                        info.data_as<int32_t>());
  }
  if (any_true(ne(info, Scalar(0)))) {
    if (check_errors) check_info("linalg.inv_ex", info, Trouble::kInverse);
    Tensor bad = unsqueeze(unsqueeze(ne(info, Scalar(0)), -1), -1);
    copy_raw(lu, masked_fill(lu, bad, Scalar(NAN)));
  }
  return {lu, info};
}

std::tuple<Tensor, Tensor, Tensor> det_factors(const Tensor& A) {
  check_square("linalg.det", A);
  NoGrad no_grad;
  auto [lu, pivots, info] = facula::linalg_lu_factor_ex(A, true, false);
  if (A.is_meta()) return {new_empty(batch_sizes(A), A.dtype(), A.device()), lu, pivots};
  Tensor pure = prod_dim(main_diagonal(lu), -1, false);
  return {mul(pure, parity_of(pivots, A.dtype())), lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> slogdet_factors(const Tensor& A) {
  check_square("linalg.slogdet", A);
  NoGrad no_grad;
  auto [lu, pivots, info] = facula::linalg_lu_factor_ex(A, true, false);
  if (A.is_meta()) {
    return {new_empty(batch_sizes(A), A.dtype(), A.device()),
            new_empty(batch_sizes(A), real_type(A.dtype()), A.device()), lu, pivots};
  }
  Tensor d = main_diagonal(lu);
  Tensor sign = mul(prod_dim(sgn(d), -1, false), parity_of(pivots, A.dtype()));
  return {sign, facula::sum(log(facula::abs(d)), IntList(-1)), lu, pivots};
}

}  // namespace forward

std::tuple<Tensor, Tensor> solve_triangular_backward(const Tensor& grad, const Tensor& A,
                                                     const Tensor& result, bool upper, bool left,
                                                     bool unitriangular, uint64_t mask) {
  Tensor b = linalg_solve_triangular(adjoint_of(A), grad, !upper, left, unitriangular);
  Tensor a;
  if (mask & 1) {
    a = left ? product(b, adjoint_of(result)) : product(adjoint_of(result), b);
    a = neg(upper ? triu(a, unitriangular) : tril(a, unitriangular ? -1 : 0));
  }
  return {a, b};
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper,
                                            bool transpose, bool unitriangular) {
  check_system("triangular_solve", A, self, true);
  static std::atomic<bool> said{false};
  warn_once(
      said,
      "facula.triangular_solve is deprecated in favor of facula.linalg.solve_triangular, which "
      "takes A first, the side as upper=, and gives no copy of A.");
  Tensor a = transpose ? swap_last(A) : A;
  Tensor x = linalg_solve_triangular(a, self, upper != transpose, true, unitriangular);
  Sizes batch = batch_sizes(x).to_sizes();
  return {x, clone(expand(A, with(batch, {A.size(-2), A.size(-1)})))};
}

std::tuple<Tensor, Tensor> solve_backward(const Tensor& grad, const Tensor& A, const Tensor& result,
                                          const Tensor& LU, const Tensor& pivots, bool left,
                                          uint64_t mask) {
  Tensor b = grad_enabled() ? std::get<0>(linalg_solve_ex(adjoint_of(A), grad, left, false))
                            : linalg_lu_solve(LU, pivots, grad, left, true);
  Tensor a;
  if (mask & 1) a = neg(left ? product(b, adjoint_of(result)) : product(adjoint_of(result), b));
  return {a, b};
}

namespace {

std::tuple<Tensor, Tensor> solution(const char* op, const Tensor& A, const Tensor& B, bool left,
                                    bool check) {
  check_square(op, A);
  bool vector = is_vector_system(A, B);
  FACULA_CHECK(left || !vector, kRuntime, op,
               ": Vector broadcasting of the left hand side is not supported for left=False");
  Tensor b = vector ? unsqueeze(B, -1) : B;
  check_system(op, A, b, left);
  auto [x, lu, pivots, info] = solve_factors(A, b, left);
  if (check) check_info(op, info, Trouble::kSolve);
  return {vector ? squeeze_dim(x, IntList(-1)) : x, info};
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                           bool check_errors) {
  return solution(check_errors ? "linalg.solve_ex" : "linalg.solve", A, B, left, check_errors);
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  return std::get<0>(solution("linalg.solve", A, B, left, true));
}

Tensor linalg_inv(const Tensor& A) {
  auto [inverse, info] = linalg_inv_ex(A, false);
  check_info("linalg.inv", info, Trouble::kInverse);
  return inverse;
}

Tensor inverse(const Tensor& self) { return linalg_inv(self); }

Tensor linalg_det(const Tensor& A) { return std::get<0>(det_factors(A)); }

Tensor det_backward(const Tensor& grad, const Tensor& A, const Tensor& det, const Tensor& LU,
                    const Tensor& pivots) {
  if (A.numel() == 0) return facula::zeros_like(A);
  if (any_true(eq(det, Scalar(0)))) return times_matrix(grad, adjugate_adjoint(A));
  Tensor d = diag_embed(
      expand(unsqueeze(mul(grad, conj_complex(det)), -1), with(batch_sizes(A), {A.size(-1)})));
  return adjoint_solution(A, LU, pivots, d);
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  auto [sign, logabsdet, lu, pivots] = slogdet_factors(A);
  return {sign, logabsdet};
}

std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return linalg_slogdet(self); }

Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_logabsdet, const Tensor& A,
                        const Tensor& sign, const Tensor& LU, const Tensor& pivots) {
  Tensor factor = facula::cast(grad_logabsdet, A.dtype());
  if (A.is_complex()) {
    // d sign = i sign Im(tr(A^-1 dA)).
    Tensor turn = imag(mul(conj(grad_sign), sign));
    factor = sub(factor, mul(turn, Scalar(std::complex<double>(0, 1))));
  }
  Tensor d = diag_embed(expand(unsqueeze(factor, -1), with(batch_sizes(A), {A.size(-1)})));
  return adjoint_solution(A, LU, pivots, d);
}

Tensor logdet(const Tensor& self) {
  auto [sign, logabsdet] = linalg_slogdet(self);
  if (self.is_complex()) return add(log(sign), logabsdet);
  return facula::where(eq(sign, Scalar(-1)), Scalar(NAN), logabsdet);
}

}  // namespace facula
