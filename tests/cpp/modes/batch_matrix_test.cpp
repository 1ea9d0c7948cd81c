// Tests of the rules of linear algebra and of operators over the last dimensions.
#include "against_loop.h"
#include "facula/base/error.h"
#include "facula/ops/fft_functions.h"
#include "facula/ops/legacy_functions.h"
#include "facula/ops/linalg_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/sort_functions.h"
#include "facula/ops/spectral_functions.h"

namespace facula {
namespace {

using Args = std::vector<Tensor>;

// Matrices far from singular, positive definite: 4 samples of 3 x 3.
Tensor definite() {
  Tensor x = randn(IntList({4, 3, 3}));
  return add(matmul(x, transpose(x, 1, 2)), eye(3));
}

TEST(BatchMatrix, OneMatrix) {
  const Mapped all[] = {
      [](const Args& t) { return linalg_cholesky(t[0]); },
      [](const Args& t) { return linalg_inv(t[0]); },
      [](const Args& t) { return linalg_det(t[0]); },
      [](const Args& t) { return std::get<0>(linalg_eigh(t[0])); },
      [](const Args& t) { return linalg_svdvals(t[0]); },
      [](const Args& t) { return linalg_pinv(t[0]); },
  };
  for (const Mapped& f : all) expect_like_loop(f, {definite()}, 1);
}

TEST(BatchMatrix, SystemsForEveryChoiceOfWhatHasSamples) {
  Tensor a = definite(), b = randn(IntList({4, 3, 2})), v = randn(IntList({4, 3}));
  auto solve = [](const Args& t) { return linalg_solve(t[0], t[1]); };
  auto triangular = [](const Args& t) { return linalg_solve_triangular(t[0], t[1], true); };
  for (unsigned mapped : {1u, 2u, 3u}) {
    Tensor one = mapped & 1 ? a : select(a, 0, 0);
    expect_like_loop(solve, {one, mapped & 2 ? b : select(b, 0, 0)}, mapped);
    expect_like_loop(solve, {one, mapped & 2 ? v : select(v, 0, 0)}, mapped);
    expect_like_loop(triangular, {one, mapped & 2 ? b : select(b, 0, 0)}, mapped);
  }
}

TEST(BatchMatrix, OneSingularSampleIsRefusedAsOneMatrixWouldBe) {
  Tensor a = definite();
  fill_(select(a, 0, 2), Scalar(0));
  EXPECT_THROW(under_vmap([](const Args& t) { return linalg_inv(t[0]); }, {a}, 1, 4), Error);
}

TEST(BatchMatrix, PositionsInSortedSequences) {
  Tensor s = std::get<0>(sort(randn(IntList({4, 5})), 1, false)), x = randn(IntList({4, 3}));
  auto f = [](const Args& t) { return searchsorted(t[0], t[1]); };
  expect_like_loop(f, {s, x}, 3);
  expect_like_loop(f, {select(s, 0, 0), x}, 2);
  expect_like_loop(f, {s, randn(IntList({4}))}, 3);
  expect_like_loop(f, {s, randn(IntList({2, 3}))}, 1);
}

TEST(BatchMatrix, LeastSquares) {
  Tensor a = randn(IntList({4, 5, 3})), b = randn(IntList({4, 5, 2}));
  for (unsigned mapped : {1u, 2u, 3u}) {
    Args given{mapped & 1 ? a : select(a, 0, 0), mapped & 2 ? b : select(b, 0, 0)};
    expect_like_loop([](const Args& t) { return std::get<0>(linalg_lstsq(t[0], t[1])); }, given,
                     mapped);
    auto residuals = [](const Args& t) {
      return std::get<1>(linalg_lstsq(t[0], t[1], std::nullopt, "gelsd"));
    };
    expect_like_loop(residuals, given, mapped);
  }
}

TEST(BatchMatrix, ChangesOfShapeInPlaceAreRefused) {
  Tensor x = randn(IntList({4, 3, 2}));
  EXPECT_THROW(under_vmap([](const Args& t) { return resize_(t[0], IntList({2})); }, {x}, 1, 4),
               Error);
}

}  // namespace
}  // namespace facula
