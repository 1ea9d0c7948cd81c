// Making, viewing, re-shaping and destroying tensors. Questions about geometry are in geometry.cpp.
#include "facula/core/tensor.h"

#include <new>

#include "facula/base/error.h"
#include "facula/core/allocator.h"
#include "facula/core/thread_state.h"

namespace facula {

void fail_undefined() { raise_error(ErrorKind::kType, "expected a Tensor, got an undefined one"); }

bool (*python_drop)(TensorImpl*) = nullptr;
void (*release_node)(Node*) = nullptr;

namespace {

// A share of a storage on its way into a tensor.
class StorageShare {
 public:
  explicit StorageShare(Storage* s) : storage_(s) {}
  StorageShare(const StorageShare&) = delete;
  ~StorageShare() {
    if (storage_) storage_->release();
  }
  Storage* take() { return std::exchange(storage_, nullptr); }
  Storage* get() const { return storage_; }

 private:
  Storage* storage_;
};

constexpr size_t dims_bytes(int ndim) { return 2 * sizeof(int64_t) * static_cast<size_t>(ndim); }

void check_ndim(size_t ndim) {
  FACULA_CHECK(ndim <= kMaxDims, kRuntime, "expected at most ", kMaxDims, " dimensions, got ",
               ndim);
}

// Points sizes and strides at room for `ndim` dimensions; the old contents are lost.
inline void place_dims(TensorImpl* p, int ndim) {
  if (ndim <= kInlineDims) [[likely]] {
    p->sizes = p->inline_dims;
    p->strides = p->inline_dims + kInlineDims;
  } else {
    p->sizes = static_cast<int64_t*>(allocate_cpu(dims_bytes(ndim)));
    p->strides = p->sizes + ndim;
  }
  p->ndim = static_cast<uint8_t>(ndim);
}

inline void free_dims(TensorImpl* p) {
  if (p->sizes != p->inline_dims) deallocate_cpu(p->sizes, dims_bytes(p->ndim));
}

// Makes a tensor over a storage without geometry; takes the share.
inline TensorImpl* allocate_tensor(StorageShare& storage, DType dtype, int ndim) {
  auto* p = new (allocate_cpu(sizeof(TensorImpl))) TensorImpl;
  if (ndim <= kInlineDims) [[likely]] {
    place_dims(p, ndim);
  } else {
    try {
      place_dims(p, ndim);
    } catch (...) {
      deallocate_cpu(p, sizeof(TensorImpl));
      throw;
    }
  }
  p->refs.store(1, std::memory_order_relaxed);
  p->dtype = dtype;
  p->intercept = 0;
  p->flags = 0;
  p->output_nr = 0;
  p->view_version = 0;
  p->offset = 0;
  p->storage = storage.take();
  p->device = p->storage->device();
  p->version = &p->storage->version;
  p->grad_fn = nullptr;
  p->base = nullptr;
  p->meta = nullptr;
  p->python = nullptr;
  p->gc_mark = 0;
  return p;
}

inline void copy_list(int64_t* out, const int64_t* in, int n) {
  for (int i = 0; i < n; ++i) out[i] = in[i];
}

// Fills in geometry that is known to lie inside the storage.
inline void fill_geometry(TensorImpl* p, IntList sizes, IntList strides, int64_t offset) {
  int64_t n = 1;
  bool contiguous = true;
  for (int i = p->ndim - 1; i >= 0; --i) {
    int64_t size = sizes[i];
    p->sizes[i] = size;
    p->strides[i] = strides[i];
    if (size != 1 && strides[i] != n) contiguous = false;
    n *= size;
  }
  p->numel = n;
  p->offset = offset;
  uint16_t rest = p->flags & ~kContiguousFlag;
  p->flags = static_cast<uint16_t>(rest | (contiguous || n == 0 ? kContiguousFlag : 0));
}

[[noreturn]] FACULA_COLD void fail_bounds(const Storage* storage, IntList sizes, IntList strides,
                                          int64_t offset, DType dtype, __int128 need) {
  bool fits = need < (__int128{1} << 63);
  raise_error(ErrorKind::kRuntime, "setStorage: sizes ", list_text(sizes), ", strides ",
              list_text(strides), ", storage offset ", offset, ", and itemsize ", item_size(dtype),
              " requiring a storage size of ",
              fits ? std::to_string(static_cast<int64_t>(need)) : "more than 2**63",
              " are out of bounds for storage of size ", storage->bytes());
}

// Raises unless every element lies inside the storage. Tensors without elements always do.
inline void check_bounds(const Storage* storage, IntList sizes, IntList strides, int64_t offset,
                         DType dtype) {
  FACULA_CHECK(sizes.size() == strides.size(), kRuntime,
               "mismatch in length of strides and shape: ", list_text(sizes), " and ",
               list_text(strides));
  check_ndim(sizes.size());
  __int128 low = offset, high = offset;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0) {
      FACULA_CHECK(sizes[i] == 0, kRuntime, "Trying to create tensor with negative dimension ",
                   sizes[i], ": ", list_text(sizes));
      empty = true;
    }
    __int128 reach = static_cast<__int128>(sizes[i] - 1) * strides[i];
    constexpr __int128 kFar = __int128{1} << 64;  // outside any storage; sums cannot overflow
    (reach < 0 ? low : high) += reach > kFar ? kFar : reach < -kFar ? -kFar : reach;
  }
  FACULA_CHECK(offset >= 0, kRuntime, "Tensor: invalid storage offset ", offset);
  if (empty) {  // the element count must still be countable
    count_elements(sizes, "view");
    return;
  }
  __int128 need = (high + 1) * item_size(dtype);
  if (low < 0 || need > static_cast<__int128>(storage->bytes())) [[unlikely]] {
    fail_bounds(storage, sizes, strides, offset, dtype, need);
  }
}

