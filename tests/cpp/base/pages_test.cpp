// Tests of mapped pages and of the sizes of large blocks.
#include "facula/base/pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace facula {
namespace {

TEST(Pages, AreAlignedZeroedAndWritable) {
  for (size_t alignment : {kPageSize, size_t{1} << 20, kHugePageSize}) {
    for (size_t bytes : {kPageSize, 3 * kPageSize, kHugePageSize + kPageSize}) {
      auto* pages = static_cast<unsigned char*>(map_pages(bytes, alignment));
      ASSERT_NE(pages, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(pages) % alignment, 0u);
      EXPECT_EQ(pages[0], 0);
      EXPECT_EQ(pages[bytes - 1], 0);
      std::memset(pages, 7, bytes);
      unmap_pages(pages, bytes);
    }
  }
}

TEST(Pages, ImpossibleSizesGiveNull) {
  EXPECT_EQ(map_pages(kLargestBlock, kPageSize), nullptr);
  EXPECT_EQ(map_pages(SIZE_MAX / kPageSize * kPageSize, kPageSize), nullptr);
}

TEST(Pages, StayUsableWhenDiscarded) {
  auto* pages = static_cast<unsigned char*>(map_pages(kPageSize, kPageSize));
  ASSERT_NE(pages, nullptr);
  discard_pages(pages, kPageSize);
  pages[5] = 9;
  EXPECT_EQ(pages[5], 9);
  unmap_pages(pages, kPageSize);
}

TEST(Pages, LoseTheirContentsWhenEmptied) {
  auto* pages = static_cast<unsigned char*>(map_pages(4 * kPageSize, kPageSize));
  ASSERT_NE(pages, nullptr);
  std::memset(pages, 7, 4 * kPageSize);
  empty_pages(pages + 1, 3 * kPageSize);  // reaches two pages in full
  EXPECT_EQ(pages[kPageSize - 1], 7);
  EXPECT_EQ(pages[kPageSize], 0);
  EXPECT_EQ(pages[3 * kPageSize - 1], 0);
  EXPECT_EQ(pages[3 * kPageSize], 7);
  empty_pages(pages, kPageSize - 1);
  EXPECT_EQ(pages[0], 7);
  unmap_pages(pages, 4 * kPageSize);
}

TEST(LargeBlockSize, HoldsTheRequestWithAtMostAnEighthAndAPageToSpare) {
  for (size_t bytes = 1; bytes <= kLargestBlock; bytes += 1 + bytes / 3) {
    const size_t size = large_block_size(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_EQ(size % kPageSize, 0u);
    EXPECT_LE(size, bytes + bytes / 8 + 2 * kPageSize);
  }
  EXPECT_GE(large_block_size(kLargestBlock), kLargestBlock);
}

TEST(LargeBlockSize, APowerOfTwoBehindAHeaderNeedsOnePageMore) {
  for (size_t bytes = size_t{128} << 10; bytes < size_t{1} << 40; bytes *= 2) {
    EXPECT_EQ(large_block_size(bytes + 64), bytes + kPageSize);
    EXPECT_EQ(large_block_size(bytes), bytes + kPageSize);
  }
}

}  // namespace
}  // namespace facula
