// A few singular values or eigenvalues of large matrices: svd_lowrank, pca_lowrank and lobpcg, made
// of products with the matrix and decompositions of small ones.
#include <algorithm>
#include <cmath>
#include <limits>

#include "facula/autograd/meta.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/linalg_functions.h"
#include "facula/ops/linalg_support.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/matrix_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/scatter_mode.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/spectral_functions.h"

namespace facula {

using namespace linalg;

namespace {

using Pairs = std::tuple<Tensor, Tensor>;

// random_matrix draws a start for matrices of the type of `like`, or of the default type.
Tensor random_matrix(int64_t rows, int64_t columns, const Tensor& like) {
  DType type = is_inexact(like.dtype()) ? like.dtype() : default_dtype();
  return randn({rows, columns}, nullptr, type, like.device());
}

// approximate_basis gives q orthonormal columns that nearly span the range of a matrix (Halko,
// Martinsson and Tropp, 2009, algorithm 4.4).
Tensor approximate_basis(const Tensor& a, int64_t q, int64_t niter) {
  // All steps are taken; a basis is as good as it gets after some tens of them.
  constexpr int64_t kMost = 10'000;
  FACULA_CHECK(niter <= kMost, kValue, "svd_lowrank: expected niter of at most ", kMost, ", got ",
               niter);
  auto orthonormal = [](const Tensor& t) { return std::get<0>(linalg_qr(t, "reduced")); };
  Tensor basis = orthonormal(matmul(a, random_matrix(a.size(-1), q, a)));
  for (int64_t i = 0; i < niter; ++i) {
    basis = orthonormal(matmul(a, orthonormal(matmul(adjoint_of(a), basis))));
  }
  return basis;
}

double smallest(DType t) {
  if (t == kFloat64 || t == kComplex128) return std::numeric_limits<double>::min();
  return std::numeric_limits<float>::min();
}

// exact_pairs gives eigenpairs of A x = l B x from a full decomposition, which has derivatives.
Pairs exact_pairs(const Tensor& a, const Tensor& b, int64_t k, bool largest) {
  Tensor values, vectors;
  if (!b.defined()) {
    std::tie(values, vectors) = linalg_eigh(a);
  } else {
    Tensor lower = linalg_cholesky(b);
    Tensor half = linalg_solve_triangular(lower, a, false);
    Tensor inner = adjoint_of(linalg_solve_triangular(lower, adjoint_of(half), false));
    std::tie(values, vectors) = linalg_eigh(inner);
    vectors = linalg_solve_triangular(adjoint_of(lower), vectors, true);
  }
  if (!largest) return {narrow(values, -1, 0, k), narrow(vectors, -1, 0, k)};
  int64_t from = values.size(-1) - k;
  return {flip(narrow(values, -1, from, k), IntList({-1})),
          flip(narrow(vectors, -1, from, k), IntList({-1}))};
}

// Pencil is the pair of matrices whose eigenvalues are sought, with a preconditioner.
struct Pencil {
  Tensor a, b, precondition;
  bool largest;

  Tensor times_b(const Tensor& x) const { return b.defined() ? matmul(b, x) : x; }

  // orthonormal gives a basis of the columns of s that is orthonormal under B, without weak
  // directions.
  Tensor orthonormal(Tensor s) const {
    for (int pass = 0; pass < 2; ++pass) {
      Tensor lengths = vector_norm(s, Scalar(2), IntList({-2}), true);
      s = div(s, clamp_min(lengths, Scalar(smallest(s.dtype()))));
      auto [values, vectors] = linalg_eigh(matmul(adjoint_of(s), times_b(s)));
      Tensor seen = facula::cast(values, kFloat64);
      const double* p = seen.data_as<double>();
      int64_t n = seen.numel();
      double limit = n ? p[n - 1] * static_cast<double>(n) * epsilon_of(s.dtype()) : 0;
      int64_t from = std::upper_bound(p, p + n, limit) - p;
      Tensor scale = rsqrt(narrow(values, 0, from, n - from));
      s = matmul(s, mul(narrow(vectors, 1, from, n - from), scale));
    }
    return s;
  }

