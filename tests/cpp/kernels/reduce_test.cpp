// Reductions against naive loops in long double, over layouts, sets of dims and types.
#include "facula/kernels/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "array.h"
#include "facula/base/half.h"
#include "facula/base/parallel.h"

namespace facula::kernels {
namespace {

// folded calls f(output number, elements) for each output in row-major order.
template <class T>
void folded(Array<T>& in, uint64_t mask, std::function<void(int64_t, std::vector<T>&)> f) {
  int n = static_cast<int>(in.sizes.size());
  int64_t outputs = 1;
  for (int d = 0; d < n; ++d) outputs *= mask >> d & 1 ? 1 : in.sizes[d];
  std::vector<std::vector<T>> groups(outputs);
  for (int64_t i = 0; i < in.numel(); ++i) {
    int64_t at = i, o = 0, scale = 1;
    for (int d = n - 1; d >= 0; --d) {
      int64_t k = at % in.sizes[d];
      at /= in.sizes[d];
      if (mask >> d & 1) continue;
      o += k * scale;
      scale *= in.sizes[d];
    }
    groups[o].push_back(in.at(i));
  }
  for (int64_t o = 0; o < outputs; ++o) f(o, groups[o]);
}

std::vector<int64_t> kept_sizes(const std::vector<int64_t>& sizes, uint64_t mask) {
  std::vector<int64_t> r;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!(mask >> d & 1)) r.push_back(sizes[d]);
  }
  return r;
}

struct Shape {
  std::vector<int64_t> sizes;
  int a, b;  // transposed dimensions
};
const Shape kShapes[] = {{{7}, 0, 0},          {{3000}, 0, 0},    {{5, 9}, 0, 1},
                         {{70, 600}, 0, 0},    {{600, 70}, 0, 1}, {{40, 3, 50}, 0, 2},
                         {{2, 3, 4, 5}, 1, 3}, {{1500, 2}, 0, 1}, {{2, 140000}, 0, 0},
                         {{50000, 9}, 0, 0},   {{3, 1, 5}, 0, 0}};

template <class F>
void for_layouts(F f) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const Shape& s : kShapes) {
    Array<float> in(s.sizes, kFloat32);
    in.each([&] { return normal(random); });
    in.transpose(s.a, s.b);
    for (uint64_t mask = 0; mask < (uint64_t{1} << s.sizes.size()); ++mask) f(in, mask);
  }
}

TEST(Reduce, SumMeanAndMoments) {
  for_layouts([](Array<float>& in, uint64_t mask) {
    Array<float> sum(kept_sizes(in.sizes, mask), kFloat32), mean = sum, var = sum, dev = sum;
    reduce->sum(sum.view(), in.view(), mask);
    reduce->mean(mean.view(), in.view(), mask);
    reduce->moments(var.view(), no_view(), in.view(), mask, 1, false);
    folded<float>(in, mask, [&](int64_t o, std::vector<float>& e) {
      double s = 0, m = 0, q = 0;
      for (float x : e) s += x, m += std::fabs(x);
      for (float x : e) q += (x - s / e.size()) * (x - s / e.size());
      ASSERT_NEAR(sum.data[o], s, 1e-6 * m) << "mask " << mask;
      ASSERT_NEAR(mean.data[o], s / e.size(), 1e-6 * m / e.size());
      if (e.size() > 1)
        ASSERT_NEAR(var.data[o], q / (e.size() - 1), 1e-5 * q / (e.size() - 1));
      else
        ASSERT_TRUE(std::isnan(var.data[o]));
    });
  });
}

TEST(Reduce, ExtremesAndPositions) {
  for_layouts([](Array<float>& in, uint64_t mask) {
    Array<float> top(kept_sizes(in.sizes, mask), kFloat32), low = top;
    reduce->amax(top.view(), in.view(), mask);
    reduce->amin(low.view(), in.view(), mask);
    folded<float>(in, mask, [&](int64_t o, std::vector<float>& e) {
      ASSERT_EQ(top.data[o], *std::max_element(e.begin(), e.end()));
      ASSERT_EQ(low.data[o], *std::min_element(e.begin(), e.end()));
    });
    if (__builtin_popcountll(mask) != 1) return;
    int dim = __builtin_ctzll(mask);
    Array<int64_t> at(kept_sizes(in.sizes, mask), kInt64);
    reduce->argmin(low.view(), at.view(), in.view(), dim);
    folded<float>(in, mask, [&](int64_t o, std::vector<float>& e) {
      auto it = std::min_element(e.begin(), e.end());
      ASSERT_EQ(at.data[o], it - e.begin());
      ASSERT_EQ(low.data[o], *it);
    });
  });
}

