// Pooling against its definition in both layouts, and the backward kernels as adjoints.
#include "facula/kernels/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace facula::kernels {
namespace {

PoolShape example(bool last) {
  PoolShape s;
  s.batch = 2, s.channels = 3, s.last = last;
  s.input[1] = 7, s.input[2] = 6;
  s.kernel[1] = 3, s.kernel[2] = 2, s.stride[1] = 2, s.stride[2] = 1, s.padding[1] = 1;
  s.output[1] = 4, s.output[2] = 5;
  return s;
}

int64_t place(const PoolShape& s, int64_t b, int64_t c, int64_t at, int64_t size) {
  return s.last ? (b * size + at) * s.channels + c : (b * s.channels + c) * size + at;
}

TEST(Pool, MaximaAndMeansOfWindows) {
  for (bool last : {false, true}) {
    PoolShape s = example(last);
    s.count_padding = false;
    int64_t nx = 6 * s.input_size(), ny = 6 * s.output_size();
    std::vector<float> x(nx), top(ny), mean(ny);
    std::vector<int64_t> where(ny);
    for (int64_t i = 0; i < nx; ++i) x[i] = static_cast<float>((i * 37) % 101);
    pools->max_pool(kFloat32, top.data(), where.data(), x.data(), s);
    pools->avg_pool(kFloat32, mean.data(), x.data(), s);
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t c = 0; c < 3; ++c) {
        for (int64_t o = 0; o < s.output_size(); ++o) {
          float best = -1, sum = 0;
          int count = 0;
          for (int64_t i = 0; i < 3; ++i) {
            for (int64_t j = 0; j < 2; ++j) {
              int64_t y = o / 5 * 2 - 1 + i, z = o % 5 + j;
              if (y < 0 || y >= 7 || z >= 6) continue;
              float v = x[place(s, b, c, y * 6 + z, 42)];
              best = std::max(best, v), sum += v, ++count;
            }
          }
          int64_t at = place(s, b, c, o, 20);
          ASSERT_EQ(top[at], best);
          ASSERT_EQ(x[place(s, b, c, where[at], 42)], best);
          ASSERT_NEAR(mean[at], sum / static_cast<float>(count), 1e-4);
        }
      }
    }
  }
}

TEST(Pool, BackwardIsTheAdjoint) {
  for (bool last : {false, true}) {
    for (bool adaptive : {false, true}) {
      PoolShape s = example(last);
      s.adaptive = adaptive;
      int64_t nx = 6 * s.input_size(), ny = 6 * s.output_size();
      std::vector<double> x(nx), y(ny), g(ny), dx(nx);
      for (int64_t i = 0; i < nx; ++i) x[i] = static_cast<double>(i * 7 % 11);
      for (int64_t i = 0; i < ny; ++i) g[i] = static_cast<double>(i * 5 % 13);
      pools->avg_pool(kFloat64, y.data(), x.data(), s);
      pools->avg_pool_backward(kFloat64, dx.data(), g.data(), s);
      double a = 0, b = 0;
      for (int64_t i = 0; i < ny; ++i) a += y[i] * g[i];
      for (int64_t i = 0; i < nx; ++i) b += x[i] * dx[i];
      ASSERT_NEAR(a, b, 1e-9 * std::abs(a));
      std::vector<int64_t> where(ny);
      pools->max_pool(kFloat64, y.data(), where.data(), x.data(), s);
      pools->max_pool_gather(kFloat64, y.data(), x.data(), where.data(), s);
      pools->max_pool_backward(kFloat64, dx.data(), g.data(), where.data(), s);
      a = b = 0;
      for (int64_t i = 0; i < ny; ++i) a += y[i] * g[i];
      for (int64_t i = 0; i < nx; ++i) b += x[i] * dx[i];
      ASSERT_NEAR(a, b, 1e-9 * std::abs(a));
    }
  }
}

TEST(Pool, UnpoolRefusesIndicesOutside) {
  PoolShape s = example(false);
  std::vector<float> x(6 * s.output_size()), y(6 * s.input_size());
  std::vector<int64_t> where(x.size(), 0);
  where[7] = 42;
  Fault fault;
  pools->max_unpool(kFloat32, y.data(), x.data(), where.data(), s, &fault);
  EXPECT_EQ(fault.value, 42);
}

}  // namespace
}  // namespace facula::kernels
