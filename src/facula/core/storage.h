// Storage: reference-counted bytes that tensors view, with their version counter.
// Allocation is behind core/allocator.h.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "facula/base/export.h"
#include "facula/base/intrusive.h"
#include "facula/core/device.h"
#include "facula/core/location.h"

namespace facula {

// VersionCounter counts the in-place writes to what shares it, and remembers the last writer for
// the message of the error that autograd raises when a saved tensor was overwritten.
struct VersionCounter {
  std::atomic<uint32_t> value{0};
  uint32_t spare = 0;            // for the owner of the counter
  const char* writer = nullptr;  // name of the operator, a literal
  SourceLocation where;
};

// SharedVersion is a counter that does not belong to a storage: that of `.data` and of tensors
// whose storage was replaced. The tensors that use it own it together.
struct SharedVersion final : Counted, VersionCounter {};

// Storage owns `bytes()` bytes of one device and is shared by all tensors that view them.
// Small storages hold header and bytes in one block; the bytes of large ones are a block of their
// own, aligned to 64 bytes too; external ones call their deleter.
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
  bool read_only() const { return flags_ & kReadOnly; }
  bool is_external() const { return flags_ & kExternal; }
  // resize grows or shrinks; keeps the common prefix. External storages refuse.
  FACULA_API void resize(size_t bytes);

  VersionCounter version;

 private:
  enum Flag : uint8_t { kReadOnly = 1, kExternal = 2, kSeparate = 4 };
  struct External {
    Deleter deleter;
    void* context;
  };
  Storage() = default;
  ~Storage() = default;
  static Storage* make_slow(size_t bytes, Device device);
  FACULA_API void destroy();

  // version.spare is the size of the block that the header lies in.
  std::atomic<uint32_t> refs_{1};
  uint8_t flags_ = 0;
  Device device_;
  char* data_ = nullptr;
  size_t bytes_ = 0;
  union {
    size_t block_ = 0;    // kSeparate: size of the block of the bytes
    External* external_;  // kExternal
  };
};
static_assert(sizeof(Storage) == 64, "the bytes start on the next cache line");

}  // namespace facula
