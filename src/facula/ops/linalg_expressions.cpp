// The operators of ops/matrix.py: norms, condition numbers, ranks, powers, tensor equations.
#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/linalg_functions.h"
#include "facula/ops/linalg_support.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/matrix_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/spectral_functions.h"

namespace facula {

using namespace linalg;

namespace {

// norm_input refuses what matrix norms do not take and applies dtype.
Tensor norm_input(const char* op, const Tensor& self, std::optional<DType> dtype) {
  DType type = dtype.value_or(self.dtype());
  FACULA_CHECK(is_inexact(type), kNotImplemented, op,
               ": Expected a floating point or complex tensor as input. Got ", dtype_title(type));
  FACULA_CHECK(!dtype || is_complex(type) == self.is_complex(), kRuntime, op, ": dtype should be ",
               self.is_complex() ? "complex" : "real", " for such inputs, but got ",
               dtype_name(type));
  FACULA_CHECK(self.dim() >= 2, kRuntime, op,
               ": The input tensor A must have at least 2 dimensions.");
  return dtype ? facula::cast(self, type) : self;
}

// The two dimensions of a matrix norm, wrapped.
std::pair<int64_t, int64_t> two_dims(const char* op, IntList dim, int64_t ndim) {
  FACULA_CHECK(dim.size() == 2, kRuntime, op, ": dim must be a 2-tuple. Got ", list_text(dim));
  int64_t a = wrap_dim(dim[0], ndim, op), b = wrap_dim(dim[1], ndim, op);
  FACULA_CHECK(a != b, kRuntime, op, ": dims must be different. Got (", a, ", ", b, ")");
  return {a, b};
}

// with_ones puts the dimensions of a matrix back with size 1.
Tensor with_ones(const Tensor& t, int64_t a, int64_t b) {
  int64_t low = std::min(a, b), high = std::max(a, b);
  return unsqueeze(unsqueeze(t, low), high);
}

Tensor spectrum(const Tensor& self, int64_t a, int64_t b) {
  return linalg_svdvals(movedim(self, IntList({a, b}), IntList({-2, -1})), std::nullopt);
}

// powers gives the powers of each element from 0 to n - 1, in a new last dimension.
Tensor powers(const Tensor& x, int64_t n) {
  Tensor base = is_integral(x.dtype()) ? facula::cast(x, kInt64) : x;
  Tensor column = unsqueeze(base, -1);
  Tensor first = ones_like(column);
  if (n <= 1) return narrow(first, -1, 0, n);
  Tensor repeated = expand(column, with(base.sizes(), {n - 1}));
  return cat(std::vector<Tensor>{first, cumprod(repeated, -1)}, -1);
}

Tensor in_order(const Tensor& sums, bool smallest, int64_t dim, bool keepdim) {
  return smallest ? facula::amin(sums, IntList(dim), keepdim)
                  : facula::amax(sums, IntList(dim), keepdim);
}

}  // namespace

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntList dim, bool keepdim,
                          std::optional<DType> dtype) {
  const char* op = "linalg.matrix_norm";
  Tensor t = norm_input(op, self, dtype);
  auto [row, col] = two_dims(op, dim, t.dim());
  double p = ord.to_double(), size = std::abs(p);
  FACULA_CHECK(!ord.is_complex() && (size == 1 || size == 2 || std::isinf(size)), kRuntime, op,
               ": Order ", p, " not supported.");
  if (size == 2) {
    Tensor r = in_order(spectrum(t, row, col), p < 0, -1, false);
    return keepdim ? with_ones(r, row, col) : r;
  }
  // Sums along one dimension, extremes along the other.
  int64_t summed = size == 1 ? row : col, other = size == 1 ? col : row;
  Tensor sums = vector_norm(t, Scalar(1), IntList(summed), true, std::nullopt);
  Tensor r = in_order(sums, p < 0, other, true);
  if (keepdim) return r;
  return squeeze_dim(r, IntList({row, col}));
}

Tensor linalg_matrix_norm_named(const Tensor& self, std::string_view ord, IntList dim, bool keepdim,
                                std::optional<DType> dtype) {
  const char* op = "linalg.matrix_norm";
  Tensor t = norm_input(op, self, dtype);
  auto [row, col] = two_dims(op, dim, t.dim());
  FACULA_CHECK(ord == "fro" || ord == "nuc", kRuntime, op, ": Order ", ord, " not supported.");
  if (ord == "fro") return vector_norm(t, Scalar(2), IntList({row, col}), keepdim, std::nullopt);
  Tensor r = facula::sum(spectrum(t, row, col), IntList(-1), false);
  return keepdim ? with_ones(r, row, col) : r;
}

namespace {

// norm_dims gives the dimensions of linalg.norm, -1 of 1 or 2 when they are not said.
Sizes norm_dims(const Tensor& self, OptIntList dim) {
  if (dim) {
    FACULA_CHECK(dim->size() == 1 || dim->size() == 2, kRuntime,
                 "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ",
                 list_text(*dim));
    return dim->to_sizes();
  }
  FACULA_CHECK(self.dim() == 1 || self.dim() == 2, kRuntime,
               "linalg.norm: If dim is not specified ",
               "but ord is, the input must be 1D or 2D. Got ", self.dim(), "D.");
  Sizes all;
  for (int64_t d = 0; d < self.dim(); ++d) all.push_back(d);
  return all;
}

}  // namespace

