// Tests of signs, numbers in and out, and the seed.
#include "facula/nn/values.h"

#include <gtest/gtest.h>

#include "facula/base/error.h"

namespace facula {
namespace {

TEST(Values, SignsAreOperators) {
  Tensor a = tensor_of(std::vector<float>{1, 2, 4}, {3}),
         b = tensor_of(std::vector<float>{2, 2, 2}, {3});
  EXPECT_EQ(values_of(a + b), (std::vector<double>{3, 4, 6}));
  EXPECT_EQ(values_of(a - b), (std::vector<double>{-1, 0, 2}));
  EXPECT_EQ(values_of(a * b), (std::vector<double>{2, 4, 8}));
  EXPECT_EQ(values_of(a / b), (std::vector<double>{0.5, 1, 2}));
  EXPECT_EQ(values_of(1 - a), (std::vector<double>{0, -1, -3}));
  EXPECT_EQ(values_of(a * 0.5), (std::vector<double>{0.5, 1, 2}));
  EXPECT_EQ(values_of(4 / a), (std::vector<double>{4, 2, 1}));
  EXPECT_EQ(values_of(-a), (std::vector<double>{-1, -2, -4}));
}

TEST(Values, ItemWantsOneElement) {
  EXPECT_EQ(item(tensor_of(std::vector<float>{2.5}, {1, 1})), 2.5);
  int64_t big = (int64_t{1} << 62) + 1;
  EXPECT_EQ(item_int(tensor_of(std::vector<int64_t>{big}, {})), big);
  EXPECT_THROW(item(zeros({2})), Error);
  EXPECT_THROW(item(zeros({0})), Error);
  EXPECT_THROW(item(Tensor()), Error);
  EXPECT_THROW(item(zeros({1}, kComplex64)), Error);
}

TEST(Values, StridedTensorsAreReadInRowOrder) {
  Tensor t = transpose(tensor_of(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {2, 3}), 0, 1);
  EXPECT_EQ(int_values_of(t), (std::vector<int64_t>{1, 4, 2, 5, 3, 6}));
}

TEST(Values, TensorOfChecksTheShape) {
  EXPECT_THROW(tensor_of(std::vector<float>{1, 2, 3}, {2, 2}), Error);
}

TEST(Values, ASeedGivesTheSameDraws) {
  manual_seed(7);
  std::vector<double> first = values_of(rand({5}));
  manual_seed(7);
  EXPECT_EQ(values_of(rand({5})), first);
}

}  // namespace
}  // namespace facula
