// Sparse gradients: how the engine adds, copies and hands them over, and those of embeddings.
#include "facula/autograd/accumulate.h"
#include "facula/autograd/engine.h"
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/sparse/parts.h"

namespace facula {
namespace sparse {
namespace {

GradientOps strided;  // the table as it is for strided gradients

Tensor add_gradients(const Tensor& a, const Tensor& b) {
  if (!is_handle(a) && !is_handle(b)) return strided.add(a, b);
  if (!is_handle(a)) return facula::add(a, SparseTensor(b));
  if (!is_handle(b)) return facula::add(b, SparseTensor(a));
  return facula::add(SparseTensor(a), SparseTensor(b)).handle();
}

void add_into(const Tensor& a, const Tensor& b) {
  if (!is_handle(b)) return strided.add_inplace(a, b);
  FACULA_CHECK(!is_handle(a), kRuntime, "sparse gradients are not added in place");
  facula::add_(a, SparseTensor(b));
}

Tensor copy(const Tensor& t) {
  if (!is_handle(t)) return strided.clone(t);
  return record(parts_of(t), strided.clone(values_of(settled(t))));
}

Tensor cast_to(const Tensor& t, DType dtype) {
  if (!is_handle(t)) return strided.cast(t, dtype);
  Tensor handle = settled(t);
  return record(parts_of(handle), strided.cast(values_of(handle), dtype));
}

Tensor real_part(const Tensor& t) {
  if (!is_handle(t)) return strided.real(t);
  Tensor handle = settled(t);
  return record(parts_of(handle), strided.real(values_of(handle)));
}

Tensor sum_to(const Tensor& t, IntList sizes) {
  return strided.sum_to(is_handle(t) ? to_dense(SparseTensor(t)) : t, sizes);
}

bool has_nan(const Tensor& t) { return strided.has_nan(is_handle(t) ? parts_of(t).values : t); }

// Nodes of operators on strided tensors know nothing of layouts.
Tensor fit(const Tensor& gradient, const Node& node) {
  if (dynamic_cast<const SparseNode*>(&node)) return gradient;
  return to_dense(SparseTensor(gradient));
}

__attribute__((constructor)) void fill_table() {
  strided = gradient_ops;
  gradient_ops.add = add_gradients;
  gradient_ops.add_inplace = add_into;
  gradient_ops.clone = copy;
  gradient_ops.cast = cast_to;
  gradient_ops.real = real_part;
  gradient_ops.sum_to = sum_to;
  gradient_ops.has_nan = has_nan;
  fit_layout_of_gradient = fit;
}

}  // namespace
}  // namespace sparse

// The gradient of an embedding's weight: the rows of `grad` at the positions looked up.
Tensor embedding_sparse_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                                 int64_t padding_idx, bool scale_grad_by_freq) {
  FACULA_CHECK(!scale_grad_by_freq, kRuntime,
               "embedding_backward: scale_grad_by_freq not supported with sparse gradients");
  int64_t width = grad.size(-1);
  Tensor at = reshape(to_dtype(indices, kInt64), {-1});
  Tensor rows = reshape(grad, {at.numel(), width});
  if (padding_idx >= 0) {
    Tensor kept = reshape(nonzero(ne(at, Scalar(padding_idx))), {-1});
    if (kept.numel() != at.numel()) {
      at = index_select(at, 0, kept);
      rows = index_select(rows, 0, kept);
    }
  }
  sparse::Parts out;
  out.indices = clone(unsqueeze(at, 0));
  out.sizes = Sizes{num_weights, width};
  return sparse::record(out, rows);
}

}  // namespace facula
