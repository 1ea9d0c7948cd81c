// Tensor: a counted handle to a strided, typed view of a storage. Operators are free functions
// (generated from ops/); what autograd hangs on a tensor is in autograd/.
#pragma once
#include <atomic>
#include <cstring>
#include <span>
#include <utility>

#include "facula/base/intrusive.h"
#include "facula/core/device.h"
#include "facula/core/dtype.h"
#include "facula/core/scalar.h"
#include "facula/core/sizes.h"
#include "facula/core/storage.h"

struct _object;  // a Python object, never looked into by the core

namespace facula {

class Node;  // a recorded call (autograd/node.h), never looked into by the core

// TensorMeta is what only few tensors carry (gradient, hooks, ...); autograd derives from it.
struct TensorMeta {
  virtual ~TensorMeta() = default;
};

// MemoryFormat names an order of dense dimensions.
enum class MemoryFormat : uint8_t { kContiguous, kChannelsLast, kChannelsLast3d, kPreserve };

// TensorFlag bits.
enum TensorFlag : uint16_t {
  kRequiresGrad = 1,     // wants a gradient: a leaf that asked, or the result of a recorded call
  kContiguousFlag = 2,   // row-major and dense
  kOwnsPython = 4,       // C++ keeps the Python object alive (see python/tensor_type.h)
  kMultiOutputView = 8,  // made by an operator with several views; in-place writes are refused
  kNoGradView = 16,      // a view made under no_grad
  kInference = 32,       // made in inference mode
  kCustomView = 64,      // a view or input returned by a user's Function
  kNoVersion = 128,      // its version counter is a SharedVersion, not the storage's (`.data`)
  kInferenceView = 256,  // a view of a normal tensor made in inference mode
};

inline constexpr int kInlineDims = 5;
inline constexpr int kMaxDims = 64;

// TensorImpl is the tensor proper. Sizes and strides count elements.
struct TensorImpl {
  std::atomic<uint32_t> refs;
  DType dtype;
  uint8_t ndim;
  uint8_t intercept;  // bit mask of interpreters that want calls with this tensor
  Device device;
  uint16_t flags;
  uint32_t output_nr;     // which output of grad_fn this is
  uint32_t view_version;  // version of the storage that grad_fn of a view belongs to
  int64_t numel;
  int64_t offset;
  int64_t* sizes;
  int64_t* strides;
  Storage* storage;
  VersionCounter* version;  // the storage's, or a SharedVersion (kNoVersion)
  Node* grad_fn;
  TensorImpl* base;  // of a view: the tensor whose history it shares
  TensorMeta* meta;
  _object* python;
  uint64_t gc_mark;  // scratch of the garbage collector's walk
  int64_t inline_dims[2 * kInlineDims];