// Multiplies sizes; the slow function makes the messages.
inline int64_t checked_numel(IntList sizes) {
  int64_t n = 1;
  bool bad = false;
  for (int64_t s : sizes) {
    bad |= s < 0;
    bad |= __builtin_mul_overflow(n, s, &n);
  }
  return bad ? count_elements(sizes, "empty") : n;
}

inline size_t bytes_of(int64_t n, DType dtype) {
  size_t bytes;
  FACULA_CHECK(!__builtin_mul_overflow(static_cast<size_t>(n), kItemSizes[static_cast<int>(dtype)],
                                       &bytes) &&
                   bytes <= INT64_MAX,
               kRuntime, "Storage size calculation overflowed: ", n, " elements of ",
               dtype_name(dtype));
  return bytes;
}

inline uint16_t inference_flag() { return tls.inference ? kInference : 0; }

void share_version(TensorImpl* to, const TensorImpl* from) {
  to->version = from->version;
  if (from->has(kNoVersion)) {
    static_cast<SharedVersion*>(to->version)->retain();
    to->flags |= kNoVersion;
  }
}

void drop_version(TensorImpl* p) {
  if (p->has(kNoVersion)) static_cast<SharedVersion*>(p->version)->release();
}

void use_own_version(TensorImpl* p, uint32_t value) {
  auto* fresh = new SharedVersion;
  fresh->value.store(value, std::memory_order_relaxed);
  drop_version(p);
  p->version = fresh;
  p->flags |= kNoVersion;
}

inline Tensor over_same_storage(const Tensor& t, IntList sizes, IntList strides, int64_t offset,
                                DType dtype) {
  check_bounds(t->storage, sizes, strides, offset, dtype);
  t->storage->retain();
  StorageShare share(t->storage);
  TensorImpl* p = allocate_tensor(share, dtype, sizes.ssize());
  p->device = t->device;
  p->intercept = t->intercept;
  p->flags = t->flags & kInference;
  fill_geometry(p, sizes, strides, offset);
  share_version(p, t.impl());
  p->view_version = p->version->value.load(std::memory_order_relaxed);
  return Tensor::steal(p);
}

}  // namespace

void destroy_tensor(TensorImpl* p) {
  if (p->python && python_drop && python_drop(p)) return;
  Node* node = p->grad_fn;
  delete p->meta;
  TensorImpl* base = p->base;
  drop_version(p);
  p->storage->release();
  free_dims(p);
  deallocate_cpu(p, sizeof(TensorImpl));
  if (base) release(base);
  if (node) release_node(node);
}

Tensor new_empty(IntList sizes, DType dtype, Device device) {
  check_ndim(sizes.size());
  int64_t n = checked_numel(sizes);
  StorageShare share(Storage::make(bytes_of(n, dtype), device));
  TensorImpl* p = allocate_tensor(share, dtype, sizes.ssize());
  uint64_t stride = 1;  // wraps where an empty tensor has other dimensions that are huge
  for (int i = p->ndim - 1; i >= 0; --i) {
    int64_t size = sizes[i];
    p->sizes[i] = size;
    p->strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(size > 1 ? size : 1);
  }
  p->numel = n;
  p->flags = static_cast<uint16_t>(kContiguousFlag | inference_flag());
  return Tensor::steal(p);
}

Tensor new_strided(IntList sizes, IntList strides, DType dtype, Device device) {
  FACULA_CHECK(sizes.size() == strides.size(), kRuntime,
               "mismatch in length of strides and shape: ", list_text(sizes), " and ",
               list_text(strides));
  check_ndim(sizes.size());
  int64_t n = count_elements(sizes, "empty_strided");
  __int128 span = n == 0 ? 0 : 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    FACULA_CHECK(
        strides[i] >= 0, kRuntime,
        "empty_strided: Negative strides are not supported, got strides: ", list_text(strides));
    if (n) span += static_cast<__int128>(sizes[i] - 1) * strides[i];
  }
  FACULA_CHECK(span < (__int128{1} << 58), kRuntime,
               "Storage size calculation overflowed with sizes=", list_text(sizes),
               " and strides=", list_text(strides));
  StorageShare share(Storage::make(bytes_of(static_cast<int64_t>(span), dtype), device));
  TensorImpl* p = allocate_tensor(share, dtype, sizes.ssize());
  p->flags = inference_flag();
  fill_geometry(p, sizes, strides, 0);
  return Tensor::steal(p);
}

