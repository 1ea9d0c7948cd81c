// Embeddings, and writes in row-major order: put and masked_scatter.
#include <algorithm>

#include "facula/kernels/index.h"
#include "facula/kernels/scatter.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

using kernels::Fault;
using kernels::view;

// flat_positions gives position tensors as dense int64 vectors.
Tensor flat_positions(const Tensor& indices, const char* op) {
  FACULA_CHECK(indices.dtype() == kInt64 || indices.dtype() == kInt32, kRuntime, op,
               "(): Expected tensor for argument 'indices' to have one of the following scalar "
               "types: Long, Int; but got ",
               dtype_title(indices.dtype()), " instead");
  Tensor at = to_contiguous(to_dtype(indices, kInt64));
  return alias_storage(at, {at.numel()}, {1}, at.storage_offset());
}

Tensor fresh_copy(const Tensor& t, IntList sizes) {
  Tensor r = new_empty(sizes, t.dtype(), t.device());
  copy_raw(r, t);
  return r;
}

}  // namespace

namespace forward {

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
  FACULA_CHECK(weight.dim() == 2, kRuntime, "embedding(): 'weight' must be 2-D, got ", weight.dim(),
               "-D");
  Tensor at = flat_positions(indices, "embedding");
  Sizes sizes = indices.sizes().to_sizes();
  sizes.push_back(weight.sizes()[1]);
  Tensor r = new_empty(sizes, weight.dtype(), weight.device());
  if (weight.is_meta() || indices.is_meta()) return r;
  int64_t width = weight.sizes()[1];
  Tensor rows = alias_storage(r, {at.numel(), width}, {width, 1}, r.storage_offset());
  Fault fault;
  {
    LongWork work(r.numel());
    kernels::index->index_select(view(rows), view(weight), 0, view(at), &fault);
  }
  check_position(fault, "embedding", ErrorKind::kIndex);
  return r;
}

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                          int64_t padding_idx, bool scale_grad_by_freq) {
  int64_t width = grad.sizes().back();
  Tensor r = new_empty({num_weights, width}, grad.dtype(), grad.device());
  if (grad.is_meta()) return r;
  fill_raw(r, Scalar(0));
  Tensor at = flat_positions(indices, "embedding"), g = to_contiguous(grad);
  g = alias_storage(g, {at.numel(), width}, {width, 1}, g.storage_offset());
  Tensor counts;
  if (scale_grad_by_freq) counts = new_empty({num_weights}, kInt64);
  LongWork work(g.numel());
  kernels::scatter->embedding_backward(view(r), view(g), view(at), padding_idx, view(counts));
  return r;
}

void embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm,
                       double norm_type) {
  FACULA_CHECK(self.dim() == 2, kRuntime, "embedding_renorm_: expected a matrix, got ", self.dim(),
               " dimensions");
  Tensor at = flat_positions(indices, "embedding_renorm_");
  if (self.is_meta() || at.numel() == 0) return;
  std::vector<int64_t> rows(at.data_as<int64_t>(), at.data_as<int64_t>() + at.numel());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  Tensor once = new_empty({static_cast<int64_t>(rows.size())}, kInt64);
  std::copy(rows.begin(), rows.end(), once.data_as<int64_t>());
  NoGrad no_grad;
  Tensor picked = forward::index_select(self, 0, once);
  Tensor size = facula::vector_norm(picked, Scalar(norm_type), IntList(1), true);
  Tensor scale =
      facula::where(facula::gt(size, Scalar(max_norm)),
                    facula::div(Scalar(max_norm), facula::add(size, Scalar(1e-7))), Scalar(1));
  forward::index_copy_(self, 0, once, facula::mul(picked, scale));
}

void put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  FACULA_CHECK(index.dtype() == kInt64, kRuntime,
               "put_(): Expected a long tensor for index, but got ", dtype_title(index.dtype()));
  FACULA_CHECK(self.dtype() == source.dtype(), kRuntime,
               "put_(): self and source expected to have the same dtype, but got ",
               dtype_title(self.dtype()), " and ", dtype_title(source.dtype()));
  FACULA_CHECK(index.numel() == source.numel(), kIndex,
               "put_(): Expected source and index to have the same number of elements, but got "
               "source.numel() = ",
               source.numel(), ", index.numel() = ", index.numel());
  FACULA_CHECK(self.numel() > 0 || index.numel() == 0, kIndex,
               "put_(): tried to put elements into an empty tensor");
  check_no_internal_overlap(self, "put_");
  if (self.is_meta() || index.numel() == 0) return;
  Tensor at = to_contiguous(index), from = to_contiguous(source);
  at = alias_storage(at, {at.numel()}, {1}, at.storage_offset());
  from = alias_storage(from, {from.numel()}, {1}, from.storage_offset());
  Fault fault;
  kernels::scatter->put(view(self), view(at), view(from), accumulate, &fault);
  check_position(fault, "put_", ErrorKind::kIndex);
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  Tensor r = fresh_copy(self, self.sizes());
  forward::put_(r, index, source, accumulate);
  return r;
}

void masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source) {
  FACULA_CHECK(mask.dtype() == kBool, kRuntime,
               "masked_scatter_ only supports boolean masks, but got mask with dtype ",
               dtype_title(mask.dtype()));
  FACULA_CHECK(self.dtype() == source.dtype(), kRuntime,
               "masked_scatter_: expected self and source to have same dtypes but got ",
               dtype_title(self.dtype()), " and ", dtype_title(source.dtype()));
  check_no_internal_overlap(self, "masked_scatter_");
  Geometry g = expand_geometry(mask, self.sizes());
  Tensor wide = alias_storage(mask, g.sizes, g.strides, g.offset);
  if (self.is_meta()) return;
  Fault fault;
  {
    Tensor from = to_contiguous(source);
    LongWork work(self.numel());
    kernels::scatter->masked_scatter(view(self), view(wide), view(from), &fault);
  }
  FACULA_CHECK(
      !fault, kRuntime,
      "masked_scatter: expected source to have at least as many elements as mask has ones, "
      "got ",
      fault.value, " for ", fault.bound);
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  Sizes shape = broadcast_sizes(self.sizes(), mask.sizes(), "masked_scatter");
  Tensor r = fresh_copy(self, shape);
  forward::masked_scatter_(r, mask, source);
  return r;
}

}  // namespace forward

Tensor embedding_backward_backward(const Tensor& grad, const Tensor& indices, int64_t padding_idx,
                                   bool scale_grad_by_freq) {
  Tensor g = embedding(grad, indices);
  Tensor at = cast(indices, kInt64);
  if (scale_grad_by_freq) {
    Tensor flat = reshape(at, {-1});
    Tensor counts = scatter_add(zeros({grad.size(0)}, kInt64), 0, flat, ones_like(flat));
    g = div(g, unsqueeze(reshape(index_select(counts, 0, flat), at.sizes()), -1));
  }
  return where(unsqueeze(eq(at, Scalar(padding_idx)), -1), Scalar(0), g);
}

Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, IntList sizes) {
  Tensor used = masked_select(grad, expand(mask, grad.sizes()));
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  Tensor parts[] = {used, zeros({n - used.numel()}, grad.dtype(), grad.device())};
  return reshape(cat(TensorList(parts), 0), sizes);
}

}  // namespace facula
