// The slow half of allocator.h: refilling and draining the lists of a thread from slabs that all
// threads share, large requests, statistics over threads, thread ends and forks.
#include "facula/core/allocator.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "facula/base/error.h"
#include "facula/base/pages.h"

namespace facula {
namespace allocator_detail {

constinit thread_local ThreadCache thread_cache __attribute__((tls_model("initial-exec"))) = {};

namespace {

enum ThreadCacheState : uint8_t { kFresh, kActive, kEnded };

// Small blocks are cut from slabs of one class. A slab starts with this header; blocks follow.
inline constexpr size_t kSlabSize = size_t{1} << 20;
// Wholly free slabs are looked for when this much lies idle in the shared lists.
inline constexpr int64_t kIdleSmallBytes = int64_t{64} << 20;

struct Slab {
  Slab* next;
  uint32_t size_class;
  uint32_t capacity;
  uint32_t idle;  // counted afresh by release_idle_slabs
};
static_assert(sizeof(Slab) <= kBlockAlignment);

struct SharedList {
  FreeBlock* head = nullptr;
  std::byte* unused = nullptr;  // the part of the newest slab that was never handed out
  std::byte* unused_end = nullptr;
};

struct ThreadRecord {
  ThreadCache* cache;
  ThreadRecord* next;
};

// Everything that threads share. It is never destroyed: blocks are freed until the process ends.
struct Shared {
  std::mutex mutex;
  SharedList lists[kSmallClasses];
  Slab* slabs = nullptr;
  int64_t idle_bytes = 0;  // in the shared lists
  int64_t trim_at = kIdleSmallBytes;
  ThreadRecord* threads = nullptr;
  // Sums of the counters of ended threads.
  int64_t live = 0, num_alloc = 0, num_free = 0;
  MemoryCounter allocated, reserved_small;
  int64_t num_system_alloc = 0, num_system_free = 0, num_retries = 0, num_out_of_memory = 0;
  // Filled before a fork: what the threads that the child will not have had counted.
  int64_t others_live = 0, others_alloc = 0, others_free = 0;
};

Shared& shared() {
  alignas(Shared) static std::byte memory[sizeof(Shared)];
  static Shared* instance = new (memory) Shared;
  return *instance;
}

// Serves large requests until device/cpu registers its cache: a mapping each.
class DirectAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes) noexcept override {
    const size_t size = large_block_size(bytes);
    void* block = map_pages(size, large_block_alignment(size));
    if (block != nullptr) {
      reserved_.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
    }
    return block;
  }
  void deallocate(void* block, size_t bytes) noexcept override {
    const size_t size = large_block_size(bytes);
    unmap_pages(block, size);
    reserved_.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
  }
  size_t empty_cache() noexcept override { return 0; }
  MemoryStats stats() const noexcept override {
    MemoryStats stats;
    stats.reserved.current = stats.reserved.peak = reserved_.load(std::memory_order_relaxed);
    return stats;
  }
  void reset_peak_stats() noexcept override {}

 private:
  std::atomic<int64_t> reserved_{0};
};

DirectAllocator& direct_allocator() {
  static DirectAllocator& instance = *new DirectAllocator;
  return instance;
}

constinit std::atomic<Allocator*> large_allocator{nullptr};

Allocator& large() {
  Allocator* registered = large_allocator.load(std::memory_order_acquire);
  return registered != nullptr ? *registered : direct_allocator();
}

void raise_to(MemoryCounter& counter, int64_t current) {
  counter.current = current;
  counter.peak = std::max(counter.peak, current);
}

int64_t live_locked(const Shared& s) {
  int64_t live = s.live;
  for (ThreadRecord* t = s.threads; t != nullptr; t = t->next) {
    live += t->cache->live.load(std::memory_order_relaxed);
  }
  return live;
}

// Blocks of a class that a thread may keep: about 256 KB, between 8 and 256 blocks.
uint16_t keep_limit(int size_class) {
  const size_t blocks = (size_t{256} << 10) / small_class_size(size_class);
  return static_cast<uint16_t>(std::clamp<size_t>(blocks, 8, 256));
}

Slab* slab_of(void* block) {
  return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(block) & ~(kSlabSize - 1));
}