Tensor new_formatted(IntList sizes, DType dtype, Device device, MemoryFormat format) {
  if (format == MemoryFormat::kContiguous) return new_empty(sizes, dtype, device);
  return new_strided(sizes, strides_of_format(sizes, format), dtype, device);
}

Tensor new_empty_as(const Tensor& like, DType dtype) {
  const TensorImpl* t = like.impl();
  if (!(t->flags & kContiguousFlag)) {
    return new_strided(like.sizes(), dense_strides(like), dtype, t->device);
  }
  StorageShare share(Storage::make(bytes_of(t->numel, dtype), t->device));
  TensorImpl* p = allocate_tensor(share, dtype, t->ndim);
  copy_list(p->sizes, t->sizes, t->ndim);
  if (t->numel) [[likely]] {
    copy_list(p->strides, t->strides, t->ndim);
  } else {
    Sizes strides = contiguous_strides(like.sizes());
    copy_list(p->strides, strides.data(), t->ndim);
  }
  p->numel = t->numel;
  p->flags = static_cast<uint16_t>(kContiguousFlag | inference_flag());
  return Tensor::steal(p);
}

Tensor alias_storage(const Tensor& t, IntList sizes, IntList strides, int64_t offset) {
  return over_same_storage(t, sizes, strides, offset, t.dtype());
}

Tensor alias_storage(const Tensor& t, IntList sizes, IntList strides, int64_t offset, DType dtype) {
  return over_same_storage(t, sizes, strides, offset, dtype);
}

Tensor alias(const Tensor& t) {
  t->storage->retain();
  StorageShare share(t->storage);
  TensorImpl* p = allocate_tensor(share, t.dtype(), t->ndim);
  copy_list(p->sizes, t->sizes, t->ndim);
  copy_list(p->strides, t->strides, t->ndim);
  p->device = t->device;
  p->intercept = t->intercept;
  p->numel = t->numel;
  p->offset = t->offset;
  p->flags = t->flags & (kContiguousFlag | kInference);
  share_version(p, t.impl());
  p->view_version = p->version->value.load(std::memory_order_relaxed);
  return Tensor::steal(p);
}

Tensor alias_unversioned(const Tensor& t) {
  Tensor twin = alias(t);
  use_own_version(twin.impl(), 0);
  twin->view_version = 0;
  return twin;
}

Tensor make_view(const Tensor& t, IntList sizes, IntList strides, int64_t offset) {
  return make_view(t, sizes, strides, offset, t.dtype());
}

Tensor make_view(const Tensor& t, IntList sizes, IntList strides, int64_t offset, DType dtype) {
  Tensor view = over_same_storage(t, sizes, strides, offset, dtype);
  TensorImpl* p = view.impl();
  if (p->has(kInference)) return view;  // inference tensors keep no track of views
  TensorImpl* base = t->base ? t->base : t.impl();
  retain(base);
  p->base = base;
  constexpr uint16_t kKinds = kMultiOutputView | kNoGradView | kCustomView | kInferenceView;
  uint16_t kind = t->base ? t->flags & kKinds : 0;
  if (tls.no_grad) kind |= tls.inference ? kInferenceView : kNoGradView;
  p->flags |= kind;
  return view;
}

Tensor tensor_over(Storage* storage, IntList sizes, IntList strides, int64_t offset, DType dtype) {
  check_bounds(storage, sizes, strides, offset, dtype);
  storage->retain();
  StorageShare share(storage);
  TensorImpl* p = allocate_tensor(share, dtype, sizes.ssize());
  p->flags = inference_flag();
  fill_geometry(p, sizes, strides, offset);
  return Tensor::steal(p);
}

void set_geometry(TensorImpl* p, IntList sizes, IntList strides, int64_t offset) {
  check_bounds(p->storage, sizes, strides, offset, p->dtype);
  Sizes new_sizes = sizes.to_sizes(), new_strides = strides.to_sizes();  // they may be the old ones
  if (static_cast<int>(sizes.size()) != p->ndim) {
    int64_t* heap = p->sizes == p->inline_dims ? nullptr : p->sizes;
    int old_ndim = p->ndim;
    place_dims(p, static_cast<int>(new_sizes.size()));
    if (heap) deallocate_cpu(heap, dims_bytes(old_ndim));
  }
  fill_geometry(p, new_sizes, new_strides, offset);
}

void replace_storage(TensorImpl* p, Storage* storage) {
  use_own_version(p, p->version->value.load(std::memory_order_relaxed));
  storage->retain();
  p->storage->release();
  p->storage = storage;
  p->device = storage->device();
}

void bump_version(const Tensor& t, const char* writer) {
  VersionCounter& version = *t->version;
  version.value.fetch_add(1, std::memory_order_relaxed);
  version.writer = writer;
  if (SourceLocation::capture) {
    SourceLocation here = SourceLocation::capture();
    // Two threads may write through views of one storage: each reference is given back once.
    here.code = __atomic_exchange_n(&version.where.code, here.code, __ATOMIC_ACQ_REL);
    version.where.offset = here.offset;
  }
}

}  // namespace facula
