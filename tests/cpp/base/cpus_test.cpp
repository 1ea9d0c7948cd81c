// How many processors a process may use: affinity, cgroups of both versions, environment.
#include "facula/base/pool/cpus.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace facula::pool {
namespace {

class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / ("cgroup" + std::to_string(getpid()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  double limit() { return cgroup_cpus(root_ / "proc", root_ / "fs"); }

  std::filesystem::path root_;
};

TEST_F(Cgroup, NoFilesMeanNoLimit) { EXPECT_EQ(limit(), 0); }

TEST_F(Cgroup, Version2TakesTheTightestOnTheWayUp) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("fs/cpu.max", "max 100000\n");
  EXPECT_EQ(limit(), 0);
  write("fs/a/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(limit(), 3);
  write("fs/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(limit(), 1.5);
}

TEST_F(Cgroup, Version1ReadsQuotaAndPeriod) {
  write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/c\n");
  write("fs/cpu,cpuacct/c/cpu.cfs_quota_us", "-1\n");
  write("fs/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limit(), 0);
  write("fs/cpu,cpuacct/c/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(limit(), 2.5);
}

TEST(Cpus, TheEnvironmentDecidesFirst) {
  auto with = [](const char* own, const char* openmp) {
    own ? setenv("FACULA_NUM_THREADS", own, 1) : unsetenv("FACULA_NUM_THREADS");
    openmp ? setenv("OMP_NUM_THREADS", openmp, 1) : unsetenv("OMP_NUM_THREADS");
    return requested_threads();
  };
  const char* kept_own = std::getenv("FACULA_NUM_THREADS");
  const char* kept_openmp = std::getenv("OMP_NUM_THREADS");
  std::string own = kept_own ? kept_own : "", openmp = kept_openmp ? kept_openmp : "";
  EXPECT_EQ(with(nullptr, nullptr), 0);
  EXPECT_EQ(with("3", "5"), 3);
  EXPECT_EQ(with(nullptr, "5"), 5);
  EXPECT_EQ(with(nullptr, "6,2"), 6);
  EXPECT_EQ(with("0", "x"), 0);
  EXPECT_EQ(with("-2", "4"), 4);
  with(kept_own ? own.c_str() : nullptr, kept_openmp ? openmp.c_str() : nullptr);
}

TEST(Cpus, TheAffinityMaskCounts) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(affinity_cpus(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(affinity_cpus(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace facula::pool
