// Questions about the layout of tensors: memory formats, density, overlap.
#include <algorithm>
#include <cstdlib>

#include "facula/base/error.h"
#include "facula/core/tensor.h"

namespace facula {
namespace {

// The dimensions of a channels-last format, innermost first.
struct Order {
  int count;
  int dims[5];
};

Order order_of(MemoryFormat format, size_t ndim) {
  switch (format) {
    case MemoryFormat::kChannelsLast:
      FACULA_CHECK(ndim == 4, kRuntime, "required rank 4 tensor to use channels_last format");
      return {4, {1, 3, 2, 0}};
    case MemoryFormat::kChannelsLast3d:
      FACULA_CHECK(ndim == 5, kRuntime, "required rank 5 tensor to use channels_last_3d format");
      return {5, {1, 4, 3, 2, 0}};
    default: break;
  }
  fail(ErrorKind::kRuntime, "preserve_format has no strides of its own");
}

// Sorts dimensions by stride, innermost first; broadcast ones stay beside their neighbours.
int sorted_dims(const Tensor& t, int* dims) {
  int n = 0;
  for (int d = t->ndim - 1; d >= 0; --d) dims[n++] = d;
  for (int i = 1; i < n; ++i) {
    int at = i;
    for (int j = i - 1; j >= 0; --j) {
      int64_t inner = std::abs(t->strides[dims[j]]), outer = std::abs(t->strides[dims[at]]);
      if (inner == 0 || outer == 0) continue;
      bool swap = inner > outer || (inner == outer && t->sizes[dims[j]] > t->sizes[dims[at]]);
      if (!swap && inner < outer) break;
      if (swap) {
        std::swap(dims[j], dims[at]);
        at = j;
      }
    }
  }
  return n;
}

// The bytes that a tensor with elements spans, relative to its storage.
struct Span {
  int64_t begin, end;
};

Span span_of(const Tensor& t) {
  int64_t low = t->offset, high = t->offset;
  for (int d = 0; d < t->ndim; ++d) {
    int64_t reach = (t->sizes[d] - 1) * t->strides[d];
    (reach < 0 ? low : high) += reach;
  }
  return {low * item_size(t.dtype()), (high + 1) * item_size(t.dtype())};
}

bool same_layout(const Tensor& a, const Tensor& b) {
  if (item_size(a.dtype()) != item_size(b.dtype()) || a->ndim != b->ndim) return false;
  if (a.is_contiguous() && b.is_contiguous()) return true;
  return a.strides() == b.strides() && a.sizes() == b.sizes();
}

}  // namespace

Sizes strides_of_format(IntList sizes, MemoryFormat format) {
  if (format == MemoryFormat::kContiguous) return contiguous_strides(sizes);
  Order order = order_of(format, sizes.size());
  Sizes strides(sizes.size());
  int64_t n = 1;
  for (int i = 0; i < order.count; ++i) {
    int d = order.dims[i];
    strides[d] = n;
    if (sizes[d] > 1) __builtin_mul_overflow(n, sizes[d], &n);
  }
  return strides;
}

bool is_contiguous_as(const Tensor& t, MemoryFormat format) {
  if (format == MemoryFormat::kContiguous) return t.is_contiguous();
  if (t->ndim != (format == MemoryFormat::kChannelsLast ? 4 : 5)) return false;
  Order order = order_of(format, t->ndim);
  if (t->numel == 0) return true;
  int64_t n = 1;
  for (int i = 0; i < order.count; ++i) {
    int d = order.dims[i];
    if (t->sizes[d] == 1) continue;
    if (t->strides[d] != n) return false;
    n *= t->sizes[d];
  }
  return true;
}

bool is_dense(const Tensor& t) {
  if (t.is_contiguous()) return true;
  int dims[kMaxDims], n = 0;
  for (int d = 0; d < t->ndim; ++d) {
    if (t->sizes[d] != 1) dims[n++] = d;
  }
  std::sort(dims, dims + n, [&](int a, int b) { return t->strides[a] < t->strides[b]; });
  int64_t expected = 1;
  for (int i = 0; i < n; ++i) {
    if (t->strides[dims[i]] != expected) return false;
    expected *= t->sizes[dims[i]];
  }
  return true;
}

bool overlaps_itself(const Tensor& t) {
  if (t.is_contiguous()) return false;
  for (int d = 0; d < t->ndim; ++d) {
    if (t->strides[d] == 0 && t->sizes[d] > 1) return true;
  }
  return false;
}

bool may_overlap_itself(const Tensor& t) {
  if (t.is_contiguous() || t->numel < 2) return false;
  int dims[kMaxDims], n = 0;
  for (int d = 0; d < t->ndim; ++d) {
    if (t->sizes[d] != 1) dims[n++] = d;
  }
  auto stride = [&](int d) { return std::abs(t->strides[d]); };
  std::sort(dims, dims + n, [&](int a, int b) { return stride(a) < stride(b); });
  int64_t reach = 0;  // of the dimensions so far: the next one must step over it
  for (int i = 0; i < n; ++i) {
    if (stride(dims[i]) <= reach) return true;
    reach += stride(dims[i]) * (t->sizes[dims[i]] - 1);
  }
  return false;
}

Overlap memory_overlap(const Tensor& a, const Tensor& b) {
  if (a.impl() == b.impl()) return Overlap::kFull;
  if (a->numel == 0 || b->numel == 0) return Overlap::kNone;
  Span x = span_of(a), y = span_of(b);
  if (a->storage != b->storage) {
    // Only foreign memory can be wrapped twice.
    if (!a->storage->is_external() || !b->storage->is_external()) return Overlap::kNone;
    int64_t shift = reinterpret_cast<intptr_t>(b->storage->data()) -
                    reinterpret_cast<intptr_t>(a->storage->data());
    y = {y.begin + shift, y.end + shift};
  }
  if (x.begin >= y.end || y.begin >= x.end) return Overlap::kNone;
  bool same_span = x.begin == y.begin && x.end == y.end;
  if (!is_dense(a) || !is_dense(b)) {
    return same_span && same_layout(a, b) ? Overlap::kFull : Overlap::kUnknown;
  }
  return same_span && same_layout(a, b) ? Overlap::kFull : Overlap::kPartial;
}

Sizes dense_strides(const Tensor& t) {
  if (is_dense(t)) return t.strides().to_sizes();
  int dims[kMaxDims];
  int n = sorted_dims(t, dims);
  Sizes strides(t->ndim);
  int64_t next = 1;
  for (int i = 0; i < n; ++i) {
    strides[dims[i]] = next;
    if (t->sizes[dims[i]] > 1) next *= t->sizes[dims[i]];
  }
  return strides;
}

}  // namespace facula
