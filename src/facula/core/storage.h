// Storage: reference-counted bytes that tensors view, with their version counter.
// Allocation is behind core/allocator.h.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/device.h"
#include "facula/core/location.h"

namespace facula {

// VersionCounter counts the in-place writes to what shares it, and remembers the last writer for
// the message of the error that autograd raises when a saved tensor was overwritten.
struct VersionCounter {
  std::atomic<uint32_t> value{0};
  const char* writer = nullptr;  // name of the operator, a literal
  SourceLocation where;
};

// Storage owns `bytes()` bytes of one device and is shared by all tensors that view them.
// Own storages hold header and bytes in one block; external ones call their deleter.
class Storage {
 public:
  using Deleter = void (*)(void* context);

  // make allocates; the bytes are not initialised. Raises OutOfMemoryError.
  static FACULA_API Storage* make(size_t bytes, Device device = {});
  // external wraps memory that someone else owns and `deleter(context)` gives back.
  static FACULA_API Storage* external(void* data, size_t bytes, Deleter deleter, void* context,
                                      bool read_only = false);

  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }
  uint32_t use_count() const { return refs_.load(std::memory_order_relaxed); }

  // data is the only access to the bytes; nobody keeps the pointer beyond a call.
  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  bool read_only() const { return read_only_; }
  bool is_external() const { return deleter_ != nullptr; }
  // resize grows or shrinks; keeps the common prefix. External storages refuse.
  FACULA_API void resize(size_t bytes);

  VersionCounter version;

 private:
  Storage() = default;
  ~Storage() = default;
  FACULA_API void destroy();

  std::atomic<uint32_t> refs_{1};
  bool read_only_ = false;
  bool separate_ = false;  // the bytes are a block of their own
  Device device_;
  char* data_ = nullptr;
  size_t bytes_ = 0;
  size_t block_ = 0;
  Deleter deleter_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace facula
