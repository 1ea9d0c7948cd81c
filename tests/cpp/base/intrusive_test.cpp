// Counted and Ref: counts, moves, conversions, disposal.
#include "facula/base/intrusive.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace facula {
namespace {

struct Animal : Counted {
  explicit Animal(int* gone) : gone(gone) {}
  ~Animal() override { ++*gone; }
  int* gone;
};
struct Cat : Animal {
  using Animal::Animal;
};

TEST(Intrusive, DeletesWithTheLastOwner) {
  int gone = 0;
  {
    Ref<Animal> a = make_ref<Animal>(&gone);
    EXPECT_EQ(a->use_count(), 1u);
    Ref<Animal> b = a;
    EXPECT_EQ(a->use_count(), 2u);
    a.reset();
    EXPECT_EQ(gone, 0);
    EXPECT_EQ(b->use_count(), 1u);
  }
  EXPECT_EQ(gone, 1);
}

TEST(Intrusive, MovesConvertsAndCompares) {
  int gone = 0;
  Ref<Cat> cat = make_ref<Cat>(&gone);
  Ref<Animal> animal = cat;
  EXPECT_EQ(animal.get(), cat.get());
  EXPECT_EQ(cat->use_count(), 2u);
  Ref<Animal> moved = std::move(cat);
  EXPECT_TRUE(cat == nullptr);
  EXPECT_FALSE(cat);
  EXPECT_EQ(moved, animal);
  EXPECT_EQ(moved->use_count(), 2u);
  moved = std::move(animal);
  moved = *&moved;
  EXPECT_EQ(moved->use_count(), 1u);
  EXPECT_EQ(gone, 0);
  moved = nullptr;
  EXPECT_EQ(gone, 1);
}

TEST(Intrusive, AdoptsSharesAndDetaches) {
  int gone = 0;
  Animal* raw = make_ref<Animal>(&gone).detach();
  EXPECT_EQ(raw->use_count(), 1u);
  {
    Ref<Animal> shared = Ref<Animal>::share(raw);
    EXPECT_EQ(raw->use_count(), 2u);
  }
  EXPECT_EQ(gone, 0);
  Ref<Animal>::adopt(raw).reset();
  EXPECT_EQ(gone, 1);
  EXPECT_FALSE(Ref<Animal>::share(nullptr));
}

struct Recycled : Counted {
  void dispose() noexcept override { ++disposed; }
  int disposed = 0;
};

TEST(Intrusive, DisposeDecidesWhatHappens) {
  Recycled object;
  Ref<Recycled>::adopt(&object).reset();
  EXPECT_EQ(object.disposed, 1);
}

TEST(Intrusive, CountsAcrossThreads) {
  int gone = 0;
  Ref<Animal> shared = make_ref<Animal>(&gone);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = shared] {
      for (int k = 0; k < 10'000; ++k) Ref<Animal> another = copy;
    });
  }
  for (auto& thread : threads) thread.join();
  threads.clear();
  EXPECT_EQ(shared->use_count(), 1u);
  shared.reset();
  EXPECT_EQ(gone, 1);
}

}  // namespace
}  // namespace facula
