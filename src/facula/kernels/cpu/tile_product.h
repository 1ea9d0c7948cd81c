// Products of matrices that lie in the cache: the left one as rows or columns, the right one packed
// into panels of kTileWidth columns, padded with zeros. Sums run over k in order, so a result does
// not depend on how tiles are cut from the rest.
#pragma once
#include <immintrin.h>

#include "facula/kernels/cpu/lanes.h"

namespace facula::kernels::FACULA_ISA {

#ifdef __AVX512F__
using TileFloat = __m512;
using TileDouble = __m512d;
inline constexpr int kTileRows = 12;
FACULA_INLINE TileFloat tile_set(float v) { return _mm512_set1_ps(v); }
FACULA_INLINE TileFloat tile_load(const float* p) { return _mm512_loadu_ps(p); }
FACULA_INLINE void tile_store(float* p, TileFloat v) { _mm512_storeu_ps(p, v); }
FACULA_INLINE TileFloat tile_fma(TileFloat a, TileFloat b, TileFloat c) {
  return _mm512_fmadd_ps(a, b, c);
}
FACULA_INLINE TileDouble tile_set(double v) { return _mm512_set1_pd(v); }
FACULA_INLINE TileDouble tile_load(const double* p) { return _mm512_loadu_pd(p); }
FACULA_INLINE void tile_store(double* p, TileDouble v) { _mm512_storeu_pd(p, v); }
FACULA_INLINE TileDouble tile_fma(TileDouble a, TileDouble b, TileDouble c) {
  return _mm512_fmadd_pd(a, b, c);
}
#else
using TileFloat = __m256;
using TileDouble = __m256d;
inline constexpr int kTileRows = 6;
FACULA_INLINE TileFloat tile_set(float v) { return _mm256_set1_ps(v); }
FACULA_INLINE TileFloat tile_load(const float* p) { return _mm256_loadu_ps(p); }
FACULA_INLINE void tile_store(float* p, TileFloat v) { _mm256_storeu_ps(p, v); }
FACULA_INLINE TileFloat tile_fma(TileFloat a, TileFloat b, TileFloat c) {
  return _mm256_fmadd_ps(a, b, c);
}
FACULA_INLINE TileDouble tile_set(double v) { return _mm256_set1_pd(v); }
FACULA_INLINE TileDouble tile_load(const double* p) { return _mm256_loadu_pd(p); }
FACULA_INLINE void tile_store(double* p, TileDouble v) { _mm256_storeu_pd(p, v); }
FACULA_INLINE TileDouble tile_fma(TileDouble a, TileDouble b, TileDouble c) {
  return _mm256_fmadd_pd(a, b, c);
}
#endif

// TileOf<C>::Type is a vector of C.
template <class C>
struct TileOf {
  using Type = TileFloat;
};
template <>
struct TileOf<double> {
  using Type = TileDouble;
};

// The columns of a panel: two vectors of floats. Panels of double are as wide.
inline constexpr int64_t kTileWidth = 2 * kVectorBytes / 4;

FACULA_INLINE int64_t tile_padded(int64_t n) {
  return (n + kTileWidth - 1) / kTileWidth * kTileWidth;
}

// c (+)= a times one panel, for kRows rows and kVecs vectors of columns. Element (i, p) of a is at
// a[i * ld + p], or a[p * ld + i] when kColumns.
template <int kRows, int kVecs, bool kColumns, class C>
FACULA_INLINE void tile_block(int64_t k, const C* a, int64_t ld, const C* panel, C* c, int64_t c_ld,
                              bool add) {
  using V = typename TileOf<C>::Type;
  constexpr int kLane = kVectorBytes / static_cast<int>(sizeof(C));
  V acc[kRows][kVecs];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      acc[i][v] = add ? tile_load(c + i * c_ld + v * kLane) : tile_set(C(0));
    }
  }
  for (int64_t p = 0; p < k; ++p) {
    V x[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) x[v] = tile_load(panel + p * kTileWidth + v * kLane);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      V s = tile_set(kColumns ? a[p * ld + i] : a[i * ld + p]);
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) acc[i][v] = tile_fma(s, x[v], acc[i][v]);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) tile_store(c + i * c_ld + v * kLane, acc[i][v]);
  }
}

