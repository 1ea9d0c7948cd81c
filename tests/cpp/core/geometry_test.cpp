// Layouts of tensors: memory formats, density, overlap.
#include <gtest/gtest.h>

#include "facula/base/error.h"
#include "facula/core/tensor.h"

namespace facula {
namespace {

TEST(Layout, NewEmptyAsKeepsTheOrder) {
  auto strides = [](const Tensor& t) { return new_empty_as(t, kFloat64).strides().to_sizes(); };
  EXPECT_EQ(strides(new_empty({2, 3}, kFloat32)), Sizes({3, 1}));
  EXPECT_EQ(strides(new_strided({2, 3}, {1, 2}, kFloat32)), Sizes({1, 2}));
  EXPECT_EQ(strides(new_strided({2, 3}, {0, 1}, kFloat32)), Sizes({3, 1}));
  EXPECT_EQ(strides(new_strided({3, 4}, {1, 0}, kFloat32)), Sizes({4, 1}));
  // permute(2, 0, 1)[::2] of a [4, 6, 8] tensor
  EXPECT_EQ(strides(new_strided({4, 4, 6}, {2, 48, 8}, kFloat32)), Sizes({1, 24, 4}));
  EXPECT_EQ(strides(new_strided({2, 0}, {0, 1}, kFloat32)), Sizes({1, 1}));
}

TEST(Layout, Formats) {
  EXPECT_EQ(strides_of_format({2, 3, 4, 5}, MemoryFormat::kChannelsLast), Sizes({60, 1, 15, 3}));
  Tensor t = new_formatted({2, 3, 4, 5}, kFloat32, {}, MemoryFormat::kChannelsLast);
  EXPECT_TRUE(is_contiguous_as(t, MemoryFormat::kChannelsLast));
  EXPECT_FALSE(is_contiguous_as(t, MemoryFormat::kContiguous));
  EXPECT_TRUE(is_dense(t));
  EXPECT_THROW(strides_of_format({2, 3}, MemoryFormat::kChannelsLast), Error);
  EXPECT_EQ(strides_of_format({2, 3, 4, 5, 6}, MemoryFormat::kChannelsLast3d),
            Sizes({360, 1, 90, 18, 3}));
}

TEST(Layout, DenseAndOverlappingItself) {
  EXPECT_TRUE(is_dense(new_strided({2, 3}, {1, 2}, kFloat32)));
  EXPECT_FALSE(is_dense(new_strided({2, 3}, {6, 2}, kFloat32)));
  EXPECT_FALSE(is_dense(new_strided({2, 3}, {0, 1}, kFloat32)));
  EXPECT_TRUE(is_dense(new_strided({1, 3}, {0, 1}, kFloat32)));
  EXPECT_TRUE(may_overlap_itself(new_strided({2, 3}, {0, 1}, kFloat32)));
  EXPECT_FALSE(may_overlap_itself(new_strided({1, 3}, {0, 1}, kFloat32)));
  Tensor windows = new_strided({3, 2}, {1, 1}, kFloat32);
  EXPECT_TRUE(may_overlap_itself(windows));
  EXPECT_FALSE(overlaps_itself(windows));
  EXPECT_TRUE(overlaps_itself(new_strided({2, 3}, {0, 1}, kFloat32)));
  EXPECT_FALSE(may_overlap_itself(new_strided({2, 3}, {1, 5}, kFloat32)));
  EXPECT_FALSE(may_overlap_itself(alias_storage(new_empty({3}, kFloat32), {3}, {-1}, 2)));
}

TEST(Layout, MemoryOverlap) {
  Tensor t = new_empty({8}, kFloat32);
  auto part = [&](IntList sizes, IntList strides, int64_t offset) {
    return alias_storage(t, sizes, strides, offset);
  };
  EXPECT_EQ(memory_overlap(t, t), Overlap::kFull);
  EXPECT_EQ(memory_overlap(t, alias(t)), Overlap::kFull);
  EXPECT_EQ(memory_overlap(part({4}, {1}, 0), part({4}, {1}, 4)), Overlap::kNone);
  EXPECT_EQ(memory_overlap(part({5}, {1}, 0), part({4}, {1}, 4)), Overlap::kPartial);
  EXPECT_EQ(memory_overlap(part({2, 4}, {4, 1}, 0), part({2, 4}, {1, 2}, 0)), Overlap::kPartial);
  EXPECT_EQ(memory_overlap(part({4}, {2}, 0), part({4}, {2}, 1)), Overlap::kUnknown);
  EXPECT_EQ(memory_overlap(part({2}, {2}, 0), part({2}, {2}, 4)), Overlap::kNone);
  EXPECT_EQ(memory_overlap(part({0}, {1}, 0), t), Overlap::kNone);
  EXPECT_EQ(memory_overlap(t, new_empty({8}, kFloat32)), Overlap::kNone);
}

}  // namespace
}  // namespace facula
