// Tests of CPU memory as callers see it: size classes, alignment, re-use, statistics, threads,
// forks and exhaustion.
#include "facula/core/allocator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "facula/base/error.h"

namespace facula {
namespace {

int64_t cpu_bytes_in_use() { return cpu_allocator().stats().allocated.current; }

TEST(SmallClasses, AscendAndCoverEverySize) {
  for (int c = 1; c < kSmallClasses; ++c) {
    EXPECT_LT(small_class_size(c - 1), small_class_size(c));
    EXPECT_EQ(small_class_size(c) % kBlockAlignment, 0u);
  }
  EXPECT_EQ(small_class_size(kSmallClasses - 1), kSmallLimit);
  for (size_t bytes = 0; bytes <= kSmallLimit; ++bytes) {
    const int c = small_size_class(bytes);
    ASSERT_GE(small_class_size(c), bytes);
    ASSERT_TRUE(c == 0 || small_class_size(c - 1) < bytes);
  }
}

TEST(SmallClasses, AHeaderBeforeAPowerOfTwoWastesNothing) {
  for (size_t bytes = 512; bytes <= 65536; bytes *= 2) {
    EXPECT_EQ(small_class_size(small_size_class(bytes + 64)), bytes + 64);
  }
}

TEST(AllocateCpu, EverySizeIsAlignedAndWritable) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1000},
                       kSmallLimit, kSmallLimit + 1, size_t{1} << 20, size_t{5} << 20}) {
    void* block = allocate_cpu(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kBlockAlignment, 0u);
    std::memset(block, 1, bytes);
    deallocate_cpu(block, bytes);
  }
}

TEST(AllocateCpu, TheLastFreedBlockIsUsedAgain) {
  if (!cpu_cache_enabled()) GTEST_SKIP() << "the cache is off";
  for (size_t bytes : {size_t{40}, size_t{5000}, size_t{3} << 20}) {
    void* first = allocate_cpu(bytes);
    deallocate_cpu(first, bytes);
    void* second = allocate_cpu(bytes);
    EXPECT_EQ(first, second);
    deallocate_cpu(second, bytes);
  }
}

TEST(AllocateCpu, StatisticsAreExactAtOnce) {
  const MemoryStats before = cpu_allocator().stats();
  void* small = allocate_cpu(100);
  void* large = allocate_cpu(size_t{1} << 20);
  MemoryStats now = cpu_allocator().stats();
  EXPECT_EQ(now.allocated.current - before.allocated.current, 100 + (1 << 20));
  EXPECT_GE(now.allocated.peak, now.allocated.current);
  EXPECT_EQ(now.num_alloc - before.num_alloc, 2);
  if (cpu_cache_enabled()) {
    EXPECT_GE(now.reserved.current, now.allocated.current);
  }
  deallocate_cpu(large, size_t{1} << 20);
  EXPECT_EQ(cpu_bytes_in_use() - before.allocated.current, 100);
  deallocate_cpu(small, 100);
  now = cpu_allocator().stats();
  EXPECT_EQ(now.allocated.current, before.allocated.current);
  EXPECT_EQ(now.num_free - before.num_free, 2);
}

