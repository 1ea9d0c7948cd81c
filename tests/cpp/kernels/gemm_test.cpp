// Matrix products against a naive loop: every path by size, strides, batches and element types, and
// independence of the number of threads.
#include "facula/kernels/gemm.h"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "facula/base/parallel.h"

namespace facula::kernels {
namespace {

template <class T>
struct Code;
template <>
struct Code<float> {
  static constexpr DType value = kFloat32;
};
template <>
struct Code<double> {
  static constexpr DType value = kFloat64;
};
template <>
struct Code<std::complex<float>> {
  static constexpr DType value = kComplex64;
};
template <>
struct Code<int64_t> {
  static constexpr DType value = kInt64;
};
template <>
struct Code<int8_t> {
  static constexpr DType value = kInt8;
};

template <class T>
std::vector<T> numbers(int64_t n, int seed) {
  std::vector<T> v(n);
  for (int64_t i = 0; i < n; ++i) v[i] = static_cast<T>((i * 7 + seed) % 13 - 6);
  return v;
}

struct Size {
  int64_t m, n, k;
};

// One product with a and b row-major or transposed, compared with the sum of its definition.
template <class T>
void check(Size s, bool ta, bool tb, double alpha, double beta, bool with_bias) {
  auto a = numbers<T>(s.m * s.k, 1), b = numbers<T>(s.k * s.n, 2), c = numbers<T>(s.m * s.n, 3);
  auto bias = numbers<T>(s.n, 4), before = c;
  Gemm g;
  g.dtype = Code<T>::value;
  g.m = s.m, g.n = s.n, g.k = s.k;
  g.a = a.data(), g.a_row = ta ? 1 : s.k, g.a_col = ta ? s.m : 1;
  g.b = b.data(), g.b_row = tb ? 1 : s.n, g.b_col = tb ? s.k : 1;
  g.c = c.data(), g.c_row = s.n;
  g.alpha = alpha, g.beta = beta;
  if (with_bias) g.bias = bias.data();
  gemm(g);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      T sum{};
      for (int64_t p = 0; p < s.k; ++p) {
        sum = static_cast<T>(sum + a[i * g.a_row + p * g.a_col] * b[p * g.b_row + j * g.b_col]);
      }
      T want = static_cast<T>(static_cast<T>(alpha) * sum);
      if (with_bias) want = static_cast<T>(want + bias[j]);
      if (beta != 0) want = static_cast<T>(want + static_cast<T>(beta) * before[i * s.n + j]);
      // The numbers are small integers, so every order of summation is exact.
      ASSERT_EQ(c[i * s.n + j], want) << s.m << ' ' << s.n << ' ' << s.k << " at " << i << ',' << j;
    }
  }
}

template <class T>
void check_all(Size s) {
  for (int t = 0; t < 4; ++t) {
    check<T>(s, t & 1, t & 2, 1, 0, false);
    check<T>(s, t & 1, t & 2, 2, 1, false);
    check<T>(s, t & 1, t & 2, 1, 0, true);
    check<T>(s, t & 1, t & 2, 2, 3, true);
  }
}

TEST(Gemm, MatchesTheDefinition) {
  // small, OpenBLAS, oneDNN, skinny, vectors, and empty sums
  for (Size s : {Size{1, 1, 1}, Size{4, 4, 4}, Size{3, 17, 5}, Size{8, 16, 32}, Size{33, 40, 30},
                 Size{70, 64, 65}, Size{5, 300, 130}, Size{130, 1, 90}, Size{1, 500, 90},
                 Size{200, 1, 400}, Size{3, 4, 0}}) {
    check_all<float>(s);
    check_all<double>(s);
    check_all<std::complex<float>>(s);
    check_all<int64_t>(s);
    check_all<int8_t>(s);
  }
}

TEST(Gemm, LargeDoubleProductsAreSplitAlike) {
  check<double>({300, 200, 150}, false, true, 1, 0, false);
  check<double>({40, 700, 150}, true, false, 1, 1, false);
}

TEST(Gemm, BatchesBroadcast) {
  const int64_t batch = 6, m = 5, n = 7, k = 3;
  auto a = numbers<float>(batch * m * k, 1), b = numbers<float>(k * n, 2);
  std::vector<float> c(batch * m * n);
  Gemm g;
  g.m = m, g.n = n, g.k = k;
  g.a = a.data(), g.a_row = k, g.b = b.data(), g.b_row = n, g.c = c.data(), g.c_row = n;
  GemmBatch all;
  all.count[0] = 2, all.count[1] = 3;
  all.a[0] = 3 * m * k, all.a[1] = m * k, all.c[0] = 3 * m * n, all.c[1] = m * n;
  gemm_batch(g, all);
  for (int64_t t = 0; t < batch; ++t) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p) sum += a[(t * m + i) * k + p] * b[p * n + j];
        ASSERT_EQ(c[(t * m + i) * n + j], sum);
      }
    }
  }
}

// Bits do not depend on the number of threads, for values whose sums round.
TEST(Gemm, ThreadsDoNotChangeBits) {
  const int64_t m = 150, n = 170, k = 210;
  std::vector<float> a(m * k), b(k * n), c1(m * n), c2(m * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = 1.0f / static_cast<float>(i % 97 + 1);
  for (size_t i = 0; i < b.size(); ++i) b[i] = 1.0f / static_cast<float>(i % 89 + 2);
  Gemm g;
  g.m = m, g.n = n, g.k = k;
  g.a = a.data(), g.a_row = k, g.b = b.data(), g.b_row = n, g.c_row = n;
  int threads = num_threads();
  g.c = c1.data();
  set_num_threads(1);
  gemm(g);
  g.c = c2.data();
  set_num_threads(4);
  gemm(g);
  set_num_threads(threads);
  EXPECT_EQ(c1, c2);
}

TEST(Dot, SumsAnyStride) {
  auto x = numbers<double>(100, 1), y = numbers<double>(300, 2);
  double got, want = 0;
  dot(kFloat64, &got, x.data(), 1, y.data(), 3, 100, false);
  for (int i = 0; i < 100; ++i) want += x[i] * y[3 * i];
  EXPECT_EQ(got, want);
  std::vector<std::complex<double>> p = {{1, 2}, {3, -1}}, q = {{0, 1}, {2, 2}};
  std::complex<double> r;
  dot(kComplex128, &r, p.data(), 1, q.data(), 1, 2, true);
  EXPECT_EQ(r, std::conj(p[0]) * q[0] + std::conj(p[1]) * q[1]);
}

}  // namespace
}  // namespace facula::kernels
