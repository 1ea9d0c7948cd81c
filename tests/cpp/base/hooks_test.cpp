// The profiler's extents.
#include "facula/base/hooks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace facula {
namespace {

std::vector<std::string> events;

uint64_t note_begin(const char* name) noexcept {
  events.push_back(std::string("begin ") + name);
  return events.size();
}
void note_end(uint64_t token) noexcept { events.push_back("end " + std::to_string(token)); }

TEST(Hooks, NothingHappensWithoutAProfiler) {
  events.clear();
  {
    ProfilerScope scope("add");
  }
  EXPECT_TRUE(events.empty());
}

TEST(Hooks, TheProfilerSeesNestedExtents) {
  static constexpr ProfilerHooks hooks{note_begin, note_end};
  events.clear();
  profiler_hooks = &hooks;
  {
    ProfilerScope outer("linear");
    ProfilerScope inner("addmm");
    profiler_hooks = nullptr;  // extents that have begun still end
  }
  EXPECT_EQ(events, (std::vector<std::string>{"begin linear", "begin addmm", "end 2", "end 1"}));
}

}  // namespace
}  // namespace facula
