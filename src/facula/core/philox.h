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

// Writes numbers 64 * block to 64 * block + 63 of a stream.
FACULA_INLINE void philox_block(PhiloxKey key, uint64_t block, uint32_t* out) {
  constexpr int kLanes = 16;
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  uint32_t word[4][kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    word[0][lane] = static_cast<uint32_t>(block << 4) | lane;
    word[1][lane] = static_cast<uint32_t>(block >> 28);
    word[2][lane] = 0;
    word[3][lane] = 0;
  }
  for (int round = 0; round < 10; ++round) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint64_t product0 = kMultiplier0 * word[0][lane];
      const uint64_t product1 = kMultiplier1 * word[2][lane];
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

}  // namespace facula