TEST(AllocateCpu, PeakIsExactForOneThread) {
  cpu_allocator().reset_peak_stats();
  const int64_t start = cpu_bytes_in_use();
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(allocate_cpu(200));
  for (void* block : blocks) deallocate_cpu(block, 200);
  void* large = allocate_cpu(100'000);
  deallocate_cpu(large, 100'000);
  MemoryStats stats = cpu_allocator().stats();
  EXPECT_EQ(stats.allocated.peak - start, 200'000);
  EXPECT_EQ(stats.allocated.current, start);
  cpu_allocator().reset_peak_stats();
  EXPECT_EQ(cpu_allocator().stats().allocated.peak, start);
  blocks.clear();
  for (int i = 0; i < 10; ++i) blocks.push_back(allocate_cpu(200));
  for (void* block : blocks) deallocate_cpu(block, 200);
  EXPECT_EQ(cpu_allocator().stats().allocated.peak - start, 2000);
}

TEST(AllocateCpu, BlocksInUseNeverOverlap) {
  std::mt19937 random(5);
  std::map<uintptr_t, size_t> live;
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  const int64_t start = cpu_bytes_in_use();
  for (int i = 0; i < 100'000; ++i) {
    if (blocks.size() < 200 && random() % 2 == 0) {
      const size_t bytes = random() % (random() % 50 == 0 ? 400'000 : 3000);
      auto* block = static_cast<unsigned char*>(allocate_cpu(bytes));
      const auto at = reinterpret_cast<uintptr_t>(block);
      auto next = live.lower_bound(at);
      ASSERT_TRUE(next == live.end() || at + std::max<size_t>(bytes, 1) <= next->first);
      if (next != live.begin()) {
        --next;
        ASSERT_LE(next->first + next->second, at);
      }
      live[at] = bytes;
      if (bytes != 0) block[0] = block[bytes - 1] = static_cast<unsigned char>(bytes);
      blocks.emplace_back(block, bytes);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      auto [block, bytes] = blocks.back();
      blocks.pop_back();
      if (bytes != 0) {
        ASSERT_EQ(block[0], static_cast<unsigned char>(bytes));
        ASSERT_EQ(block[bytes - 1], static_cast<unsigned char>(bytes));
      }
      live.erase(reinterpret_cast<uintptr_t>(block));
      deallocate_cpu(block, bytes);
    }
  }
  for (auto [block, bytes] : blocks) deallocate_cpu(block, bytes);
  EXPECT_EQ(cpu_bytes_in_use(), start);
}

TEST(AllocateCpu, IdleSlabsGoBackToTheSystem) {
  if (!cpu_cache_enabled()) GTEST_SKIP() << "the cache is off";
  cpu_allocator().empty_cache();
  const int64_t before = cpu_allocator().stats().reserved.current;
  std::vector<void*> blocks;
  for (int i = 0; i < 20'000; ++i) blocks.push_back(allocate_cpu(832));
  EXPECT_GE(cpu_allocator().stats().reserved.current - before, 20'000 * 832);
  for (void* block : blocks) deallocate_cpu(block, 832);
  EXPECT_GE(cpu_allocator().empty_cache(), size_t{20'000} * 832);
  EXPECT_LE(cpu_allocator().stats().reserved.current, before);
}

TEST(AllocateCpu, BlocksFreedByAnotherThreadAreCountedAndUsedAgain) {
  const int64_t start = cpu_bytes_in_use();
  std::vector<void*> blocks;
  for (int round = 0; round < 3; ++round) {
    std::thread producer([&] {
      for (int i = 0; i < 5000; ++i) blocks.push_back(allocate_cpu(300));
    });
    producer.join();
    EXPECT_EQ(cpu_bytes_in_use() - start, 5000 * 300);
    std::thread consumer([&] {
      for (void* block : blocks) deallocate_cpu(block, 300);
    });
    consumer.join();
    blocks.clear();
    EXPECT_EQ(cpu_bytes_in_use(), start);
  }
}

TEST(AllocateCpu, ThreadsWorkAtTheSameTime) {
  const int64_t start = cpu_bytes_in_use();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      std::mt19937 random(t);
      std::vector<std::pair<unsigned char*, size_t>> blocks;
      for (int i = 0; i < 20'000; ++i) {
        const size_t bytes = 1 + random() % (random() % 20 == 0 ? 300'000 : 5000);
        auto* block = static_cast<unsigned char*>(allocate_cpu(bytes));
        block[0] = static_cast<unsigned char>(t);
        blocks.emplace_back(block, bytes);
        if (blocks.size() == 50) {
          for (auto [old, size] : blocks) {
            ASSERT_EQ(old[0], t);
            deallocate_cpu(old, size);
          }
          blocks.clear();
        }
        if (i % 5000 == 0) cpu_allocator().empty_cache();
      }
      for (auto [old, size] : blocks) deallocate_cpu(old, size);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cpu_bytes_in_use(), start);
}

TEST(AllocateCpu, WorksInAForkedChild) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not follow threads into a forked child";
#endif
  void* kept = allocate_cpu(500);
  std::thread other([] {
    for (int i = 0; i < 1000; ++i) deallocate_cpu(allocate_cpu(200 + i), 200 + i);
  });
  const int64_t start = cpu_bytes_in_use();
  const pid_t child = fork();
  if (child == 0) {
    int failures = 0;
    std::thread thread([&] {
      for (int i = 0; i < 1000; ++i) deallocate_cpu(allocate_cpu(100 * i), 100 * i);
    });
    thread.join();
    deallocate_cpu(kept, 500);
    cpu_allocator().empty_cache();
    // The other thread may have been within a call, but not by more than one block.
    if (std::abs(start - 500 - cpu_bytes_in_use()) > 2 * 1200) ++failures;
    _exit(failures);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  other.join();
  deallocate_cpu(kept, 500);
}

TEST(AllocateCpu, ImpossibleSizesRaiseAndLeaveEverythingUsable) {
  const MemoryStats before = cpu_allocator().stats();
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, size_t{1} << 46, size_t{1} << 45}) {
    try {
      allocate_cpu(bytes);
      FAIL() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
      EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos);
    }
    EXPECT_EQ(try_allocate_cpu(bytes), nullptr);
  }
  const MemoryStats after = cpu_allocator().stats();
  EXPECT_EQ(after.allocated.current, before.allocated.current);
  EXPECT_EQ(after.num_out_of_memory - before.num_out_of_memory, 10);
  deallocate_cpu(allocate_cpu(1000), 1000);
}

TEST(CpuAllocator, TheInterfaceGivesTheSameMemory) {
  const int64_t start = cpu_bytes_in_use();
  void* block = cpu_allocator().allocate(777);
  EXPECT_EQ(cpu_bytes_in_use() - start, 777);
  deallocate_cpu(block, 777);
  EXPECT_EQ(cpu_bytes_in_use(), start);
}

}  // namespace
}  // namespace facula
