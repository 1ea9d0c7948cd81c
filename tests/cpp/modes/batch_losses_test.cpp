// Tests of the rules of losses over classes.
#include "against_loop.h"
#include "facula/base/error.h"
#include "facula/ops/loss_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula {
namespace {

using Args = std::vector<Tensor>;

TEST(BatchLosses, OfScoresAndTargets) {
  Tensor w = rand(IntList({3, 4}));
  for (const Sizes& scores : {Sizes{3, 4}, Sizes{3, 6, 4}, Sizes{3, 2, 4, 5}}) {
    Sizes targets{3};
    if (scores.size() > 2) targets.push_back(scores[1]);
    if (scores.size() > 3) targets.push_back(scores[3]);
    Tensor x = randn(scores), t = randint(4, targets);
    for (const char* reduction : {"mean", "sum", "none"}) {
      auto entropy = [&](const Args& a) {
        return cross_entropy(a[0], a[1], a.size() > 2 ? a[2] : Tensor(), 1, reduction);
      };
      expect_like_loop(entropy, {x, t}, 3);
      expect_like_loop(entropy, {x, select(t, 0, 0)}, 1);
      expect_like_loop(entropy, {select(x, 0, 0), t, w}, 6);
      expect_like_loop([&](const Args& a) { return nll_loss(a[0], a[1], a[2], 1, reduction); },
                       {x, t, w}, 7);
    }
  }
}

TEST(BatchLosses, RefuseClassesOutsideOneSample) {
  Tensor t = full({3, 2}, Scalar(int64_t{1}), kInt64);
  fill_(select(select(t, 0, 1), 0, 0), Scalar(int64_t{4}));
  Mapped f = [](const Args& a) { return cross_entropy(a[0], a[1]); };
  EXPECT_THROW(under_vmap(f, {randn(IntList({3, 2, 4})), t}, 3, 3), Error);
}

}  // namespace
}  // namespace facula
