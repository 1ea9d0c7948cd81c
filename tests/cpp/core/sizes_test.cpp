// Arithmetic on shapes: dimensions, broadcasting, inferred sizes, and their errors.
#include "facula/core/sizes.h"

#include <gtest/gtest.h>

#include <limits>

#include "facula/base/error.h"

namespace facula {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

template <class F>
ErrorKind kind_of(F call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::kAssertion;
}

TEST(Sizes, DimensionsWrapOnce) {
  EXPECT_EQ(wrap_dim(-1, 3, "op"), 2);
  EXPECT_EQ(wrap_dim(2, 3, "op"), 2);
  EXPECT_EQ(wrap_dim(0, 0, "op"), 0);
  EXPECT_EQ(wrap_dim(-1, 0, "op"), 0);
  for (int64_t bad : {int64_t{3}, int64_t{-4}, kHuge, -kHuge - 1}) {
    EXPECT_EQ(kind_of([&] { wrap_dim(bad, 3, "op"); }), ErrorKind::kIndex);
  }
}

TEST(Sizes, MasksOfDimensions) {
  EXPECT_EQ(dim_mask(IntList({0, -1}), 3, "op"), 0b101u);
  EXPECT_EQ(dim_mask(std::nullopt, 3, "op"), 0b111u);
  EXPECT_EQ(dim_mask(IntList(), 3, "op"), 0b111u);
  EXPECT_EQ(dim_mask(IntList(), 3, "op", false), 0u);
  EXPECT_EQ(dim_mask(std::nullopt, 64, "op"), ~uint64_t{0});
  EXPECT_EQ(dim_mask(IntList({0}), 0, "op"), 0u);
  EXPECT_EQ(kind_of([] { dim_mask(IntList({1, -2}), 3, "op"); }), ErrorKind::kRuntime);
  EXPECT_EQ(kind_of([] { dim_mask(IntList({3}), 3, "op"); }), ErrorKind::kIndex);
}

TEST(Sizes, CountsElements) {
  EXPECT_EQ(count_elements({}, "op"), 1);
  EXPECT_EQ(count_elements({2, 3}, "op"), 6);
  EXPECT_EQ(count_elements({kHuge, 0, kHuge}, "op"), 0);
  EXPECT_EQ(kind_of([] { count_elements({kHuge, 2}, "op"); }), ErrorKind::kRuntime);
  EXPECT_EQ(kind_of([] { count_elements({2, -1}, "op"); }), ErrorKind::kRuntime);
}

TEST(Sizes, RowMajorStrides) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), Sizes({12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), Sizes({4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Sizes());
}

TEST(Sizes, Broadcasting) {
  EXPECT_EQ(broadcast_sizes({2, 1, 4}, {3, 1}, "op"), Sizes({2, 3, 4}));
  EXPECT_EQ(broadcast_sizes({}, {3}, "op"), Sizes({3}));
  EXPECT_EQ(broadcast_sizes({0}, {1}, "op"), Sizes({0}));
  EXPECT_EQ(kind_of([] { broadcast_sizes({2}, {0}, "op"); }), ErrorKind::kRuntime);
  try {
    broadcast_sizes({3}, {2, 4}, "add");
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "add: The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
              "dimension 1; got shapes [3] and [2, 4]");
  }
}

TEST(Sizes, OneSizeMayBeInferred) {
  EXPECT_EQ(infer_sizes({2, -1}, 6, "op"), Sizes({2, 3}));
  EXPECT_EQ(infer_sizes({-1, 2}, 0, "op"), Sizes({0, 2}));
  EXPECT_EQ(infer_sizes({}, 1, "op"), Sizes());
  for (const Sizes& bad : {Sizes({4, -1}), Sizes({-1, -1}), Sizes({-2, 3}), Sizes({0, -1}),
                           Sizes({kHuge, kHuge}), Sizes({7})}) {
    EXPECT_EQ(kind_of([&] { infer_sizes(bad, 6, "op"); }), ErrorKind::kRuntime);
  }
}

TEST(Sizes, ListsAsText) {
  EXPECT_EQ(list_text({}), "[]");
  EXPECT_EQ(list_text({2, -3}), "[2, -3]");
  EXPECT_TRUE(IntList({1, 2}) == IntList(Sizes({1, 2})));
  EXPECT_FALSE(IntList({1, 2}) == IntList({1}));
}

}  // namespace
}  // namespace facula
