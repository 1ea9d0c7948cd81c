// Orders, picks, runs, searches and scans against the standard library.
#include "facula/kernels/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "array.h"
#include "facula/kernels/scan.h"

namespace facula::kernels {
namespace {

// before is the order of sorts: NaN last, zeros equal.
bool before(float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

Array<float> numbers(std::vector<int64_t> sizes, int seed) {
  Array<float> a(std::move(sizes), kFloat32);
  std::mt19937 random(seed);
  a.each([&] {
    int k = static_cast<int>(random() % 40);
    return k == 0 ? NAN : k == 1 ? -0.0f : k == 2 ? INFINITY : static_cast<float>(k % 20) - 10;
  });
  return a;
}

TEST(Sort, StableInBothDirectionsAndAllLengths) {
  for (int64_t n : {1, 5, 16, 17, 100, 1023, 5000}) {
    for (bool descending : {false, true}) {
      Array<float> in = numbers({n, 3}, 7), values({n, 3}, kFloat32);
      Array<int64_t> at({n, 3}, kInt64);
      Fault fault;
      sort->sort(values.view(), at.view(), in.view(), 0, descending, &fault);
      for (int64_t c = 0; c < 3; ++c) {
        std::vector<int64_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          float x = in.data[a * 3 + c], y = in.data[b * 3 + c];
          return descending ? before(y, x) : before(x, y);
        });
        for (int64_t i = 0; i < n; ++i) {
          ASSERT_EQ(at.data[i * 3 + c], order[i]) << n;
          float got = values.data[i * 3 + c], want = in.data[order[i] * 3 + c];
          ASSERT_EQ(std::memcmp(&got, &want, 4), 0);
        }
      }
      int64_t k = std::min<int64_t>(n, 4);
      Array<int64_t> top({k, 3}, kInt64);
      sort->sort(no_view(), top.view(), in.view(), 0, descending, &fault);
      for (int64_t i = 0; i < k * 3; ++i) ASSERT_EQ(top.data[i], at.data[i]);
    }
  }
}

TEST(Sort, WideIntegers) {
  Array<uint64_t> in({3000}, kUInt64), out = in;
  std::mt19937_64 random(1);
  in.each([&] { return random(); });
  Fault fault;
  sort->sort(out.view(), no_view(), in.view(), 0, false, &fault);
  EXPECT_TRUE(std::is_sorted(out.data.begin(), out.data.end()));
}

TEST(Sort, Picks) {
  Array<float> in({7}, kFloat32), value({}, kFloat32);
  Array<int64_t> at({}, kInt64);
  in.data = {3, 1, 2, 1, 5, 3, 4};
  Fault fault;
  sort->pick(value.view(), at.view(), in.view(), 0, Pick::kMedian, 0, &fault);
  EXPECT_EQ(value.data[0], 3);
  sort->pick(value.view(), at.view(), in.view(), 0, Pick::kKth, 2, &fault);
  EXPECT_EQ(value.data[0], 2);
  EXPECT_EQ(at.data[0], 2);
  sort->pick(value.view(), at.view(), in.view(), 0, Pick::kMode, 0, &fault);
  EXPECT_EQ(value.data[0], 1);
  EXPECT_EQ(at.data[0], 3);
  in.data[6] = NAN;
  sort->pick(value.view(), at.view(), in.view(), 0, Pick::kMedian, 0, &fault);
  EXPECT_TRUE(std::isnan(value.data[0]));
  EXPECT_EQ(at.data[0], 6);
  sort->pick(value.view(), at.view(), in.view(), 0, Pick::kNanMedian, 0, &fault);
  EXPECT_EQ(value.data[0], 2);
}

TEST(Sort, RowsRunsAndSearches) {
  Array<int32_t> rows({6, 2}, kInt32);
  rows.data = {2, 1, 1, 9, 2, 1, 1, 3, 1, 9, 2, 0};
  Array<int64_t> order({6}, kInt64), first({6}, kInt64), inverse({6}, kInt64), counts({6}, kInt64);
  Fault fault;
  sort->order_rows(order.view(), rows.view(), &fault);
  EXPECT_EQ(order.data, (std::vector<int64_t>{3, 1, 4, 5, 0, 2}));
  EXPECT_EQ(sort->runs(rows.view(), order.view(), first.view(), inverse.view(), counts.view()), 4);
  EXPECT_EQ(inverse.data, (std::vector<int64_t>{3, 1, 3, 0, 1, 2}));
  EXPECT_EQ(counts.data[1], 2);
  Array<double> sequence({5}, kFloat64), values({3}, kFloat64);
  sequence.data = {1, 3, 3, 5, 7};
  values.data = {3, 0, NAN};
  Array<int64_t> out({3}, kInt64);
  sort->searchsorted(out.view(), sequence.view(), values.view(), no_view(), false);
  EXPECT_EQ(out.data, (std::vector<int64_t>{1, 0, 5}));
  sort->searchsorted(out.view(), sequence.view(), values.view(), no_view(), true);
  EXPECT_EQ(out.data[0], 3);
  Array<float> bins({4}, kFloat32);
  sort->histc(bins.view(), sequence.view(), 1, 7);
  EXPECT_EQ(bins.data, (std::vector<float>{1, 2, 1, 1}));
}

TEST(Scan, SumsAlongEveryDimension) {
  for (int turn = 0; turn < 3; ++turn) {
    for (int64_t dim = 0; dim < 3; ++dim) {
      Array<int32_t> in({5, 9, 600}, kInt32);
      std::mt19937 random(4);
      in.each([&] { return static_cast<int32_t>(random() % 100); });
      in.transpose(0, turn);
      Array<int64_t> out(in.sizes, kInt64);
      scan->cumsum(out.view(), in.view(), dim);
      int64_t step = 1;
      for (int d = 2; d > dim; --d) step *= in.sizes[d];
      for (int64_t i = 0; i < in.numel(); ++i) {
        int64_t previous = i / step % in.sizes[dim] ? out.data[i - step] : 0;
        ASSERT_EQ(out.data[i], previous + in.at(i));
      }
    }
  }
}

TEST(Scan, ExtremesKeepNanAndTheLastOfEquals) {
  Array<float> in({6}, kFloat32), values({6}, kFloat32);
  Array<int64_t> at({6}, kInt64);
  in.data = {1, 3, 3, 2, NAN, 5};
  scan->cummax(values.view(), at.view(), in.view(), 0);
  EXPECT_EQ(at.data, (std::vector<int64_t>{0, 1, 2, 2, 4, 4}));
  EXPECT_TRUE(std::isnan(values.data[5]));
  scan->cummin(values.view(), at.view(), in.view(), 0);
  EXPECT_EQ(values.data[3], 1);
  Array<float> x({3}, kFloat32, 0.0f);
  scan->logcumsumexp(values.view(), in.view(), 0);
  EXPECT_NEAR(values.data[1], std::log(std::exp(1.0) + std::exp(3.0)), 1e-6);
}

}  // namespace
}  // namespace facula::kernels
