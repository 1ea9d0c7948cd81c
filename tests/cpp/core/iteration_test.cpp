// Tests of loop plans: which dimensions are dropped, reordered and merged, and that every element
// is visited once, in parts too.
#include "facula/core/iteration.h"

#include <gtest/gtest.h>

#include <vector>

namespace facula {
namespace {

Loop plan_of(std::initializer_list<Tensor> tensors, IntList shape) {
  Loop loop(shape);
  for (const Tensor& t : tensors) loop.add(t);
  loop.plan();
  return loop;
}

TEST(Loop, ContiguousOperandsBecomeOneRow) {
  Tensor a = new_empty({2, 1, 3, 4}, kFloat32);
  Loop loop = plan_of({a, a}, a.sizes());
  EXPECT_EQ(loop.sizes, Sizes({24}));
  EXPECT_EQ(loop.strides[1], Sizes({4}));
}

TEST(Loop, TransposedOperandsAreWalkedInMemoryOrder) {
  Tensor a = new_strided({3, 4}, {1, 3}, kFloat64);
  Loop loop = plan_of({a, a}, a.sizes());
  EXPECT_EQ(loop.sizes, Sizes({12}));
  EXPECT_EQ(loop.strides[0], Sizes({8}));
}

TEST(Loop, TheFirstOperandDecides) {
  Tensor out = new_empty({3, 4}, kFloat32), in = new_strided({3, 4}, {1, 3}, kFloat32);
  Loop loop = plan_of({out, in}, out.sizes());
  EXPECT_EQ(loop.sizes, Sizes({3, 4}));
  EXPECT_EQ(loop.strides[0], Sizes({16, 4}));
  EXPECT_EQ(loop.strides[1], Sizes({4, 12}));
}

TEST(Loop, BroadcastOperandsHaveNoSay) {
  Tensor out = new_empty({3, 4}, kFloat32), row = new_empty({4}, kFloat32);
  Loop loop = plan_of({out, row}, out.sizes());
  EXPECT_EQ(loop.sizes, Sizes({3, 4}));
  EXPECT_EQ(loop.strides[1], Sizes({0, 4}));
  Tensor expanded = new_strided({3, 4}, {0, 1}, kFloat32),
         t = new_strided({3, 4}, {1, 3}, kFloat32);
  loop = plan_of({expanded, t}, t.sizes());
  EXPECT_EQ(loop.sizes, Sizes({4, 3}));  // the second operand's order
}

TEST(Loop, ScalarsAndEmptyShapes) {
  Tensor s = new_empty({}, kFloat32);
  Loop loop = plan_of({s, s}, {});
  int calls = 0;
  loop.run(0, loop.numel(),
           [&](char**, const int64_t*, int64_t n) { calls += static_cast<int>(n); });
  EXPECT_EQ(calls, 1);
  Tensor e = new_empty({2, 0}, kFloat32);
  loop = plan_of({e}, e.sizes());
  EXPECT_EQ(loop.numel(), 0);
  loop.run_parallel(1, [&](char**, const int64_t*, int64_t) { FAIL(); });
}

void visit_in_parts(const Tensor& t, int64_t part) {
  std::memset(t->storage->data(), 0, t->storage->bytes());
  Loop loop = plan_of({t}, t.sizes());
  for (int64_t at = 0; at < loop.numel(); at += part) {
    loop.run(at, std::min(at + part, loop.numel()), [](char** p, const int64_t* s, int64_t n) {
      for (int64_t i = 0; i < n; ++i) ++*reinterpret_cast<int8_t*>(p[0] + i * s[0]);
    });
  }
  int64_t sum = 0;
  for (size_t i = 0; i < t->storage->bytes(); ++i) {
    ASSERT_LE(t->storage->data()[i], 1);
    sum += t->storage->data()[i];
  }
  EXPECT_EQ(sum, t.numel());
}

TEST(Loop, PartsVisitEveryElementOnce) {
  Tensor gaps = new_strided({3, 4, 5}, {64, 11, 2}, kInt8);
  Tensor back = alias_storage(new_empty({70}, kInt8), {3, 4, 5}, {20, 5, -1}, 4);
  for (int64_t part : {1, 2, 3, 7, 20, 59, 60}) {
    visit_in_parts(gaps, part);
    visit_in_parts(back, part);
  }
}

TEST(Loop, RunParallelVisitsEveryElement) {
  Tensor t = new_strided({100, 7, 90}, {1000, 100, 1}, kInt8);
  std::memset(t->storage->data(), 0, t->storage->bytes());
  Loop loop = plan_of({t}, t.sizes());
  loop.run_parallel(100, [](char** p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; ++i) ++*reinterpret_cast<int8_t*>(p[0] + i * s[0]);
  });
  int64_t sum = 0;
  for (size_t i = 0; i < t->storage->bytes(); ++i) sum += t->storage->data()[i];
  EXPECT_EQ(sum, t.numel());
}

}  // namespace
}  // namespace facula
