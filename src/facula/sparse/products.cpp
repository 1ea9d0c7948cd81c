// Products of sparse matrices with dense and with sparse ones.
#include "facula/base/error.h"
#include "facula/kernels/sparse.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/sparse/parts.h"

namespace facula {
namespace sparse {
namespace {

// Rows is a pattern by rows, as the kernels take it.
struct Rows {
  int64_t rows = 0, cols = 0;
  Tensor start, col;

  kernels::RowMatrix view() const {
    return {rows, cols, col.numel(), start.data_as<int64_t>(), col.data_as<int64_t>()};
  }
};

void check_rows(const kernels::RowMatrix& m) {
  kernels::Fault fault;
  kernels::sparse->check(m, &fault);
  FACULA_CHECK(!fault, kRuntime, "the indices of a sparse tensor have been overwritten: found ",
               fault.value, " at position ", fault.position);
}

// The raw products, without history.
Tensor run_product(const Rows& at, const Tensor& values, const Tensor& dense, bool transposed) {
  check_plain(values);
  check_plain(dense);
  DType dtype = values.dtype();
  if (transposed && is_reduced(dtype)) {
    return to_dtype(run_product(at, to_dtype(values, kFloat32), to_dtype(dense, kFloat32), true),
                    dtype);
  }
  Tensor v = to_contiguous(values), d = to_contiguous(dense);
  int64_t width = d.size(1);
  Tensor out = new_empty({transposed ? at.cols : at.rows, width}, dtype);
  kernels::RowMatrix m = at.view();
  check_rows(m);
  LongWork work(m.count * width);
  auto f = transposed ? kernels::sparse->transposed_product : kernels::sparse->product;
  f(dtype, out.data(), m, v.data(), d.data(), width);
  return out;
}

Tensor run_sample(const Rows& at, const Tensor& a, const Tensor& b) {
  check_plain(a);
  check_plain(b);
  Tensor x = to_contiguous(a), y = to_contiguous(b);
  Tensor out = new_empty({at.col.numel()}, a.dtype());
  kernels::RowMatrix m = at.view();
  check_rows(m);
  LongWork work(m.count * x.size(1));
  kernels::sparse->sample(a.dtype(), out.data(), m, x.data(), y.data(), x.size(1));
  return out;
}

Tensor conjugate(const Tensor& t) { return t.is_complex() ? conj(t) : t; }

Tensor product(const Rows& at, const Tensor& values, const Tensor& dense, bool transposed);

// sample gives, for each element of the pattern, the product of row a[row] and row b[col].
Tensor sample(const Rows& at, const Tensor& a, const Tensor& b);

struct ProductNode final : Node {
  Rows at;
  bool transposed = false;
  SavedTensor values, dense;
  const char* name() const override { return "SparseProductBackward0"; }
  void release_saved() override {
    released = true;
    values.reset();
    dense.reset();
  }
  void visit_saved(void (*f)(void*, TensorImpl*), void* c) const override {
    if (values.peek()) f(c, values.peek());
    if (dense.peek()) f(c, dense.peek());
  }
  void apply(Gradients& grads, Gradients& grads_in) override {
    if (needs(0)) {
      Tensor d = conjugate(dense.unpack(this));
      grads_in[0] = transposed ? sample(at, d, grads[0]) : sample(at, grads[0], d);
    }
    if (needs(1)) grads_in[1] = product(at, conjugate(values.unpack(this)), grads[0], !transposed);
  }
};

struct SampleNode final : Node {
  Rows at;
  SavedTensor a, b;
  const char* name() const override { return "SparseSampleBackward0"; }
  void release_saved() override {
    released = true;
    a.reset();
    b.reset();
  }
  void visit_saved(void (*f)(void*, TensorImpl*), void* c) const override {
    if (a.peek()) f(c, a.peek());
    if (b.peek()) f(c, b.peek());
  }
  void apply(Gradients& grads, Gradients& grads_in) override {
    if (needs(0)) grads_in[0] = product(at, grads[0], conjugate(b.unpack(this)), false);
    if (needs(1)) grads_in[1] = product(at, grads[0], conjugate(a.unpack(this)), true);
  }
};

Tensor product(const Rows& at, const Tensor& values, const Tensor& dense, bool transposed) {
  Tensor out = run_product(at, values, dense, transposed);
  if (!recording(values, dense)) return out;
  auto node = make_ref<ProductNode>();
  node->add_edge(values);
  node->add_edge(dense);
  node->at = at;
  node->transposed = transposed;
  if (node->needs(1)) node->values.save_input(values);
  if (node->needs(0)) node->dense.save_input(dense);
  node->set_history(out);
  return out;
}

Tensor sample(const Rows& at, const Tensor& a, const Tensor& b) {
  Tensor out = run_sample(at, a, b);
  if (!recording(a, b)) return out;
  auto node = make_ref<SampleNode>();
  node->add_edge(a);
  node->add_edge(b);
  node->at = at;
  if (node->needs(1)) node->a.save_input(a);
  if (node->needs(0)) node->b.save_input(b);
  node->set_history(out);
  return out;
}

// A matrix by rows, or (flipped) its transpose by rows.
struct Matrix {
  Rows at;
  Tensor values;
  bool flipped = false;
};

Matrix by_rows(const SparseTensor& t, const char* op) {
  FACULA_CHECK(t.dim() == 2, kRuntime, op, ": expected a 2-D sparse tensor, got ", t.dim(), "-D");
  FACULA_CHECK(t.dense_dim() == 0, kRuntime, op, ": a sparse tensor with dense dimensions is not ",
               "supported");
  Tensor handle = t.handle();
  if (parts_of(handle).is_blocked()) handle = to_layout(t, Layout::kCsr).handle();
  handle = coalesced(handle);
  const Parts& p = parts_of(handle);
  Matrix m;
  m.values = values_of(handle);
  m.flipped = p.layout == Layout::kCsc;
  m.at.rows = p.sizes[m.flipped ? 1 : 0];
  m.at.cols = p.sizes[m.flipped ? 0 : 1];
  if (!p.is_coo()) {
    m.at.start = to_contiguous(to_dtype(p.compressed, kInt64));
    m.at.col = to_contiguous(to_dtype(p.indices, kInt64));
    return m;
  }
  int64_t n = p.nnz();
  Tensor k = keys(p);
  m.at.start = new_empty({m.at.rows + 1}, kInt64);
  m.at.col = new_empty({n}, kInt64);
  auto* start = m.at.start.data_as<int64_t>();
  std::fill(start, start + m.at.rows + 1, 0);
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = k.data_as<int64_t>()[i];
    ++start[at / m.at.cols + 1];
    m.at.col.data_as<int64_t>()[i] = at % m.at.cols;
  }
  for (int64_t r = 0; r < m.at.rows; ++r) start[r + 1] += start[r];
  return m;
}

// multiply computes matrix @ dense; integers narrower than int64 are widened for it.
Tensor multiply(const Matrix& m, const Tensor& dense, bool transposed) {
  DType dtype = dense.dtype();
  bool widen = !is_inexact(dtype) && dtype != kInt64;
  Tensor v = widen ? to_dtype(m.values, kInt64) : m.values;
  Tensor d = widen ? to_dtype(dense, kInt64) : dense;
  Tensor out = product(m.at, v, d, transposed != m.flipped);
  return widen ? to_dtype(out, dtype) : out;
}

void check_operands(const char* op, DType a, DType b, IntList left, IntList right) {
  FACULA_CHECK(right.size() == 2 && left.size() == 2, kRuntime, op, ": Expected 2-D matrices, got ",
               left.size(), "-D and ", right.size(), "-D");
  FACULA_CHECK(left[1] == right[0], kRuntime, op, ": mat1 and mat2 shapes cannot be multiplied (",
               left[0], "x", left[1], " and ", right[0], "x", right[1], ")");
  FACULA_CHECK(a == b, kRuntime, op, ": expected both matrices to have the same dtype, got ",
               dtype_name(a), " and ", dtype_name(b));
}

}  // namespace
}  // namespace sparse