  bool has(TensorFlag f) const { return flags & f; }
  // data is the address of the first element; null for tensors without bytes (meta).
  void* data() const {
    char* p = storage->data();
    return p ? p + offset * item_size(dtype) : nullptr;
  }
};

FACULA_API void destroy_tensor(TensorImpl* p);
// python_drop is asked before a tensor with a Python object dies; true: Python took it over.
extern FACULA_API bool (*python_drop)(TensorImpl*);
// release_node gives back a share of a graph node; autograd sets it.
extern FACULA_API void (*release_node)(Node*);

inline void retain(TensorImpl* p) { p->refs.fetch_add(1, std::memory_order_relaxed); }
inline void release(TensorImpl* p) {
  if (p->refs.load(std::memory_order_acquire) == 1 ||
      p->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    destroy_tensor(p);
  }
}

// fail_undefined raises TypeError: a default-made handle was used as a tensor.
[[noreturn]] FACULA_API FACULA_COLD void fail_undefined();

// Tensor is a counted handle. A default-made one is undefined; using it in an operator, or asking
// what it is like, raises.
class Tensor {
 public:
  Tensor() = default;
  static Tensor steal(TensorImpl* p) {
    Tensor t;
    t.p_ = p;
    return t;
  }
  static Tensor borrow(TensorImpl* p) {
    if (p) retain(p);
    return steal(p);
  }
  Tensor(const Tensor& o) : p_(o.p_) {
    if (p_) retain(p_);
  }
  Tensor(Tensor&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  // Only what has a name is assigned to: t[0] = u would change a handle that nobody keeps.
  Tensor& operator=(Tensor o) & noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Tensor() {
    if (p_) release(p_);
  }

  bool defined() const { return p_ != nullptr; }
  explicit operator bool() const = delete;  // ask defined(), or item() for a value
  TensorImpl* impl() const { return p_; }
  TensorImpl* operator->() const { return p_; }
  TensorImpl* forget() { return std::exchange(p_, nullptr); }
  bool is_same(const Tensor& o) const { return p_ == o.p_; }

  // there gives the tensor proper; TypeError for an undefined handle. -> does not ask.
  TensorImpl* there() const {
    if (!p_) [[unlikely]]
      fail_undefined();
    return p_;
  }
  int64_t dim() const { return there()->ndim; }
  int64_t numel() const { return there()->numel; }
  DType dtype() const { return there()->dtype; }
  Device device() const { return there()->device; }
  bool is_meta() const { return there()->device.is_meta(); }
  IntList sizes() const { return {there()->sizes, p_->ndim}; }
  IntList strides() const { return {there()->strides, p_->ndim}; }
  // size and stride take a dimension that may be negative; IndexError when out of range.
  int64_t size(int64_t d) const { return there()->sizes[wrap_dim(d, p_->ndim, "size")]; }
  int64_t stride(int64_t d) const { return there()->strides[wrap_dim(d, p_->ndim, "stride")]; }
  int64_t storage_offset() const { return there()->offset; }
  bool is_contiguous() const { return there()->flags & kContiguousFlag; }
  bool is_floating_point() const { return is_floating(there()->dtype); }
  bool is_complex() const { return facula::is_complex(there()->dtype); }
  void* data() const { return there()->data(); }
  // data_as gives a typed pointer to the first element; the caller knows the dtype.
  template <class T>
  T* data_as() const {
    return static_cast<T*>(there()->data());
  }
  // operator[] gives a part along the first dimension, as a view: t[0], t[-1][2]. The language
  // wants it here; nn/indexing.h has the other subscripts, and its source defines it.
  FACULA_API Tensor operator[](int64_t position) const;

 private:
  TensorImpl* p_ = nullptr;
};

using TensorList = std::span<const Tensor>;

// is_contiguous_as says whether the strides are those of the memory format.
FACULA_API bool is_contiguous_as(const Tensor& t, MemoryFormat format);
// is_dense says whether the elements fill a block without gaps or overlap, in any order of dims.
FACULA_API bool is_dense(const Tensor& t);
// overlaps_itself says that a dimension repeats elements (expanded tensors); others it leaves
// aside.
FACULA_API bool overlaps_itself(const Tensor& t);
// may_overlap_itself says whether two indices might name the same element. False is certain.
FACULA_API bool may_overlap_itself(const Tensor& t);

// Overlap of the memory of two tensors.
// kUnknown: they share a range of addresses, but gaps may keep them apart.
enum class Overlap { kNone, kFull, kPartial, kUnknown };
FACULA_API Overlap memory_overlap(const Tensor& a, const Tensor& b);

// new_empty allocates a row-major tensor; the elements are not initialised.
FACULA_API Tensor new_empty(IntList sizes, DType dtype, Device device = {});
// new_strided allocates with given strides (element counts, not negative).
FACULA_API Tensor new_strided(IntList sizes, IntList strides, DType dtype, Device device = {});
// new_empty_as allocates with the shape of `like`, keeping the order of its dense dimensions.
FACULA_API Tensor new_empty_as(const Tensor& like, DType dtype);
// new_formatted allocates in a memory format (kPreserve is not allowed here).
FACULA_API Tensor new_formatted(IntList sizes, DType dtype, Device device, MemoryFormat format);
// dense_strides gives the strides that new_empty_as uses: dense, in the order of t's dimensions.
FACULA_API Sizes dense_strides(const Tensor& t);
// strides_of_format gives the strides of a shape in a memory format.
FACULA_API Sizes strides_of_format(IntList sizes, MemoryFormat format);

// alias_storage makes a tensor over the same storage with another geometry and no history.
// It shares the version counter. Bounds are checked: RuntimeError.
FACULA_API Tensor alias_storage(const Tensor& t, IntList sizes, IntList strides, int64_t offset);
FACULA_API Tensor alias_storage(const Tensor& t, IntList sizes, IntList strides, int64_t offset,
                                DType dtype);
// alias is alias_storage with the same geometry: a detached twin.
FACULA_API Tensor alias(const Tensor& t);
// alias_unversioned is alias with a version counter of its own, which starts at zero: `.data`.
FACULA_API Tensor alias_unversioned(const Tensor& t);
// make_view is alias_storage that remembers its base, for operators that return views.
FACULA_API Tensor make_view(const Tensor& t, IntList sizes, IntList strides, int64_t offset);
// make_view with a dtype reinterprets the elements (view(dtype), view_as_real, real, imag); strides
// and offset count elements of the new type.
FACULA_API Tensor make_view(const Tensor& t, IntList sizes, IntList strides, int64_t offset,
                            DType dtype);
// tensor_over makes a tensor over a storage, which it retains.
FACULA_API Tensor tensor_over(Storage* storage, IntList sizes, IntList strides, int64_t offset,
                              DType dtype);
// set_geometry replaces sizes and strides of a tensor in place (resize_, set_, squeeze_ ...).
FACULA_API void set_geometry(TensorImpl* p, IntList sizes, IntList strides, int64_t offset);
// replace_storage points a tensor at another storage (`.data =`, set_), which it retains. The
// version goes on from its present value, in a counter of the tensor's own.
FACULA_API void replace_storage(TensorImpl* p, Storage* storage);

// bump_version notes an in-place write by the operator `writer` (a literal).
FACULA_API void bump_version(const Tensor& t, const char* writer);

// TensorOrScalar is an operand that may be either; it borrows the tensor.
struct TensorOrScalar {
  TensorImpl* tensor = nullptr;
  Scalar scalar;
  TensorOrScalar(const Tensor& t) : tensor(t.there()) {}
  TensorOrScalar(TensorImpl* t) : tensor(t) {}
  TensorOrScalar(const Scalar& s) : scalar(s) {}
  TensorOrScalar(double v) : scalar(v) {}
  TensorOrScalar(std::complex<double> v) : scalar(v) {}
  TensorOrScalar(int v) : scalar(v) {}
  TensorOrScalar(int64_t v) : scalar(v) {}
  TensorOrScalar(bool v) : scalar(v) {}
  bool is_tensor() const { return tensor != nullptr; }
};

}  // namespace facula
