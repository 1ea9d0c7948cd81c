// Tests of signs between tensors and numbers: each against values computed by hand.
#include "facula/nn/signs.h"

#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "facula/base/error.h"
#include "facula/nn/values.h"

namespace facula {
namespace {

using Values = std::vector<double>;

TEST(Signs, ArithmeticTakesTensorsAndNumbers) {
  Tensor a = tensor({1., 2., 4.}), b = tensor({2., 2., 2.});
  EXPECT_EQ(values_of(a + b), (Values{3, 4, 6}));
  EXPECT_EQ(values_of(a - b), (Values{-1, 0, 2}));
  EXPECT_EQ(values_of(a * b), (Values{2, 4, 8}));
  EXPECT_EQ(values_of(a / b), (Values{0.5, 1, 2}));
  EXPECT_EQ(values_of(1 - a), (Values{0, -1, -3}));
  EXPECT_EQ(values_of(a * 0.5), (Values{0.5, 1, 2}));
  EXPECT_EQ(values_of(4 / a), (Values{4, 2, 1}));
  EXPECT_EQ(values_of(-a), (Values{-1, -2, -4}));
  EXPECT_EQ(values_of(-a % 3), (Values{2, 1, 2}));
  EXPECT_EQ(values_of(5 % a), (Values{0, 1, 1}));
  EXPECT_EQ(values_of(a % (b + 1)), (Values{1, 2, 1}));
}

TEST(Signs, InPlaceFormsWriteIntoTheTensor) {
  Tensor t = tensor({1., 2., 4.}), same = t;
  ((t += 1) -= tensor({1., 1., 2.})) *= 3;
  EXPECT_TRUE(t.is_same(same));
  EXPECT_EQ(values_of(same), (Values{3, 6, 9}));
  t /= 3;
  t %= tensor(2.);
  EXPECT_EQ(values_of(same), (Values{1, 0, 1}));

  const Tensor fixed = t;
  fixed += 1;
  select(t, 0, 0) *= 10;
  EXPECT_EQ(values_of(t), (Values{20, 1, 2}));

  Tensor bits = tensor({1, 2, 7});
  bits |= 4;
  bits &= tensor({5, 5, 5});
  bits ^= 1;
  EXPECT_EQ(int_values_of(bits), (std::vector<int64_t>{4, 5, 4}));
}

TEST(Signs, InPlaceFormsObeyTheirOperators) {
  Tensor whole = tensor({1, 2}), leaf = ones({2});
  EXPECT_THROW(whole /= 2, Error);          // a fraction does not fit into integers
  EXPECT_THROW(whole += ones({3}), Error);  // nor three elements into two
  EXPECT_THROW(Tensor() += 1, Error);
  set_requires_grad(leaf, true);
  EXPECT_THROW(leaf += 1, Error);
  Tensor t = leaf * 2;
  t *= leaf;
  backward(sum(t));
  EXPECT_EQ(values_of(grad(leaf)), (Values{4, 4}));
}

TEST(Signs, ComparisonsGiveBools) {
  Tensor a = tensor({1, 2, 3}), b = tensor({3, 2, 1});
  using Truths = std::vector<int64_t>;
  EXPECT_EQ((a == b).dtype(), kBool);
  EXPECT_EQ(int_values_of(a == b), (Truths{0, 1, 0}));
  EXPECT_EQ(int_values_of(a != b), (Truths{1, 0, 1}));
  EXPECT_EQ(int_values_of(a < b), (Truths{1, 0, 0}));
  EXPECT_EQ(int_values_of(a <= b), (Truths{1, 1, 0}));
  EXPECT_EQ(int_values_of(a > b), (Truths{0, 0, 1}));
  EXPECT_EQ(int_values_of(a >= b), (Truths{0, 1, 1}));
  EXPECT_EQ(int_values_of(a == 2), (Truths{0, 1, 0}));
  EXPECT_EQ(int_values_of(2 == a), (Truths{0, 1, 0}));
  EXPECT_EQ(int_values_of(2. != a), (Truths{1, 0, 1}));
  EXPECT_EQ(int_values_of(a != 2), (Truths{1, 0, 1}));
  EXPECT_EQ(int_values_of(2 < a), (Truths{0, 0, 1}));
  EXPECT_EQ(int_values_of(2 <= a), (Truths{0, 1, 1}));
  EXPECT_EQ(int_values_of(2 > a), (Truths{1, 0, 0}));
  EXPECT_EQ(int_values_of(2 >= a), (Truths{1, 1, 0}));
  EXPECT_EQ(int_values_of((a < 2.5) ^ (a >= 2)), (Truths{1, 0, 1}));
  EXPECT_THROW(a == ones({2}), Error);
  EXPECT_THROW(a == Tensor(), Error);
}

TEST(Signs, LogicIsOfTruthsAndOfBits) {
  Tensor a = tensor({true, false, true}), b = tensor({true, true, false});
  EXPECT_EQ(int_values_of(a & b), (std::vector<int64_t>{1, 0, 0}));
  EXPECT_EQ(int_values_of(a | b), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(int_values_of(!a), (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(int_values_of(~a), (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(int_values_of(~tensor({5, 0})), (std::vector<int64_t>{-6, -1}));
  EXPECT_EQ(int_values_of(!tensor({0.5, 0.})), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(int_values_of(6 & tensor({3, 4})), (std::vector<int64_t>{2, 4}));
  EXPECT_THROW(~ones({2}), Error);
}

}  // namespace
}  // namespace facula