bool add_slab(Shared& s, int size_class) {
  auto* memory = static_cast<std::byte*>(map_pages(kSlabSize, kSlabSize));
  if (memory == nullptr) return false;
  const size_t size = small_class_size(size_class);
  const size_t capacity = (kSlabSize - kBlockAlignment) / size;
  s.slabs = new (memory)
      Slab{s.slabs, static_cast<uint32_t>(size_class), static_cast<uint32_t>(capacity), 0};
  s.lists[size_class].unused = memory + kBlockAlignment;
  s.lists[size_class].unused_end = memory + kBlockAlignment + capacity * size;
  ++s.num_system_alloc;
  raise_to(s.reserved_small, s.reserved_small.current + static_cast<int64_t>(kSlabSize));
  return true;
}

// Unmaps the slabs none of whose blocks is in use or in the list of a thread. Never-used parts of
// the newest slab of a class count as idle.
size_t release_idle_slabs(Shared& s) {
  for (Slab* slab = s.slabs; slab != nullptr; slab = slab->next) slab->idle = 0;
  for (int c = 0; c < kSmallClasses; ++c) {
    SharedList& list = s.lists[c];
    for (FreeBlock* b = list.head; b != nullptr; b = b->next) ++slab_of(b)->idle;
    if (list.unused != list.unused_end) {
      const auto rest = static_cast<size_t>(list.unused_end - list.unused);
      slab_of(list.unused)->idle += static_cast<uint32_t>(rest / small_class_size(c));
    }
  }
  for (int c = 0; c < kSmallClasses; ++c) {
    SharedList& list = s.lists[c];
    const auto size = static_cast<int64_t>(small_class_size(c));
    for (FreeBlock** link = &list.head; *link != nullptr;) {
      const Slab* slab = slab_of(*link);
      if (slab->idle == slab->capacity) {
        *link = (*link)->next;
        s.idle_bytes -= size;
      } else {
        link = &(*link)->next;
      }
    }
    if (list.unused != list.unused_end) {
      const Slab* slab = slab_of(list.unused);
      if (slab->idle == slab->capacity) list.unused = list.unused_end = nullptr;
    }
  }
  size_t released = 0;
  for (Slab** link = &s.slabs; *link != nullptr;) {
    Slab* slab = *link;
    if (slab->idle == slab->capacity) {
      *link = slab->next;
      unmap_pages(slab, kSlabSize);
      released += kSlabSize;
      ++s.num_system_free;
    } else {
      link = &slab->next;
    }
  }
  s.reserved_small.current -= static_cast<int64_t>(released);
  return released;
}

void push_shared(Shared& s, int size_class, FreeBlock* block) {
  block->next = s.lists[size_class].head;
  s.lists[size_class].head = block;
  s.idle_bytes += static_cast<int64_t>(small_class_size(size_class));
}

FreeBlock* pop_shared(Shared& s, int size_class) {
  SharedList& list = s.lists[size_class];
  const size_t size = small_class_size(size_class);
  if (FreeBlock* block = list.head) {
    list.head = block->next;
    s.idle_bytes -= static_cast<int64_t>(size);
    return block;
  }
  if (list.unused == list.unused_end && !add_slab(s, size_class)) return nullptr;
  auto* block = reinterpret_cast<FreeBlock*>(list.unused);
  list.unused += size;
  return block;
}

void trim_shared(Shared& s) {
  if (s.idle_bytes < s.trim_at) return;
  release_idle_slabs(s);
  s.trim_at = std::max(kIdleSmallBytes, 2 * s.idle_bytes);
}

// Moves blocks of one class from the thread to the shared lists until `keep` are left.
void drain(Shared& s, ThreadCache& cache, int size_class, int keep) {
  while (cache.counts[size_class] > keep) {
    FreeBlock* block = cache.heads[size_class];
    cache.heads[size_class] = block->next;
    --cache.counts[size_class];
    push_shared(s, size_class, block);
  }
}

void end_thread(void* record_pointer) {
  auto* record = static_cast<ThreadRecord*>(record_pointer);
  Shared& s = shared();
  ThreadCache& cache = *record->cache;
  {
    std::lock_guard lock(s.mutex);
    for (int c = 0; c < kSmallClasses; ++c) {
      drain(s, cache, c, 0);
      cache.limits[c] = 0;
    }
    cache.state = kEnded;
    cache.peak_mark = INT64_MIN;
    for (ThreadRecord** link = &s.threads; *link != nullptr; link = &(*link)->next) {
      if (*link == record) {
        *link = record->next;
        break;
      }
    }
    s.live += cache.live.exchange(0);
    s.num_alloc += cache.num_alloc.exchange(0);
    s.num_free += cache.num_free.exchange(0);
    trim_shared(s);
  }
  std::free(record);
}

