// The worker team: regions, barriers, nesting, fork.
#include "facula/base/pool/pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "facula/base/parallel.h"

#if defined(__SANITIZE_THREAD__)
#define FACULA_TEST_FORKS 0  // ThreadSanitizer does not follow threads into a forked child
#else
#define FACULA_TEST_FORKS 1
#endif

namespace facula::pool {
namespace {

TEST(Pool, ARegionRunsEveryThreadAtOnce) {
  struct Shared {
    std::atomic<int> ran[4] = {};
    std::atomic<int> before{0};
    std::atomic<bool> torn{false};
  } shared;
  auto body = [](void* context, int thread, int team) {
    Shared& s = *static_cast<Shared*>(context);
    s.ran[thread]++;
    EXPECT_EQ(thread_number(), thread);
    EXPECT_EQ(team_size(), team);
    EXPECT_TRUE(in_region());
    for (int round = 1; round <= 100; ++round) {
      s.before++;
      barrier();
      if (s.before < round * team) s.torn = true;
      barrier();
    }
  };
  run(4, Join::kAll, body, &shared);
  for (auto& count : shared.ran) EXPECT_EQ(count, 1);
  EXPECT_FALSE(shared.torn);
  EXPECT_FALSE(in_region());
  EXPECT_EQ(thread_number(), 0);
  EXPECT_EQ(team_size(), 1);
}

TEST(Pool, ARegionInsideARegionRunsAlone) {
  auto inner = [](void*, int thread, int team) {
    EXPECT_EQ(thread, 0);
    EXPECT_EQ(team, 1);
    EXPECT_EQ(team_size(), 1);
    barrier();
  };
  auto outer = [](void* context, int thread, int team) {
    for (int i = 0; i < 3; ++i) {
      run(4, Join::kAll, *static_cast<Body*>(context), nullptr);
      EXPECT_EQ(thread_number(), thread);
      EXPECT_EQ(team_size(), team);
    }
  };
  Body body = inner;
  run(3, Join::kAll, outer, &body);
}

TEST(Pool, SizeIsClamped) {
  int before = size();
  set_size(0);
  EXPECT_EQ(size(), 1);
  set_size(100'000);
  EXPECT_EQ(size(), kMaxThreads);
  set_size(before);
}

TEST(Pool, WorkersWakeAfterASleep) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    auto body = [](void* count, int, int) { ++*static_cast<std::atomic<int>*>(count); };
    run(3, Join::kAll, body, &ran);
  }
  EXPECT_EQ(ran, 9);
}

int64_t parallel_sum() {
  std::atomic<int64_t> sum{0};
  parallel_for(0, 1000, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) sum += i;
  });
  return sum;
}

// Runs `check` in a forked child; true if it returned true within ten seconds.
template <class F>
bool holds_in_child(F check) {
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Pool, AForkedChildStartsItsOwnWorkers) {
  if (!FACULA_TEST_FORKS) GTEST_SKIP();
  int before = size();
  set_size(3);
  EXPECT_EQ(parallel_sum(), 499'500);
  EXPECT_TRUE(holds_in_child([] {
    std::atomic<int> ran{0};
    auto body = [](void* count, int, int) {
      ++*static_cast<std::atomic<int>*>(count);
      barrier();
    };
    run(3, Join::kAll, body, &ran);
    return ran == 3 && parallel_sum() == 499'500 &&
           holds_in_child([] { return parallel_sum() == 499'500; });
  }));
  EXPECT_EQ(parallel_sum(), 499'500);
  set_size(before);
}

TEST(Pool, AForkInsideARegionGoesOnAlone) {
  if (!FACULA_TEST_FORKS) GTEST_SKIP();
  auto body = [](void* outcome, int thread, int) {
    if (thread != 0) return;
    *static_cast<bool*>(outcome) = holds_in_child([] {
      barrier();
      bool alone = team_size() == 1 && parallel_sum() == 499'500;
      end(Join::kAll);
      return alone && !in_region() && parallel_sum() == 499'500;
    });
  };
  bool outcome = false;
  run(3, Join::kAll, body, &outcome);
  EXPECT_TRUE(outcome);
}

TEST(Pool, AForkWhileAnotherThreadHasTheTeam) {
  if (!FACULA_TEST_FORKS) GTEST_SKIP();
  std::atomic<bool> stop{false}, running{false};
  std::thread other([&] {
    auto spin = [](void* context, int, int) {
      auto& [stop, running] =
          *static_cast<std::pair<std::atomic<bool>*, std::atomic<bool>*>*>(context);
      *running = true;
      while (!*stop) std::this_thread::yield();
    };
    std::pair shared(&stop, &running);
    run(3, Join::kAll, spin, &shared);
  });
  while (!running) std::this_thread::yield();
  EXPECT_TRUE(holds_in_child([] {
    set_size(3);
    std::atomic<int> ran{0};
    auto body = [](void* count, int, int) { ++*static_cast<std::atomic<int>*>(count); };
    run(3, Join::kAll, body, &ran);
    return ran == 3;
  }));
  stop = true;
  other.join();
}

}  // namespace
}  // namespace facula::pool
