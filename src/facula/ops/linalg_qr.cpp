// QR factors and products of Householder reflections, with their derivatives.
#include "facula/autograd/meta.h"
#include "facula/kernels/lapack.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/linalg_functions.h"
#include "facula/ops/linalg_support.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/spectral_functions.h"

namespace facula {

using namespace linalg;

namespace {

void check_reflections(const char* op, const Tensor& vectors, const Tensor& tau) {
  check_matrix(op, vectors, "input");
  int64_t columns = vectors.size(-1);
  FACULA_CHECK(tau.dim() == vectors.dim() - 1 &&
                   IntList(tau->sizes, static_cast<size_t>(tau.dim() - 1)) == batch_sizes(vectors),
               kRuntime, op, ": Expected tau to have one dimension less than input and the same ",
               "batch, got tau of shape ", list_text(tau.sizes()), " and input of shape ",
               list_text(vectors.sizes()));
  FACULA_CHECK(tau.size(-1) <= columns, kRuntime, op,
               ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  FACULA_CHECK(tau.dtype() == vectors.dtype(), kRuntime, op, ": tau dtype ",
               dtype_name(tau.dtype()), " does not match input dtype ",
               dtype_name(vectors.dtype()));
}

// A reflection in the making: its vector as a column (1 on the diagonal) and its factor.
struct Reflection {
  Tensor v, tau;
};

Reflection reflection(const Tensor& vectors, const Tensor& tau, int64_t i) {
  int64_t m = vectors.size(-2);
  Tensor column = facula::narrow(vectors, -1, i, 1);
  Tensor below = tril(column, -i - 1);
  Tensor unit = unsqueeze(facula::narrow(eye(m, vectors.dtype(), vectors.device()), 0, i, 1), -1);
  Tensor v = add(below, reshape(unit, IntList({m, 1})));
  return {v, unsqueeze(facula::narrow(tau, -1, i, 1), -1)};
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode) {
  check_matrix("linalg.qr", A);
  FACULA_CHECK(mode == "reduced" || mode == "complete" || mode == "r", kRuntime,
               "qr received unrecognized mode '", mode,
               "' but expected one of 'reduced' (default), 'r', or 'complete'");
  NoGrad no_grad;
  int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  int64_t q_columns = mode == "complete" ? m : k;
  auto [a, tau] = facula::geqrf(A);
  Tensor r = new_columns(batch_sizes(A), mode == "complete" ? m : k, n, A.dtype(), A.device());
  Tensor q = mode == "r" ? new_empty({0}, A.dtype(), A.device())
                         : new_columns(batch_sizes(A), m, q_columns, A.dtype(), A.device());
  if (A.is_meta()) return {q, r};
  copy_raw(r, triu(facula::narrow(a, -2, 0, r.size(-2))));
  if (mode == "r") return {q, r};
  if (k == 0) {
    copy_raw(q, facula::eye_m(m, q_columns, A.dtype(), A.device()));
    return {q, r};
  }
  copy_raw(facula::narrow(q, -1, 0, k), facula::narrow(a, -1, 0, k));
  if (q_columns > k) fill_raw(facula::narrow(q, -1, k, q_columns - k), Scalar(0));
  LongWork work(q.numel());
  kernels::householder_columns(q.dtype(), batch_count(batch_sizes(q)), m, q_columns, k, q.data(),
                               tau.data());
  return {q, r};
}

std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  check_matrix("geqrf", self);
  int64_t m = self.size(-2), n = self.size(-1);
  Tensor a = columns(self);
  Tensor tau = new_empty(with(batch_sizes(self), {std::min(m, n)}), a.dtype(), a.device());
  if (a.is_meta()) return {a, tau};
  LongWork work(a.numel());
  kernels::qr_factor(a.dtype(), batch_count(batch_sizes(a)), m, n, a.data(), tau.data());
  return {a, tau};
}

Tensor linalg_householder_product(const Tensor& self, const Tensor& tau) {
  const char* op = "linalg.householder_product";
  check_reflections(op, self, tau);
  int64_t m = self.size(-2), n = self.size(-1);
  FACULA_CHECK(m >= n, kRuntime, op,
               ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  Tensor q = columns(self);
  if (q.is_meta()) return q;
  Tensor factors = to_contiguous(tau);
  LongWork work(q.numel());
  kernels::householder_columns(q.dtype(), batch_count(batch_sizes(q)), m, n, tau.size(-1), q.data(),
                               factors.data());
  return q;
}

Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left,
             bool transpose) {
  const char* op = "ormqr";
  FACULA_CHECK(self.dim() >= 2 && other.dim() >= 2, kRuntime, op, ": ",
               self.dim() >= 2 ? "other" : "input", " must have at least 2 dimensions.");
  int64_t most = std::min(other.size(left ? -2 : -1), self.size(-1));
  FACULA_CHECK(tau.dim() > 0 && tau.size(-1) == most, kRuntime, op,
               ": tau.shape[-1] must be equal ", "to min(other.shape[", left ? -2 : -1,
               "], input.shape[-1])");
  check_matrix(op, self, "input");
  check_matrix(op, other, "other");
  check_reflections(op, self, tau);
  check_same_type(op, self, other);
  int64_t order = other.size(left ? -2 : -1), k = tau.size(-1);
  FACULA_CHECK(order == self.size(-2), kRuntime, op, ": other.shape[", left ? -2 : -1,
               "] must be equal to input.shape[-2]");
  FACULA_CHECK(order >= k, kRuntime, op, ": other.shape[", left ? -2 : -1,
               "] must be greater than or equal to tau.shape[-1]");
  FACULA_CHECK(batch_sizes(self) == batch_sizes(other), kRuntime, op,
               ": Expected batch dimensions of other to be equal to those of input, got ",
               list_text(batch_sizes(other)), " and ", list_text(batch_sizes(self)));
  Tensor c = columns(other);
  if (c.is_meta() || c.numel() == 0) return c;
  NoGrad no_grad;
  Tensor a = columns(facula::narrow(self, -1, 0, k)), factors = to_contiguous(tau);
  LongWork work(c.numel());
  kernels::householder_apply(c.dtype(), batch_count(batch_sizes(c)), left, transpose, c.size(-2),
                             c.size(-1), k, a.data(), factors.data(), c.data());
  return c;
}

}  // namespace forward

namespace {

// The gradient of square or tall A = Q R, R square: (gQ + Q S) R^-H with S Hermitian.
Tensor tall_qr_backward(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q,
                        const Tensor& r) {
  Tensor m = triu(sub(product(grad_r, adjoint_of(r)), product(adjoint_of(q), grad_q)));
  Tensor d = diagonal(m, 0, -2, -1);
  Tensor twice = add(m, adjoint_of(m));
  Tensor s = sub(twice, diag_embed(is_complex(d.dtype()) ? facula::cast(real(d), d.dtype()) : d));
  Tensor right = add(grad_q, product(q, s));
  return linalg_solve_triangular(adjoint_of(r), right, false, false, false);
}

}  // namespace

Tensor qr_backward(const Tensor& grad_Q, const Tensor& grad_R, const Tensor& Q, const Tensor& R,
                   std::string_view mode) {
  FACULA_CHECK(mode != "r", kRuntime,
               "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. ",
               "Please use linalg.qr(A, mode='reduced')");
  int64_t m = Q.size(-2), n = R.size(-1);
  FACULA_CHECK(mode == "reduced" || m <= n, kRuntime,
               "The QR decomposition is not differentiable when mode='complete' and nrows > ncols");
  if (m >= n) return tall_qr_backward(grad_Q, grad_R, Q, R);
  Tensor r1 = facula::narrow(R, -1, 0, m), r2 = facula::narrow(R, -1, m, n - m);
  Tensor g1 = facula::narrow(grad_R, -1, 0, m), g2 = facula::narrow(grad_R, -1, m, n - m);
  // The further columns are A2 = Q R2.
  Tensor gq = add(grad_Q, product(product(Q, r2), adjoint_of(g2)));
  return cat(std::vector<Tensor>{tall_qr_backward(gq, g1, Q, r1), product(Q, g2)}, -1);
}

std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) {
  return linalg_qr(self, some ? "reduced" : "complete");
}