Tensor linalg_norm(const Tensor& self, std::optional<Scalar> ord, OptIntList dim, bool keepdim,
                   std::optional<DType> dtype) {
  if (!ord) return vector_norm(self, Scalar(2), dim, keepdim, dtype);
  Sizes dims = norm_dims(self, dim);
  if (dims.size() == 2) return linalg_matrix_norm(self, *ord, dims, keepdim, dtype);
  return vector_norm(self, *ord, IntList(dims), keepdim, dtype);
}

Tensor linalg_norm_named(const Tensor& self, std::string_view ord, OptIntList dim, bool keepdim,
                         std::optional<DType> dtype) {
  Sizes dims = norm_dims(self, dim);
  if (dims.size() == 1) return linalg_matrix_norm_named(self, ord, {-2, -1}, keepdim, dtype);
  return linalg_matrix_norm_named(self, ord, dims, keepdim, dtype);
}

Tensor nuclear_norm(const Tensor& self, bool keepdim) {
  FACULA_CHECK(self.dim() == 2, kRuntime,
               "nuclear_norm: expected a tensor with 2 dimensions, but got a tensor with ",
               self.dim(), " dimensions");
  return linalg_matrix_norm_named(self, "nuc", {0, 1}, keepdim, std::nullopt);
}
Tensor nuclear_norm_dim(const Tensor& self, IntList dim, bool keepdim) {
  return linalg_matrix_norm_named(self, "nuc", dim, keepdim, std::nullopt);
}
Tensor frobenius_norm(const Tensor& self, IntList dim, bool keepdim) {
  FACULA_CHECK(dim.size() <= 2, kRuntime, "frobenius_norm: Expected at most 2 dimensions, but got ",
               dim.size(), " dimensions instead.");
  return vector_norm(self, Scalar(2), dim, keepdim, std::nullopt);
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return vector_norm(v, Scalar(pow), std::nullopt, false, std::nullopt);
  dim = wrap_dim(dim, v.dim(), "norm_except_dim");
  Sizes others;
  for (int64_t d = 0; d < v.dim(); ++d) {
    if (d != dim) others.push_back(d);
  }
  if (others.empty()) return facula::abs(v);
  return vector_norm(v, Scalar(pow), IntList(others), true, std::nullopt);
}

namespace {

// The product of the norms of A and its inverse; singular matrices give infinity.
template <class F>
Tensor condition(const Tensor& self, const std::string& op, F&& norm_of) {
  check_square(op.c_str(), self);
  if (self.numel() == 0) {
    return facula::zeros(batch_sizes(self), real_type(self.dtype()), self.device());
  }
  auto [inverse, info] = linalg_inv_ex(self, false);
  Tensor r = mul(norm_of(self), norm_of(inverse));
  Tensor singular = ne(info, Scalar(0));
  return any_true(singular) ? facula::where(singular, Scalar(INFINITY), r) : r;
}

}  // namespace

Tensor linalg_cond(const Tensor& self, std::optional<Scalar> p) {
  double order = p ? p->to_double() : 2;
  if (std::abs(order) != 2) {
    FACULA_CHECK(std::abs(order) == 1 || std::isinf(order), kValue,
                 "linalg.cond got an invalid norm type: ", order);
    return condition(self, str("linalg.cond(ord=", order, ")"), [&](const Tensor& t) {
      return linalg_matrix_norm(t, Scalar(order), {-2, -1}, false, std::nullopt);
    });
  }
  check_matrix("linalg.cond", self);
  Tensor s = linalg_svdvals(self, std::nullopt);
  if (s.size(-1) == 0) return facula::zeros(batch_sizes(self), s.dtype(), s.device());
  Tensor first = select(s, -1, 0), last = select(s, -1, s.size(-1) - 1);
  return order > 0 ? div(first, last) : div(last, first);
}

Tensor linalg_cond_named(const Tensor& self, std::string_view p) {
  FACULA_CHECK(p == "fro" || p == "nuc", kValue, "linalg.cond got an invalid norm type: ", p);
  return condition(self, str("linalg.cond(ord=", p, ")"), [&](const Tensor& t) {
    return linalg_matrix_norm_named(t, p, {-2, -1}, false, std::nullopt);
  });
}

