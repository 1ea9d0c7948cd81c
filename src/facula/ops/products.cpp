// Calls of the product kernels with tensors.
#include "facula/ops/products.h"

#include "facula/base/error.h"
#include "facula/kernels/gemm.h"
#include "facula/ops/rules.h"

namespace facula {
namespace {

// A matrix whose strides the kernels accept, with the strides of size-1 dimensions made plain.
Tensor fit(const Tensor& t, bool any_strides) {
  int64_t rows = t->sizes[t->ndim - 2], cols = t->sizes[t->ndim - 1];
  int64_t row = t->strides[t->ndim - 2], col = t->strides[t->ndim - 1];
  if (any_strides || kernels::gemm_strides(rows, cols, row, col)) return t;
  return to_contiguous(t);
}

void set_operands(kernels::Gemm& g, const Tensor& out, const Tensor& a, const Tensor& b) {
  int d = out->ndim - 2;
  g.dtype = out.dtype();
  g.m = out->sizes[d], g.n = out->sizes[d + 1], g.k = a->sizes[d + 1];
  g.a = a.data(), g.a_row = a->strides[d], g.a_col = a->strides[d + 1];
  g.b = b.data(), g.b_row = b->strides[d], g.b_col = b->strides[d + 1];
  g.c = out.data(), g.c_row = g.m > 1 ? out->strides[d] : g.n;
}

bool any_strides(const Tensor& out, const Tensor& a) {
  int d = out->ndim - 2;
  return kernels::gemm_is_small(out.dtype(), out->sizes[d], out->sizes[d + 1], a->sizes[d + 1]) ||
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
  bool any = any_strides(out, a);
  Tensor x = fit(a, any), y = fit(b, any);
  kernels::Gemm g;
  set_operands(g, out, x, y);
  g.alpha = how.alpha;
  g.beta = how.beta;
  if (how.bias.defined()) g.bias = how.bias.data();
  kernels::gemm(g);
}

void multiply_batch_into(const Tensor& out, const Tensor& a, const Tensor& b, const Product& how) {
  if (out.is_meta()) return;
  if (is_reduced(out.dtype())) return through_float(out, a, b, how, multiply_batch_into);
  bool any = any_strides(out, a);
  Tensor x = fit(a, any), y = fit(b, any);
  kernels::Gemm g;
  set_operands(g, out, x, y);
  g.alpha = how.alpha;
  g.beta = how.beta;
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
  if (t == kBool || (t >= kUInt16 && t <= kUInt64)) {
    raise_error(ErrorKind::kNotImplemented, '"', op, "\" not implemented for '", dtype_title(t),
                "'");
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
