// Checks, tolerances, allocation and permutations for the operators of linear algebra.
#include "facula/ops/linalg_support.h"

#include "facula/autograd/meta.h"
#include "facula/kernels/lapack.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/linalg_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"

namespace facula {

LinAlgError::~LinAlgError() = default;

namespace linalg {

void check_matrix(const char* op, const Tensor& t, const char* name) {
  if (!is_inexact(t.dtype())) {
    raise_error(ErrorKind::kNotImplemented, op,
                ": Expected a floating point or complex tensor as input. Got ",
                dtype_title(t.dtype()));
  }
  FACULA_CHECK(!is_reduced(t.dtype()), kNotImplemented, op,
               ": Low precision dtypes not supported. Got ", dtype_title(t.dtype()));
  FACULA_CHECK(t.dim() >= 2, kRuntime, op, ": The input tensor ", name,
               " must have at least 2 dimensions.");
  FACULA_CHECK(t.size(-1) <= INT32_MAX && t.size(-2) <= INT32_MAX, kRuntime, op,
               ": matrices may have at most 2^31 - 1 rows and columns, got ", list_text(t.sizes()));
}

void check_square(const char* op, const Tensor& t, const char* name) {
  check_matrix(op, t, name);
  FACULA_CHECK(t.size(-1) == t.size(-2), kRuntime, op, ": ", name,
               " must be batches of square matrices, but they are ", t.size(-2), " by ", t.size(-1),
               " matrices");
}

Tensor tolerance(std::optional<double> v, const Tensor& like) {
  if (!v) return {};
  Tensor wide = facula::full({}, Scalar(*v), kFloat64, like.device());
  return facula::cast(wide, real_type(like.dtype()));
}

Tensor significant(const Tensor& sizes, int64_t longest, const Tensor& atol, const Tensor& rtol) {
  Tensor absolute = atol.defined() ? atol : tolerance(0.0, sizes);
  Tensor relative = rtol;
  if (!rtol.defined()) {
    relative = tolerance(epsilon_of(sizes.dtype()) * static_cast<double>(longest), sizes);
    if (atol.defined()) relative = facula::where(gt(atol, Scalar(0)), Scalar(0), relative);
  }
  Tensor limit = maximum(absolute, mul(relative, facula::amax(sizes, IntList(-1), false)));
  return gt(sizes, unsqueeze(limit, -1));
}

void check_same_type(const char* op, const Tensor& a, const Tensor& b) {
  FACULA_CHECK(a.dtype() == b.dtype(), kRuntime, op,
               ": Expected A and B to have the same dtype, but found A of type ",
               dtype_title(a.dtype()), " and B of type ", dtype_title(b.dtype()), " instead");
  FACULA_CHECK(a.device() == b.device(), kRuntime, op,
               ": Expected A and B to be on the same device, but found A on ",
               device_text(a.device()), " and B on ", device_text(b.device()), " instead");
}

void check_system(const char* op, const Tensor& a, const Tensor& b, bool left) {
  check_same_type(op, a, b);
  check_square(op, a, "A");
  check_matrix(op, b, "B");
  int64_t rows = b.size(left ? -2 : -1);
  FACULA_CHECK(a.size(-1) == rows, kRuntime, op,
               ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
               " (", a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
}

void check_pivots(const char* op, const Tensor& lu, const Tensor& pivots) {
  FACULA_CHECK(pivots.dtype() == kInt32, kRuntime, op,
               ": pivots should be a Tensor of scalar type int32, as lu_factor gives them, got ",
               dtype_name(pivots.dtype()));
  check_matrix(op, lu, "LU");
  Sizes wanted = batch_sizes(lu).to_sizes();
  wanted.push_back(std::min(lu.size(-1), lu.size(-2)));
  FACULA_CHECK(
      pivots.sizes() == IntList(wanted), kRuntime, op,
      ": Number of pivots per batch should be same as the dimension of the matrix: expected ",
      list_text(wanted), ", got ", list_text(pivots.sizes()));
}

namespace {

std::string explain(Trouble trouble, int32_t info) {
  switch (trouble) {
    case Trouble::kCholesky:
      return str("The factorization could not be completed because the input is not ",
                 "positive-definite (the leading minor of order ", info,
                 " is not positive-definite).");
    case Trouble::kInverse:
      return str("The diagonal element ", info, " is zero, the inversion could not be completed ",
                 "because the input matrix is singular.");
    case Trouble::kSolve: return "The solver failed because the input matrix is singular.";
    case Trouble::kFactor:
      return str("U[", info, ",", info, "] is zero and using it on lu_solve would result in a ",
                 "division by zero; lu and lu_factor_ex give the factors all the same");
    case Trouble::kEigenvalues:
      return str(
          "The algorithm failed to converge because the input matrix is ill-conditioned, has ",
          "too many repeated eigenvalues or contained non-finite values (error code: ", info, ").");
    case Trouble::kSvd:
      return str(
          "The algorithm failed to converge because the input matrix is ill-conditioned, has ",
          "too many repeated singular values or contained non-finite values (error code: ", info,
          ").");
    case Trouble::kLdl:
      return str("D[", info, ",", info, "] is zero, so that the factors cannot solve systems.");
    case Trouble::kRank: break;
  }
  return str("The least squares solution could not be computed because the input matrix does not ",
             "have full rank (error code: ", info, ").");
}

}  // namespace

void check_info(const char* op, const Tensor& codes_of, Trouble trouble) {
  if (codes_of.is_meta()) return;
  Tensor info = all_samples(codes_of);
  const int32_t* codes = info.data_as<int32_t>();
  for (int64_t i = 0; i < info.numel(); ++i) {
    if (codes[i] == 0) continue;
    std::string where = info.dim() ? str(": (Batch element ", i, "): ") : ": ";
    std::string message = str(op, where, explain(trouble, codes[i]));
    if (trouble == Trouble::kFactor) fail(ErrorKind::kRuntime, message);
    throw LinAlgError(message);
  }
}

bool is_vector_system(const Tensor& a, const Tensor& b) {
  if (b.dim() == 1) return true;
  return a.dim() - 1 == b.dim() && IntList(a->sizes, static_cast<size_t>(a.dim() - 1)) == b.sizes();
}

Sizes with(IntList batch, std::initializer_list<int64_t> tail) {
  Sizes out = batch.to_sizes();
  for (int64_t n : tail) out.push_back(n);
  return out;
}

int64_t batch_count(IntList sizes) {
  int64_t count = 1;
  for (int64_t n : sizes) count *= n;
  return count;
}

Tensor new_columns(IntList batch, int64_t m, int64_t n, DType dtype, Device device) {
  Sizes strides = contiguous_strides(with(batch, {n, m}));
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return new_strided(with(batch, {m, n}), strides, dtype, device);
}

Tensor columns(const Tensor& t, IntList batch) {
  Tensor out = new_columns(batch, t.size(-2), t.size(-1), t.dtype(), t.device());
  if (!t.is_meta()) copy_raw(out, t);
  return out;
}

Tensor columns(const Tensor& t) { return columns(t, batch_sizes(t)); }

Tensor adjoint_of(const Tensor& t) { return swap_conj(t); }
Tensor product(const Tensor& a, const Tensor& b) { return matmul(a, b); }

Tensor identity(int64_t n, const Tensor& like) { return eye(n, like.dtype(), like.device()); }

Tensor rows_of(const Tensor& pivots, int64_t rows) { return pivot_rows(pivots, rows); }
Tensor inverse_rows(const Tensor& rows) { return inverse_order(rows); }

Tensor permuted(const Tensor& t, const Tensor& order, int64_t dim) {
  Tensor index = unsqueeze(order, dim == -2 ? -1 : -2);
  return gather(t, dim, expand(index, t.sizes()));
}

}  // namespace linalg

namespace forward {

using namespace linalg;

Tensor pivot_rows(const Tensor& pivots, int64_t rows) {
  IntList batch(pivots->sizes, static_cast<size_t>(pivots.dim() - 1));
  Tensor out = new_empty(with(batch, {rows}), kInt64, pivots.device());
  if (out.is_meta()) return out;
  Tensor dense = to_contiguous(pivots);
  for (int64_t i = 0; i < dense.numel(); ++i) {
    int32_t row = dense.data_as<int32_t>()[i];
    FACULA_CHECK(row >= 1 && row <= rows, kRuntime,
                 "pivots of LU factors must be between 1 and the number of rows, ", rows,
                 ", as lu_factor gives them; got ", row);
  }
  kernels::pivots_to_rows(batch_count(batch), rows, pivots.size(-1), dense.data_as<int32_t>(),
                          out.data_as<int64_t>());
  return out;
}

Tensor inverse_order(const Tensor& order) {
  Tensor rows = to_contiguous(order);
  Tensor out = new_empty(rows.sizes(), kInt64, rows.device());
  if (out.is_meta()) return out;
  int64_t n = rows.size(-1);
  const int64_t* from = rows.data_as<int64_t>();
  int64_t* to = out.data_as<int64_t>();
  for (int64_t i = 0; i < rows.numel(); ++i) to[i / n * n + from[i]] = i % n;
  return out;
}

}  // namespace forward
}  // namespace facula
