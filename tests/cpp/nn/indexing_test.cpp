// Tests of subscripts against values counted by hand: element (i, j, k) of the operand is
// 12 i + 4 j + k.
#include "facula/nn/indexing.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "facula/autograd/engine.h"
#include "facula/base/error.h"
#include "facula/nn/shorthand.h"
#include "facula/nn/values.h"

namespace facula {
namespace {

using Ints = std::vector<int64_t>;

Tensor counted() { return reshape(arange(24), {2, 3, 4}); }
Ints extent_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

std::string refusal(const Tensor& t, std::initializer_list<TensorIndex> indices) {
  try {
    index(t, indices);
  } catch (const Error& e) {
    return std::string(name_of(e.kind())) + ": " + e.what();
  }
  return "nothing";
}

TEST(Indexing, NumbersAndSlicesGiveViews) {
  Tensor t = counted();
  EXPECT_EQ(item_int(index(t, {1, -1, 2})), 22);
  EXPECT_EQ(int_values_of(index(t, {0, Slice(1, None, 2)})), (Ints{4, 5, 6, 7}));
  EXPECT_EQ(int_values_of(index(t, {Slice(None, None, 2), Slice(-1), 0})), (Ints{8}));
  EXPECT_EQ(int_values_of(index(t, {1, 1, Slice(-3, -1)})), (Ints{17, 18}));
  EXPECT_EQ(extent_of(index(t, {Slice(5, 9)})), (Ints{0, 3, 4}));
  Tensor view = index(t, {1, 2});
  EXPECT_EQ(view.impl()->storage, t.impl()->storage);
  fill_(view, -1);
  EXPECT_EQ(item_int(index(t, {1, 2, 3})), -1);
  Tensor whole = index(t, {Slice()});
  EXPECT_FALSE(whole.is_same(t));
  EXPECT_EQ(whole.data(), t.data());
  int place = 1;
  size_t other = 2;
  EXPECT_EQ(item_int(index(counted(), {place, other, int8_t{0}})), 20);
}

TEST(Indexing, BracketsPickAlongTheFirstDimension) {
  Tensor t = counted();
  EXPECT_EQ(int_values_of(t[1][-1]), (Ints{20, 21, 22, 23}));
  t[0][1] += 100;
  static_assert(!std::is_assignable_v<Tensor, Tensor>, "t[0] = u would write nothing");
  EXPECT_EQ(int_values_of(t[0]), (Ints{0, 1, 2, 3, 104, 105, 106, 107, 8, 9, 10, 11}));
  EXPECT_THROW(t[2], Error);
  EXPECT_THROW(tensor(1)[0], Error);
  EXPECT_THROW(Tensor()[0], Error);
}

TEST(Indexing, NoneAndEllipsis) {
  Tensor t = counted();
  EXPECT_EQ(extent_of(index(t, {None, Slice(), None})), (Ints{1, 2, 1, 3, 4}));
  EXPECT_EQ(int_values_of(index(t, {Ellipsis, 0})), (Ints{0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(extent_of(index(t, {0, "...", None})), (Ints{3, 4, 1}));
  EXPECT_EQ(extent_of(index(t, {0, 0, 0, Ellipsis})), (Ints{}));
  EXPECT_EQ(extent_of(index(tensor(3), {None, Ellipsis, None})), (Ints{1, 1}));
}

TEST(Indexing, MasksAndIndexTensorsGiveCopies) {
  Tensor t = counted();
  EXPECT_EQ(int_values_of(index(t, {t > 20})), (Ints{21, 22, 23}));
  EXPECT_EQ(int_values_of(index(t, {1, tensor({true, false, true}), 0})), (Ints{12, 20}));
  EXPECT_EQ(int_values_of(index(t, {tensor({1, 0}), tensor({2, -1}), 3})), (Ints{23, 11}));
  EXPECT_EQ(extent_of(index(t, {tensor({0, 0}), None, Slice(0, 2)})), (Ints{2, 1, 2, 4}));
  EXPECT_EQ(extent_of(index(t, {Slice(), tensor({{0, 1}, {2, 0}})})), (Ints{2, 2, 2, 4}));
  EXPECT_EQ(extent_of(index(t, {tensor({0}), Slice(), tensor({1, 2})})), (Ints{2, 3}));
  EXPECT_EQ(extent_of(index(t, {true})), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(extent_of(index(t, {0, false})), (Ints{0, 3, 4}));
  EXPECT_EQ(extent_of(index(t, {tensor(true), 0})), (Ints{1, 3, 4}));
  // A whole number in a tensor is a number: the result is a view.
  EXPECT_EQ(index(t, {tensor(1)}).impl()->storage, t.impl()->storage);
  std::vector<TensorIndex> list{0, Slice(), tensor({3, 1})};
  EXPECT_EQ(int_values_of(index(t, list)), (Ints{3, 1, 7, 5, 11, 9}));
  std::vector<Tensor> tensors{tensor({1})};
  EXPECT_EQ(extent_of(index(t, tensors)), (Ints{1, 3, 4}));
}

TEST(Indexing, WritesReachTheTensor) {
  Tensor t = counted();
  EXPECT_TRUE(index_put_(t, {0, 0}, -1).is_same(t));
  index_put_(t, {1, Slice(), 0}, tensor({{-2, -3, -4}}));
  index_put_(t, {t == 7}, 70);
  index_put_(t, {0, tensor({1, 2}), tensor({0, 3})}, tensor({-5, -6}));
  index_put_(t, {Ellipsis, 1, 1}, 1, /*accumulate=*/true);
  index_put_(t, {1, 2, tensor({3, 3})}, tensor({100, 1000}), /*accumulate=*/true);
  EXPECT_EQ(int_values_of(t), (Ints{-1, -1, -1, -1, -5, 6,  6,  70, 8,  9,  10, -6,
                                    -2, 13, 14, 15, -3, 18, 18, 19, -4, 21, 22, 1123}));
  Tensor x = zeros({3});
  index_put_(x, {tensor({0, 2})}, 2.5);
  index_put_(x, {1}, tensor({7}));  // a view takes other dtypes
  EXPECT_EQ(values_of(x), (std::vector<double>{2.5, 7, 2.5}));
}

TEST(Indexing, GradientsGoThrough) {
  Tensor x = ones({3, 2});
  set_requires_grad(x, true);
  Tensor y = x * 1;
  index_put_(y, {0}, 5);
  index_put_(y, {1, tensor({1})}, sum(x) * 2);
  backward(sum(index(y, {Slice(0, 2), Ellipsis})) + sum(index(x, {None, tensor({2, 2}), 0})));
  EXPECT_EQ(values_of(grad(x)), (std::vector<double>{2, 2, 3, 2, 4, 2}));
}

TEST(Indexing, BadSubscriptsAreRefused) {
  Tensor t = counted();
  EXPECT_EQ(refusal(t, {0, 3}), "IndexError: index 3 is out of bounds for dimension 1 with size 3");
  EXPECT_EQ(refusal(t, {None, -3}),
            "IndexError: index -3 is out of bounds for dimension 1 with size 2");
  EXPECT_EQ(refusal(t, {Ellipsis, 4}),
            "IndexError: index 4 is out of bounds for dimension 1 with size 4");
  EXPECT_EQ(refusal(t, {0, 0, 0, 0}), "IndexError: too many indices for tensor of dimension 3");
  EXPECT_EQ(refusal(t, {t > 0, 0}), "IndexError: too many indices for tensor of dimension 3");
  EXPECT_EQ(refusal(t, {Ellipsis, Ellipsis, 0}).substr(0, 10), "IndexError");
  EXPECT_EQ(refusal(t, {Ellipsis, Ellipsis, None}).substr(0, 10), "IndexError");
  EXPECT_EQ(refusal(t, {Slice(0, 2, 0)}), "ValueError: step must be greater than zero");
  EXPECT_EQ(refusal(t, {}).substr(0, 10), "IndexError");
  EXPECT_EQ(refusal(tensor(1), {0}).substr(0, 10), "IndexError");
  EXPECT_EQ(refusal(t, {tensor({true})}).substr(0, 10), "IndexError");
  EXPECT_EQ(refusal(t, {tensor({5})}).substr(0, 10), "IndexError");
  EXPECT_EQ(refusal(t, {tensor({0.5})}).substr(0, 10), "IndexError");
  EXPECT_EQ(refusal(Tensor(), {0}).substr(0, 9), "TypeError");
  EXPECT_EQ(refusal(t, {Tensor()}).substr(0, 9), "TypeError");
  EXPECT_THROW(TensorIndex(":"), Error);
  EXPECT_THROW(index_put_(t, {0}, ones({7})), Error);
  EXPECT_THROW(index_put_(t, {t > 0}, std::complex<double>(0, 1)), Error);
  EXPECT_THROW(index_put_(t, {0}, std::complex<double>(0, 1)), Error);
  EXPECT_EQ(int_values_of(t), int_values_of(counted()));
}

}  // namespace
}  // namespace facula
