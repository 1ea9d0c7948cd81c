// The matrix product kernels of our own: small products with any strides, few rows times a wide
// transposed matrix, integers, and dot products. All sum in an order that the shape alone fixes.
#include "facula/kernels/gemm.h"

#include <immintrin.h>

#include <cstring>

#include "facula/base/half.h"

namespace facula::kernels::FACULA_ISA {
namespace products {
namespace {

// Vec wraps a 32-byte vector; small products gain nothing from wider ones.
template <class T>
struct Vec;
template <>
struct Vec<float> {
  static constexpr int kLanes = 8;
  using Type = __m256;
  static Type load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Type v) { _mm256_storeu_ps(p, v); }
  static Type set(float v) { return _mm256_set1_ps(v); }
  static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
  static Type mul(Type a, Type b) { return _mm256_mul_ps(a, b); }
};
template <>
struct Vec<double> {
  static constexpr int kLanes = 4;
  using Type = __m256d;
  static Type load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, Type v) { _mm256_storeu_pd(p, v); }
  static Type set(double v) { return _mm256_set1_pd(v); }
  static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
  static Type mul(Type a, Type b) { return _mm256_mul_pd(a, b); }
};

constexpr int kPanelDepth = 256;

// Writes the transpose of an 8 x 8 block: row i of `out` is column i of `in`.
inline void transpose8(const float* in, int64_t in_row, float* out, int64_t out_row) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(in + i * in_row);
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(out + i * out_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(out + (i + 4) * out_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}

// Copies columns [j0, j0 + width) of b into a panel of `kNr` columns, zeros on the right.
template <class T, int kNr>
void pack(const Gemm& g, int64_t j0, int64_t width, T* panel) {
  const T* b = static_cast<const T*>(g.b) + j0 * g.b_col;
  if (g.b_col == 1 && width == kNr) {
    for (int64_t p = 0; p < g.k; ++p)
      std::memcpy(panel + p * kNr, b + p * g.b_row, kNr * sizeof(T));
    return;
  }
  if (width < kNr) std::memset(panel, 0, g.k * kNr * sizeof(T));
  int64_t j = 0;
  if constexpr (sizeof(T) == 4) {
    if (g.b_row == 1) {
      for (; j + 8 <= width; j += 8) {
        int64_t p = 0;
        for (; p + 8 <= g.k; p += 8) {
          transpose8(b + j * g.b_col + p, g.b_col, panel + p * kNr + j, kNr);
        }
        for (; p < g.k; ++p) {
          for (int64_t i = j; i < j + 8; ++i) panel[p * kNr + i] = b[i * g.b_col + p];
        }
      }
    }
  }
  for (; j < width; ++j) {
    const T* column = b + j * g.b_col;
    for (int64_t p = 0; p < g.k; ++p) panel[p * kNr + j] = column[p * g.b_row];
  }
}

// Stores one row of `width` sums: alpha * sums + bias + beta * c.
template <class T>
inline void finish_row(const Gemm& g, T* c, const T* sums, int64_t j0, int64_t width) {
  T alpha = static_cast<T>(g.alpha), beta = static_cast<T>(g.beta);
  const T* bias = static_cast<const T*>(g.bias);
  for (int64_t j = 0; j < width; ++j) {
    T v = alpha * sums[j];
    if (bias) v += bias[j0 + j];
    if (g.beta != 0) v += beta * c[j];
    c[j] = v;
  }
}

// kMr rows times one panel of kNv vectors.
template <class T, int kNv>
void small_panel(const Gemm& g, const T* panel, int64_t panel_row, int64_t j0, int64_t width) {
  using V = Vec<T>;
  constexpr int kMr = 4, kNr = kNv * V::kLanes;
  const T* a = static_cast<const T*>(g.a);
  T* c = static_cast<T*>(g.c) + j0;
  const T* bias = static_cast<const T*>(g.bias);
  bool plain = width == kNr && g.alpha == 1 && g.beta == 0;
  for (int64_t i0 = 0; i0 < g.m; i0 += kMr) {
    int rows = g.m - i0 < kMr ? static_cast<int>(g.m - i0) : kMr;
    const T* row[kMr];
    for (int i = 0; i < kMr; ++i) row[i] = a + (i0 + (i < rows ? i : rows - 1)) * g.a_row;
    typename V::Type acc[kMr][kNv];
    for (int i = 0; i < kMr; ++i) {
      for (int v = 0; v < kNv; ++v) acc[i][v] = V::set(0);
    }
    for (int64_t p = 0; p < g.k; ++p) {
      typename V::Type x[kNv];
      for (int v = 0; v < kNv; ++v) x[v] = V::load(panel + p * panel_row + v * V::kLanes);
      for (int i = 0; i < kMr; ++i) {
        typename V::Type s = V::set(row[i][p * g.a_col]);
        for (int v = 0; v < kNv; ++v) acc[i][v] = V::fma(s, x[v], acc[i][v]);
      }
    }
    for (int i = 0; i < rows; ++i) {
      T* out = c + (i0 + i) * g.c_row;
      if (plain) {
        for (int v = 0; v < kNv; ++v) {
          auto value = acc[i][v];
          if (bias) value = value + V::load(bias + j0 + v * V::kLanes);
          V::store(out + v * V::kLanes, value);
        }
      } else {
        alignas(32) T sums[kNr];
        for (int v = 0; v < kNv; ++v) V::store(sums + v * V::kLanes, acc[i][v]);
        finish_row(g, out, sums, j0, width);
      }
    }
  }
}

template <class T>
void small_typed(const Gemm& g) {
  constexpr int kLanes = Vec<T>::kLanes, kNr = 2 * kLanes;
  alignas(64) T panel[kPanelDepth * kNr];
  for (int64_t j0 = 0; j0 < g.n; j0 += kNr) {
    int64_t width = g.n - j0 < kNr ? g.n - j0 : kNr;
    if (g.b_col == 1 && width == kNr) {
      small_panel<T, 2>(g, static_cast<const T*>(g.b) + j0, g.b_row, j0, width);
    } else if (g.b_col == 1 && width == kLanes) {
      small_panel<T, 1>(g, static_cast<const T*>(g.b) + j0, g.b_row, j0, width);
    } else if (width <= kLanes) {
      pack<T, kLanes>(g, j0, width, panel);
      small_panel<T, 1>(g, panel, kLanes, j0, width);
    } else {
      pack<T, kNr>(g, j0, width, panel);
      small_panel<T, 2>(g, panel, kNr, j0, width);
    }
  }
}

void small(const Gemm& g) {
  if (g.dtype == kFloat32)
    small_typed<float>(g);
  else
    small_typed<double>(g);
}

// The widest float vector of the instruction set.
#ifdef __AVX512F__
using Wide = __m512;
constexpr int kWide = 16, kSkinnyRows = 4, kSkinnyCols = 4;
inline Wide wide_zero() { return _mm512_setzero_ps(); }
inline Wide wide_load(const float* p) { return _mm512_loadu_ps(p); }
inline Wide wide_fma(Wide a, Wide b, Wide c) { return _mm512_fmadd_ps(a, b, c); }
inline float wide_sum(Wide v) {
  alignas(64) float lanes[16];
  _mm512_store_ps(lanes, v);
  for (int step = 8; step; step /= 2) {
    for (int i = 0; i < step; ++i) lanes[i] += lanes[i + step];
  }
  return lanes[0];
}
#else
using Wide = __m256;
constexpr int kWide = 8, kSkinnyRows = 4, kSkinnyCols = 2;
inline Wide wide_zero() { return _mm256_setzero_ps(); }
inline Wide wide_load(const float* p) { return _mm256_loadu_ps(p); }
inline Wide wide_fma(Wide a, Wide b, Wide c) { return _mm256_fmadd_ps(a, b, c); }
inline float wide_sum(Wide v) {
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, v);
  for (int step = 4; step; step /= 2) {
    for (int i = 0; i < step; ++i) lanes[i] += lanes[i + step];
  }
  return lanes[0];
}
#endif

// kRows x kCols dot products of length k; tails of k are summed after the lanes.
template <int kRows, int kCols>
void skinny_block(const Gemm& g, int64_t i0, int64_t j0) {
  const float* a[kRows];
  const float* b[kCols];
  for (int i = 0; i < kRows; ++i) a[i] = static_cast<const float*>(g.a) + (i0 + i) * g.a_row;
  for (int j = 0; j < kCols; ++j) b[j] = static_cast<const float*>(g.b) + (j0 + j) * g.b_col;
  Wide acc[kRows][kCols];
  for (auto& row : acc) {
    for (auto& v : row) v = wide_zero();
  }
  int64_t p = 0;
  for (; p + kWide <= g.k; p += kWide) {
    Wide x[kRows];
    for (int i = 0; i < kRows; ++i) x[i] = wide_load(a[i] + p);
    for (int j = 0; j < kCols; ++j) {
      Wide y = wide_load(b[j] + p);
      for (int i = 0; i < kRows; ++i) acc[i][j] = wide_fma(x[i], y, acc[i][j]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    float sums[kCols];
    for (int j = 0; j < kCols; ++j) {
      sums[j] = wide_sum(acc[i][j]);
      for (int64_t q = p; q < g.k; ++q) sums[j] += a[i][q] * b[j][q];
    }
    finish_row(g, static_cast<float*>(g.c) + (i0 + i) * g.c_row + j0, sums, j0, kCols);
  }
}

void skinny(const Gemm& g, int64_t begin, int64_t end) {
  int64_t j = begin;
  for (; j + kSkinnyCols <= end; j += kSkinnyCols) {
    int64_t i = 0;
    for (; i + kSkinnyRows <= g.m; i += kSkinnyRows)
      skinny_block<kSkinnyRows, kSkinnyCols>(g, i, j);
    for (; i + 2 <= g.m; i += 2) skinny_block<2, kSkinnyCols>(g, i, j);
    for (; i < g.m; ++i) skinny_block<1, kSkinnyCols>(g, i, j);
  }
  for (; j < end; ++j) {
    for (int64_t i = 0; i < g.m; ++i) skinny_block<1, 1>(g, i, j);
  }
}

// U is the unsigned twin of T, in which sums wrap without undefined behaviour.
template <class T, class U>
void integer_typed(const Gemm& g, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 256;
  U sums[kBlock];
  U alpha = static_cast<U>(static_cast<int64_t>(g.alpha));
  U beta = static_cast<U>(static_cast<int64_t>(g.beta));
  for (int64_t i = begin; i < end; ++i) {
    const T* a = static_cast<const T*>(g.a) + i * g.a_row;
    T* c = static_cast<T*>(g.c) + i * g.c_row;
    for (int64_t j0 = 0; j0 < g.n; j0 += kBlock) {
      int64_t width = g.n - j0 < kBlock ? g.n - j0 : kBlock;
      std::memset(sums, 0, sizeof(sums));
      for (int64_t p = 0; p < g.k; ++p) {
        U x = static_cast<U>(a[p * g.a_col]);
        const T* b = static_cast<const T*>(g.b) + p * g.b_row + j0 * g.b_col;
        if (g.b_col == 1) {
          for (int64_t j = 0; j < width; ++j) sums[j] += x * static_cast<U>(b[j]);
        } else {
          for (int64_t j = 0; j < width; ++j) sums[j] += x * static_cast<U>(b[j * g.b_col]);
        }
      }
      const T* bias = static_cast<const T*>(g.bias);
      for (int64_t j = 0; j < width; ++j) {
        U v = alpha * sums[j];
        if (bias) v += static_cast<U>(bias[j0 + j]);
        if (g.beta != 0) v += beta * static_cast<U>(c[j0 + j]);
        c[j0 + j] = static_cast<T>(v);
      }
    }
  }
}

void integer(const Gemm& g, int64_t begin, int64_t end) {
  switch (g.dtype) {
    case kUInt8: return integer_typed<uint8_t, uint32_t>(g, begin, end);
    case kInt8: return integer_typed<int8_t, uint32_t>(g, begin, end);
    case kInt16: return integer_typed<int16_t, uint32_t>(g, begin, end);
    case kUInt16: return integer_typed<uint16_t, uint32_t>(g, begin, end);
    case kInt32: return integer_typed<int32_t, uint32_t>(g, begin, end);
    case kUInt32: return integer_typed<uint32_t, uint32_t>(g, begin, end);
    case kInt64: return integer_typed<int64_t, uint64_t>(g, begin, end);
    case kUInt64: return integer_typed<uint64_t, uint64_t>(g, begin, end);
    default: return;
  }
}

// A is the type of the sums. Sixteen lanes keep the order of summation fixed.
template <class T, class A>
A dot_real(const void* x_, int64_t x_stride, const void* y_, int64_t y_stride, int64_t n) {
  const T* x = static_cast<const T*>(x_);
  const T* y = static_cast<const T*>(y_);
  A lanes[16] = {};
  int64_t i = 0;
  if (x_stride == 1 && y_stride == 1) {
    for (; i + 16 <= n; i += 16) {
      for (int l = 0; l < 16; ++l) lanes[l] += static_cast<A>(x[i + l]) * static_cast<A>(y[i + l]);
    }
  } else {
    for (; i + 16 <= n; i += 16) {
      for (int l = 0; l < 16; ++l) {
        lanes[l] += static_cast<A>(x[(i + l) * x_stride]) * static_cast<A>(y[(i + l) * y_stride]);
      }
    }
  }
  for (int step = 8; step; step /= 2) {
    for (int l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  }
  A sum = lanes[0];
  for (; i < n; ++i) sum += static_cast<A>(x[i * x_stride]) * static_cast<A>(y[i * y_stride]);
  return sum;
}

template <class T>
void dot_complex(void* out, const void* x_, int64_t x_stride, const void* y_, int64_t y_stride,
                 int64_t n, bool conjugate) {
  const T* x = static_cast<const T*>(x_);
  const T* y = static_cast<const T*>(y_);
  T re[8] = {}, im[8] = {}, sign = conjugate ? T(-1) : T(1);
  for (int64_t i = 0; i < n; ++i) {
    T a = x[2 * i * x_stride], b = sign * x[2 * i * x_stride + 1];
    T c = y[2 * i * y_stride], d = y[2 * i * y_stride + 1];
    re[i % 8] += a * c - b * d;
    im[i % 8] += a * d + b * c;
  }
  for (int step = 4; step; step /= 2) {
    for (int l = 0; l < step; ++l) {
      re[l] += re[l + step];
      im[l] += im[l + step];
    }
  }
  static_cast<T*>(out)[0] = re[0];
  static_cast<T*>(out)[1] = im[0];
}

template <class T, class A>
void dot_typed(void* out, const void* x, int64_t xs, const void* y, int64_t ys, int64_t n) {
  *static_cast<T*>(out) = static_cast<T>(dot_real<T, A>(x, xs, y, ys, n));
}

void dot(DType dtype, void* out, const void* x, int64_t xs, const void* y, int64_t ys, int64_t n,
         bool conjugate) {
  switch (dtype) {
    case kFloat32: return dot_typed<float, float>(out, x, xs, y, ys, n);
    case kFloat64: return dot_typed<double, double>(out, x, xs, y, ys, n);
    case kFloat16: return dot_typed<Half, float>(out, x, xs, y, ys, n);
    case kBFloat16: return dot_typed<BFloat16, float>(out, x, xs, y, ys, n);
    case kComplex64: return dot_complex<float>(out, x, xs, y, ys, n, conjugate);
    case kComplex128: return dot_complex<double>(out, x, xs, y, ys, n, conjugate);
    case kBool:
    case kUInt8: return dot_typed<uint8_t, uint32_t>(out, x, xs, y, ys, n);
    case kInt8: return dot_typed<int8_t, uint32_t>(out, x, xs, y, ys, n);
    case kInt16: return dot_typed<int16_t, uint32_t>(out, x, xs, y, ys, n);
    case kUInt16: return dot_typed<uint16_t, uint32_t>(out, x, xs, y, ys, n);
    case kInt32: return dot_typed<int32_t, uint32_t>(out, x, xs, y, ys, n);
    case kUInt32: return dot_typed<uint32_t, uint32_t>(out, x, xs, y, ys, n);
    case kInt64: return dot_typed<int64_t, uint64_t>(out, x, xs, y, ys, n);
    case kUInt64: return dot_typed<uint64_t, uint64_t>(out, x, xs, y, ys, n);
  }
}

}  // namespace
}  // namespace products

extern const GemmKernels products_table;
const GemmKernels products_table = {products::small, products::skinny, products::integer,
                                    products::dot};

}  // namespace facula::kernels::FACULA_ISA
