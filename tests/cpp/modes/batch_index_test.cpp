// Tests of the rules of operators with index tensors.
#include "against_loop.h"
#include "facula/ops/index_functions.h"

namespace facula {
namespace {

using Args = std::vector<Tensor>;

Tensor positions(IntList sizes, int64_t below) { return randint(below, sizes); }

void for_all_choices(const Mapped& f, const Tensor& x, const Tensor& index) {
  expect_like_loop(f, {x, index}, 3);
  expect_like_loop(f, {x, select(index, 0, 0)}, 1);
  expect_like_loop(f, {select(x, 0, 0), index}, 2);
}

TEST(BatchIndex, AlongADimension) {
  Tensor x = randn(IntList({3, 4, 5})), i = positions({3, 2, 5}, 4), line = positions({3, 6}, 4);
  for_all_choices([](const Args& t) { return gather(t[0], 0, t[1]); }, x, i);
  for_all_choices([](const Args& t) { return scatter_value(t[0], 0, t[1], Scalar(2)); }, x, i);
  for_all_choices([](const Args& t) { return index_select(t[0], 0, t[1]); }, x, line);
  for_all_choices([](const Args& t) { return take(t[0], t[1]); }, x, line);
}

TEST(BatchIndex, ByTensors) {
  Tensor x = randn(IntList({3, 4, 5, 4})), i = positions({3, 2}, 4);
  for_all_choices([](const Args& t) { return index(t[0], Args{t[1]}); }, x, i);
  for_all_choices([](const Args& t) { return index(t[0], Args{Tensor(), t[1]}); }, x, i);
  for_all_choices([](const Args& t) { return index(t[0], Args{t[1], Tensor(), t[1]}); }, x, i);
  for_all_choices(
      [](const Args& t) {
        return index_put(t[0], Args{t[1]}, select(select(t[0], 0, 0), 0, 0), true);
      },
      x, i);
}

TEST(BatchIndex, Embeddings) {
  Tensor w = randn(IntList({3, 7, 4})), i = positions({3, 2, 5}, 7),
         g = randn(IntList({3, 2, 5, 4}));
  for_all_choices([](const Args& t) { return embedding(t[0], t[1]); }, w, i);
  for_all_choices([](const Args& t) { return embedding_backward(t[0], t[1], 7, -1, false); }, g, i);
}

TEST(BatchIndex, SlicesWithIndicesOfEachSample) {
  Tensor x = randn(IntList({3, 4, 5})), i = positions({3, 6}, 4), s = randn(IntList({3, 6, 5}));
  for (unsigned mapped : {2u, 3u, 6u, 7u}) {
    Args given{mapped & 1 ? x : select(x, 0, 0), i, mapped & 4 ? s : select(s, 0, 0)};
    expect_like_loop([](const Args& t) { return index_add(t[0], 0, t[1], t[2]); }, given, mapped);
    expect_like_loop([](const Args& t) { return index_copy(t[0], 0, t[1], t[2]); }, given, mapped);
  }
  auto negative = [](const Args& t) { return index_fill(t[0], 0, sub(t[1], 4), Scalar(2)); };
  expect_like_loop(negative, {x, i}, 3);
  auto written = [](const Args& t) { return index_add_(clone(t[0]), 0, t[1], t[2]); };
  expect_like_loop(written, {x, i, s}, 7);
}

TEST(BatchIndex, SamplesOfNoDimensions) {
  Tensor x = randn(IntList({3})), i = zeros(IntList({3}), kInt64), s = randn(IntList({3}));
  expect_like_loop([](const Args& t) { return index_add(t[0], 0, t[1], t[2]); }, {x, i, s}, 7);
  expect_like_loop([](const Args& t) { return scatter_add(t[0], 0, t[1], t[2]); }, {x, i, s}, 7);
  for_all_choices([](const Args& t) { return index_select(t[0], 0, t[1]); }, x, i);
  for_all_choices([](const Args& t) { return gather(t[0], 0, t[1]); }, x, i);
}

TEST(BatchIndex, OneValueAtAMask) {
  Tensor x = randn(IntList({3, 4, 5})), mask = gt(randn(IntList({3, 4})), 0.0),
         v = randn(IntList({3}));
  auto f = [](const Args& t) { return index_put(t[0], Args{t[1]}, t[2]); };
  for (unsigned mapped : {1u, 2u, 4u, 7u}) {
    Args given{mapped & 1 ? x : select(x, 0, 0), mapped & 2 ? mask : select(mask, 0, 0),
               mapped & 4 ? v : select(v, 0, 0)};
    expect_like_loop(f, given, mapped);
  }
}

TEST(BatchIndex, MaskedScatter) {
  Tensor x = randn(IntList({3, 4, 5})), mask = gt(randn(IntList({3, 4, 5})), 0.0),
         s = randn(IntList({3, 20}));
  auto f = [](const Args& t) { return masked_scatter(t[0], t[1], t[2]); };
  expect_like_loop(f, {x, mask, s}, 7);
  expect_like_loop(f, {x, select(mask, 0, 0), select(s, 0, 0)}, 1);
  expect_like_loop(f, {select(x, 0, 0), mask, select(s, 0, 0)}, 2);
}

}  // namespace
}  // namespace facula
