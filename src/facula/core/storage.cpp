// Where storages get and give back their blocks.
#include "facula/core/storage.h"

#include <atomic>
#include <cstring>
#include <new>

#include "facula/base/error.h"
#include "facula/base/pages.h"
#include "facula/core/allocator.h"
#include "facula/core/lent.h"
#include "facula/core/writable.h"

namespace facula {
namespace {

constexpr size_t kHeader = sizeof(Storage);
constexpr size_t kInlineLimit = kSmallLimit - kHeader;
// version.spare holds the size of the header's block in its lower bits, which the largest of these
// fits, and in the upper ones how often the bytes are lent. A full count stays full.
constexpr uint32_t kLoan = 1u << 20, kBlockMask = kLoan - 1, kManyLoans = ~kBlockMask;
static_assert(kSmallLimit <= kBlockMask);

size_t round_up(size_t bytes) {
  size_t rounded = (bytes + kBlockAlignment - 1) & ~(kBlockAlignment - 1);
  return rounded < bytes ? bytes : rounded;  // too large for any allocator: let it say so
}

}  // namespace

Storage* Storage::make(size_t bytes, Device device) {
  if (bytes > kInlineLimit || !device.is_cpu()) [[unlikely]]
    return make_slow(bytes, device);
  size_t block = kHeader + bytes;
  auto* s = new (allocate_cpu(block)) Storage;
  s->version.spare = static_cast<uint32_t>(block);
  s->device_ = device;
  s->data_ = reinterpret_cast<char*>(s) + kHeader;
  s->bytes_ = bytes;
  return s;
}

Storage* Storage::make_slow(size_t bytes, Device device) {
  if (!device.is_cpu() && !device.is_meta()) fail_no_device("allocate", device);
  size_t block = round_up(bytes);
  void* data = device.is_meta() ? nullptr : allocate_cpu(block);
  void* header = data ? try_allocate_cpu(kHeader) : allocate_cpu(kHeader);
  if (!header) {
    deallocate_cpu(data, block);
    fail(ErrorKind::kOutOfMemory, "out of memory: cannot allocate the header of a storage");
  }
  auto* s = new (header) Storage;
  s->version.spare = kHeader;
  s->device_ = device;
  s->data_ = static_cast<char*>(data);
  s->bytes_ = bytes;
  if (data) {
    s->flags_ = kSeparate;
    s->block_ = block;
  }
  return s;
}

Storage* Storage::external(void* data, size_t bytes, Deleter deleter, void* context,
                           bool read_only) {
  auto* external = new External{deleter, context};
  auto* s = new (allocate_cpu(kHeader)) Storage;
  s->version.spare = kHeader;
  s->flags_ = static_cast<uint8_t>(kExternal | (read_only ? kReadOnly : 0));
  s->data_ = static_cast<char*>(data);
  s->bytes_ = bytes;
  s->external_ = external;
  return s;
}

void check_writable(const Storage& storage, const char* writer) {
  FACULA_CHECK(!storage.read_only(), kRuntime, writer,
               ": the memory of the written-to tensor is read-only. Please clone() the tensor "
               "before performing the operation.");
}

void Storage::destroy() {
  if (flags_ & kExternal) {
    if (external_->deleter) external_->deleter(external_->context);
    delete external_;
  } else if (flags_ & kSeparate) {
    deallocate_cpu(data_, block_);
  }
  size_t header = version.spare & kBlockMask;
  this->~Storage();
  deallocate_cpu(this, header);
}

// Whole pages that a smaller storage does not reach go back to the system, though their addresses
// stay: tensors over them read zeros.
void Storage::resize(size_t bytes) {
  FACULA_CHECK(!is_external() && !is_lent(this), kRuntime,
               "Trying to resize storage that is not resizable");
  if (device_.is_meta()) {
    bytes_ = bytes;
    return;
  }
  size_t room = flags_ & kSeparate ? block_ : version.spare - kHeader;
  if (bytes > room) {
    size_t block = round_up(bytes);
    auto* data = static_cast<char*>(allocate_cpu(block));
    std::memcpy(data, data_, bytes_);
    if (flags_ & kSeparate) deallocate_cpu(data_, block_);
    flags_ |= kSeparate;
    data_ = data;
    block_ = block;
  } else if (bytes < bytes_) {
    empty_pages(data_ + bytes, room - bytes);
  }
  bytes_ = bytes;
}

void lend(Storage* storage) {
  std::atomic_ref<uint32_t> spare(storage->version.spare);
  for (uint32_t now = spare.load(); now < kManyLoans;) {
    if (spare.compare_exchange_weak(now, now + kLoan)) return;
  }
}

void give_back(Storage* storage) {
  std::atomic_ref<uint32_t> spare(storage->version.spare);
  for (uint32_t now = spare.load(); now >= kLoan && now < kManyLoans;) {
    if (spare.compare_exchange_weak(now, now - kLoan)) return;
  }
}

bool is_lent(const Storage* storage) { return storage->version.spare >= kLoan; }

}  // namespace facula
