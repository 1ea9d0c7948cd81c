// Generator: the seeded source of random numbers, an mt19937 with PyTorch's seeding, order and
// state layout. What distributions make of the numbers is in core/random.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "facula/base/export.h"
#include "facula/base/intrusive.h"
#include "facula/core/philox.h"

namespace facula {

// The Mersenne Twister mt19937 of Matsumoto and Nishimura.
class Mt19937 {
 public:
  static constexpr int kWords = 624;

  explicit Mt19937(uint32_t seed) { reseed(seed); }
  FACULA_API void reseed(uint32_t seed);

  // Returns the next number.
  uint32_t next() {
    if (--left_ == 0) twist();
    return temper(words_[position_++]);
  }
  // Writes the next `count` numbers; faster than so many calls of next.
  FACULA_API void fill(uint32_t* out, size_t count);

 private:
  friend class Generator;
  FACULA_API void twist();
  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  uint32_t words_[kWords];
  int left_;           // the words that are left, plus one
  uint32_t position_;  // of the next word
};

// A source of random numbers for the CPU. Calls on one generator must not overlap: whoever draws
// holds mutex() for the whole of an operation, so that an operation gets consecutive numbers.
class FACULA_API Generator final : public Counted {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;
  static constexpr size_t kStateBytes = 5056;

  explicit Generator(uint64_t seed = kDefaultSeed) : seed_(seed), engine_(low_word(seed)) {}

  std::mutex& mutex() { return mutex_; }

  // Restarts the stream. The engine sees the low 32 bits of the seed.
  void manual_seed(uint64_t seed);
  // Restarts the stream from a seed that nobody can foresee, and returns it.
  uint64_t seed();
  uint64_t initial_seed() const { return seed_; }

  uint32_t random() { return engine_.next(); }
  uint64_t random64() {
    const uint64_t high = engine_.next();
    return high << 32 | engine_.next();
  }
  void fill(uint32_t* out, size_t count) { engine_.fill(out, count); }

  // Returns a double in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(random64() & kMask53) * 0x1p-53; }
  // Returns a number of the standard normal distribution. They are made in pairs; the second one
  // is kept for the next call.
  double normal();

  // Returns the key of a fresh Philox stream for one operation that needs many numbers in parallel.
  // It takes one number from the engine.
  PhiloxKey philox_key() { return {random(), low_word(seed_) ^ low_word(seed_ >> 32)}; }

  // Writes the state as PyTorch lays it out, kStateBytes bytes.
  void get_state(std::span<std::byte, kStateBytes> state) const;
  // Restores a state of kStateBytes bytes, or of the older form without the last eight. Raises
  // RuntimeError for other sizes and for bytes that are no state, and then changes nothing.
  void set_state(std::span<const std::byte> state);

  // Returns a new generator in the same state.
  Ref<Generator> clone() const;

 private:
  static constexpr uint64_t kMask53 = (uint64_t{1} << 53) - 1;
  static uint32_t low_word(uint64_t seed) { return static_cast<uint32_t>(seed); }

  std::mutex mutex_;
  uint64_t seed_;
  Mt19937 engine_;
  std::optional<double> next_normal_;
};

// The generator of the process that serves calls without one; it starts with an unforeseeable seed.
FACULA_API Generator& default_generator();

// Returns a seed from the system's source of entropy, below 2^53.
FACULA_API uint64_t entropy_seed();

}  // namespace facula
