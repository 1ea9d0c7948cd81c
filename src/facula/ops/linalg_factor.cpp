// Cholesky, LU and LDL factors with their derivatives, and what is solved with them.
#include <cstdlib>

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
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {

using namespace linalg;

namespace {

Tensor new_info(const Tensor& a) { return new_empty(batch_sizes(a), kInt32, a.device()); }

// check_blocks refuses pivots that are not those of a Bunch-Kaufman factor: a negative one belongs
// to a block of two rows and stands twice.
void check_blocks(const Tensor& pivots, int64_t n) {
  const int32_t* p = pivots.data_as<int32_t>();
  auto inside = [n](int32_t v) { return v != 0 && std::abs(static_cast<int64_t>(v)) <= n; };
  for (int64_t start = 0; start < pivots.numel(); start += n) {
    for (int64_t k = 0; k < n; ++k) {
      const int32_t* at = p + start + k;
      bool pair = at[0] < 0;
      bool good = inside(at[0]) && (!pair || (k + 1 < n && at[1] < 0 && inside(at[1])));
      FACULA_CHECK(good, kRuntime, "linalg.ldl_solve: pivots are not those of ldl_factor: got ",
                   at[0], " at row ", k, " of ", n);
      k += pair;
    }
  }
}

// The gradient of square P L U with respect to P^T A, given those of L (strictly below) and U.
Tensor square_lu_gradient(const Tensor& l, const Tensor& u, const Tensor& inner) {
  Tensor right = linalg_solve_triangular(adjoint_of(u), inner, false, false, false);
  return linalg_solve_triangular(adjoint_of(l), right, true, true, true);
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  check_square("linalg.cholesky", self);
  Tensor l = columns(self), info = new_info(self);
  if (self.is_meta()) return {l, info};
  {
    LongWork work(l.numel());
    kernels::cholesky_factor(l.dtype(), info.numel(), l.size(-1), upper, l.data(),
                             info.data_as<int32_t>());
  }
  if (check_errors) check_info("linalg.cholesky_ex", info, Trouble::kCholesky);
  return {l, info};
}

Tensor cholesky_solve(const Tensor& self, const Tensor& L, bool upper) {
  const char* op = "cholesky_solve";
  check_matrix(op, self, "b");
  check_square(op, L);
  check_same_type(op, L, self);
  FACULA_CHECK(L.size(-1) == self.size(-2), kRuntime,
               "Incompatible matrix sizes for cholesky_solve: each A matrix is ", L.size(-1),
               " by ", L.size(-1), " but each b matrix is ", self.size(-2), " by ", self.size(-1));
  NoGrad no_grad;
  Tensor lower = upper ? adjoint_of(L) : L, raised = upper ? L : adjoint_of(L);
  Tensor half = facula::linalg_solve_triangular(lower, self, false, true, false);
  return facula::linalg_solve_triangular(raised, half, true, true, false);
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  check_square("cholesky_inverse", self);
  NoGrad no_grad;
  return facula::cholesky_solve(identity(self.size(-1), self), self, upper);
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot,
                                                       bool check_errors) {
  check_matrix("linalg.lu_factor_ex", A);
  int64_t m = A.size(-2), n = A.size(-1);
  Tensor lu = columns(A), info = new_info(A);
  Tensor pivots = new_empty(with(batch_sizes(A), {std::min(m, n)}), kInt32, A.device());
  if (A.is_meta()) return {lu, pivots, info};
  {
    LongWork work(lu.numel());
    kernels::lu_factor(lu.dtype(), info.numel(), m, n, pivot, lu.data(), pivots.data_as<int32_t>(),
                       info.data_as<int32_t>());
  }
  if (check_errors) check_info("linalg.lu_factor_ex", info, Trouble::kFactor);
  return {lu, pivots, info};
}

std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self, bool hermitian,
                                                        bool check_errors) {
  check_square("linalg.ldl_factor_ex", self);
  Tensor ld = columns(self), info = new_info(self);
  Tensor pivots = new_empty(with(batch_sizes(self), {self.size(-1)}), kInt32, self.device());
  if (self.is_meta()) return {ld, pivots, info};
  {
    LongWork work(ld.numel());
    kernels::ldl_factor(ld.dtype(), info.numel(), ld.size(-1), hermitian, ld.data(),
                        pivots.data_as<int32_t>(), info.data_as<int32_t>());
  }
  copy_raw(ld, tril(ld));
  if (check_errors) check_info("linalg.ldl_factor_ex", info, Trouble::kLdl);
  return {ld, pivots, info};
}

Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
  const char* op = "linalg.ldl_solve";
  check_pivots(op, LD, pivots);
  check_system(op, LD, B, true);
  Sizes batch = broadcast_sizes(batch_sizes(LD), batch_sizes(B), op);
  Tensor x = columns(B, batch);
  if (x.is_meta()) return x;
  NoGrad no_grad;
  Tensor ld = columns(LD, batch);
  Tensor swaps = contiguous(expand(pivots, with(batch, {LD.size(-1)})));
  if (LD.size(-1)) check_blocks(swaps, LD.size(-1));
  LongWork work(x.numel());
  kernels::ldl_solve(x.dtype(), batch_count(batch), x.size(-2), x.size(-1), hermitian, ld.data(),
                     swaps.data_as<int32_t>(), x.data());
  return x;
}

}  // namespace forward

Tensor cholesky_backward(const Tensor& grad, const Tensor& L, bool upper) {
  Tensor l = upper ? adjoint_of(L) : L, g = upper ? adjoint_of(grad) : grad;
  Tensor below = product(adjoint_of(l), g);
  Tensor inner = mul(add(tril(below), adjoint_of(tril(below, -1))), Scalar(0.5));
  Tensor right = linalg_solve_triangular(l, inner, false, false, false);
  return linalg_solve_triangular(adjoint_of(l), right, true, true, false);
}

