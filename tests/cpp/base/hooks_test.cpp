// The profiler's extents and the location hook.
#include "facula/base/hooks.h"

#include <gtest/gtest.h>

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

TEST(Hooks, LocationsComeFromTheFrontEnd) {
  static int code;
  static const LocationHooks hooks{
      .capture = []() noexcept { return Location{&code, 12}; },
      .describe = [](Location at) { return "line " + std::to_string(at.offset); }};
  EXPECT_EQ(location_hooks.load(), nullptr);
  location_hooks = &hooks;
  const LocationHooks* active = location_hooks;
  EXPECT_EQ(active->describe(active->capture()), "line 12");
  location_hooks = nullptr;
}

}  // namespace
}  // namespace facula
