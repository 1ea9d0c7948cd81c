// Tests of the generator: the engine against the standard library's, seeding, state and clones, and
// Philox against the vectors published with it.
#include "facula/core/generator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "facula/base/error.h"

namespace facula {
namespace {

using State = std::array<std::byte, Generator::kStateBytes>;

State state_of(const Generator& generator) {
  State state;
  generator.get_state(state);
  return state;
}

TEST(Mt19937, IsTheStandardEngine) {
  for (uint32_t seed : {0u, 1u, 5489u, 0xffffffffu}) {
    Mt19937 engine(seed);
    std::mt19937 expected(seed);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(engine.next(), expected());
  }
}

TEST(Mt19937, FillGivesTheSameNumbersAsNext) {
  Mt19937 engine(7), one_by_one(7);
  std::vector<uint32_t> words;
  for (size_t count : {0u, 1u, 3u, 620u, 0u, 624u, 625u, 1u, 5000u}) {
    words.assign(count, 0);
    engine.fill(words.data(), count);
    for (uint32_t word : words) ASSERT_EQ(word, one_by_one.next());
    ASSERT_EQ(engine.next(), one_by_one.next());
  }
}

TEST(Generator, StartsWithTheDefaultSeed) {
  Generator generator;
  EXPECT_EQ(generator.initial_seed(), 67280421310721u);
}

TEST(Generator, SeedingRestartsTheStreamAndForgetsTheKeptNormal) {
  Generator generator(3);
  const uint32_t first = generator.random();
  const double normal = Generator(3).normal();
  generator.normal();
  generator.manual_seed(3);
  EXPECT_EQ(generator.normal(), normal);
  generator.manual_seed(3);
  EXPECT_EQ(generator.random(), first);
  EXPECT_EQ(generator.initial_seed(), 3u);
}

TEST(Generator, TheEngineSeesTheLowWordOfTheSeed) {
  Generator small(5), large((uint64_t{1} << 33) + 5);
  EXPECT_EQ(small.random(), large.random());
  EXPECT_EQ(large.initial_seed(), (uint64_t{1} << 33) + 5);
}

TEST(Generator, UnforeseeableSeedsDiffer) {
  Generator generator;
  const uint64_t first = generator.seed(), second = generator.seed();
  EXPECT_NE(first, second);
  EXPECT_EQ(generator.initial_seed(), second);
  EXPECT_LT(second, uint64_t{1} << 53);
}

TEST(Generator, NormalNumbersComeInPairs) {
  Generator generator(1);
  generator.normal();
  const State after_one = state_of(generator);
  generator.normal();
  EXPECT_EQ(state_of(generator)[8], after_one[8]);  // no word was taken
  Generator four(1);
  for (int i = 0; i < 4; ++i) four.random();
  generator.normal();
  four.random64(), four.random64();
  EXPECT_EQ(generator.random(), four.random());
}

TEST(Generator, StateHasPyTorchsLayout) {
  Generator generator(11);
  for (int i = 0; i < 3; ++i) generator.random();
  generator.normal();
  const State state = state_of(generator);
  uint64_t seed, position, word;
  int32_t left, seeded, valid;
  double kept;
  std::memcpy(&seed, &state[0], 8);
  std::memcpy(&left, &state[8], 4);
  std::memcpy(&seeded, &state[12], 4);
  std::memcpy(&position, &state[16], 8);
  std::memcpy(&word, &state[24], 8);
  std::memcpy(&kept, &state[5024], 8);
  std::memcpy(&valid, &state[5040], 4);
  EXPECT_EQ(seed, 11u);
  EXPECT_EQ(left, 618);
  EXPECT_EQ(seeded, 1);
  EXPECT_EQ(position, 7u);
  EXPECT_LT(word, uint64_t{1} << 32);
  EXPECT_EQ(valid, 1);
  EXPECT_EQ(generator.normal(), kept);
}

TEST(Generator, StateRoundTripsAtEveryPosition) {
  Generator generator(2);
  for (int i = 0; i < 1300; ++i) {
    if (i % 100 == 0) generator.normal();
    Generator other(99);
    other.set_state(state_of(generator));
    ASSERT_EQ(other.initial_seed(), 2u);
    ASSERT_EQ(state_of(other), state_of(generator));
    ASSERT_EQ(other.random(), generator.random());
  }
  Generator old_form(1);
  const State state = state_of(generator);
  old_form.set_state(std::span(state).first(5048));
  EXPECT_EQ(old_form.random64(), generator.random64());
}

TEST(Generator, BytesThatAreNoStateAreRefusedAndChangeNothing) {
  Generator generator(2);
  const State good = state_of(generator);
  std::vector<State> bad(5, good);
  bad[0][12] = std::byte{0};     // not seeded
  bad[1][8] = std::byte{0};      // no words left, which cannot be
  bad[2][9] = std::byte{0xff};   // too many left
  bad[3][17] = std::byte{0xff};  // a position beyond the words
  bad[4][8] = std::byte{9};      // nine left at position 0
  for (const State& state : bad) EXPECT_THROW(generator.set_state(state), Error);
  EXPECT_THROW(generator.set_state(std::span(good).first(5055)), Error);
  EXPECT_THROW(generator.set_state({}), Error);
  EXPECT_EQ(state_of(generator), good);
}

TEST(Generator, ClonesGoTheirOwnWay) {
  Generator generator(4);
  generator.normal();
  Ref<Generator> clone = generator.clone();
  EXPECT_EQ(state_of(*clone), state_of(generator));
  EXPECT_EQ(clone->normal(), generator.normal());
  clone->random();
  EXPECT_NE(state_of(*clone), state_of(generator));
}

TEST(Generator, PhiloxKeysTakeOneNumberAndFollowTheState) {
  Generator generator(4), other(4);
  const PhiloxKey first = generator.philox_key();
  other.random();
  EXPECT_EQ(state_of(generator), state_of(other));
  const PhiloxKey second = generator.philox_key();
  EXPECT_NE(first.low, second.low);
  const PhiloxKey again = other.philox_key();
  EXPECT_EQ(second.low, again.low);
  EXPECT_EQ(second.high, again.high);
}

TEST(Philox, KnownAnswers) {
  // The vectors of Random123 (kat_vectors, philox4x32 10) with counters that a block can have.
  uint32_t words[kPhiloxBlock];
  philox_block({0, 0}, 0, words);
  EXPECT_EQ(words[0], 0x6627e8d5u);
  EXPECT_EQ(words[16], 0xe169c58du);
  EXPECT_EQ(words[32], 0xbc57ac4cu);
  EXPECT_EQ(words[48], 0x9b00dbd8u);
}

TEST(Philox, VectorsGiveWhatThePortableFormGives) {
  for (uint64_t block : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 27, (uint64_t{1} << 28) - 1,
                         uint64_t{1} << 28, uint64_t{0x123456789abcd}}) {
    uint32_t words[kPhiloxBlock], portable[kPhiloxBlock];
    philox_block({0xffffffffu, 0x9abcdef0u}, block, words);
    philox::portable_block({0xffffffffu, 0x9abcdef0u}, block, portable);
    for (int i = 0; i < kPhiloxBlock; ++i) ASSERT_EQ(words[i], portable[i]) << block << ' ' << i;
  }
}

TEST(Philox, BlocksAndKeysDiffer) {
  uint32_t a[kPhiloxBlock], b[kPhiloxBlock], c[kPhiloxBlock], d[kPhiloxBlock];
  philox_block({1, 2}, 0, a);
  philox_block({1, 2}, 1, b);
  philox_block({1, 3}, 0, c);
  philox_block({1, 2}, uint64_t{1} << 30, d);  // the counter needs its second word
  int equal = 0;
  for (int i = 0; i < kPhiloxBlock; ++i) {
    equal += a[i] == b[i];
    equal += a[i] == c[i];
    equal += a[i] == d[i];
  }
  EXPECT_EQ(equal, 0);
}

TEST(DefaultGenerator, IsOneAndWorksAfterAForkWhileAThreadDraws) {
  Generator& generator = default_generator();
  EXPECT_EQ(&generator, &default_generator());
  std::thread other([&] {
    for (int i = 0; i < 2000; ++i) {
      std::lock_guard lock(generator.mutex());
      generator.random();
    }
  });
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::lock_guard lock(generator.mutex());
      generator.random();
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  other.join();
}

}  // namespace
}  // namespace facula