Tensor mm(const SparseTensor& a, const Tensor& b) {
  sparse::check_operands("mm", a.dtype(), b.dtype(), a.sizes(), b.sizes());
  return sparse::multiply(sparse::by_rows(a, "mm"), b, false);
}

Tensor mm(const Tensor& a, const SparseTensor& b) {
  sparse::check_operands("mm", a.dtype(), b.dtype(), a.sizes(), b.sizes());
  Tensor out = sparse::multiply(sparse::by_rows(b, "mm"), transpose(a, 0, 1), true);
  return transpose(out, 0, 1);
}

Tensor mv(const SparseTensor& a, const Tensor& x) {
  FACULA_CHECK(a.dim() == 2 && x.dim() == 1, kRuntime, "mv: expected a matrix and a vector, got ",
               a.dim(), "-D and ", x.dim(), "-D");
  return select(mm(a, unsqueeze(x, 1)), 1, 0);
}

Tensor addmm(const Tensor& input, const SparseTensor& a, const Tensor& b, const Scalar& beta,
             const Scalar& alpha) {
  Tensor out = mm(a, b);
  if (!(alpha.is_integral() && alpha.i == 1)) out = mul(out, alpha);
  if (beta.is_zero()) return out;
  bool one = beta.is_integral() && beta.i == 1;
  return add(one ? expand(input, out.sizes()) : mul(expand(input, out.sizes()), beta), out);
}

