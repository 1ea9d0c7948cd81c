// The embedding language's lock is given back for a scope, and only if the thread held it.
#include "facula/core/unlocked.h"

#include <gtest/gtest.h>

#include <string>

namespace facula {
namespace {

std::string events;
int token;

TEST(Unlocked, CostsNothingWithoutALanguage) {
  ASSERT_EQ(Unlocked::unlock, nullptr);
  Unlocked scope;
}

TEST(Unlocked, GivesTheLockBackForItsScope) {
  events.clear();
  Unlocked::unlock = []() -> void* {
    events += 'u';
    return &token;
  };
  Unlocked::relock = [](void* given) { events += given == &token ? 'r' : '?'; };
  {
    Unlocked scope;
    events += 'w';
  }
  EXPECT_EQ(events, "uwr");
  Unlocked::unlock = []() -> void* { return nullptr; };
  {
    Unlocked scope;
  }
  EXPECT_EQ(events, "uwr");
  Unlocked::unlock = nullptr;
  Unlocked::relock = nullptr;
}

}  // namespace
}  // namespace facula