void before_fork() {
  Shared& s = shared();
  s.mutex.lock();
  s.others_live = s.others_alloc = s.others_free = 0;
  for (ThreadRecord* t = s.threads; t != nullptr; t = t->next) {
    if (t->cache == &thread_cache) continue;
    s.others_live += t->cache->live.load(std::memory_order_relaxed);
    s.others_alloc += t->cache->num_alloc.load(std::memory_order_relaxed);
    s.others_free += t->cache->num_free.load(std::memory_order_relaxed);
  }
}

void after_fork_in_parent() { shared().mutex.unlock(); }

void after_fork_in_child() {
  // The other threads are gone and the memory of their lists may be given to new threads; what they
  // had counted stays counted, what they had cached stays unused.
  Shared& s = shared();
  ThreadRecord* own = nullptr;
  for (ThreadRecord* t = s.threads; t != nullptr; t = t->next) {
    if (t->cache == &thread_cache) own = t;
  }
  if (own != nullptr) own->next = nullptr;
  s.threads = own;
  s.live += s.others_live;
  s.num_alloc += s.others_alloc;
  s.num_free += s.others_free;
  s.mutex.unlock();
}

pthread_key_t make_thread_key() {
  pthread_key_t key;
  if (pthread_key_create(&key, end_thread) != 0) std::abort();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  return key;
}

void start_thread(ThreadCache& cache) {
  static const pthread_key_t key = make_thread_key();
  auto* record = static_cast<ThreadRecord*>(std::malloc(sizeof(ThreadRecord)));
  if (record == nullptr || pthread_setspecific(key, record) != 0) {
    std::free(record);
    return;  // out of memory for sixteen bytes: this thread goes on without lists of its own
  }
  Shared& s = shared();
  record->cache = &cache;
  if (cpu_cache_enabled()) {
    for (int c = 0; c < kSmallClasses; ++c) cache.limits[c] = keep_limit(c);
  }
  cache.state = kActive;
  std::lock_guard lock(s.mutex);
  record->next = s.threads;
  s.threads = record;
}

// Takes one block for the caller and a batch for the list of its thread.
void* allocate_small(ThreadCache& cache, int size_class) {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  FreeBlock* block = pop_shared(s, size_class);
  if (block == nullptr) return nullptr;
  const auto room = static_cast<size_t>(cache.limits[size_class]) / 2;
  const size_t batch = std::min<size_t>(room, (size_t{32} << 10) / small_class_size(size_class));
  SharedList& list = s.lists[size_class];
  for (size_t i = 0; i < batch; ++i) {
    if (list.head == nullptr && list.unused == list.unused_end) break;
    FreeBlock* extra = pop_shared(s, size_class);
    extra->next = cache.heads[size_class];
    cache.heads[size_class] = extra;
    ++cache.counts[size_class];
  }
  return block;
}

void* allocate_once(ThreadCache& cache, size_t bytes) {
  if (!cpu_cache_enabled()) {
    const size_t rounded = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
    return std::aligned_alloc(kBlockAlignment, rounded);
  }
  if (bytes <= kSmallLimit) return allocate_small(cache, small_size_class(bytes));
  return large().allocate(bytes);
}

void count(ThreadCache& cache, int64_t bytes, int64_t allocs, int64_t frees) {
  if (cache.state == kActive) {
    add(cache.num_alloc, allocs);
    add(cache.num_free, frees);
    add(cache.live, bytes);
    return;
  }
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  s.num_alloc += allocs;
  s.num_free += frees;
  s.live += bytes;
}

// Returns every idle block of this thread and of the shared caches to the system.
size_t empty_caches() noexcept {
  size_t released = large().empty_cache();
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  for (int c = 0; c < kSmallClasses; ++c) drain(s, thread_cache, c, 0);
  released += release_idle_slabs(s);
  s.trim_at = std::max(kIdleSmallBytes, 2 * s.idle_bytes);
  return released;
}

}  // namespace

