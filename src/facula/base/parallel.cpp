// The scheduler of parallel_for: each thread of the team owns an equal stretch of the chunks, takes
// them one by one, and then helps the others; so caches stay warm from one loop to the next, and a
// thread that has lost its processor holds up nothing but the chunk it is in.
#include "facula/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <new>

#include "facula/base/error.h"
#include "facula/base/pool/pool.h"

namespace facula {

namespace {

struct alignas(64) Stretch {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

struct Loop {
  int64_t begin;
  int64_t end;
  Chunks chunks;
  parallel::Body body;
  void* context;
  int threads;
  Stretch* stretches;
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  void run_chunk(int64_t chunk) {
    int64_t first = begin + chunk * chunks.size;
    body(context, first, std::min(first + chunks.size, end));
  }

  // Runs what is left of `stretch`; false once a body has thrown.
  bool drain(Stretch& stretch) {
    while (stretch.next.load(std::memory_order_relaxed) < stretch.end) {
      int64_t chunk = stretch.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= stretch.end) break;
      if (failed.load(std::memory_order_relaxed)) return false;
      run_chunk(chunk);
    }
    return true;
  }

  void work(int thread) noexcept {
    try {
      for (int i = 0; i < threads; ++i) {
        if (!drain(stretches[(thread + i) % threads])) return;
      }
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
};

}  // namespace

int num_threads() { return pool::size(); }
void set_num_threads(int threads) {
  FACULA_CHECK(threads > 0, kRuntime, "set_num_threads expects a positive integer");
  pool::set_size(threads);
}
bool in_parallel() { return pool::in_region(); }

namespace parallel {

void run(int64_t begin, int64_t end, Chunks chunks, Body body, void* context) {
  Loop loop{.begin = begin, .end = end, .chunks = chunks, .body = body, .context = context};
  int threads = static_cast<int>(std::min<int64_t>(pool::size(), chunks.count));
  if (threads < 2 || pool::in_region()) {
    for (int64_t chunk = 0; chunk < chunks.count; ++chunk) loop.run_chunk(chunk);
    return;
  }
  // Only as many are constructed as are used: clearing all of them would cost more than a region.
  alignas(Stretch) std::byte storage[pool::kMaxThreads * sizeof(Stretch)];
  Stretch* stretches = reinterpret_cast<Stretch*>(storage);
  for (int i = 0; i < threads; ++i) {
    new (&stretches[i]) Stretch{chunks.count * i / threads, chunks.count * (i + 1) / threads};
  }
  loop.threads = threads;
  loop.stretches = stretches;
  auto part = [](void* shared, int thread, int) { static_cast<Loop*>(shared)->work(thread); };
  pool::run(threads, pool::Join::kBegun, part, &loop);
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace parallel

}  // namespace facula
