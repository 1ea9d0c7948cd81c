// Tests of the rules of counts.
#include "against_loop.h"
#include "facula/base/error.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/sort_functions.h"

namespace facula {
namespace {

using Args = std::vector<Tensor>;

TEST(BatchCounts, Bins) {
  Tensor i = randint(4, IntList({3, 9})), w = randn(IntList({3, 9})), x = randn(IntList({3, 2, 9}));
  expect_like_loop([](const Args& t) { return bincount(t[0], Tensor(), 6); }, {i}, 1);
  expect_like_loop([](const Args& t) { return bincount(t[0], t[1], 6); }, {i, w}, 3);
  expect_like_loop([&](const Args& t) { return bincount(t[0], select(w, 0, 0), 6); }, {i}, 1);
  expect_like_loop([](const Args& t) { return histc(t[0], 5); }, {x}, 1);
  expect_like_loop([](const Args& t) { return histc(t[0], 7, Scalar(-1), Scalar(0.5)); }, {x}, 1);
}

TEST(BatchCounts, ClassesOfTheData) {
  Tensor line = arange_end(Scalar(4)), other = flip(line, {0});
  Mapped inferred = [](const Args& t) { return one_hot(t[0]); };
  Mapped counted = [](const Args& t) { return bincount(t[0]); };
  Tensor alike = stack(Args{line, other}, 0), unlike = stack(Args{line, zeros_like(line)}, 0);
  expect_like_loop(inferred, {alike}, 1);
  expect_like_loop(counted, {alike}, 1);
  expect_like_loop([](const Args& t) { return one_hot(t[0], 5); }, {unlike}, 1);
  EXPECT_THROW(under_vmap(inferred, {unlike}, 1, 2), Error);
  EXPECT_THROW(under_vmap(counted, {unlike}, 1, 2), Error);
}

}  // namespace
}  // namespace facula
