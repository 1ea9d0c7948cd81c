// Tests of the interpreter: pointwise operators, promotion, in-place writes, the loop, nesting.
#include "facula/modes/vmap.h"

#include "against_loop.h"
#include "facula/base/error.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/statistics_functions.h"

namespace facula {
namespace {

TEST(Vmap, AlignsPointwiseOperands) {
  Tensor a = randn(IntList({3, 2, 4})), b = randn(IntList({3, 4})), c = randn(IntList({2, 1}));
  auto f = [](const std::vector<Tensor>& t) { return atan2(add(t[0], t[1]), t[2]); };
  for (unsigned mapped : {1u, 2u, 3u}) {
    expect_like_loop(f, {mapped & 1 ? a : select(a, 0, 0), mapped & 2 ? b : select(b, 0, 0), c},
                     mapped);
  }
}

TEST(Vmap, SamplesOfNoDimensionsPromoteLikeNumbers) {
  Tensor scalars = ones(IntList({3}), kFloat64), vector = ones(IntList({2}), kFloat32);
  Tensor r = under_vmap([](const std::vector<Tensor>& t) { return mul(t[0], t[1]); },
                        {scalars, vector}, 1, 3);
  EXPECT_EQ(r.dtype(), kFloat32);
}

TEST(Vmap, WritesThroughToTheValue) {
  Tensor x = ones(IntList({3, 2}));
  under_vmap([](const std::vector<Tensor>& t) { return add_(t[0], Scalar(1)); }, {x}, 1, 3);
  EXPECT_TRUE(equal(x, full(IntList({3, 2}), Scalar(2.0))));
}

TEST(Vmap, RefusesToWriteSamplesIntoASharedTensor) {
  Tensor shared = zeros(IntList({2})), x = ones(IntList({3, 2}));
  EXPECT_THROW(
      under_vmap([&](const std::vector<Tensor>& t) { return add_(shared, t[0]); }, {x}, 1, 3),
      Error);
}

TEST(Vmap, RefusesToWriteOneByOneIntoSamplesThatShareMemory) {
  Tensor shared = zeros(IntList({3})), mask = gt(ones(IntList({3})), Scalar(0));
  Tensor samples = expand(unsqueeze(shared, 0), IntList({2, 3}));
  auto write = [&](const std::vector<Tensor>& t) {
    return masked_scatter_(t[0], t[1], ones(IntList({3})));
  };
  Watch watch;
  EXPECT_THROW(under_vmap(write, {samples, mask}, 1, 2), Error);
  EXPECT_TRUE(equal(shared, zeros(IntList({3}))));
  Tensor apart = clone(samples, MemoryFormat::kContiguous);
  under_vmap(write, {apart, mask}, 1, 2);
  EXPECT_TRUE(equal(apart, ones(IntList({2, 3}))));
}

TEST(Vmap, LoopsOverSamplesWithAWarning) {
  Tensor x = triu(ones(IntList({3, 6, 6})));
  Watch watch;
  Tensor r = under_vmap([](const std::vector<Tensor>& t) { return nonzero(t[0]); }, {x}, 1, 3);
  EXPECT_EQ(looped_operators(), "nonzero ");
  EXPECT_TRUE(equal(select(r, 0, 1), nonzero(select(x, 0, 1))));
}

TEST(Vmap, Nests) {
  Tensor x = randn(IntList({2, 4})), y = randn(IntList({3, 4}));
  Tensor r = under_vmap(
      [&](const std::vector<Tensor>& outer) {
        return under_vmap([&](const std::vector<Tensor>& inner) { return mul(outer[0], inner[0]); },
                          {y}, 1, 3);
      },
      {x}, 1, 2);
  EXPECT_TRUE(equal(r, mul(unsqueeze(x, 1), unsqueeze(y, 0))));
  EXPECT_TRUE(active_vmaps().empty());
}

}  // namespace
}  // namespace facula
