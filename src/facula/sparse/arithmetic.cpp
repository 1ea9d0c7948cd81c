// Sums, products and reductions of sparse tensors.
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/sparse/parts.h"

namespace facula {
namespace sparse {
namespace {

void check_same(const char* op, const Parts& a, const Parts& b) {
  FACULA_CHECK(IntList(a.sizes) == IntList(b.sizes), kRuntime, op,
               ": expected sizes of 'self' and 'other' to match, but ", list_text(a.sizes),
               " != ", list_text(b.sizes));
  FACULA_CHECK(a.sparse_dim() == b.sparse_dim() || !a.is_coo() || !b.is_coo(), kRuntime, op,
               ": expected 'self' and 'other' to have same number of sparse dimensions, got ",
               a.sparse_dim(), " and ", b.sparse_dim());
}

Tensor scaled(const Tensor& v, const Scalar& alpha, DType dtype) {
  Tensor t = as_dtype(v, dtype);
  return alpha.is_integral() && alpha.i == 1 ? t : mul(t, alpha);
}

// Both as COO of the same sparse dimensions, when they are compressed.
SparseTensor as_coo(const SparseTensor& t) { return SparseTensor(to_coo(t.handle())); }

SparseTensor back_to(const SparseTensor& t, const SparseTensor& like) {
  const Parts& p = parts_of(like.handle());
  if (p.is_coo()) return t;
  Sizes block{p.block(0), p.block(1)};
  return to_layout(t, p.layout, p.is_blocked() ? IntList(block) : IntList());
}

Tensor join(const Tensor& a, const Tensor& b, int64_t dim) {
  Tensor both[] = {a, b};
  return cat(TensorList(both), dim);
}

SparseTensor add_coo(const SparseTensor& a, const SparseTensor& b, const Scalar& alpha) {
  bool sorted = a.is_coalesced() && b.is_coalesced();
  DType dtype = promote(a.dtype(), b.dtype());
  Tensor left = settled(a.handle()), right = settled(b.handle());
  const Parts &p = parts_of(left), &q = parts_of(right);
  check_same("add", p, q);
  Tensor x = scaled(values_of(left), 1, dtype), y = scaled(values_of(right), alpha, dtype);
  Parts out = p;
  out.coalesced = false;
  if (sorted && p.nnz() == q.nnz()) {
    Tensor k = keys(p), l = keys(q);
    size_t bytes = static_cast<size_t>(k.numel()) * sizeof(int64_t);
    if (bytes == 0 || std::memcmp(k.data(), l.data(), bytes) == 0) {
      out.coalesced = true;
      return SparseTensor(record(out, add(x, y)));
    }
  }
  out.indices = join(p.indices, q.indices, 1);
  Tensor sum = record(out, join(x, y, 0));
  return SparseTensor(sorted ? coalesced(sum) : sum);
}

// Positions that two coalesced tensors share, as places in the one and the other.
void intersect(const Parts& a, const Parts& b, Tensor& from_a, Tensor& from_b) {
  Tensor k = keys(a), l = keys(b);
  from_a = new_empty({std::min(k.numel(), l.numel())}, kInt64);
  from_b = new_empty({from_a.numel()}, kInt64);
  int64_t n = 0;
  for (int64_t i = 0, j = 0; i < k.numel() && j < l.numel();) {
    int64_t x = k.data_as<int64_t>()[i], y = l.data_as<int64_t>()[j];
    if (x == y) {
      from_a.data_as<int64_t>()[n] = i++;
      from_b.data_as<int64_t>()[n++] = j++;
    } else if (x < y) {
      ++i;
    } else {
      ++j;
    }
  }
  from_a = narrow(from_a, 0, 0, n);
  from_b = narrow(from_b, 0, 0, n);
}

// Groups of the elements that a softmax runs over: those that differ in `dim` alone.
Groups groups_along(const Parts& p, int64_t dim) {
  Tensor at = to_contiguous(p.indices), out = new_empty({p.nnz()}, kInt64);
  for (int64_t i = 0; i < p.nnz(); ++i) {
    int64_t k = 0;
    for (int64_t d = 0; d < p.sparse_dim(); ++d) {
      if (d != dim)
        k = k * p.sizes[static_cast<size_t>(d)] + at.data_as<int64_t>()[d * p.nnz() + i];
    }
    out.data_as<int64_t>()[i] = k;
  }
  return group_keys(out);
}

SparseTensor softmax_of(const SparseTensor& t, int64_t dim, bool logarithm) {
  const char* op = logarithm ? "log_softmax" : "softmax";
  dim = wrap_dim(dim, t.dim(), op);
  FACULA_CHECK(is_floating(t.dtype()), kRuntime, op, ": expected a floating point type, got ",
               dtype_name(t.dtype()));
  Tensor handle = to_coo(t.handle());
  const Parts& p = parts_of(handle);
  Tensor v = values_of(handle);
  if (dim >= p.sparse_dim()) {
    int64_t d = dim - p.sparse_dim() + 1;
    Tensor shifted = sub(v, detach(amax(v, Sizes{d}, true)));
    Tensor total = sum(exp(shifted), Sizes{d}, true);
    v = logarithm ? sub(shifted, log(total)) : div(exp(shifted), total);
  } else if (p.nnz() > 0) {
    Groups g = groups_along(p, dim);
    Sizes sizes = v.sizes().to_sizes();
    sizes[0] = g.count;
    Tensor top =
        index_reduce(full(sizes, Scalar(-INFINITY), v.dtype()), 0, g.group, detach(v), "amax");
    Tensor shifted = sub(v, index_select(top, 0, g.group));
    Tensor total = index_select(sum_groups(g, exp(shifted)), 0, g.group);
    v = logarithm ? sub(shifted, log(total)) : div(exp(shifted), total);
  }
  return back_to(SparseTensor(record(p, v)), t);
}

}  // namespace
}  // namespace sparse

using sparse::Parts;

SparseTensor add(const SparseTensor& a, const SparseTensor& b, const Scalar& alpha) {
  sparse::check_same("add", sparse::parts_of(a.handle()), sparse::parts_of(b.handle()));
  bool coo = a.layout() == Layout::kCoo && b.layout() == Layout::kCoo;
  if (coo) return sparse::add_coo(a, b, alpha);
  return sparse::back_to(sparse::add_coo(sparse::as_coo(a), sparse::as_coo(b), alpha), a);
}

Tensor add(const Tensor& a, const SparseTensor& b, const Scalar& alpha) {
  DType dtype = promote(a.dtype(), b.dtype());
  FACULA_CHECK(a.sizes() == b.sizes(), kRuntime, "add: expected 'self' and 'other' to have same ",
               "size, but self has size ", list_text(a.sizes()), " while other has size ",
               list_text(b.sizes()));
  Tensor handle = sparse::settled(b.handle());
  const Parts& p = sparse::parts_of(handle);
  Tensor v = sparse::scaled(sparse::values_of(handle), alpha, dtype);
  Tensor grid = sparse::to_grid(as_dtype(a, dtype), p);
  return sparse::from_grid(index_add(grid, 0, sparse::keys(p), sparse::flat_values(p, v)), p);
}

void add_(const Tensor& a, const SparseTensor& b, const Scalar& alpha) {
  const Parts& p = sparse::parts_of(b.handle());
  FACULA_CHECK(a.sizes() == b.sizes(), kRuntime, "add_: expected 'self' and 'other' to have same ",
               "size, but self has size ", list_text(a.sizes()), " while other has size ",
               list_text(b.sizes()));
  FACULA_CHECK(can_cast(promote(a.dtype(), b.dtype()), a.dtype()), kRuntime, "add_: result type ",
               dtype_name(promote(a.dtype(), b.dtype())),
               " can't be cast to the desired output type ", dtype_name(a.dtype()));
  bool direct = a.is_contiguous() && !p.is_blocked() && a.dtype() != kBool;
  if (recording(a, b.handle()) || !direct) {
    copy_(a, add(a, b, alpha));
    return;
  }
  Tensor v = as_dtype(sparse::flat_values(p, p.values), a.dtype());
  index_add_(sparse::to_grid(a, p), 0, sparse::keys(p), v, alpha);
}

SparseTensor mul(const SparseTensor& a, const Scalar& b) {
  Tensor handle = sparse::settled(a.handle());
  return SparseTensor(sparse::record(sparse::parts_of(handle), mul(sparse::values_of(handle), b)));
}

SparseTensor mul(const SparseTensor& a, const Tensor& b) {
  Tensor handle = sparse::settled(a.handle());
  const Parts& p = sparse::parts_of(handle);
  Tensor v = sparse::values_of(handle);
  if (b.dim() == 0) return SparseTensor(sparse::record(p, mul(v, b)));
  Tensor wide = b.sizes() == a.sizes() ? b : expand(b, a.sizes());
  return SparseTensor(sparse::record(p, mul(v, sparse::values_at(p, wide))));
}

SparseTensor mul(const SparseTensor& a, const SparseTensor& b) {
  sparse::check_same("mul", sparse::parts_of(a.handle()), sparse::parts_of(b.handle()));
  Tensor left = sparse::to_coo(a.handle()), right = sparse::to_coo(b.handle());
  const Parts &p = sparse::parts_of(left), &q = sparse::parts_of(right);
  sparse::check_same("mul", p, q);
  Tensor from_a, from_b;
  sparse::intersect(p, q, from_a, from_b);
  Parts out = p;
  out.indices = index_select(p.indices, 1, from_a);
  Tensor v = mul(index_select(sparse::values_of(left), 0, from_a),
                 index_select(sparse::values_of(right), 0, from_b));
  return sparse::back_to(SparseTensor(sparse::record(out, v)), a);
}

Tensor sum(const SparseTensor& t) { return sum(sparse::values_of(sparse::settled(t.handle()))); }

Tensor sum(const SparseTensor& t, IntList dims) {
  uint64_t mask = dim_mask(dims, t.dim(), "sum");
  Tensor handle = sparse::to_coo(t.handle());
  const Parts& p = sparse::parts_of(handle);
  int64_t ns = p.sparse_dim();
  Sizes inner, kept;
  Parts out;
  for (int64_t d = 0; d < t.dim(); ++d) {
    bool folded = mask >> d & 1;
    if (!folded) out.sizes.push_back(t.sizes()[static_cast<size_t>(d)]);
    if (folded && d >= ns) inner.push_back(d - ns + 1);
    if (!folded && d < ns) kept.push_back(d);
  }
  Tensor v = sparse::values_of(handle);
  if (!inner.empty()) v = sum(v, inner);
  if (kept.empty() && ns > 0) return sum(v, Sizes{0});
  std::vector<Tensor> lines;
  for (int64_t d : kept) lines.push_back(select(p.indices, 0, d));
  out.indices = lines.empty() ? p.indices : stack(TensorList(lines), 0);
  out.coalesced = static_cast<int64_t>(kept.size()) == ns;
  if (v.dtype() == kBool || (is_integral(v.dtype()) && v.dtype() != kInt64)) v = cast(v, kInt64);
  return sparse::coalesced(sparse::record(out, v));
}

SparseTensor softmax(const SparseTensor& t, int64_t dim) {
  return sparse::softmax_of(t, dim, false);
}

SparseTensor log_softmax(const SparseTensor& t, int64_t dim) {
  return sparse::softmax_of(t, dim, true);
}

}  // namespace facula
