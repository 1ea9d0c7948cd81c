// Source locations: captured and released through the hooks, one release a capture.
#include "facula/core/location.h"

#include <gtest/gtest.h>

#include <utility>

namespace facula {
namespace {

int code_object, live;

class Location : public testing::Test {
 protected:
  void SetUp() override {
    SourceLocation::capture = [] {
      ++live;
      return SourceLocation(&code_object, 12);
    };
    SourceLocation::release = [](void*) { --live; };
    SourceLocation::resolve = [](void*, int offset) { return "file.py:" + std::to_string(offset); };
  }
  void TearDown() override {
    SourceLocation::capture = nullptr;
    SourceLocation::release = nullptr;
    SourceLocation::resolve = nullptr;
  }
};

TEST(NoLocation, IsEmptyWithoutHooks) {
  EXPECT_EQ(current_location().text(), "");
  EXPECT_EQ(current_location().code, nullptr);
}

TEST_F(Location, IsReleasedOnce) {
  {
    SourceLocation here = current_location();
    EXPECT_EQ(here.text(), "file.py:12");
    SourceLocation moved = std::move(here);
    EXPECT_EQ(here.text(), "");
    EXPECT_EQ(moved.text(), "file.py:12");
    EXPECT_EQ(live, 1);
    moved = current_location();
    EXPECT_EQ(moved.offset, 12);
  }
  EXPECT_EQ(live, 0);
}

}  // namespace
}  // namespace facula
