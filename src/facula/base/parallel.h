// Parallel loops on the process's thread pool. A range is cut into chunks by its length and grain
// alone, never by the number of threads, so a reduction that combines one result a chunk in order
// gives the same bits on any machine. Threads take chunks as they become free.
#pragma once

#include <cstdint>
#include <type_traits>

#include "facula/base/export.h"

namespace facula {

// The number of threads that a loop may use; at first what the affinity mask, the cgroup limit and
// FACULA_NUM_THREADS or OMP_NUM_THREADS allow.
FACULA_API int num_threads();
FACULA_API void set_num_threads(int threads);

// Whether the calling code already runs inside a parallel loop; a loop begun there runs inline.
FACULA_API bool in_parallel();

// How a range is cut: `count` chunks of `size` items, the last one possibly shorter.
struct Chunks {
  int64_t size;
  int64_t count;
};

// The most chunks that a range is cut into.
inline constexpr int64_t kMaxChunks = 256;

// Cuts `length` items: chunks are a multiple of `grain` items, at most kMaxChunks of them.
constexpr FACULA_INLINE Chunks cut(int64_t length, int64_t grain) {
  if (length <= 0) return {1, 0};
  if (grain < 1) grain = 1;
  int64_t grains = (length - 1) / grain + 1;
  int64_t per_chunk = (grains - 1) / kMaxChunks + 1;
  int64_t size = grain > length / per_chunk ? length : grain * per_chunk;
  return {size, (length - 1) / size + 1};
}

namespace parallel {

// A loop body without its type: called with the half-open range of one chunk.
using Body = void (*)(void* body, int64_t begin, int64_t end);

// Runs all chunks of [begin, end) on the pool; rethrows the first exception of a body.
FACULA_API void run(int64_t begin, int64_t end, Chunks chunks, Body body, void* context);

}  // namespace parallel

// Calls f(b, e) for each chunk [b, e) of [begin, end), on several threads where that is worth it: a
// grain is the number of items below which a thread switch does not pay (some 20 us of work).
// Chunks run in any order. If a body throws, no further chunks begin and the first exception is
// rethrown once all running bodies are done.
template <class F>
FACULA_INLINE void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  Chunks chunks = cut(end - begin, grain);
  if (chunks.count == 0) return;
  if (chunks.count == 1) {
    f(begin, end);
    return;
  }
  auto body = [](void* context, int64_t b, int64_t e) {
    (*static_cast<std::remove_reference_t<F>*>(context))(b, e);
  };
  parallel::run(begin, end, chunks, body, const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace facula
