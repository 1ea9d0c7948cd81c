// oneDNN on our pool: right results, the same bits in every run, alive after a fork. (oneDNN itself
// may give other bits for another number of threads; whoever calls it cuts the work to avoid that.)
#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "facula/base/parallel.h"

namespace facula {
namespace {

constexpr int kRows = 150, kColumns = 130, kDepth = 170;

std::vector<float> numbers(size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / 0x1p24f - 0.5f;
  }
  return values;
}

std::vector<float> product(int threads) {
  auto a = numbers(kRows * kDepth, 1), b = numbers(kDepth * kColumns, 2);
  std::vector<float> c(kRows * kColumns);
  int before = num_threads();
  set_num_threads(threads);
  EXPECT_EQ(dnnl_sgemm('N', 'N', kRows, kColumns, kDepth, 1.f, a.data(), kDepth, b.data(), kColumns,
                       0.f, c.data(), kColumns),
            dnnl_success);
  set_num_threads(before);
  return c;
}

TEST(OpenMP, MultipliesMatrices) {
  auto a = numbers(kRows * kDepth, 1), b = numbers(kDepth * kColumns, 2);
  auto c = product(2);
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int k = 0; k < kDepth; ++k) sum += double(a[i * kDepth + k]) * b[k * kColumns + j];
      ASSERT_NEAR(c[i * kColumns + j], sum, 1e-4);
    }
  }
}

TEST(OpenMP, GivesTheSameBitsInEveryRun) {
  for (int threads : {1, 2, 3, 4}) {
    auto first = product(threads);
    for (int run = 0; run < 20; ++run) EXPECT_EQ(product(threads), first);
  }
}

TEST(OpenMP, RunsInsideAParallelLoop) {
  auto alone = product(1);
  parallel_for(0, 8, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) EXPECT_EQ(product(2), alone);
  });
}

TEST(OpenMP, WorksInAForkedChild) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP();
#endif
  auto before = product(3);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(product(3) == before ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace facula