// Rows in groups of kRows, then of less.
template <int kRows, bool kColumns, class C>
FACULA_INLINE int64_t tile_rows(int64_t i, int64_t m, int64_t k, const C* a, int64_t ld,
                                const C* panel, C* c, int64_t c_ld, bool add) {
  constexpr int kVecs = 2, kLane = kVectorBytes / static_cast<int>(sizeof(C));
  for (; i + kRows <= m; i += kRows) {
    const C* from = a + (kColumns ? i : i * ld);
    for (int64_t j = 0; j < kTileWidth; j += kVecs * kLane) {
      tile_block<kRows, kVecs, kColumns>(k, from, ld, panel + j, c + i * c_ld + j, c_ld, add);
    }
  }
  return i;
}

// tile_product computes c (+)= a b of m x k and k x n, where n is a multiple of kTileWidth and the
// panels of b lie panel_step elements apart. All columns of c are written, those of padding too.
template <bool kColumns, class C>
static void tile_product(int64_t m, int64_t n, int64_t k, const C* a, int64_t ld, const C* b,
                         int64_t panel_step, C* c, int64_t c_ld, bool add) {
  for (int64_t j = 0; j < n; j += kTileWidth, b += panel_step) {
    int64_t i = tile_rows<kTileRows, kColumns>(0, m, k, a, ld, b, c + j, c_ld, add);
    i = tile_rows<4, kColumns>(i, m, k, a, ld, b, c + j, c_ld, add);
    i = tile_rows<2, kColumns>(i, m, k, a, ld, b, c + j, c_ld, add);
    tile_rows<1, kColumns>(i, m, k, a, ld, b, c + j, c_ld, add);
  }
}

// tile_pack makes panels of a matrix: element (r, c) goes to panel c / kTileWidth, whose rows are
// neighbours; panels lie rows * kTileWidth elements apart.
template <class E, class C>
static void tile_pack(const E* from, int64_t row_step, int64_t rows, int64_t cols, C scale, C* to) {
  for (int64_t c = 0; c < cols; c += kTileWidth) {
    int64_t width = min_of(kTileWidth, cols - c);
    for (int64_t r = 0; r < rows; ++r, to += kTileWidth) {
      const E* row = from + r * row_step + c;
      if (width == kTileWidth) {
        for (int64_t j = 0; j < kTileWidth; ++j) to[j] = static_cast<C>(row[j]) * scale;
      } else {
        for (int64_t j = 0; j < width; ++j) to[j] = static_cast<C>(row[j]) * scale;
        for (int64_t j = width; j < kTileWidth; ++j) to[j] = 0;
      }
    }
  }
}

// Writes the transpose of an 8 x 8 block of floats: row i of `to` is column i of `from`.
static FACULA_INLINE void tile_turn(const float (&from)[8][8], float* to, int64_t step) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(from[i]);
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
    _mm256_storeu_ps(to + i * step, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * step, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}
static FACULA_INLINE void tile_turn(const double (&from)[8][8], double* to, int64_t step) {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) to[i * step + j] = from[j][i];
  }
}

// tile_pack_turned makes panels of the transpose: element (r, c) goes to panel r / kTileWidth, row
// c; panels lie cols * kTileWidth elements apart.
template <class E, class C>
static void tile_pack_turned(const E* from, int64_t row_step, int64_t rows, int64_t cols, C* to) {
  for (int64_t r0 = 0; r0 < rows; r0 += kTileWidth, to += cols * kTileWidth) {
    for (int64_t r = r0; r < r0 + kTileWidth; r += 8) {
      int64_t height = max_of<int64_t>(0, min_of<int64_t>(8, rows - r));
      for (int64_t c = 0; c < cols; c += 8) {
        int64_t width = min_of<int64_t>(8, cols - c);
        C block[8][8] = {};
        for (int64_t i = 0; i < height; ++i) {
          const E* row = from + (r + i) * row_step + c;
          if (width == 8) {
            for (int j = 0; j < 8; ++j) block[i][j] = static_cast<C>(row[j]);
          } else {
            for (int64_t j = 0; j < width; ++j) block[i][j] = static_cast<C>(row[j]);
          }
        }
        C* out = to + c * kTileWidth + (r - r0);
        if (width == 8) {
          tile_turn(block, out, kTileWidth);
        } else {
          for (int64_t j = 0; j < width; ++j) {
            for (int64_t i = 0; i < 8; ++i) out[j * kTileWidth + i] = block[i][j];
          }
        }
      }
    }
  }
}

}  // namespace facula::kernels::FACULA_ISA