SparseTensor mm(const SparseTensor& a, const SparseTensor& b) {
  sparse::check_operands("mm", a.dtype(), b.dtype(), a.sizes(), b.sizes());
  // Both by rows: row r of the product has a term for each element of a's row r and each element of
  // the row of b that its column names.
  auto rows_of = [](const SparseTensor& t) {
    bool turn = t.layout() == Layout::kCsc || t.layout() == Layout::kBsc;
    return sparse::by_rows(turn ? to_layout(t, Layout::kCsr) : t, "mm");
  };
  sparse::Matrix left = rows_of(a), right = rows_of(b);
  kernels::RowMatrix x = left.at.view(), y = right.at.view();
  sparse::check_rows(x);
  sparse::check_rows(y);
  int64_t terms = 0;
  for (int64_t i = 0; i < x.count; ++i) terms += y.start[x.col[i] + 1] - y.start[x.col[i]];
  Tensor from_a = new_empty({terms}, kInt64), from_b = new_empty({terms}, kInt64);
  Tensor keys = new_empty({terms}, kInt64);
  int64_t at = 0;
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t i = x.start[r]; i < x.start[r + 1]; ++i) {
      for (int64_t j = y.start[x.col[i]]; j < y.start[x.col[i] + 1]; ++j, ++at) {
        from_a.data_as<int64_t>()[at] = i;
        from_b.data_as<int64_t>()[at] = j;
        keys.data_as<int64_t>()[at] = r * y.cols + y.col[j];
      }
    }
  }
  sparse::Groups groups = sparse::group_keys(keys);
  sparse::Parts out;
  out.sizes = Sizes{x.rows, y.cols};
  out.coalesced = true;
  Tensor kept = index_select(keys, 0, index_select(groups.order, 0, groups.first));
  out.indices = sparse::unravel(kept, out.sizes);
  Tensor v = mul(index_select(left.values, 0, from_a), index_select(right.values, 0, from_b));
  SparseTensor r(sparse::record(out, sparse::sum_groups(groups, v)));
  bool compressed = a.layout() != Layout::kCoo && b.layout() != Layout::kCoo;
  return compressed ? to_layout(r, Layout::kCsr) : r;
}

}  // namespace facula
