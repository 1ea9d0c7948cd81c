// Picking and writing at positions, against naive loops, over layouts; refused positions.
#include "facula/kernels/index.h"

#include <gtest/gtest.h>

#include "array.h"
#include "facula/kernels/scatter.h"

namespace facula::kernels {
namespace {

Array<int32_t> counted(std::vector<int64_t> sizes) {
  Array<int32_t> a(std::move(sizes), kInt32);
  int32_t next = 0;
  a.each([&] { return next++; });
  return a;
}

// coordinates of element i of a shape, row-major.
std::vector<int64_t> split(int64_t i, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> c(sizes.size());
  for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
    c[d] = i % sizes[d];
    i /= sizes[d];
  }
  return c;
}
template <class T>
T& element(Array<T>& a, const std::vector<int64_t>& c) {
  int64_t o = a.offset;
  for (size_t d = 0; d < c.size(); ++d) o += c[d] * a.strides[d];
  return a.data[o];
}

Array<int64_t> positions(std::vector<int64_t> sizes, int64_t bound, int seed) {
  Array<int64_t> a(std::move(sizes), kInt64);
  std::mt19937 random(seed);
  a.each([&] { return static_cast<int64_t>(random() % bound); });
  return a;
}

TEST(Index, SelectAlongEveryDimension) {
  for (int turn = 0; turn < 3; ++turn) {
    for (int64_t dim = 0; dim < 3; ++dim) {
      Array<int32_t> in = counted({6, 50, 7});
      in.transpose(0, turn);
      Array<int64_t> index = positions({9}, in.sizes[dim], 1);
      std::vector<int64_t> sizes = in.sizes;
      sizes[dim] = 9;
      Array<int32_t> out(sizes, kInt32);
      Fault fault;
      kernels::index->index_select(out.view(), in.view(), dim, index.view(), &fault);
      ASSERT_FALSE(fault);
      for (int64_t i = 0; i < out.numel(); ++i) {
        auto c = split(i, sizes);
        c[dim] = index.data[c[dim]];
        ASSERT_EQ(out.at(i), element(in, c));
      }
    }
  }
}

TEST(Index, GatherAndScatterAreInverse) {
  for (int64_t dim = 0; dim < 2; ++dim) {
    Array<int32_t> in = counted({40, 30});
    Array<int64_t> at = positions({40, 30}, in.sizes[dim], 2);
    Array<int32_t> out({40, 30}, kInt32), sum({40, 30}, kInt32), want = sum;
    Fault fault;
    kernels::index->gather(out.view(), in.view(), dim, at.view(), &fault);
    scatter->scatter(sum.view(), dim, at.view(), in.view(), Combine::kAdd, &fault);
    ASSERT_FALSE(fault);
    for (int64_t i = 0; i < in.numel(); ++i) {
      auto c = split(i, in.sizes);
      c[dim] = at.data[i];
      ASSERT_EQ(out.data[i], element(in, c));
      element(want, c) += in.data[i];
    }
    EXPECT_EQ(sum.data, want.data);
  }
}

TEST(Index, LastWriteWinsAndExtremesCombine) {
  Array<float> self({4}, kFloat32, 1), src({6}, kFloat32);
  src.data = {5, -2, 7, 0.5f, 3, 9};
  Array<int64_t> at({6}, kInt64);
  at.data = {1, 1, 2, 1, 0, 2};
  Fault fault;
  scatter->scatter(self.view(), 0, at.view(), src.view(), Combine::kAssign, &fault);
  EXPECT_EQ(self.data, (std::vector<float>{3, 0.5f, 9, 1}));
  scatter->scatter(self.view(), 0, at.view(), src.view(), Combine::kMax, &fault);
  EXPECT_EQ(self.data, (std::vector<float>{3, 5, 9, 1}));
  scatter->scatter(self.view(), 0, at.view(), src.view(), Combine::kProd, &fault);
  EXPECT_EQ(self.data, (std::vector<float>{9, -25, 567, 1}));
  scatter->scatter_value(self.view(), 0, at.view(), Scalar(2), Combine::kAdd, &fault);
  EXPECT_EQ(self.data, (std::vector<float>{11, -19, 571, 1}));
}

TEST(Index, BadPositionsAreReportedBeforeAnyWrite) {
  Array<float> self({4}, kFloat32, 1), src({3}, kFloat32, 2);
  Array<int64_t> at({3}, kInt64);
  at.data = {0, 4, -1};
  Fault fault;
  scatter->scatter(self.view(), 0, at.view(), src.view(), Combine::kAssign, &fault);
  EXPECT_EQ(fault.kind.load(), Fault::kIndexOutOfRange);
  EXPECT_EQ(fault.position, 1);
  EXPECT_EQ(fault.value, 4);
  EXPECT_EQ(fault.bound, 4);
  EXPECT_EQ(self.data, (std::vector<float>{1, 1, 1, 1}));
}

TEST(Index, AdvancedIndexBroadcastsAndWrites) {
  Array<int32_t> in = counted({5, 6, 7});
  Array<int64_t> rows({3, 1}, kInt64), columns({1, 2}, kInt64);
  rows.data = {4, -5, 2};
  columns.data = {1, -1};
  rows.sizes = {3, 2};
  rows.strides = {1, 0};
  columns.sizes = {3, 2};
  columns.strides = {0, 1};
  View both[2] = {rows.view(), columns.view()};
  Array<int32_t> out({3, 2, 7}, kInt32);
  Fault fault;
  kernels::index->index(out.view(), in.view(), both, 2, &fault);
  ASSERT_FALSE(fault);
  int64_t r[] = {4, 0, 2}, c[] = {1, 5};
  for (int64_t i = 0; i < out.numel(); ++i) {
    auto k = split(i, out.sizes);
    ASSERT_EQ(out.data[i], element(in, {r[k[0]], c[k[1]], k[2]}));
  }
  Array<int32_t> target({5, 6, 7}, kInt32), ones({3, 2, 7}, kInt32, 1);
  scatter->index_put(target.view(), both, 2, ones.view(), true, &fault);
  scatter->index_put(target.view(), both, 2, ones.view(), true, &fault);
  int64_t total = 0;
  for (int32_t v : target.data) total += v;
  EXPECT_EQ(total, 84);
  EXPECT_EQ(element(target, {4, 5, 3}), 2);
}

TEST(Index, SlicesAddScaledAndFill) {
  Array<double> self({4, 3}, kFloat64), src({2, 3}, kFloat64, 1);
  Array<int64_t> at({2}, kInt64);
  at.data = {3, 3};
  Fault fault;
  scatter->index_combine(self.view(), 0, at.view(), src.view(), Scalar(2.5), Combine::kAdd, &fault);
  EXPECT_EQ(self.data[9], 5);
  EXPECT_EQ(self.data[0], 0);
  at.data = {-1, 0};
  scatter->index_fill(self.view(), 1, at.view(), Scalar(7), &fault);
  EXPECT_EQ(self.data, (std::vector<double>{7, 0, 7, 7, 0, 7, 7, 0, 7, 7, 5, 7}));
}

TEST(Index, MasksAndTriangles) {
  Array<int32_t> in = counted({4, 5});
  in.transpose(0, 1);
  Array<uint8_t> mask({5, 4}, kBool);
  int64_t chosen = 0;
  for (int64_t i = 0; i < 20; ++i) chosen += mask.data[i] = i % 3 == 0;
  Array<int32_t> out({chosen}, kInt32);
  kernels::index->masked_select(out.view(), in.view(), mask.view());
  Array<int64_t> where({chosen, 2}, kInt64);
  kernels::index->nonzero(where.view(), mask.view());
  for (int64_t i = 0; i < chosen; ++i) {
    EXPECT_EQ(out.data[i], in.at(3 * i));
    EXPECT_EQ(where.data[2 * i], 3 * i / 4);
    EXPECT_EQ(where.data[2 * i + 1], 3 * i % 4);
  }
  Array<int32_t> low({5, 4}, kInt32), high = low;
  for (int64_t k = -6; k < 6; ++k) {
    kernels::index->tril(low.view(), in.view(), k);
    kernels::index->triu(high.view(), in.view(), k);
    for (int64_t i = 0; i < 20; ++i) {
      ASSERT_EQ(low.data[i], i % 4 - i / 4 <= k ? in.at(i) : 0);
      ASSERT_EQ(high.data[i], i % 4 - i / 4 >= k ? in.at(i) : 0);
    }
  }
  Fault fault;
  Array<int32_t> few({3}, kInt32);
  scatter->masked_scatter(low.view(), mask.view(), few.view(), &fault);
  EXPECT_EQ(fault.kind.load(), Fault::kBad);
}

TEST(Index, EmbeddingGradientSkipsPadding) {
  Array<float> weight({5, 40}, kFloat32), grad({4, 40}, kFloat32, 1);
  Array<int64_t> at({4}, kInt64), counts({5}, kInt64);
  at.data = {2, 0, 2, 4};
  scatter->embedding_backward(weight.view(), grad.view(), at.view(), 0, no_view());
  EXPECT_EQ(weight.data[2 * 40 + 7], 2);
  EXPECT_EQ(weight.data[0], 0);
  EXPECT_EQ(weight.data[4 * 40 + 39], 1);
  scatter->embedding_backward(weight.view(), grad.view(), at.view(), -1, counts.view());
  EXPECT_EQ(weight.data[2 * 40 + 7], 3);
}

}  // namespace
}  // namespace facula::kernels
