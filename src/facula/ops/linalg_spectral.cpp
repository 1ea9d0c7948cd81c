// Eigenvalues and singular values with their derivatives.
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

namespace facula {

using namespace linalg;

namespace {

bool reads_upper(std::string_view uplo) {
  FACULA_CHECK(uplo == "L" || uplo == "U" || uplo == "l" || uplo == "u", kRuntime,
               "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  return uplo == "U" || uplo == "u";
}

// Eigenvalues in rising order; a, the column-major copy, becomes the vectors where they are wanted.
Tensor hermitian_values(const Tensor& self, std::string_view uplo, const Tensor& a, bool vectors) {
  bool upper = reads_upper(uplo);
  int64_t n = self.size(-1);
  Tensor values = new_empty(with(batch_sizes(self), {n}), real_type(self.dtype()), self.device());
  if (self.is_meta()) return values;
  Tensor info = new_empty(batch_sizes(self), kInt32);
  {
    LongWork work(a.numel());
    kernels::eigh(a.dtype(), info.numel(), n, upper, vectors, a.data(), values.data(),
                  info.data_as<int32_t>());
  }
  check_info(vectors ? "linalg.eigh" : "linalg.eigvalsh", info, Trouble::kEigenvalues);
  return values;
}

void check_finite(const char* op, const Tensor& t) {
  NoGrad no_grad;
  FACULA_CHECK(!any_true(logical_not(isfinite(t))), kRuntime, op,
               ": input tensor should not contain infs or NaNs.");
}

std::tuple<Tensor, Tensor> general(const char* op, const Tensor& self, bool vectors) {
  check_square(op, self);
  check_finite(op, self);
  DType type = complex_type(self.dtype());
  int64_t n = self.size(-1);
  Tensor values = new_empty(with(batch_sizes(self), {n}), type, self.device()), v;
  if (vectors) v = new_columns(batch_sizes(self), n, n, type, self.device());
  if (self.is_meta()) return {values, v};
  Tensor a = columns(self), info = new_empty(batch_sizes(self), kInt32);
  {
    LongWork work(a.numel());
    kernels::eig(a.dtype(), info.numel(), n, a.data(), values.data(), vectors ? v.data() : nullptr,
                 info.data_as<int32_t>());
  }
  check_info(op, info, Trouble::kEigenvalues);
  return {values, v};
}

// check_converges refuses what the iterations for singular values never get to the end of.
void check_converges(const char* op, const Tensor& t) {
  NoGrad no_grad;
  if (!any_true(logical_not(isfinite(t)))) return;
  throw LinAlgError(str(op,
                        ": The algorithm failed to converge because the input matrix contained ",
                        "non-finite values."));
}

// The kernel's parts: N values only, S thin factors, A square ones.
std::tuple<Tensor, Tensor, Tensor> singular(const char* op, const Tensor& A, char parts) {
  check_matrix(op, A);
  int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  IntList batch = batch_sizes(A);
  Tensor s = new_empty(with(batch, {k}), real_type(A.dtype()), A.device()), u, vh;
  if (parts != 'N') {
    u = new_columns(batch, m, parts == 'A' ? m : k, A.dtype(), A.device());
    vh = new_columns(batch, parts == 'A' ? n : k, n, A.dtype(), A.device());
  }
  if (A.is_meta()) return {u, s, vh};
  if (k == 0) {
    if (parts != 'N') {
      copy_raw(u, facula::eye_m(m, u.size(-1), A.dtype()));
      copy_raw(vh, facula::eye_m(vh.size(-2), n, A.dtype()));
    }
    return {u, s, vh};
  }
  check_converges(op, A);
  Tensor a = columns(A), info = new_empty(batch, kInt32);
  {
    LongWork work(a.numel());
    kernels::svd(a.dtype(), info.numel(), m, n, parts, a.data(), s.data(),
                 u.defined() ? u.data() : nullptr, vh.defined() ? vh.data() : nullptr,
                 info.data_as<int32_t>());
  }
  check_info(op, info, Trouble::kSvd);
  return {u, s, vh};
}

void check_driver(std::optional<std::string_view> driver) {
  FACULA_CHECK(!driver, kRuntime,
               "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs");
}

Tensor skew(const Tensor& t) { return sub(t, adjoint_of(t)); }
Tensor diagonal_of(const Tensor& t) { return diagonal(t, 0, -2, -1); }

// differences gives x_j - x_i, with ones on the diagonal.
Tensor differences(const Tensor& x) {
  Tensor d = sub(unsqueeze(x, -2), unsqueeze(x, -1));
  return add(d, identity(x.size(-1), x));
}

// check_gauge refuses losses that depend on the phase of complex vectors.
void check_gauge(const char* op, const Tensor& phases) {
  if (phases.is_meta() || phases.numel() == 0) return;
  NoGrad no_grad;
  Tensor worst = facula::max(facula::abs(phases));
  FACULA_CHECK(
      !any_true(gt(worst, Scalar(1e-2))), kRuntime, op,
      ": The vectors in the complex case are specified up to multiplication by e^{i phi}. ",
      "The specified loss function depends on this quantity, so it is ill-defined.");
}

Tensor as_type(const Tensor& t, const Tensor& like) { return facula::cast(t, like.dtype()); }

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO) {
  check_square("linalg.eigh", self);
  Tensor vectors = columns(self);
  Tensor values = hermitian_values(self, UPLO, vectors, true);
  return {values, vectors};
}

Tensor eigvalsh_only(const Tensor& self, std::string_view UPLO) {
  check_square("linalg.eigvalsh", self);
  return hermitian_values(self, UPLO, columns(self), false);
}

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) {
  return general("linalg.eig", self, true);
}
Tensor eigvals_only(const Tensor& self) {
  return std::get<0>(general("linalg.eigvals", self, false));
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices,
                                              std::optional<std::string_view> driver) {
  check_driver(driver);
  return singular("linalg.svd", A, full_matrices ? 'A' : 'S');
}
Tensor svdvals_only(const Tensor& A) { return std::get<1>(singular("linalg.svdvals", A, 'N')); }

}  // namespace forward

Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                     const Tensor& vectors) {
  Tensor inner, v = vectors;
  if (grad_vectors.defined()) {
    Tensor g = product(adjoint_of(v), grad_vectors);
    if (g.is_complex()) check_gauge("linalg_eigh_backward", imag(diagonal_of(g)));
    Tensor zero = mul(g, sub(Scalar(1), identity(g.size(-1), g)));
    inner = div(zero, differences(values));
  }
  if (grad_values.defined()) {
    if (!inner.defined()) {
      return product(mul(v, unsqueeze(as_type(grad_values, v), -2)), adjoint_of(v));
    }
    inner = add(inner, diag_embed(as_type(grad_values, v)));
  }
  if (!inner.defined()) return Tensor();
  return product(v, product(inner, adjoint_of(v)));
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  if (recording(self)) return std::get<0>(linalg_eigh(self, UPLO));
  return eigvalsh_only(self, UPLO);
}