Tensor linalg_cholesky(const Tensor& self, bool upper) {
  auto [l, info] = linalg_cholesky_ex(self, upper, false);
  check_info("linalg.cholesky", info, Trouble::kCholesky);
  return l;
}

Tensor cholesky(const Tensor& self, bool upper) {
  auto [l, info] = linalg_cholesky_ex(self, upper, false);
  check_info("cholesky", info, Trouble::kCholesky);
  return l;
}

namespace {

// The gradient of (L L^H)^-1 with respect to L, from that with respect to the inverse, or rather to
// A = L L^H: both triangles count.
Tensor factor_gradient(const Tensor& inner, const Tensor& l, bool upper) {
  Tensor both = add(inner, adjoint_of(inner));
  return neg(upper ? product(l, both) : product(both, l));
}

}  // namespace

std::tuple<Tensor, Tensor> cholesky_solve_backward(const Tensor& grad, const Tensor& result,
                                                   const Tensor& L, bool upper) {
  Tensor b = cholesky_solve(grad, L, upper);
  return {b, factor_gradient(product(b, adjoint_of(result)), L, upper)};
}

Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& result, const Tensor& L,
                                 bool upper) {
  return factor_gradient(product(product(result, grad), result), L, upper);
}

Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  Tensor top = facula::narrow(LU, -2, 0, k);
  Tensor square = facula::narrow(top, -1, 0, k),
         g = facula::narrow(narrow(grad, -2, 0, k), -1, 0, k);
  Tensor u = triu(square), l = add(tril(square, -1), identity(k, LU));
  Tensor below = product(adjoint_of(l), tril(g, -1)), above = product(triu(g), adjoint_of(u));
  Tensor result;
  if (n > m) {
    Tensor far = facula::narrow(top, -1, k, n - k), far_grad = facula::narrow(grad, -1, k, n - k);
    below = sub(below, product(far_grad, adjoint_of(far)));
    result = square_lu_gradient(l, u, add(tril(below, -1), triu(above)));
    Tensor rest = linalg_solve_triangular(adjoint_of(l), far_grad, true, true, true);
    result = cat(std::vector<Tensor>{result, rest}, -1);
  } else if (m > n) {
    Tensor low = facula::narrow(LU, -2, k, m - k), low_grad = facula::narrow(grad, -2, k, m - k);
    above = sub(above, product(adjoint_of(low), low_grad));
    result = square_lu_gradient(l, u, add(tril(below, -1), triu(above)));
    Tensor rest = linalg_solve_triangular(adjoint_of(u), low_grad, false, false, false);
    result = cat(std::vector<Tensor>{result, rest}, -2);
  } else {
    result = square_lu_gradient(l, u, add(tril(below, -1), triu(above)));
  }
  return permuted(result, inverse_rows(rows_of(pivots, m)), -2);
}

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  auto [lu, pivots, info] = linalg_lu_factor_ex(A, pivot, false);
  check_info("linalg.lu_factor", info, Trouble::kFactor);
  return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> lu_with_info(const Tensor& self, bool pivot, bool check_errors) {
  return linalg_lu_factor_ex(self, pivot, check_errors);
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) {
  check_matrix("linalg.lu", A);
  auto [lu, pivots, info] = linalg_lu_factor_ex(A, pivot, false);
  return lu_unpack(lu, pivots, true, true);
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots,
                                             bool unpack_data, bool unpack_pivots) {
  check_pivots("lu_unpack", LU_data, LU_pivots);
  int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
  Tensor none = new_empty({0}, LU_data.dtype(), LU_data.device());
  Tensor p = none, l = none, u = none;
  if (unpack_data) {
    l = tril(facula::narrow(LU_data, -1, 0, k), -1);
    l = add(l, facula::eye_m(m, k, LU_data.dtype(), LU_data.device()));
    u = triu(facula::narrow(LU_data, -2, 0, k));
  }
  if (unpack_pivots) {
    NoGrad no_grad;
    Tensor rows = unsqueeze(rows_of(LU_pivots, m), -2);
    Tensor numbers = unsqueeze(arange_end(Scalar(m), kInt64, LU_data.device()), -1);
    p = facula::cast(eq(numbers, rows), LU_data.dtype());
  }
  return {p, l, u};
}

Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                       bool adjoint) {
  const char* op = "linalg.lu_solve";
  check_pivots(op, LU, pivots);
  check_system(op, LU, B, left);
  int64_t n = LU.size(-1);
  Sizes batch = broadcast_sizes(batch_sizes(LU), batch_sizes(B), op);
  Tensor x = expand(B, with(batch, {B.size(-2), B.size(-1)}));
  Tensor rows = rows_of(pivots, n);
  int64_t dim = left ? -2 : -1;
  auto solve = [&](bool upper) {
    Tensor a = adjoint ? adjoint_of(LU) : LU;
    x = linalg_solve_triangular(a, x, upper != adjoint, left, !upper);
  };
  // A = P L U. The permutation comes first when it stands beside B, else last.
  bool first = left != adjoint;
  if (first) x = permuted(x, rows, dim);
  solve(!first);
  solve(first);
  return first ? x : permuted(x, inverse_rows(rows), dim);
}

Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  return linalg_lu_solve(LU_data, LU_pivots, self, true, false);
}

std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian) {
  auto [ld, pivots, info] = linalg_ldl_factor_ex(self, hermitian, false);
  check_info("linalg.ldl_factor", info, Trouble::kLdl);
  return {ld, pivots};
}

}  // namespace facula
