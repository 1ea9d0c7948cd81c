// Memory of the CPU: the Allocator interface that every device implements, and the two inline calls
// from which tensors, nodes and storages of the CPU get their blocks. Small blocks come from lists
// of the calling thread; large ones from the cache that device/cpu registers here.
// FACULA_CPU_CACHE=0 (and the address sanitizer) sends every request to malloc.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "facula/base/export.h"

namespace facula {

// What an allocator has handed out and holds. Sizes are in bytes; `current` is now, `peak` the
// largest value since the last reset.
struct MemoryCounter {
  int64_t current = 0;
  int64_t peak = 0;
};

struct MemoryStats {
  MemoryCounter allocated;        // in use by callers, as they asked for it
  MemoryCounter reserved;         // obtained from the system: in use, rounding and cache
  MemoryCounter cached;           // idle blocks kept for re-use by the large-block cache
  int64_t num_alloc = 0;          // calls of allocate
  int64_t num_free = 0;           // calls of deallocate
  int64_t num_system_alloc = 0;   // mappings made
  int64_t num_system_free = 0;    // mappings returned
  int64_t num_alloc_retries = 0;  // requests that succeeded after the caches were emptied
  int64_t num_out_of_memory = 0;  // requests that failed
};

// Gives and takes blocks of memory of one device. Blocks are aligned to at least 64 bytes.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Returns a block of at least `bytes` bytes, or nullptr when there is none even after every cache
  // has been emptied.
  virtual void* allocate(size_t bytes) noexcept = 0;
  // Takes back a block with the size with which it was allocated.
  virtual void deallocate(void* block, size_t bytes) noexcept = 0;
  // Returns idle blocks to the system and says how many bytes that were.
  virtual size_t empty_cache() noexcept = 0;
  virtual MemoryStats stats() const noexcept = 0;
  // Makes every peak equal to the current value.
  virtual void reset_peak_stats() noexcept = 0;
};

// The size classes of small blocks: steps of 64 bytes up to 512, then four steps an octave, each
// with 64 bytes on top, so that a header of 64 bytes in front of a power of two wastes nothing.
inline constexpr size_t kBlockAlignment = 64;
inline constexpr size_t kSmallLimit = 65536 + 64;
inline constexpr int kSmallClasses = 37;

// Returns the size of the blocks of a class.
constexpr size_t small_class_size(int size_class) {
  if (size_class < 8) return static_cast<size_t>(size_class + 1) * 64;
  const int above = size_class - 8;
  return 64 + (size_t{128} << (above / 4)) * static_cast<size_t>(4 + above % 4);
}

namespace allocator_detail {

struct FreeBlock {
  FreeBlock* next;
};

// What a thread keeps. Plain data in the initial-exec model: one load relative to the thread
// pointer. A thread that has not allocated yet, one that is ending and every thread when the cache
// is off have limits of zero, so all their calls take the slow path.
struct ThreadCache {
  FreeBlock* heads[kSmallClasses];
  uint16_t counts[kSmallClasses];
  uint16_t limits[kSmallClasses];
  // Written by this thread alone, read by whoever asks for statistics.
  std::atomic<int64_t> live;  // bytes allocated less bytes freed by this thread
  std::atomic<int64_t> num_alloc;
  std::atomic<int64_t> num_free;
  int64_t peak_mark;  // when live passes this, the process may be at a new peak
  uint8_t state;
};

extern FACULA_API constinit thread_local ThreadCache thread_cache
    __attribute__((tls_model("initial-exec")));

constexpr std::array<uint8_t, kSmallLimit / 64 + 1> make_size_classes() {
  std::array<uint8_t, kSmallLimit / 64 + 1> classes{};
  int size_class = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    while (small_class_size(size_class) < i * 64) ++size_class;
    classes[i] = static_cast<uint8_t>(size_class);
  }
  return classes;
}

inline constexpr auto kSizeClasses = make_size_classes();

inline void add(std::atomic<int64_t>& counter, int64_t amount) noexcept {
  // One writer: a plain addition that other threads may read.
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

FACULA_API void* allocate_slow(size_t bytes);
FACULA_API void deallocate_slow(void* block, size_t bytes) noexcept;
FACULA_API void note_peak() noexcept;

}  // namespace allocator_detail

// Returns the class that serves a request of at most kSmallLimit bytes.
inline int small_size_class(size_t bytes) noexcept {
  return allocator_detail::kSizeClasses[(bytes + 63) / 64];
}

// Returns a block of at least `bytes` bytes of CPU memory, aligned to 64 bytes, contents undefined.
// Zero bytes give a valid block. Throws OutOfMemoryError (after all caches have been emptied) and
// then leaves everything as it was.
inline void* allocate_cpu(size_t bytes) {
  using namespace allocator_detail;
  if (bytes <= kSmallLimit) [[likely]] {
    ThreadCache& cache = thread_cache;
    const int size_class = small_size_class(bytes);
    if (FreeBlock* block = cache.heads[size_class]) [[likely]] {
      cache.heads[size_class] = block->next;
      --cache.counts[size_class];
      add(cache.num_alloc, 1);
      add(cache.live, static_cast<int64_t>(bytes));
      if (cache.live.load(std::memory_order_relaxed) > cache.peak_mark) [[unlikely]]
        note_peak();
      return block;
    }
  }
  return allocate_slow(bytes);
}

// Takes back a block from allocate_cpu; `bytes` is the number given there. Any thread may do it.
inline void deallocate_cpu(void* block, size_t bytes) noexcept {
  using namespace allocator_detail;
  if (bytes <= kSmallLimit) [[likely]] {
    ThreadCache& cache = thread_cache;
    const int size_class = small_size_class(bytes);
    if (cache.counts[size_class] < cache.limits[size_class]) [[likely]] {
      auto* freed = static_cast<FreeBlock*>(block);
      freed->next = cache.heads[size_class];
      cache.heads[size_class] = freed;
      ++cache.counts[size_class];
      add(cache.num_free, 1);
      add(cache.live, -static_cast<int64_t>(bytes));
      return;
    }
  }
  deallocate_slow(block, bytes);
}

// Like allocate_cpu, but returns nullptr instead of throwing.
FACULA_API void* try_allocate_cpu(size_t bytes) noexcept;

// The same memory behind the interface.
FACULA_API Allocator& cpu_allocator();

// Says whether blocks are cached (FACULA_CPU_CACHE is not 0 and no address sanitizer is built in).
FACULA_API bool cpu_cache_enabled() noexcept;

// Makes `large` serve requests above kSmallLimit; called once by device/cpu while the library is
// loaded. Until then they are mapped and unmapped one by one, with large_block_size(bytes) bytes
// each, which is what `large` must accept back.
FACULA_API void register_large_allocator(Allocator* large) noexcept;

}  // namespace facula
