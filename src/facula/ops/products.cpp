// Calls of the product kernels with tensors.
#include "facula/ops/products.h"

#include <utility>

#include "facula/base/error.h"
#include "facula/kernels/gemm.h"
#include "facula/ops/rules.h"

namespace facula {
namespace {

// A matrix (or batch of them) whose strides the kernels accept: the tensor or a copy.
Tensor fit(const Tensor& t) {
  int64_t rows = t->sizes[t->ndim - 2], cols = t->sizes[t->ndim - 1];
  int64_t row = t->strides[t->ndim - 2], col = t->strides[t->ndim - 1];
  if (kernels::gemm_strides(rows, cols, row, col)) return t;
  return to_contiguous(t);
}

void set_operands(kernels::Gemm& g, const Tensor& out, const Tensor& a, const Tensor& b,
                  const Product& how) {
  int d = out->ndim - 2;
  g.dtype = out.dtype();
  g.m = out->sizes[d], g.n = out->sizes[d + 1], g.k = a->sizes[how.a_transposed ? d : d + 1];
  g.a = a.data(), g.a_row = a->strides[d], g.a_col = a->strides[d + 1];
  g.b = b.data(), g.b_row = b->strides[d], g.b_col = b->strides[d + 1];
  if (how.a_transposed) std::swap(g.a_row, g.a_col);
  if (how.b_transposed) std::swap(g.b_row, g.b_col);
  g.c = out.data(), g.c_row = g.m > 1 ? out->strides[d] : g.n;
  g.alpha = how.alpha;
  g.beta = how.beta;
  if (how.bias.defined()) g.bias = how.bias.data();
}

bool any_strides(const Tensor& out, const Tensor& a, const Product& how) {
  int d = out->ndim - 2;
  int64_t k = a->sizes[how.a_transposed ? d : d + 1];
  return kernels::gemm_is_small(out.dtype(), out->sizes[d], out->sizes[d + 1], k) ||
         is_integral(out.dtype());
}

// Runs f on float32 copies of 16-bit operands.
template <class F>
void through_float(const Tensor& out, const Tensor& a, const Tensor& b, const Product& how, F&& f) {
  Tensor wide = new_empty(out.sizes(), kFloat32);
  if (how.beta != 0) copy_raw(wide, out);
  Product p = how;
  if (p.bias.defined()) p.bias = to_dtype(p.bias, kFloat32);
  f(wide, to_dtype(a, kFloat32), to_dtype(b, kFloat32), p);
  copy_raw(out, wide);
}

}  // namespace

void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b, const Product& how) {
  if (out.is_meta()) return;
  if (is_reduced(out.dtype())) return through_float(out, a, b, how, multiply_into);
  kernels::Gemm g;
  if (any_strides(out, a, how)) {
    set_operands(g, out, a, b, how);
    return kernels::gemm(g);
  }
  Tensor x = fit(a), y = fit(b);
  set_operands(g, out, x, y, how);
  kernels::gemm(g);
}

void multiply_batch_into(const Tensor& out, const Tensor& a, const Tensor& b, const Product& how) {
  if (out.is_meta()) return;
  if (is_reduced(out.dtype())) return through_float(out, a, b, how, multiply_batch_into);
  bool any = any_strides(out, a, how);
  Tensor x = any ? a : fit(a), y = any ? b : fit(b);
  kernels::Gemm g;
  set_operands(g, out, x, y, how);
  kernels::GemmBatch batch;
  batch.count[1] = out->sizes[0];
  batch.a[1] = x->strides[0];
  batch.b[1] = y->strides[0];
  batch.c[1] = out->strides[0];
  kernels::gemm_batch(g, batch);
}

void check_product_types(const char* op, const Tensor& a, const Tensor& b) {
  if (!(a.device() == b.device())) {
    raise_error(ErrorKind::kRuntime, op, ": expected all tensors to be on the same device, got ",
                device_text(a.device()), " and ", device_text(b.device()));
  }
  DType t = a.dtype();
  if (t != b.dtype()) {
    raise_error(ErrorKind::kRuntime, op, ": expected both tensors to have the same dtype, got ",
                dtype_name(t), " != ", dtype_name(b.dtype()));
  }
  if (t == kBool) {
    raise_error(ErrorKind::kNotImplemented, '"', op, "\" not implemented for '", dtype_title(t),
                "'");
  }
}

void check_vectors(const char* op, const Tensor& x, const Tensor& y) {
  check_product_types(op, x, y);
  const int64_t n = x.size(-1), m = y.size(-1);
  if (n != m) {
    raise_error(ErrorKind::kRuntime, op, ": inconsistent tensor size, expected tensor [", n,
                "] and src [", m, "] to have the same number of elements, but got ", n, " and ", m,
                " elements respectively");
  }
}

Tensor matrix_of(const Tensor& t) {
  if (t.dim() == 2) return t;
  int64_t cols = t.dim() ? t.size(-1) : 1;
  int64_t rows = 1;
  for (int d = 0; d + 1 < t.dim(); ++d) rows *= t->sizes[d];
  Tensor dense = to_contiguous(t);
  return alias_storage(dense, {rows, cols}, {cols, 1}, dense.storage_offset());
}

}  // namespace facula
