// Tests of the rules of views, reductions and scans.
#include "against_loop.h"
#include "facula/base/error.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/sort_functions.h"

namespace facula {
namespace {

using Args = std::vector<Tensor>;

TEST(BatchShape, Views) {
  Tensor x = randn(IntList({3, 2, 4, 2}));
  const Mapped all[] = {
      [](const Args& t) { return view(t[0], {-1, 4}); },
      [](const Args& t) { return transpose(t[0], 0, -1); },
      [](const Args& t) { return permute(t[0], {2, -3, 1}); },
      [](const Args& t) { return expand(unsqueeze(t[0], -1), {2, -1, 2, 5}); },
      [](const Args& t) { return select(slice(t[0], 1, 1, 4, 2), -1, 0); },
      [](const Args& t) { return diagonal(t[0], 1, 0, 1); },
      [](const Args& t) { return movedim(t[0], {0, 1}, {-1, 0}); },
      [](const Args& t) { return squeeze(narrow(t[0], 1, 2, 1)); },
      [](const Args& t) { return unfold(t[0], 1, 3, 1); },
      [](const Args& t) { return as_strided(t[0], {2, 2}, {1, 2}); },
      [](const Args& t) { return diagonal_backward(select(t[0], 2, 0), {4, 2, 4}, 0, 0, 2); },
      [](const Args& t) { return cat(Args{t[0], narrow(t[0], 1, 0, 1)}, -2); },
  };
  for (const Mapped& f : all) expect_like_loop(f, {x}, 1);
}

TEST(BatchShape, ReductionsAndScans) {
  Tensor x = randn(IntList({3, 2, 4}));
  const Mapped all[] = {
      [](const Args& t) { return sum(t[0]); },
      [](const Args& t) { return mean(t[0], IntList({-1}), true); },
      [](const Args& t) { return prod(t[0]); },
      [](const Args& t) { return max(t[0]); },
      [](const Args& t) { return argmax(t[0], std::nullopt, true); },
      [](const Args& t) { return std::get<1>(min_dim(t[0], 1, false)); },
      [](const Args& t) { return cumsum(t[0], -1); },
      [](const Args& t) { return std::get<0>(topk(t[0], 2, 1)); },
      [](const Args& t) { return logsumexp(t[0], {0}); },
  };
  for (const Mapped& f : all) expect_like_loop(f, {x}, 1);
}

TEST(BatchShape, SamplesOfNoDimensions) {
  Tensor x = randn(IntList({3}));
  expect_like_loop([](const Args& t) { return sum(t[0], IntList({0}), true); }, {x}, 1);
  expect_like_loop([](const Args& t) { return std::get<0>(sort(t[0], -1, false)); }, {x}, 1);
  expect_like_loop([](const Args& t) { return cumsum(t[0], 0); }, {x}, 1);
}

TEST(BatchShape, WrongDimensionsAreNamedAsOfASample) {
  Tensor x = randn(IntList({3, 2}));
  EXPECT_THROW(under_vmap([](const Args& t) { return sum(t[0], IntList({1}), false); }, {x}, 1, 3),
               Error);
}

}  // namespace
}  // namespace facula
