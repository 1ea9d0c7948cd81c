// Tests of the cache of large blocks, over counted pages that can fail and a clock that stands
// still until it is told to move.
#include "facula/device/cpu/caching_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "facula/base/pages.h"

namespace facula {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

struct World {
  std::map<uintptr_t, size_t> mapped;
  int64_t now = 0;
  int64_t available = int64_t{1} << 40;
  int maps_until_failure = -1;
  int discards = 0;
};

World* world = nullptr;

// Addresses are invented: the cache must not touch what it keeps.
void* fake_map(size_t bytes, size_t alignment) noexcept {
  static uintptr_t next = uintptr_t{1} << 32;
  if (world->maps_until_failure == 0) return nullptr;
  if (world->maps_until_failure > 0) --world->maps_until_failure;
  next = (next + alignment - 1) / alignment * alignment;
  const uintptr_t at = next;
  next += bytes;
  world->mapped[at] = bytes;
  return reinterpret_cast<void*>(at);
}

void fake_unmap(void* pages, size_t bytes) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(pages);
  auto found = world->mapped.upper_bound(at);
  ASSERT_TRUE(found != world->mapped.begin());
  --found;
  const auto [start, size] = *found;
  ASSERT_LE(start, at);
  ASSERT_LE(at + bytes, start + size);
  world->mapped.erase(found);
  if (start < at) world->mapped[start] = at - start;
  if (at + bytes < start + size) world->mapped[at + bytes] = start + size - at - bytes;
}

class LargeBlockCacheTest : public testing::Test {
 protected:
  LargeBlockCacheTest() { world = &world_; }
  ~LargeBlockCacheTest() override {
    EXPECT_EQ(cache_.stats().allocated.current, 0);
    cache_.empty_cache();
    EXPECT_TRUE(world_.mapped.empty());
    EXPECT_EQ(cache_.stats().reserved.current, 0);
  }

  int64_t mapped() const {
    int64_t sum = 0;
    for (auto [at, size] : world_.mapped) sum += static_cast<int64_t>(size);
    return sum;
  }

  World world_;
  LargeBlockCache cache_{{fake_map, fake_unmap, [](void*, size_t) noexcept { ++world->discards; },
                          []() noexcept { return world->now; },
                          []() noexcept { return world->available; }}};
};

TEST_F(LargeBlockCacheTest, KeepsAndReturnsTheLastFreed) {
  void* a = cache_.allocate(3 * kMegabyte);
  void* b = cache_.allocate(3 * kMegabyte);
  cache_.deallocate(a, 3 * kMegabyte);
  cache_.deallocate(b, 3 * kMegabyte);
  EXPECT_EQ(cache_.allocate(3 * kMegabyte), b);
  EXPECT_EQ(cache_.allocate(3 * kMegabyte - 1000), a);
  EXPECT_EQ(cache_.stats().num_system_alloc, 2);
  cache_.deallocate(a, 3 * kMegabyte - 1000);
  cache_.deallocate(b, 3 * kMegabyte);
}

TEST_F(LargeBlockCacheTest, AlignsHugeBlocks) {
  void* block = cache_.allocate(5 * kMegabyte);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kHugePageSize, 0u);
  cache_.deallocate(block, 5 * kMegabyte);
}

TEST_F(LargeBlockCacheTest, ALittleLargerBlockIsCutToSize) {
  void* block = cache_.allocate(9 * kMegabyte);
  cache_.deallocate(block, 9 * kMegabyte);
  EXPECT_EQ(cache_.allocate(8 * kMegabyte), block);
  EXPECT_EQ(cache_.stats().reserved.current, static_cast<int64_t>(large_block_size(8 * kMegabyte)));
  EXPECT_EQ(mapped(), cache_.stats().reserved.current);
  cache_.deallocate(block, 8 * kMegabyte);
  void* other = cache_.allocate(4 * kMegabyte);  // a block of twice the size is left alone
  EXPECT_NE(other, block);
  cache_.deallocate(other, 4 * kMegabyte);
}

TEST_F(LargeBlockCacheTest, TheLimitOfIdleBytesHoldsAndTheOldestGoFirst) {
  cache_.set_idle_limit(static_cast<int64_t>(25 * kMegabyte));
  void* blocks[3];
  const size_t sizes[3] = {9 * kMegabyte, 12 * kMegabyte, 10 * kMegabyte};
  for (int i = 0; i < 3; ++i) blocks[i] = cache_.allocate(sizes[i]);
  for (int i = 0; i < 3; ++i) {
    ++world_.now;
    cache_.deallocate(blocks[i], sizes[i]);
    EXPECT_LE(cache_.stats().cached.current, static_cast<int64_t>(25 * kMegabyte));
  }
  EXPECT_EQ(world_.mapped.count(reinterpret_cast<uintptr_t>(blocks[0])), 0u);
  EXPECT_EQ(world_.mapped.count(reinterpret_cast<uintptr_t>(blocks[2])), 1u);
  cache_.set_idle_limit(0);
  EXPECT_EQ(cache_.stats().cached.current, 0);
}

