// The engine, the normal pairs and the state layout of generator.h.
#include "facula/core/generator.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "facula/base/error.h"

namespace facula {
namespace {

// The state as programs store it: field for field the layout of PyTorch's CPU generator.
struct StoredState {
  uint64_t seed;
  int32_t left;
  int32_t seeded;
  uint64_t position;
  uint64_t words[Mt19937::kWords];
  double normal_x;
  double normal_y;  // the kept normal number
  double normal_rho;
  int32_t normal_is_valid;
  // Eight bytes that the older form lacks; kept for states of PyTorch, unused.
  float float_normal;
  uint8_t float_normal_is_valid;
};
constexpr size_t kOldStateBytes = 5048;
static_assert(offsetof(StoredState, normal_is_valid) == 5040);

}  // namespace

void Mt19937::reseed(uint32_t seed) {
  words_[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
  }
  left_ = 1;
  position_ = 0;
}

void Mt19937::twist() {
  constexpr int kShift = 397;
  auto mix = [](uint32_t high, uint32_t low) {
    const uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (y >> 1) ^ ((low & 1u) * 0x9908b0dfu);
  };
  for (int i = 0; i < kWords - kShift; ++i) {
    words_[i] = words_[i + kShift] ^ mix(words_[i], words_[i + 1]);
  }
  for (int i = kWords - kShift; i < kWords - 1; ++i) {
    words_[i] = words_[i + kShift - kWords] ^ mix(words_[i], words_[i + 1]);
  }
  words_[kWords - 1] = words_[kShift - 1] ^ mix(words_[kWords - 1], words_[0]);
  left_ = kWords;
  position_ = 0;
}

void Mt19937::fill(uint32_t* out, size_t count) {
  while (count != 0) {
    if (left_ == 1) {
      twist();
      ++left_;  // none of the new words is taken yet
    }
    const size_t taken = std::min(count, static_cast<size_t>(left_ - 1));
    const uint32_t* words = words_ + position_;
    for (size_t i = 0; i < taken; ++i) out[i] = temper(words[i]);
    left_ -= static_cast<int>(taken);
    position_ += static_cast<uint32_t>(taken);
    out += taken;
    count -= taken;
  }
}

void Generator::manual_seed(uint64_t seed) {
  seed_ = seed;
  engine_.reseed(low_word(seed));
  next_normal_.reset();
}

uint64_t Generator::seed() {
  manual_seed(entropy_seed());
  return seed_;
}

double Generator::normal() {
  if (next_normal_) {
    const double value = *next_normal_;
    next_normal_.reset();
    return value;
  }
  // Box and Muller.
  const double angle = 2 * std::numbers::pi * uniform();
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  next_normal_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

void Generator::get_state(std::span<std::byte, kStateBytes> state) const {
  StoredState stored;
  static_assert(sizeof stored == kStateBytes);
  std::memset(&stored, 0, sizeof stored);
  stored.seed = seed_;
  stored.left = engine_.left_;
  stored.seeded = 1;
  stored.position = engine_.position_;
  std::copy(engine_.words_, engine_.words_ + Mt19937::kWords, stored.words);
  stored.normal_is_valid = next_normal_.has_value();
  stored.normal_y = next_normal_.value_or(0);
  std::memcpy(state.data(), &stored, sizeof stored);
}

void Generator::set_state(std::span<const std::byte> state) {
  if (state.size() != kStateBytes && state.size() != kOldStateBytes) {
    raise_error(ErrorKind::kRuntime, "set_state: RNG state is wrong size: expected ", kStateBytes,
                " or ", kOldStateBytes, " bytes, got ", state.size());
  }
  StoredState stored;
  std::memcpy(&stored, state.data(), kOldStateBytes);
  if (stored.seeded != 1 || stored.left < 1 || stored.left > Mt19937::kWords ||
      stored.position > Mt19937::kWords) {
    raise_error(ErrorKind::kRuntime, "set_state: expected the state of a CPU generator, got bytes ",
                "that are none (Invalid mt19937 state)");
  }
  // Position and words left say the same; a state whose two differ must not read beyond the words.
  if (stored.left != 1 && stored.position + static_cast<uint64_t>(stored.left) != 625) {
    raise_error(ErrorKind::kRuntime, "set_state: expected the state of a CPU generator, got ",
                stored.left, " words left at position ", stored.position,
                " (Invalid mt19937 state)");
  }
  seed_ = stored.seed;
  engine_.left_ = stored.left;
  engine_.position_ = static_cast<uint32_t>(stored.position);
  std::transform(stored.words, stored.words + Mt19937::kWords, engine_.words_, low_word);
  next_normal_.reset();
  if (stored.normal_is_valid != 0) next_normal_ = stored.normal_y;
}

Ref<Generator> Generator::clone() const {
  Ref<Generator> copy = make_ref<Generator>(seed_);
  copy->engine_ = engine_;
  copy->next_normal_ = next_normal_;
  return copy;
}

uint64_t entropy_seed() {
  uint64_t bits = 0;
  try {
    std::random_device device;
    bits = uint64_t{device()} << 32 | device();
  } catch (const std::exception&) {  // no source of entropy: the clock
    const auto now = std::chrono::high_resolution_clock::now().time_since_epoch();
    bits = static_cast<uint64_t>(now.count()) * 0x9E3779B97F4A7C15u;
  }
  return bits & ((uint64_t{1} << 53) - 1);  // a number that a float of Python holds exactly
}

Generator& default_generator() {
  // Never destroyed: it may serve until the process ends. A fork must not happen while another
  // thread holds the lock, or the child would wait for it forever.
  static Generator& instance = []() -> Generator& {
    auto* generator = new Generator(entropy_seed());
    pthread_atfork([] { default_generator().mutex().lock(); },
                   [] { default_generator().mutex().unlock(); },
                   [] { default_generator().mutex().unlock(); });
    return *generator;
  }();
  return instance;
}

}  // namespace facula