std::tuple<Tensor, Tensor> householder_backward(const Tensor& grad, const Tensor& self,
                                                const Tensor& tau, uint64_t) {
  int64_t m = self.size(-2), n = self.size(-1), k = tau.size(-1);
  // Q_i is the product of the reflections from i on, Q_k the identity.
  std::vector<Reflection> parts;
  for (int64_t i = 0; i < k; ++i) parts.push_back(reflection(self, tau, i));
  std::vector<Tensor> q(static_cast<size_t>(k) + 1);
  q[k] = expand(facula::eye_m(m, n, self.dtype(), self.device()), self.sizes());
  auto apply = [](const Tensor& t, const Tensor& v, const Tensor& factor) {
    return sub(t, product(mul(v, factor), product(adjoint_of(v), t)));
  };
  for (int64_t i = k - 1; i > 0; --i) q[i] = apply(q[i + 1], parts[i].v, parts[i].tau);
  Tensor g = grad;
  std::vector<Tensor> vectors, factors;
  for (int64_t i = 0; i < k; ++i) {
    const auto& [v, t] = parts[i];
    Tensor vg = product(adjoint_of(v), g), vq = product(adjoint_of(v), q[i + 1]);
    Tensor cross = product(g, adjoint_of(vq)), back = product(q[i + 1], adjoint_of(vg));
    Tensor gv = neg(add(mul(cross, conj_complex(t)), mul(back, t)));
    vectors.push_back(tril(gv, -i - 1));
    factors.push_back(squeeze_dim(neg(product(vg, adjoint_of(vq))), IntList(-1)));
    g = apply(g, v, conj_complex(t));
  }
  Sizes rest = with(batch_sizes(self), {m, n - k});
  vectors.push_back(facula::zeros(rest, self.dtype(), self.device()));
  Tensor all_factors = k ? cat(factors, -1) : facula::zeros_like(tau);
  return {cat(vectors, -1), all_factors};
}

std::tuple<Tensor, Tensor, Tensor> ormqr_backward(const Tensor& grad, const Tensor& self,
                                                  const Tensor& tau, const Tensor& other, bool left,
                                                  bool transpose, uint64_t mask) {
  Tensor to_other, to_self, to_tau;
  if (mask & 4) to_other = ormqr(self, tau, grad, left, !transpose);
  if (mask & 3) {
    // op(Q) C or C op(Q), with Q as the square product of the reflections.
    int64_t m = self.size(-2), k = tau.size(-1);
    Tensor gq = left ? product(grad, adjoint_of(other)) : product(adjoint_of(other), grad);
    if (transpose) gq = adjoint_of(gq);
    Tensor used = facula::narrow(self, -1, 0, k);
    Tensor padding =
        facula::zeros(with(batch_sizes(self), {m, m - k}), self.dtype(), self.device());
    Tensor square = cat(std::vector<Tensor>{used, padding}, -1);
    auto [vectors, factors] = householder_backward(gq, square, tau, 3);
    Tensor unused = facula::zeros(with(batch_sizes(self), {m, self.size(-1) - k}), self.dtype());
    to_self = cat(std::vector<Tensor>{facula::narrow(vectors, -1, 0, k), unused}, -1);
    to_tau = factors;
  }
  return {to_self, to_tau, to_other};
}

}  // namespace facula
