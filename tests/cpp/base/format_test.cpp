// str(): the printed form of every kind of argument.
#include "facula/base/format.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <vector>

namespace facula {
namespace {

struct Point {
  int x, y;
};
void append_to(std::string& out, const Point& p) { out += str('<', p.x, ' ', p.y, '>'); }

enum class Colour : uint8_t { kRed = 3 };

TEST(Format, ConcatenatesTextAndNumbers) {
  EXPECT_EQ(str(), "");
  EXPECT_EQ(str("a", std::string("b"), std::string_view("c"), 'd'), "abcd");
  EXPECT_EQ(str(-1, ' ', 2u, ' ', int64_t{-9223372036854775807 - 1}), "-1 2 -9223372036854775808");
  EXPECT_EQ(str(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(str(uint8_t{7}, int8_t{-7}), "7-7");
  EXPECT_EQ(str(true, false), "TrueFalse");
  EXPECT_EQ(str(Colour::kRed), "3");
}

TEST(Format, PrintsTheShortestDigitsThatReadBack) {
  EXPECT_EQ(str(0.1, ' ', 0.1f, ' ', 1.0), "0.1 0.1 1");
  EXPECT_EQ(str(1e300, ' ', -0.0), "1e+300 -0");
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(str(infinity, ' ', -infinity), "inf -inf");
  EXPECT_EQ(str(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Format, PrintsRangesAndOwnTypes) {
  std::vector<int64_t> sizes{2, 3, 4};
  EXPECT_EQ(str(sizes), "[2, 3, 4]");
  EXPECT_EQ(str(std::span<const int64_t>(sizes).subspan(1)), "[3, 4]");
  EXPECT_EQ(str(std::vector<int>{}), "[]");
  EXPECT_EQ(str(std::vector<std::vector<int>>{{1}, {2, 3}}), "[[1], [2, 3]]");
  EXPECT_EQ(str(Point{1, 2}, std::vector<Point>{{3, 4}}), "<1 2>[<3 4>]");
}

}  // namespace
}  // namespace facula
