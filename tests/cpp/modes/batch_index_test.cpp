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

}  // namespace
}  // namespace facula