  // ritz gives the best k pairs inside the space of an orthonormal basis.
  Pairs ritz(const Tensor& s, int64_t k) const {
    auto [values, vectors] = linalg_eigh(matmul(adjoint_of(s), matmul(a, s)));
    if (largest) {
      values = flip(values, IntList({-1}));
      vectors = flip(vectors, IntList({-1}));
    }
    k = std::min(k, values.size(0));
    return {narrow(values, 0, 0, k), matmul(s, narrow(vectors, 1, 0, k))};
  }

  Tensor residual(const Tensor& values, const Tensor& x) const {
    return sub(matmul(a, x), mul(times_b(x), values));
  }

  double scale() const {
    double sum = scalar_of(linalg_matrix_norm_named(a)).to_double();
    return b.defined() ? sum + scalar_of(linalg_matrix_norm_named(b)).to_double() : sum;
  }
};

// worst_of gives the largest error of the first k pairs, relative to the matrices.
double worst_of(const Tensor& residual, const Tensor& x, int64_t k, double scale) {
  k = std::min(k, x.size(1));
  auto lengths = [&](const Tensor& t) {
    return vector_norm(narrow(t, 1, 0, k), Scalar(2), IntList(int64_t{0}));
  };
  Tensor errors = div(lengths(residual), mul(lengths(x), Scalar(scale)));
  return k ? scalar_of(amax(errors, IntList(int64_t{0}))).to_double() : 0;
}

void check_search(const Tensor& a, const Tensor& x, int64_t k, int64_t n,
                  std::optional<std::string_view> method) {
  FACULA_CHECK(a.dim() >= 2 && a.size(-2) == a.size(-1), kRuntime,
               "lobpcg: expected square matrices, got shape ", list_text(a.sizes()));
  FACULA_CHECK(!method || *method == "basic" || *method == "ortho", kValue,
               "lobpcg: expected method 'basic' or 'ortho', got '", method.value_or(""), "'");
  int64_t m = a.size(-1);
  FACULA_CHECK(k > 0 && k <= m && n > 0 && (!x.defined() || (x.dim() >= 2 && x.size(-2) == m)),
               kValue, "lobpcg: k=", k, " and the first guess do not fit a matrix of size ", m);
  FACULA_CHECK(m >= 3 * n, kValue,
               "LPBPCG algorithm is not applicable when the number of A rows (=", m,
               ") is smaller than 3 x the number of requested eigenpairs (=", n, ")");
}

// flat_batch gives matrices as (batch, rows, columns).
Tensor flat_batch(const Tensor& t, IntList batch) {
  if (!t.defined()) return t;
  Tensor all = expand(t, with(batch, {t.size(-2), t.size(-1)}));
  return reshape(all, {-1, t.size(-2), t.size(-1)});
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> svd_lowrank(const Tensor& A, std::optional<int64_t> q,
                                               std::optional<int64_t> niter, const Tensor& M) {
  FACULA_CHECK(A.dim() >= 2, kRuntime, "svd_lowrank: expected matrices, got shape ",
               list_text(A.sizes()));
  Tensor a = M.defined() ? sub(A, expand(M, A.sizes())) : A;
  bool wide = a.size(-2) < a.size(-1);
  if (wide) a = adjoint_of(a);
  Tensor basis = approximate_basis(a, q.value_or(6), niter.value_or(2));
  auto [u, s, vh] = linalg_svd(matmul(adjoint_of(basis), a), false);
  u = matmul(basis, u);
  Tensor v = adjoint_of(vh);
  return wide ? std::tuple(v, s, u) : std::tuple(u, s, v);
}

std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& A, std::optional<int64_t> q,
                                               bool center, int64_t niter) {
  FACULA_CHECK(A.dim() >= 2, kRuntime, "pca_lowrank: expected matrices, got shape ",
               list_text(A.sizes()));
  int64_t most = std::min(A.size(-2), A.size(-1)), count = q.value_or(std::min<int64_t>(6, most));
  FACULA_CHECK(count >= 0 && count <= most, kValue, "q(=", count,
               ") must be non-negative integer and not greater than min(m, n)=", most);
  FACULA_CHECK(niter >= 0, kValue, "niter(=", niter, ") must be non-negative integer");
  return svd_lowrank(center ? sub(A, mean(A, IntList({-2}), true)) : A, count, niter);
}

std::tuple<Tensor, Tensor, Tensor> lobpcg_steps(const Tensor& A, const Tensor& B, const Tensor& iK,
                                                const Tensor& X, const Tensor& P, int64_t k,
                                                int64_t niter, std::optional<double> tol,
                                                bool largest) {
  require_data("lobpcg", A);
  NoGrad no_grad;
  Pencil pencil{A, B, iK, largest};
  int64_t block = X.size(1);
  double scale = pencil.scale(), limit = tol.value_or(std::sqrt(epsilon_of(A.dtype())));
  auto [values, x] = pencil.ritz(pencil.orthonormal(X), block);
  Tensor p = P.defined() ? P : narrow(x, 1, 0, 0);
  // A search that came no nearer in so many steps (by rounding, or NaN) will not do so later.
  constexpr int64_t kPatience = 1000;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 0, nearest = 0; i < niter && i - nearest < kPatience; ++i) {
    Tensor r = pencil.residual(values, x);
    double worst = worst_of(r, x, k, scale);
    if (worst <= limit) break;
    if (worst < least) {
      least = worst;
      nearest = i;
    }
    // Better pairs are in the span of x, the residuals and the last direction.
    std::vector<Tensor> parts{x, iK.defined() ? matmul(iK, r) : r, p};
    auto [better, best] = pencil.ritz(pencil.orthonormal(cat(parts, -1)), block);
    p = sub(best, matmul(x, matmul(adjoint_of(x), pencil.times_b(best))));
    values = better;
    x = best;
  }
  return {values, x, p};
}

Pairs lobpcg(const Tensor& A, std::optional<int64_t> k, const Tensor& B, const Tensor& X,
             std::optional<int64_t> n, const Tensor& iK, std::optional<int64_t> niter,
             std::optional<double> tol, std::optional<bool> largest,
             std::optional<std::string_view> method) {
  int64_t given = X.defined() && X.dim() ? X.size(-1) : 0;
  int64_t count = k.value_or(given ? given : 1), block = n.value_or(given ? given : count);
  check_search(A, X, count, block, method);
  bool up = largest.value_or(true);
  if (recording(A) || (B.defined() && recording(B))) return exact_pairs(A, B, count, up);
  if (A.dim() == 2) {
    int64_t steps = niter && *niter >= 0 ? *niter : 1000;
    Tensor start = X.defined() ? X : random_matrix(A.size(0), block, A);
    auto [values, x, p] = lobpcg_steps(A, B, iK, start, Tensor(), count, steps, tol, up);
    count = std::min(count, x.size(1));
    return {narrow(values, 0, 0, count), narrow(x, 1, 0, count)};
  }
  IntList batch = batch_sizes(A);
  std::vector<Tensor> values, vectors;
  Tensor flat = flat_batch(A, batch), bs = flat_batch(B, batch), xs = flat_batch(X, batch);
  Tensor ks = flat_batch(iK, batch);
  auto one = [](const Tensor& t, int64_t i) { return t.defined() ? select(t, 0, i) : t; };
  for (int64_t i = 0; i < flat.size(0); ++i) {
    auto [value, vector] = lobpcg(select(flat, 0, i), count, one(bs, i), one(xs, i), block,
                                  one(ks, i), niter, tol, up, method);
    values.push_back(value);
    vectors.push_back(vector);
  }
  FACULA_CHECK(!values.empty(), kValue, "lobpcg: expected at least one matrix");
  return {reshape(stack(values, 0), with(batch, {count})),
          reshape(stack(vectors, 0), with(batch, {A.size(-1), count}))};
}

}  // namespace facula
