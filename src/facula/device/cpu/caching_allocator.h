// The cache of large CPU blocks: what core/allocator.h does not keep in lists of a thread. Idle
// blocks wait in bins of equal size for the next request, because fresh pages cost far more than
// the work that is done on them; how much may lie idle is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "facula/core/allocator.h"

namespace facula {

// Where a LargeBlockCache gets pages; tests replace it to count and to fail on demand.
struct PageSource {
  void* (*map)(size_t bytes, size_t alignment) noexcept;
  void (*unmap)(void* pages, size_t bytes) noexcept;
  void (*discard)(void* pages, size_t bytes) noexcept;
  int64_t (*milliseconds)() noexcept;  // a monotonic clock
  int64_t (*available)() noexcept;     // bytes that the system could still give
};

// The operating system as page source.
FACULA_API PageSource system_pages() noexcept;

// Caches blocks of large_block_size(bytes) bytes. A request takes the last block freed of its own
// size, else one up to a quarter larger, else new pages. Idle blocks above the limit are unmapped,
// the longest idle first; the system may reclaim those idle for ten seconds.
class FACULA_API LargeBlockCache final : public Allocator {
 public:
  explicit LargeBlockCache(const PageSource& pages) noexcept : pages_(pages) {}
  ~LargeBlockCache() override;
  LargeBlockCache(const LargeBlockCache&) = delete;
  LargeBlockCache& operator=(const LargeBlockCache&) = delete;

  void* allocate(size_t bytes) noexcept override;
  void deallocate(void* block, size_t bytes) noexcept override;
  size_t empty_cache() noexcept override;
  MemoryStats stats() const noexcept override;
  void reset_peak_stats() noexcept override;

  // Sets the limit of idle bytes; negative restores the default: twice the peak in use, at most a
  // quarter of the memory that the system has available, at least 64 MB.
  void set_idle_limit(int64_t bytes) noexcept;

  // Keep the cache consistent over a fork: lock before, unlock after in both processes.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  struct IdleBlock {
    void* block;
    int64_t freed_at;  // milliseconds
    bool discarded;
  };
  struct Bin {
    size_t size;
    std::vector<IdleBlock> blocks;  // in the order in which they were freed
  };

  std::vector<Bin>::iterator find_bin(size_t size) noexcept;
  bool keep(void* block, size_t size, int64_t now) noexcept;
  void trim(int64_t now) noexcept;
  void discard_old(int64_t now) noexcept;
  int64_t idle_limit(int64_t now) noexcept;
  void release(Bin& bin, size_t index) noexcept;

  mutable std::mutex mutex_;
  PageSource pages_;
  std::vector<Bin> bins_;  // ascending by size; bins stay when they run empty
  MemoryStats stats_;
  int64_t limit_ = -1;     // as set
  int64_t available_ = 0;  // at available_at_
  int64_t available_at_ = -1;
  int64_t discarded_at_ = 0;
};

// The cache of the process, registered in core when the library is loaded.
FACULA_API LargeBlockCache& large_block_cache() noexcept;

}  // namespace facula