TEST_F(LargeBlockCacheTest, TheDefaultLimitFollowsPeakAndAvailableMemory) {
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(cache_.allocate(10 * kMegabyte));
  world_.available = int64_t{800} << 20;  // a quarter: 200 MB
  for (void* block : blocks) cache_.deallocate(block, 10 * kMegabyte);
  EXPECT_LE(cache_.stats().cached.current, int64_t{200} << 20);
  EXPECT_GE(cache_.stats().cached.current, int64_t{180} << 20);
  world_.available = 0;  // never below 64 MB
  world_.now += 5000;
  cache_.deallocate(cache_.allocate(10 * kMegabyte), 10 * kMegabyte);
  EXPECT_LE(cache_.stats().cached.current, int64_t{64} << 20);
  EXPECT_GE(cache_.stats().cached.current, int64_t{50} << 20);
}

TEST_F(LargeBlockCacheTest, BlocksIdleForLongMayBeReclaimed) {
  void* a = cache_.allocate(kMegabyte);
  void* b = cache_.allocate(kMegabyte);
  cache_.deallocate(a, kMegabyte);
  world_.now += 11'000;
  cache_.deallocate(b, kMegabyte);
  EXPECT_EQ(world_.discards, 1);
  world_.now += 2000;
  cache_.deallocate(cache_.allocate(kMegabyte), kMegabyte);
  EXPECT_EQ(world_.discards, 1);  // not twice
  EXPECT_EQ(cache_.stats().num_system_free, 0);
}

TEST_F(LargeBlockCacheTest, NoPagesGiveNull) {
  world_.maps_until_failure = 1;
  void* block = cache_.allocate(kMegabyte);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(cache_.allocate(kMegabyte), nullptr);
  EXPECT_EQ(cache_.stats().allocated.current, static_cast<int64_t>(large_block_size(kMegabyte)));
  cache_.deallocate(block, kMegabyte);
  EXPECT_EQ(cache_.allocate(kMegabyte), block);
  cache_.deallocate(block, kMegabyte);
}

TEST_F(LargeBlockCacheTest, RandomCallsConserveBytesAndNeverOverlap) {
  std::mt19937 random(1);
  std::vector<std::pair<void*, size_t>> live;
  std::map<uintptr_t, size_t> used;
  for (int i = 0; i < 50'000; ++i) {
    world_.now += static_cast<int64_t>(random() % 20);
    if (live.size() < 30 && random() % 2 == 0) {
      const size_t bytes = 70'000 + random() % (random() % 4 == 0 ? 20 * kMegabyte : kMegabyte);
      void* block = cache_.allocate(bytes);
      ASSERT_NE(block, nullptr);
      const auto at = reinterpret_cast<uintptr_t>(block);
      auto next = used.lower_bound(at);
      ASSERT_TRUE(next == used.end() || at + bytes <= next->first);
      if (next != used.begin()) {
        --next;
        ASSERT_LE(next->first + next->second, at);
      }
      used[at] = bytes;
      live.emplace_back(block, bytes);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      cache_.deallocate(live.back().first, live.back().second);
      used.erase(reinterpret_cast<uintptr_t>(live.back().first));
      live.pop_back();
    }
    const MemoryStats stats = cache_.stats();
    ASSERT_EQ(stats.allocated.current + stats.cached.current, stats.reserved.current);
    if (i % 1000 == 0) {
      ASSERT_EQ(mapped(), stats.reserved.current);
    }
    if (i % 10'000 == 9999) cache_.empty_cache();
  }
  for (auto [block, bytes] : live) cache_.deallocate(block, bytes);
}

TEST(LargeBlockCache, ServesLargeCpuRequests) {
  if (!cpu_cache_enabled()) GTEST_SKIP() << "the cache is off";
  const int64_t before = large_block_cache().stats().allocated.current;
  void* block = allocate_cpu(kMegabyte);
  std::memset(block, 1, kMegabyte);
  EXPECT_GT(large_block_cache().stats().allocated.current, before);
  deallocate_cpu(block, kMegabyte);
  EXPECT_EQ(large_block_cache().stats().allocated.current, before);
  EXPECT_GT(large_block_cache().stats().cached.current, 0);
}

}  // namespace
}  // namespace facula