void note_peak() noexcept {
  ThreadCache& cache = thread_cache;
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  const int64_t live = live_locked(s);
  raise_to(s.allocated, live);
  // Exact while this thread alone allocates; others correct it when they pass their own marks.
  if (cache.state == kActive) {
    cache.peak_mark = cache.live.load(std::memory_order_relaxed) + (s.allocated.peak - live);
  }
}

void* allocate_slow(size_t bytes) {
  void* block = try_allocate_cpu(bytes);
  if (block != nullptr) return block;
  const MemoryStats stats = cpu_allocator().stats();
  fail(ErrorKind::kOutOfMemory,
       str("out of memory: cannot allocate ", bytes, " bytes on the CPU; ", stats.allocated.current,
           " bytes are in use and ", stats.reserved.current, " bytes reserved"));
}

void deallocate_slow(void* block, size_t bytes) noexcept {
  ThreadCache& cache = thread_cache;
  if (cache.state == kFresh) start_thread(cache);
  count(cache, -static_cast<int64_t>(bytes), 0, 1);
  if (!cpu_cache_enabled()) {
    std::free(block);
  } else if (bytes > kSmallLimit) {
    large().deallocate(block, bytes);
  } else {
    Shared& s = shared();
    const int size_class = small_size_class(bytes);
    std::lock_guard lock(s.mutex);
    drain(s, cache, size_class, cache.limits[size_class] / 2);
    push_shared(s, size_class, static_cast<FreeBlock*>(block));
    trim_shared(s);
  }
}

namespace {

class CpuAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes) noexcept override { return try_allocate_cpu(bytes); }
  void deallocate(void* block, size_t bytes) noexcept override { deallocate_cpu(block, bytes); }
  size_t empty_cache() noexcept override { return empty_caches(); }

  MemoryStats stats() const noexcept override {
    MemoryStats stats = large().stats();
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    raise_to(s.allocated, live_locked(s));
    stats.allocated = s.allocated;
    stats.num_alloc = s.num_alloc;
    stats.num_free = s.num_free;
    for (ThreadRecord* t = s.threads; t != nullptr; t = t->next) {
      stats.num_alloc += t->cache->num_alloc.load(std::memory_order_relaxed);
      stats.num_free += t->cache->num_free.load(std::memory_order_relaxed);
    }
    stats.reserved.current += s.reserved_small.current;
    stats.reserved.peak += s.reserved_small.peak;
    stats.num_system_alloc += s.num_system_alloc;
    stats.num_system_free += s.num_system_free;
    stats.num_alloc_retries = s.num_retries;
    stats.num_out_of_memory = s.num_out_of_memory;
    return stats;
  }

  void reset_peak_stats() noexcept override {
    large().reset_peak_stats();
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    s.allocated.current = s.allocated.peak = live_locked(s);
    s.reserved_small.peak = s.reserved_small.current;
    // Only this thread's mark can be written here; marks of other threads are at most too high
    // until they next allocate from the system.
    thread_cache.peak_mark = thread_cache.live.load(std::memory_order_relaxed);
  }
};

}  // namespace

}  // namespace allocator_detail

void* try_allocate_cpu(size_t bytes) noexcept {
  using namespace allocator_detail;
  ThreadCache& cache = thread_cache;
  if (cache.state == kFresh) start_thread(cache);
  void* block = nullptr;
  bool retried = false;
  if (bytes <= kLargestBlock) {
    block = allocate_once(cache, bytes);
    if (block == nullptr && empty_caches() != 0) {
      block = allocate_once(cache, bytes);
      retried = true;
    }
  }
  if (block == nullptr || retried) {
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    ++(block == nullptr ? s.num_out_of_memory : s.num_retries);
  }
  if (block == nullptr) return nullptr;
  count(cache, static_cast<int64_t>(bytes), 1, 0);
  if (cache.state != kActive || cache.live.load(std::memory_order_relaxed) > cache.peak_mark) {
    note_peak();
  }
  return block;
}

bool cpu_cache_enabled() noexcept {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#else
  static const bool enabled = [] {
    const char* value = std::getenv("FACULA_CPU_CACHE");
    return value == nullptr || std::strcmp(value, "0") != 0;
  }();
  return enabled;
#endif
}

void register_large_allocator(Allocator* allocator) noexcept {
  allocator_detail::large_allocator.store(allocator, std::memory_order_release);
}

Allocator& cpu_allocator() {
  static Allocator& instance = *new allocator_detail::CpuAllocator;
  return instance;
}

}  // namespace facula
