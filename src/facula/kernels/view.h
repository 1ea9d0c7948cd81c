// View: a tensor as kernels see it, plain pointers and sizes; Fault: how kernels report bad data.
// Kernels never allocate tensors, choose devices or throw.
#pragma once
#include <atomic>
#include <cstdint>

#include "facula/core/tensor.h"

namespace facula::kernels {

// View is the address, type and geometry of a tensor; sizes and strides count elements.
struct View {
  void* data;
  DType dtype;
  int ndim;
  bool contiguous;
  int64_t numel;
  const int64_t* sizes;
  const int64_t* strides;
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  int64_t size(int d) const { return sizes[d < 0 ? d + ndim : d]; }
  int64_t stride(int d) const { return strides[d < 0 ? d + ndim : d]; }
};

// view borrows a tensor; it is valid as long as the tensor is and keeps its geometry.
// An undefined tensor gives a view without data.
inline View view(const Tensor& t) {
  TensorImpl* p = t.impl();
  if (!p) return View{nullptr, kFloat32, 0, true, 0, nullptr, nullptr};
  return View{p->data(), p->dtype, p->ndim,   (p->flags & kContiguousFlag) != 0,
              p->numel,  p->sizes, p->strides};
}

// Fault is the first bad value that a kernel met: what kind, where, the value and the bound.
// The operator layer turns it into an exception. set() may be called from several threads.
struct Fault {
  enum Kind : int {
    kNone,
    kIndexOutOfRange,
    kZeroDivision,
    kNegative,
    kSingular,
    kNotFinite,
    kBad,
    kNoMemory,
  };
  std::atomic<int> kind{kNone};
  int64_t position = 0, value = 0, bound = 0;
  void set(Kind k, int64_t pos, int64_t val, int64_t limit) {
    int none = kNone;
    if (kind.compare_exchange_strong(none, k)) {
      position = pos;
      value = val;
      bound = limit;
    }
  }
  explicit operator bool() const { return kind.load(std::memory_order_relaxed) != kNone; }
};

// raise_fault throws the named exception of a fault: IndexError, ZeroDivisionError, ...
[[noreturn]] FACULA_API void raise_fault(const Fault& fault, const char* op);
inline void check_fault(const Fault& fault, const char* op) {
  if (fault) [[unlikely]]
    raise_fault(fault, op);
}

}  // namespace facula::kernels
