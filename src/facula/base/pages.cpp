// mmap, munmap and madvise behind the interface of pages.h.
#include "facula/base/pages.h"

#include <sys/mman.h>

#include <bit>
#include <cstdint>

namespace facula {

void* map_pages(size_t bytes, size_t alignment) noexcept {
  // A mapping is aligned to 4096 bytes by nature; more alignment costs a margin, cut off again.
  const size_t margin = alignment > kPageSize ? alignment : 0;
  void* mapped =
      mmap(nullptr, bytes + margin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto start = reinterpret_cast<std::uintptr_t>(mapped);
  if (margin != 0) {
    const std::uintptr_t aligned = (start + alignment - 1) & ~std::uintptr_t{alignment - 1};
    const size_t before = aligned - start;
    if (before != 0) munmap(mapped, before);
    if (margin != before) munmap(reinterpret_cast<void*>(aligned + bytes), margin - before);
    start = aligned;
  }
  if (start % kHugePageSize == 0 && bytes >= kHugePageSize) {
    // Only whole huge pages: the tail would cost up to two megabytes when its first byte is
    // touched.
    madvise(reinterpret_cast<void*>(start), bytes / kHugePageSize * kHugePageSize, MADV_HUGEPAGE);
  }
  return reinterpret_cast<void*>(start);
}

void unmap_pages(void* pages, size_t bytes) noexcept { munmap(pages, bytes); }

void discard_pages(void* pages, size_t bytes) noexcept { madvise(pages, bytes, MADV_FREE); }

void empty_pages(void* start, size_t bytes) noexcept {
  constexpr std::uintptr_t kMask = kPageSize - 1;
  auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t first = (address + kMask) & ~kMask, end = (address + bytes) & ~kMask;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

size_t large_block_size(size_t bytes) noexcept {
  constexpr size_t kHeader = 64;
  const size_t body = bytes > kHeader ? bytes - kHeader : 1;
  const size_t octave = std::bit_floor(body);
  const size_t step = octave / 8 < kPageSize ? kPageSize : octave / 8;
  return (body + step - 1) / step * step + kPageSize;
}

}  // namespace facula
