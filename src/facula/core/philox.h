// Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC 2011): the n-th
// number of a stream is a function of the key and n, so that any part of a stream can be made by
// any thread. Where a key comes from is the business of core/generator.h.
#pragma once

#include <cstdint>

#include "facula/base/export.h"

namespace facula {

// Names one stream of random numbers.
struct PhiloxKey {
  uint32_t low;
  uint32_t high;
};

// Numbers are made in blocks of 64: sixteen counters side by side, four words each. Number i of a
// stream is word i % 64 / 16 of counter i / 64 * 16 + i % 16, so that vector code of any width
// writes whole vectors.
inline constexpr int64_t kPhiloxBlock = 64;

namespace philox {

inline constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
inline constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
inline constexpr int kRounds = 10;
inline constexpr int kLanes = 16;

FACULA_INLINE void portable_block(PhiloxKey key, uint64_t block, uint32_t* out) {
  uint32_t word[4][kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    word[0][lane] = static_cast<uint32_t>(block << 4) | lane;
    word[1][lane] = static_cast<uint32_t>(block >> 28);
    word[2][lane] = 0;
    word[3][lane] = 0;
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint64_t product0 = uint64_t{kMultiplier0} * word[0][lane];
      const uint64_t product1 = uint64_t{kMultiplier1} * word[2][lane];
      word[0][lane] = static_cast<uint32_t>(product1 >> 32) ^ word[1][lane] ^ key.low;
      word[2][lane] = static_cast<uint32_t>(product0 >> 32) ^ word[3][lane] ^ key.high;
      word[1][lane] = static_cast<uint32_t>(product1);
      word[3][lane] = static_cast<uint32_t>(product0);
    }
    key.low += kWeyl0;
    key.high += kWeyl1;
  }
  for (int w = 0; w < 4; ++w) {
    for (int lane = 0; lane < kLanes; ++lane) out[w * kLanes + lane] = word[w][lane];
  }
}

#ifdef __AVX2__
// The same with a word to each 64-bit lane: the multiplication reads the lower halves and nothing
// else, so products and their shifts need no tidying until the end. Vectors 0 and 2 hold the even
// counters of each eight, 1 and 3 the odd ones.
using Lanes = uint64_t __attribute__((vector_size(32)));
using Halves = int __attribute__((vector_size(32)));

FACULA_INLINE Lanes product(Lanes a, Lanes b) {
  return (Lanes)__builtin_ia32_pmuludq256((Halves)a, (Halves)b);
}

FACULA_INLINE void vector_block(PhiloxKey key, uint64_t block, uint32_t* out) {
  const Lanes multiplier0 = Lanes{} + kMultiplier0, multiplier1 = Lanes{} + kMultiplier1;
  Lanes word[4][4];
  for (uint64_t v = 0; v < 4; ++v) {
    const uint64_t first = (block << 4 & 0xffffffff) + v / 2 * 8 + v % 2;
    word[0][v] = Lanes{first, first + 2, first + 4, first + 6};
    word[1][v] = Lanes{} + (block >> 28);
    word[2][v] = word[3][v] = Lanes{};
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int v = 0; v < 4; ++v) {
      const Lanes product0 = product(multiplier0, word[0][v]);
      const Lanes product1 = product(multiplier1, word[2][v]);
      word[0][v] = product1 >> 32 ^ word[1][v] ^ key.low;
      word[2][v] = product0 >> 32 ^ word[3][v] ^ key.high;
      word[1][v] = product1;
      word[3][v] = product0;
    }
    key.low += kWeyl0;
    key.high += kWeyl1;
  }
  for (int w = 0; w < 4; ++w) {
    for (int half = 0; half < 2; ++half) {
      const Lanes merged = (word[w][2 * half] & 0xffffffff) | word[w][2 * half + 1] << 32;
      __builtin_memcpy(out + w * kLanes + half * 8, &merged, sizeof merged);
    }
  }
}
#endif

}  // namespace philox

// Writes numbers 64 * block to 64 * block + 63 of a stream.
FACULA_INLINE void philox_block(PhiloxKey key, uint64_t block, uint32_t* out) {
#ifdef __AVX2__
  philox::vector_block(key, block, out);
#else
  philox::portable_block(key, block, out);
#endif
}

}  // namespace facula