Tensor eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                    const Tensor& vectors) {
  const Tensor& v = vectors;
  if (!grad_values.defined() && !grad_vectors.defined()) return Tensor();
  Tensor vh = adjoint_of(v), inner;
  if (grad_vectors.defined()) {
    Tensor g = product(vh, grad_vectors), d = diagonal_of(g);
    check_gauge("linalg_eig_backward", imag(d));
    // Eigenvectors have length 1.
    Tensor tangent = sub(g, product(vh, mul(v, unsqueeze(as_type(real(d), v), -2))));
    Tensor off = mul(tangent, sub(Scalar(1), identity(g.size(-1), g)));
    inner = div(off, conj(differences(values)));
  }
  if (grad_values.defined()) {
    Tensor d = diag_embed(grad_values);
    inner = inner.defined() ? add(inner, d) : d;
  }
  return linalg_solve(vh, product(inner, vh), true);
}

Tensor linalg_eigvals(const Tensor& self) {
  if (recording(self)) return std::get<0>(linalg_eig(self));
  return eigvals_only(self);
}

namespace {

// The part of the gradient of an SVD between the thin factors.
Tensor svd_core(const Tensor& gu, const Tensor& gs, const Tensor& gvh, const Tensor& u,
                const Tensor& s, const Tensor& vh) {
  Tensor core, row = unsqueeze(s, -2), column = unsqueeze(s, -1);
  Tensor gaps = mul(sub(row, column), add(row, column));
  gaps = add(gaps, identity(s.size(-1), s));
  Tensor off = sub(Scalar(1), identity(s.size(-1), s));
  Tensor left, right;
  if (gu.defined()) left = skew(product(adjoint_of(u), gu));
  if (gvh.defined()) right = skew(product(vh, adjoint_of(gvh)));
  if (u.is_complex()) {
    Tensor phases = left.defined() && right.defined() ? add(diagonal_of(left), diagonal_of(right))
                    : left.defined()                  ? diagonal_of(left)
                                                      : diagonal_of(right);
    check_gauge("svd_backward", imag(phases));
  }
  if (left.defined()) core = mul(mul(left, off), row);
  if (right.defined()) {
    Tensor part = mul(column, mul(right, off));
    core = core.defined() ? add(core, part) : part;
  }
  core = div(core, gaps);
  if (u.is_complex() && left.defined()) {
    core = add(core, diag_embed(div(diagonal_of(left), mul(s, Scalar(2)))));
  }
  return gs.defined() ? add(core, diag_embed(as_type(gs, u))) : core;
}

Tensor thin(const Tensor& t, int64_t dim, int64_t k) {
  return t.defined() && t.size(dim) > k ? facula::narrow(t, dim, 0, k) : t;
}

}  // namespace