namespace {

Tensor rank_of(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  const char* op = "linalg.matrix_rank";
  hermitian ? check_square(op, self) : check_matrix(op, self);
  NoGrad no_grad;
  if (self.numel() == 0) return facula::zeros(batch_sizes(self), kInt64, self.device());
  Tensor s =
      hermitian ? facula::abs(linalg_eigvalsh(self, "L")) : linalg_svdvals(self, std::nullopt);
  if (s.is_meta()) return new_empty(batch_sizes(self), kInt64, self.device());
  for (const Tensor& t : {atol, rtol}) {
    FACULA_CHECK(!t.defined() || !t.is_complex(), kRuntime, op, ": tolerances must be real");
  }
  Tensor kept = significant(s, std::max(self.size(-1), self.size(-2)), atol, rtol);
  return facula::sum(kept, IntList(-1), false, kInt64);
}

}  // namespace

Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol,
                          std::optional<double> rtol, bool hermitian) {
  check_matrix("linalg.matrix_rank", self);
  return rank_of(self, tolerance(atol, self), tolerance(rtol, self), hermitian);
}
Tensor linalg_matrix_rank_tensor(const Tensor& self, const Tensor& atol, const Tensor& rtol,
                                 bool hermitian) {
  return rank_of(self, atol, rtol, hermitian);
}
Tensor linalg_matrix_rank_tol(const Tensor& self, double tol, bool hermitian) {
  return linalg_matrix_rank(self, tol, 0.0, hermitian);
}
Tensor linalg_matrix_rank_tol_tensor(const Tensor& self, const Tensor& tol, bool hermitian) {
  check_matrix("linalg.matrix_rank", self);
  return rank_of(self, tol, tolerance(0.0, self), hermitian);
}

Tensor matrix_power(const Tensor& self, int64_t n) {
  const char* op = "linalg.matrix_power";
  FACULA_CHECK(self.dim() >= 2, kRuntime, op,
               ": The input tensor A must have at least 2 dimensions.");
  FACULA_CHECK(self.size(-1) == self.size(-2), kRuntime, op,
               ": A must be batches of square matrices, but they are ", self.size(-2), " by ",
               self.size(-1), " matrices");
  if (n == 0) {
    Tensor never = facula::full({}, Scalar(false), kBool, self.device());
    return facula::where(never, self, identity(self.size(-1), self));
  }
  Tensor square = n < 0 ? linalg_inv(self) : self, result;
  for (uint64_t rest = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (rest & 1) result = result.defined() ? product(result, square) : square;
    rest >>= 1;
    if (rest == 0) break;
    square = product(square, square);
  }
  return result.is_same(self) ? clone(result) : result;
}

Tensor chain_matmul_list(TensorList matrices) {
  FACULA_CHECK(!matrices.empty(), kRuntime, "chain_matmul(): Expected one or more matrices");
  for (const Tensor& t : matrices) {
    FACULA_CHECK(t.dim() == 2, kRuntime, "chain_matmul(): Expected matrices, but got a ", t.dim(),
                 "-d tensor");
  }
  return matrices.size() == 1 ? matrices[0] : multi_dot(matrices);
}

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  FACULA_CHECK(ind > 0, kRuntime, "Expected a strictly positive integer for 'ind', but got ", ind);
  IntList s = self.sizes();
  Sizes shape;
  int64_t front = 1, back = 1, count = std::min<int64_t>(ind, self.dim());
  for (int64_t d = count; d < self.dim(); ++d) shape.push_back(s[d]), back *= s[d];
  for (int64_t d = 0; d < count; ++d) shape.push_back(s[d]), front *= s[d];
  FACULA_CHECK(front == back, kRuntime, "Expected self to satisfy the requirement ",
               "prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ", back, " != ", front);
  auto [inverse, info] = linalg_inv_ex(reshape(self, IntList({front, back})), false);
  check_info("linalg.tensorinv", info, Trouble::kInverse);
  return reshape(inverse, shape);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptIntList dims) {
  Tensor a = self;
  if (dims) {
    // The dimensions named go last, in their order.
    Sizes to;
    for (int64_t i = 0; i < dims->ssize(); ++i) to.push_back(i - dims->ssize());
    a = movedim(a, *dims, to);
  }
  Sizes shape;
  int64_t unknowns = 1;
  for (int64_t d = other.dim(); d < a.dim(); ++d)
    shape.push_back(a->sizes[d]), unknowns *= a->sizes[d];
  int64_t equations = 1;
  for (int64_t d = 0; d < std::min(other.dim(), a.dim()); ++d) equations *= a->sizes[d];
  FACULA_CHECK(equations == unknowns, kRuntime, "Expected self to satisfy the requirement ",
               "prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got ", unknowns,
               " != ", equations);
  Tensor x =
      linalg_solve(reshape(a, IntList({equations, unknowns})), reshape(other, IntList(-1)), true);
  return reshape(x, shape);
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  int64_t n = N ? *N : x.dim() ? x.size(-1) : 1;
  if (x.dim() == 0) return linalg_vander(unsqueeze(x, 0), n);
  FACULA_CHECK(n > 1 || !N, kRuntime, "N must be greater than 1.");
  FACULA_CHECK(x.dtype() != kBool, kRuntime, "linalg.vander: bool tensors have no powers");
  return powers(x, n);
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  FACULA_CHECK(x.dim() == 1, kRuntime, "vander: x must be a one-dimensional tensor, got ", x.dim(),
               " dimensions");
  int64_t n = N.value_or(x.numel());
  FACULA_CHECK(n >= 0, kRuntime, "vander: N must be non-negative, got ", n);
  Tensor rows = powers(x, n);
  return increasing ? rows : flip(rows, IntList({-1}));
}

}  // namespace facula
