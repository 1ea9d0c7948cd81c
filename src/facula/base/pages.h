// Whole pages from the operating system: aligned anonymous mappings, huge pages for what is large,
// and the sizes to which large blocks are rounded. Who keeps pages for re-use is decided in
// core/allocator.h and device/cpu; nothing here caches, counts or throws.
#pragma once

#include <cstddef>

#include "facula/base/export.h"

namespace facula {

inline constexpr size_t kPageSize = 4096;
inline constexpr size_t kHugePageSize = size_t{2} << 20;

// The largest block that anyone may ask for; larger requests are out of memory by definition, so
// that rounding up never overflows.
inline constexpr size_t kLargestBlock = size_t{1} << 46;

// Returns `bytes` (a multiple of kPageSize) of zeroed memory whose address is a multiple of
// `alignment` (a power of two, at least kPageSize), or nullptr when the system has none. The part
// of a mapping aligned to kHugePageSize that fills whole huge pages asks for them.
FACULA_API void* map_pages(size_t bytes, size_t alignment) noexcept;

// Returns pages from map_pages to the system.
FACULA_API void unmap_pages(void* pages, size_t bytes) noexcept;

// Tells the system that the contents are not needed any more: it may take the memory back while it
// is idle; the range stays valid.
FACULA_API void discard_pages(void* pages, size_t bytes) noexcept;

// Gives the memory of all whole pages in a range back to the system at once; the range stays valid
// and reads as zeros there.
FACULA_API void empty_pages(void* start, size_t bytes) noexcept;

// Returns the size of the mapping that serves a large request: eight steps an octave plus one page,
// so that a power of two and a 64-byte header in front of it share one step. `bytes` is at most
// kLargestBlock.
FACULA_API size_t large_block_size(size_t bytes) noexcept;

// Returns the alignment of a mapping of this size: huge pages from two megabytes on.
inline size_t large_block_alignment(size_t block_size) noexcept {
  return block_size >= kHugePageSize ? kHugePageSize : kPageSize;
}

}  // namespace facula
