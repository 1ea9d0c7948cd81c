// Bins, limits and trimming of LargeBlockCache, and its registration in core.
#include "facula/device/cpu/caching_allocator.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "facula/base/pages.h"

namespace facula {
namespace {

constexpr int64_t kLeastIdleLimit = int64_t{64} << 20;
constexpr int64_t kDiscardAfter = 10'000;   // milliseconds idle
constexpr int64_t kAvailableEvery = 1'000;  // milliseconds between two looks at the system

int64_t coarse_milliseconds() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Reads one number from a file of the form "max" or "12345"; negative when there is none.
int64_t read_number(const char* path) noexcept {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return -1;
  long long value = -1;
  if (std::fscanf(file, "%lld", &value) != 1) value = -1;
  std::fclose(file);
  return value;
}

// The smaller of MemAvailable and what the control group leaves.
int64_t available_memory() noexcept {
  int64_t available = INT64_MAX;
  if (std::FILE* file = std::fopen("/proc/meminfo", "re")) {
    char line[128];
    while (std::fgets(line, sizeof line, file) != nullptr) {
      long long kilobytes = 0;
      if (std::sscanf(line, "MemAvailable: %lld", &kilobytes) == 1) available = kilobytes * 1024;
    }
    std::fclose(file);
  }
  const int64_t limit = read_number("/sys/fs/cgroup/memory.max");
  if (limit >= 0) {
    const int64_t used = std::max<int64_t>(read_number("/sys/fs/cgroup/memory.current"), 0);
    available = std::min(available, std::max<int64_t>(limit - used, 0));
  }
  return available;
}

void raise_by(MemoryCounter& counter, int64_t amount) noexcept {
  counter.current += amount;
  counter.peak = std::max(counter.peak, counter.current);
}

}  // namespace

PageSource system_pages() noexcept {
  return {map_pages, unmap_pages, discard_pages, coarse_milliseconds, available_memory};
}

LargeBlockCache::~LargeBlockCache() { empty_cache(); }

std::vector<LargeBlockCache::Bin>::iterator LargeBlockCache::find_bin(size_t size) noexcept {
  return std::lower_bound(bins_.begin(), bins_.end(), size,
                          [](const Bin& bin, size_t wanted) { return bin.size < wanted; });
}

void* LargeBlockCache::allocate(size_t bytes) noexcept {
  const size_t size = large_block_size(bytes);
  {
    std::lock_guard lock(mutex_);
    // A larger block serves only when its own size gives the size back on deallocation, which a
    // block cut to `size` does: the rest is unmapped, so that no memory hides in rounding.
    auto bin = find_bin(size);
    if (bin != bins_.end() && bin->size == size && !bin->blocks.empty()) {
      void* block = bin->blocks.back().block;
      bin->blocks.pop_back();
      stats_.cached.current -= static_cast<int64_t>(size);
      raise_by(stats_.allocated, static_cast<int64_t>(size));
      return block;
    }
    for (; bin != bins_.end() && bin->size <= size + size / 4; ++bin) {
      if (bin->blocks.empty()) continue;
      auto* block = static_cast<std::byte*>(bin->blocks.back().block);
      bin->blocks.pop_back();
      pages_.unmap(block + size, bin->size - size);
      stats_.cached.current -= static_cast<int64_t>(bin->size);
      stats_.reserved.current -= static_cast<int64_t>(bin->size - size);
      raise_by(stats_.allocated, static_cast<int64_t>(size));
      return block;
    }
  }
  void* block = pages_.map(size, large_block_alignment(size));
  if (block == nullptr) return nullptr;
  std::lock_guard lock(mutex_);
  ++stats_.num_system_alloc;
  raise_by(stats_.reserved, static_cast<int64_t>(size));
  raise_by(stats_.allocated, static_cast<int64_t>(size));
  return block;
}

void LargeBlockCache::deallocate(void* block, size_t bytes) noexcept {
  const size_t size = large_block_size(bytes);
  const int64_t now = pages_.milliseconds();
  std::lock_guard lock(mutex_);
  stats_.allocated.current -= static_cast<int64_t>(size);
  if (!keep(block, size, now)) {
    pages_.unmap(block, size);
    ++stats_.num_system_free;
    stats_.reserved.current -= static_cast<int64_t>(size);
    return;
  }
  raise_by(stats_.cached, static_cast<int64_t>(size));
  trim(now);
  discard_old(now);
}

// Puts a block into its bin; false when there is no memory for the note of it.
bool LargeBlockCache::keep(void* block, size_t size, int64_t now) noexcept {
  try {
    auto bin = find_bin(size);
    if (bin == bins_.end() || bin->size != size) bin = bins_.insert(bin, Bin{size, {}});
    bin->blocks.push_back({block, now, false});
    return true;
  } catch (...) {
    return false;
  }
}

void LargeBlockCache::release(Bin& bin, size_t index) noexcept {
  pages_.unmap(bin.blocks[index].block, bin.size);
  bin.blocks.erase(bin.blocks.begin() + static_cast<std::ptrdiff_t>(index));
  ++stats_.num_system_free;
  stats_.cached.current -= static_cast<int64_t>(bin.size);
  stats_.reserved.current -= static_cast<int64_t>(bin.size);
}

int64_t LargeBlockCache::idle_limit(int64_t now) noexcept {
  if (limit_ >= 0) return limit_;
  if (available_at_ < 0 || now - available_at_ >= kAvailableEvery) {
    available_ = pages_.available();
    available_at_ = now;
  }
  return std::max(kLeastIdleLimit, std::min(2 * stats_.allocated.peak, available_ / 4));
}

// Unmaps the longest idle blocks until the limit holds.
void LargeBlockCache::trim(int64_t now) noexcept {
  if (limit_ < 0 && stats_.cached.current <= kLeastIdleLimit) return;
  const int64_t limit = idle_limit(now);
  while (stats_.cached.current > limit) {
    Bin* oldest = nullptr;
    for (Bin& bin : bins_) {
      if (bin.blocks.empty()) continue;
      if (oldest == nullptr || bin.blocks.front().freed_at < oldest->blocks.front().freed_at) {
        oldest = &bin;
      }
    }
    release(*oldest, 0);
  }
}

// Lets the system take back blocks that have been idle for long, at most once a second.
void LargeBlockCache::discard_old(int64_t now) noexcept {
  if (now - discarded_at_ < 1'000) return;
  discarded_at_ = now;
  for (Bin& bin : bins_) {
    for (IdleBlock& idle : bin.blocks) {
      if (now - idle.freed_at < kDiscardAfter) break;
      if (!idle.discarded) pages_.discard(idle.block, bin.size);
      idle.discarded = true;
    }
  }
}

size_t LargeBlockCache::empty_cache() noexcept {
  std::lock_guard lock(mutex_);
  const auto released = static_cast<size_t>(stats_.cached.current);
  for (Bin& bin : bins_) {
    while (!bin.blocks.empty()) release(bin, bin.blocks.size() - 1);
  }
  return released;
}

MemoryStats LargeBlockCache::stats() const noexcept {
  std::lock_guard lock(mutex_);
  return stats_;
}

void LargeBlockCache::reset_peak_stats() noexcept {
  std::lock_guard lock(mutex_);
  for (MemoryCounter* c : {&stats_.allocated, &stats_.reserved, &stats_.cached}) {
    c->peak = c->current;
  }
}

void LargeBlockCache::set_idle_limit(int64_t bytes) noexcept {
  const int64_t now = pages_.milliseconds();
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  trim(now);
}

LargeBlockCache& large_block_cache() noexcept {
  // Never destroyed: blocks are freed until the process ends.
  static LargeBlockCache& cache = *new LargeBlockCache(system_pages());
  return cache;
}

namespace {

const bool registered = [] {
  LargeBlockCache& cache = large_block_cache();
  register_large_allocator(&cache);
  pthread_atfork([] { large_block_cache().lock(); }, [] { large_block_cache().unlock(); },
                 [] { large_block_cache().unlock(); });
  return true;
}();

}  // namespace
}  // namespace facula
