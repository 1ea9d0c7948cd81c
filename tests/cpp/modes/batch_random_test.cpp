// Tests of random operators inside vmap.
#include "against_loop.h"
#include "facula/base/error.h"

namespace facula {
namespace {

using Args = std::vector<Tensor>;

Tensor rows(const Mapped& f, Randomness randomness) {
  return under_vmap(f, {full(IntList({2, 40}), Scalar(0.5))}, 1, 2, randomness);
}

bool rows_agree(const Tensor& t) { return equal(select(t, 0, 0), select(t, 0, 1)); }

const Mapped kDraws[] = {
    [](const Args& t) { return add(t[0], rand({40})); },
    [](const Args& t) { return add(t[0], randn_like(t[0])); },
    [](const Args& t) { return bernoulli(t[0]); },
    [](const Args& t) { return dropout(t[0], 0.5, true); },
    [](const Args& t) { return feature_dropout(view(t[0], {1, 40}), 0.5, true); },
    [](const Args& t) { return rrelu(neg(t[0]), Scalar(0.1), Scalar(0.9), true); },
    [](const Args& t) { return uniform_(clone(t[0])); },
};

TEST(BatchRandom, RefusesByDefault) {
  for (const Mapped& f : kDraws) EXPECT_THROW(rows(f, Randomness::kError), Error);
  EXPECT_NO_THROW(
      rows([](const Args& t) { return dropout(t[0], 0.5, false); }, Randomness::kError));
}

TEST(BatchRandom, DrawsOnceOrForEach) {
  for (const Mapped& f : kDraws) {
    EXPECT_TRUE(rows_agree(rows(f, Randomness::kSame)));
    EXPECT_FALSE(rows_agree(rows(f, Randomness::kDifferent)));
  }
}

TEST(BatchRandom, AStreamOfDropoutDecidesAlikeForAllSamples) {
  Tensor x = ones(IntList({2, 40}));
  Tensor r = under_vmap([](const Args& t) { return dropout_with(t[0], 0.5, 12345); }, {x}, 1, 2);
  EXPECT_TRUE(rows_agree(r));
  EXPECT_TRUE(equal(select(r, 0, 0), dropout_with(ones(IntList({40})), 0.5, 12345)));
}

}  // namespace
}  // namespace facula
