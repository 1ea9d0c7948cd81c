// SmallVector against std::vector, on both sides of its inline capacity.
#include "facula/base/small_vector.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace facula {
namespace {

using Small = SmallVector<int64_t, 4>;

TEST(SmallVector, StartsEmptyAndInline) {
  Small v;
  EXPECT_TRUE(v.empty());
  EXPECT_EQ(v.capacity(), 4u);
}

TEST(SmallVector, ConstructsFromCountListRangeAndSpan) {
  EXPECT_EQ(Small(3, 7), (Small{7, 7, 7}));
  std::vector<int64_t> items{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Small(items.begin(), items.end()), (Small{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Small(std::span<const int64_t>(items).first(2)), (Small{1, 2}));
  EXPECT_EQ(Small(0, 1).size(), 0u);
}

TEST(SmallVector, CopiesAndMovesInlineAndOnTheHeap) {
  for (size_t n : {0u, 3u, 4u, 5u, 40u}) {
    Small a;
    for (size_t i = 0; i < n; ++i) a.push_back(static_cast<int64_t>(i));
    Small copy = a;
    EXPECT_EQ(copy, a);
    Small moved = std::move(a);
    EXPECT_EQ(moved, copy);
    EXPECT_TRUE(a.empty());
    a.push_back(9);
    EXPECT_EQ(a, (Small{9}));
    a = moved;
    EXPECT_EQ(a, copy);
    a = std::move(moved);
    EXPECT_EQ(a, copy);
    a = *&a;
    EXPECT_EQ(a, copy);
  }
}

TEST(SmallVector, AssignsFromItself) {
  Small v{1, 2, 3, 4, 5, 6};
  v.assign(v.begin() + 2, v.end());
  EXPECT_EQ(v, (Small{3, 4, 5, 6}));
}

TEST(SmallVector, BehavesLikeAVectorUnderRandomEdits) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Small v;
    std::vector<int64_t> judge;
    for (int step = 0; step < 60; ++step) {
      int64_t value = random() % 100;
      size_t place = random() % (judge.size() + 1);
      switch (random() % 6) {
        case 0:
        case 1: v.push_back(value), judge.push_back(value); break;
        case 2:
          v.insert(v.begin() + place, value);
          judge.insert(judge.begin() + place, value);
          break;
        case 3:
          if (place < judge.size()) {
            v.erase(v.begin() + place);
            judge.erase(judge.begin() + place);
          }
          break;
        case 4:
          v.resize(place + 2, value);
          judge.resize(place + 2, value);
          break;
        default:
          if (!judge.empty()) v.pop_back(), judge.pop_back();
      }
      ASSERT_EQ(v, std::span<const int64_t>(judge));
    }
    std::vector<int64_t> more{5, 6, 7};
    v.append(more.begin(), more.end());
    judge.insert(judge.end(), more.begin(), more.end());
    EXPECT_EQ(v, std::span<const int64_t>(judge));
    EXPECT_TRUE(std::equal(v.rbegin(), v.rend(), judge.rbegin(), judge.rend()));
  }
}

TEST(SmallVector, PushesItsOwnElementWhileGrowing) {
  Small v{1, 2, 3, 4};
  v.push_back(v[0]);
  EXPECT_EQ(v, (Small{1, 2, 3, 4, 1}));
}

}  // namespace
}  // namespace facula
