// parallel_for: coverage, cutting, nesting, exceptions, concurrent callers.
#include "facula/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "facula/base/error.h"

namespace facula {
namespace {

// Runs a test with this many threads and restores the number afterwards.
class Threads {
 public:
  explicit Threads(int count) : before_(num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

using Range = std::pair<int64_t, int64_t>;

std::vector<Range> ranges_of(int64_t begin, int64_t end, int64_t grain) {
  std::vector<Range> ranges;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {
    std::lock_guard lock(mutex);
    ranges.emplace_back(b, e);
  });
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

TEST(Parallel, TakesPositiveNumbersOfThreads) {
  int before = num_threads();
  for (int count : {0, -1}) EXPECT_THROW(set_num_threads(count), Error);
  EXPECT_EQ(num_threads(), before);
  Threads threads(1 << 20);
  EXPECT_GE(num_threads(), 1);
}

TEST(Parallel, CoversTheRangeExactlyOnce) {
  Threads threads(4);
  for (int64_t length : {0, 1, 2, 63, 64, 65, 1000, 100'003}) {
    for (int64_t grain : {1, 7, 64, 5000, 1'000'000}) {
      std::vector<std::atomic<int>> hits(length);
      parallel_for(-5, length - 5, grain, [&](int64_t b, int64_t e) {
        EXPECT_LT(b, e);
        for (int64_t i = b; i < e; ++i) hits[i + 5].fetch_add(1);
      });
      for (auto& hit : hits) ASSERT_EQ(hit.load(), 1);
    }
  }
}

TEST(Parallel, ChunksDependOnTheShapeAlone) {
  for (int64_t length : {5, 1000, 77'777}) {
    std::vector<Range> alone;
    {
      Threads threads(1);
      alone = ranges_of(0, length, 10);
    }
    for (int count : {2, 3, 8}) {
      Threads threads(count);
      EXPECT_EQ(ranges_of(0, length, 10), alone);
    }
  }
}

TEST(Parallel, CutsIntoMultiplesOfTheGrain) {
  EXPECT_EQ(cut(0, 8).count, 0);
  EXPECT_EQ(cut(-3, 8).count, 0);
  EXPECT_EQ(cut(8, 8).count, 1);
  EXPECT_EQ(cut(9, 8).count, 2);
  EXPECT_EQ(cut(5, 0).size, 1);
  for (int64_t length : {int64_t{1}, int64_t{1000}, int64_t{123'456'789}, INT64_MAX}) {
    for (int64_t grain : {int64_t{1}, int64_t{64}, int64_t{32768}, INT64_MAX}) {
      Chunks chunks = cut(length, grain);
      EXPECT_GE(chunks.count, 1);
      EXPECT_LE(chunks.count, kMaxChunks);
      EXPECT_EQ(chunks.count, (length - 1) / chunks.size + 1);
      EXPECT_TRUE(chunks.count == 1 || chunks.size % grain == 0);
    }
  }
}

TEST(Parallel, NestedLoopsRunInline) {
  Threads threads(3);
  std::atomic<int64_t> sum{0};
  EXPECT_FALSE(in_parallel());
  parallel_for(0, 100, 1, [&](int64_t b, int64_t e) {
    EXPECT_TRUE(in_parallel());
    auto outer = std::this_thread::get_id();
    for (int64_t i = b; i < e; ++i) {
      parallel_for(0, 100, 1, [&](int64_t b2, int64_t e2) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        for (int64_t k = b2; k < e2; ++k) sum += i * k;
      });
    }
  });
  EXPECT_EQ(sum.load(), int64_t{4950} * 4950);
  EXPECT_FALSE(in_parallel());
}

TEST(Parallel, RethrowsTheFirstExceptionAndStaysUsable) {
  Threads threads(4);
  for (int round = 0; round < 50; ++round) {
    auto loop = [&] {
      parallel_for(0, 1000, 1, [&](int64_t b, int64_t) {
        if (b == round * 16) throw std::runtime_error("chunk");
      });
    };
    EXPECT_THROW(loop(), std::runtime_error);
    EXPECT_FALSE(in_parallel());
  }
  EXPECT_EQ(ranges_of(0, 10, 5).size(), 2u);
}

TEST(Parallel, SeveralThreadsMayCallAtOnce) {
  Threads threads(4);
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        parallel_for(0, 500, 4, [&](int64_t b, int64_t e) { total += e - b; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 4 * 200 * 500);
}

TEST(Parallel, ACallableMayBeConstOrTemporary) {
  const auto body = [](int64_t, int64_t) {};
  parallel_for(0, 100, 1, body);
  struct Sum {
    std::atomic<int64_t>* total;
    void operator()(int64_t b, int64_t e) const { *total += e - b; }
  };
  std::atomic<int64_t> total{0};
  parallel_for(0, 100, 1, Sum{&total});
  EXPECT_EQ(total.load(), 100);
}

TEST(Parallel, ManyShortLoopsOfChangingWidth) {
  int before = num_threads();
  std::atomic<int64_t> total{0};
  for (int round = 0; round < 5000; ++round) {
    set_num_threads(1 + round % 5);
    parallel_for(0, 16, 1, [&](int64_t b, int64_t e) { total += e - b; });
  }
  set_num_threads(before);
  EXPECT_EQ(total.load(), 5000 * 16);
}

}  // namespace
}  // namespace facula
