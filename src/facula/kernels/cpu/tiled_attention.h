// What the forward and the backward pass of attention in tiles share: the sequence of a task, the
// scores of a tile, and scratch memory cut into pieces. Sums are of Compute<E>.
#pragma once
#include "facula/kernels/attention.h"
#include "facula/kernels/cpu/math_exp.h"
#include "facula/kernels/cpu/tile_product.h"
#include "facula/kernels/scratch.h"

namespace facula::kernels::FACULA_ISA {

// The keys of a tile.
inline constexpr int64_t kTileKeys = 128;

// TileScratch is memory for one task, handed out in pieces aligned to 64 bytes.
class TileScratch {
 public:
  FACULA_INLINE TileScratch(int64_t bytes, int64_t pieces)
      : bytes_(bytes + pieces * 64), memory_(static_cast<char*>(scratch_memory(bytes_))) {}
  FACULA_INLINE ~TileScratch() { free_scratch(memory_, bytes_); }
  TileScratch(const TileScratch&) = delete;
  TileScratch& operator=(const TileScratch&) = delete;
  FACULA_INLINE bool ok() const { return memory_ != nullptr; }
  FACULA_INLINE int64_t bytes() const { return bytes_; }
  template <class C>
  FACULA_INLINE C* take(int64_t count) {
    char* p = memory_ + used_;
    used_ += (count * static_cast<int64_t>(sizeof(C)) + 63) / 64 * 64;
    return reinterpret_cast<C*>(p);
  }

 private:
  int64_t bytes_, used_ = 0;
  char* memory_;
};

template <class E>
FACULA_INLINE E* tile_row(const TileHeads& t, int64_t batch, int64_t head, int64_t row) {
  return static_cast<E*>(t.data) + batch * t.batch + head * t.head + row * t.row;
}

// The number of keys, from the first of a tile on, that query q sees of the tile's n.
FACULA_INLINE int64_t tile_seen(const ScoreShape& s, int64_t q, int64_t first_key, int64_t n) {
  if (!s.causal) return n;
  return max_of<int64_t>(0, min_of(n, q + 1 - first_key));
}

// Adds the mask's entries from `at` on to a row of n scores; what may not be attended becomes -inf.
template <class E, class C>
FACULA_INLINE void tile_mask(C* row, int64_t n, const ScoreShape& s, int64_t at) {
  C lowest = -static_cast<C>(kInf);
  int64_t step = s.mask_strides[3];
  if (s.mask_is_bool) {
    const Truth* mask = static_cast<const Truth*>(s.mask) + at;
    if (step == 1) {
      for (int64_t i = 0; i < n; ++i) row[i] = mask[i] ? row[i] : lowest;
    } else {
      for (int64_t i = 0; i < n; ++i) row[i] = mask[i * step] ? row[i] : lowest;
    }
  } else {
    const E* mask = static_cast<const E*>(s.mask) + at;
    if (step == 1) {
      for (int64_t i = 0; i < n; ++i) row[i] += static_cast<C>(mask[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) row[i] += static_cast<C>(mask[i * step]);
    }
  }
}

FACULA_INLINE int64_t tile_mask_at(const ScoreShape& s, int64_t batch, int64_t head, int64_t q,
                                   int64_t key) {
  return batch * s.mask_strides[0] + head * s.mask_strides[1] + q * s.mask_strides[2] +
         key * s.mask_strides[3];
}

// Copies rows into dense ones of the type of the sums, multiplied.
template <class E, class C>
static void tile_copy(const E* from, int64_t step, int64_t rows, int64_t cols, C scale, C* to) {
  for (int64_t r = 0; r < rows; ++r, from += step, to += cols) {
    for (int64_t c = 0; c < cols; ++c) to[c] = static_cast<C>(from[c]) * scale;
  }
}

// Stores rows of padded sums as elements, multiplied.
template <class E, class C>
static void tile_put(const C* from, int64_t from_step, int64_t rows, int64_t cols, C scale, E* to,
                     int64_t step) {
  for (int64_t r = 0; r < rows; ++r, from += from_step, to += step) {
    for (int64_t c = 0; c < cols; ++c) to[c] = static_cast<E>(from[c] * scale);
  }
}

void tiled(DType dtype, const TiledAttention& a, Fault* fault);
void tiled_backward(DType dtype, const TiledAttention& a, const TiledGradients& g, Fault* fault);

}  // namespace facula::kernels::FACULA_ISA