Tensor svd_backward(const Tensor& grad_U, const Tensor& grad_S, const Tensor& grad_Vh,
                    const Tensor& U, const Tensor& S, const Tensor& Vh) {
  int64_t k = S.size(-1), m = U.size(-2), n = Vh.size(-1);
  Tensor gu = thin(grad_U, -1, k), gvh = thin(grad_Vh, -2, k);
  Tensor u = thin(U, -1, k), vh = thin(Vh, -2, k);
  if (!gu.defined() && !gvh.defined()) {
    if (!grad_S.defined()) return Tensor();
    return product(mul(u, unsqueeze(as_type(grad_S, u), -2)), vh);
  }
  Tensor core = svd_core(gu, grad_S, gvh, u, S, vh);
  if (m > k && gu.defined()) {
    // Directions outside the columns of U.
    Tensor over = div(gu, unsqueeze(S, -2));
    Tensor outside = sub(over, product(u, product(adjoint_of(u), over)));
    return product(add(product(u, core), outside), vh);
  }
  if (n > k && gvh.defined()) {
    Tensor over = div(gvh, unsqueeze(S, -1));
    Tensor outside = sub(over, product(product(over, adjoint_of(vh)), vh));
    return product(u, add(product(core, vh), outside));
  }
  return product(product(u, core), vh);
}

Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  check_driver(driver);
  if (recording(A)) return std::get<1>(linalg_svd(A, false, std::nullopt));
  return svdvals_only(A);
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  check_matrix("svd", self);
  if (compute_uv) {
    auto [u, s, vh] = linalg_svd(self, !some, std::nullopt);
    return {u, s, adjoint_of(vh)};
  }
  int64_t m = self.size(-2), n = self.size(-1);
  Tensor u = facula::zeros(with(batch_sizes(self), {m, m}), self.dtype(), self.device());
  Tensor v = facula::zeros(with(batch_sizes(self), {n, n}), self.dtype(), self.device());
  return {u, linalg_svdvals(self, std::nullopt), v};
}

}  // namespace facula