TEST(Reduce, NormsProductsCounts) {
  for_layouts([](Array<float>& in, uint64_t mask) {
    Array<float> r(kept_sizes(in.sizes, mask), kFloat32);
    Array<int64_t> count(kept_sizes(in.sizes, mask), kInt64);
    for (double p : {0.0, 1.0, 2.0, 3.0, double(INFINITY), -double(INFINITY)}) {
      reduce->norm(r.view(), in.view(), mask, p);
      folded<float>(in, mask, [&](int64_t o, std::vector<float>& e) {
        double s = 0, top = 0, low = INFINITY;
        for (float x : e) {
          double a = std::fabs(x);
          s += p == 0 ? a != 0 : std::pow(a, p);
          top = std::max(top, a), low = std::min(low, a);
        }
        double want = p == 0 ? s : p == INFINITY ? top : p == -INFINITY ? low : std::pow(s, 1 / p);
        ASSERT_NEAR(r.data[o], want, 1e-5 * want) << p;
      });
    }
    reduce->prod(r.view(), in.view(), mask);
    reduce->count_nonzero(count.view(), in.view(), mask);
    folded<float>(in, mask, [&](int64_t o, std::vector<float>& e) {
      long double p = 1;
      for (float x : e) p *= x;
      ASSERT_NEAR(r.data[o], static_cast<float>(p), 1e-5 * std::fabs(static_cast<double>(p)));
      ASSERT_EQ(count.data[o], static_cast<int64_t>(e.size()));
    });
    reduce->logsumexp(r.view(), in.view(), mask);
    folded<float>(in, mask, [&](int64_t o, std::vector<float>& e) {
      double s = 0;
      for (float x : e) s += std::exp(static_cast<double>(x));
      ASSERT_NEAR(r.data[o], std::log(s), 2e-6 * (1 + std::fabs(std::log(s))));
    });
  });
}

TEST(Reduce, IntegersHalvesAndComplex) {
  Array<int8_t> i8({3, 700}, kInt8, 100);
  Array<int64_t> sum({3}, kInt64);
  reduce->sum(sum.view(), i8.view(), 2);
  EXPECT_EQ(sum.data, (std::vector<int64_t>{70000, 70000, 70000}));
  Array<Half> h({5000}, kFloat16, Half(0.5f)), hs({}, kFloat16);
  reduce->sum(hs.view(), h.view(), 1);
  EXPECT_EQ(static_cast<float>(hs.data[0]), 2500.0f);
  Array<float> c({6, 2}, kComplex64, 1.5f), cs({2}, kComplex64);
  View in = c.view(), out = cs.view();
  int64_t sizes[] = {6}, one[] = {1};
  in.sizes = sizes;
  in.strides = one;
  in.ndim = 1;
  in.numel = 6;
  out.ndim = 0;
  out.numel = 1;
  reduce->sum(out, in, 1);
  EXPECT_EQ(cs.data, (std::vector<float>{9, 9}));
  Array<uint64_t> u({4}, kUInt64);
  u.data = {1, UINT64_MAX, 7, 0};
  Array<uint64_t> top({}, kUInt64);
  reduce->amax(top.view(), u.view(), 1);
  EXPECT_EQ(top.data[0], UINT64_MAX);
  reduce->amin(top.view(), u.view(), 1);
  EXPECT_EQ(top.data[0], 0u);
}

TEST(Reduce, NanAndZeros) {
  Array<float> x({5}, kFloat32), r({}, kFloat32);
  Array<int64_t> at({}, kInt64);
  x.data = {1, NAN, 3, NAN, -2};
  reduce->amax(r.view(), x.view(), 1);
  EXPECT_TRUE(std::isnan(r.data[0]));
  reduce->amin(r.view(), x.view(), 1);
  EXPECT_TRUE(std::isnan(r.data[0]));
  reduce->argmin(r.view(), at.view(), x.view(), 0);
  EXPECT_EQ(at.data[0], 1);
  reduce->nansum(r.view(), x.view(), 1);
  EXPECT_EQ(r.data[0], 2.0f);
  x.data = {-0.0f, 0.0f, -0.0f, -0.0f, -0.0f};
  reduce->amax(r.view(), x.view(), 1);
  EXPECT_FALSE(std::signbit(r.data[0]));
  reduce->argmax(r.view(), at.view(), x.view(), 0);
  EXPECT_EQ(at.data[0], 0);
  Array<float> inf({2}, kFloat32, -INFINITY);
  reduce->logsumexp(r.view(), inf.view(), 1);
  EXPECT_EQ(r.data[0], -INFINITY);
}

TEST(Reduce, NothingToFoldGivesTheIdentity) {
  Array<float> x({3, 0}, kFloat32), r({3}, kFloat32, 9);
  reduce->sum(r.view(), x.view(), 2);
  EXPECT_EQ(r.data[1], 0.0f);
  reduce->prod(r.view(), x.view(), 2);
  EXPECT_EQ(r.data[2], 1.0f);
  reduce->mean(r.view(), x.view(), 2);
  EXPECT_TRUE(std::isnan(r.data[0]));
  reduce->logsumexp(r.view(), x.view(), 2);
  EXPECT_EQ(r.data[0], -INFINITY);
}

TEST(Reduce, ThreadsDoNotChangeTheBits) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  Array<float> x({1000003}, kFloat32), a({}, kFloat32), b({}, kFloat32);
  x.each([&] { return normal(random); });
  int before = num_threads();
  set_num_threads(1);
  reduce->sum(a.view(), x.view(), 1);
  set_num_threads(4);
  reduce->sum(b.view(), x.view(), 1);
  set_num_threads(before);
  EXPECT_EQ(a.data[0], b.data[0]);
}

}  // namespace
}  // namespace facula::kernels
