// Products of tensors: shapes, types, strides, messages, and contractions by equation.
#include "facula/base/error.h"
#include "gradients.h"

namespace facula {
namespace {

double at(const Tensor& t, IntList index) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * t->strides[d];
  Tensor wide = to_dtype(alias_storage(t, {}, {}, t.storage_offset() + offset), kFloat64);
  return *wide.data_as<double>();
}

Tensor numbers(IntList sizes, DType dtype) {
  Tensor t = detach(wavy(sizes));
  for (int64_t i = 0; i < t.numel(); ++i) {
    t.data_as<double>()[i] = static_cast<double>((i * 7 + 3) % 11 - 5);
  }
  return to_dtype(t, dtype);
}

void expect_product(const Tensor& c, const Tensor& a, const Tensor& b) {
  for (int64_t i = 0; i < a->sizes[0]; ++i) {
    for (int64_t j = 0; j < b->sizes[1]; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < a->sizes[1]; ++k) sum += at(a, {i, k}) * at(b, {k, j});
      ASSERT_EQ(at(c, {i, j}), sum);
    }
  }
}

TEST(Matmul, TypesAndStrides) {
  for (DType t : {kFloat32, kFloat64, kFloat16, kBFloat16, kInt8, kInt64}) {
    Tensor a = numbers({3, 4}, t), b = numbers({4, 5}, t);
    expect_product(mm(a, b), a, b);
    Tensor at = numbers({4, 3}, t), bt = numbers({5, 4}, t);
    expect_product(mm(transpose(at, 0, 1), transpose(bt, 0, 1)), transpose(at, 0, 1),
                   transpose(bt, 0, 1));
    Tensor wide = expand(numbers({1, 4}, t), IntList({3, 4}));
    expect_product(mm(wide, b), wide, b);
    Tensor stepped = slice(numbers({4, 10}, t), 1, std::nullopt, std::nullopt, 2);
    expect_product(mm(a, stepped), a, stepped);
  }
}

TEST(Matmul, Shapes) {
  auto shape = [](IntList a, IntList b) {
    return list_text(matmul(numbers(a, kFloat32), numbers(b, kFloat32)).sizes());
  };
  EXPECT_EQ(shape({3}, {3}), "[]");
  EXPECT_EQ(shape({2, 3}, {3}), "[2]");
  EXPECT_EQ(shape({3}, {3, 2}), "[2]");
  EXPECT_EQ(shape({4, 2, 3}, {3}), "[4, 2]");
  EXPECT_EQ(shape({4, 2, 3}, {3, 5}), "[4, 2, 5]");
  EXPECT_EQ(shape({3}, {4, 3, 5}), "[4, 5]");
  EXPECT_EQ(shape({2, 3}, {4, 3, 5}), "[4, 2, 5]");
  EXPECT_EQ(shape({6, 1, 2, 3}, {4, 3, 5}), "[6, 4, 2, 5]");
  EXPECT_EQ(shape({0, 3}, {3, 2}), "[0, 2]");
  EXPECT_EQ(shape({2, 0}, {0, 2}), "[2, 2]");
}

TEST(Matmul, Refusals) {
  Tensor f = numbers({2, 3}, kFloat32), d = numbers({3, 2}, kFloat64), b = numbers({3, 2}, kBool);
  EXPECT_THROW(mm(f, d), Error);
  EXPECT_THROW(mm(numbers({2, 3}, kBool), b), Error);
  EXPECT_THROW(mm(f, f), Error);
  EXPECT_THROW(mm(f, numbers({3}, kFloat32)), Error);
  EXPECT_THROW(dot(numbers({2}, kFloat32), numbers({3}, kFloat32)), Error);
  try {
    mm(f, f);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kRuntime);
    EXPECT_EQ(e.message(), "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  }
}

TEST(Matmul, AddmmScalesAndBroadcasts) {
  Tensor s = numbers({4}, kFloat32), a = numbers({2, 3}, kFloat32), b = numbers({3, 4}, kFloat32);
  Tensor want = add(mul(s, 2), mul(mm(a, b), 3)), got = addmm(s, a, b, 2, 3);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 4; ++j) EXPECT_EQ(at(got, {i, j}), at(want, {i, j}));
  }
  Tensor nan = numbers({2, 4}, kFloat32);
  nan.data_as<float>()[0] = NAN;
  EXPECT_EQ(at(addmm(nan, a, b, 0, 1), {0, 0}), at(mm(a, b), {0, 0}));
}

TEST(Einsum, MatchesSums) {
  Tensor a = numbers({2, 3}, kFloat64), b = numbers({3, 4}, kFloat64),
         c = numbers({4, 4}, kFloat64);
  Tensor ops[3] = {a, b, c};
  expect_product(einsum("ij,jk->ik", {ops, 2}), a, b);
  Tensor chain = einsum("ij,jk,kl", {ops, 3});
  expect_product(chain, mm(a, b), c);
  Tensor trace = einsum("ii", {&c, 1});
  EXPECT_EQ(at(trace, {}), at(c, {0, 0}) + at(c, {1, 1}) + at(c, {2, 2}) + at(c, {3, 3}));
  EXPECT_EQ(list_text(einsum("...j,jk->k...", {ops, 2}).sizes()), "[4, 2]");
  EXPECT_THROW(einsum("ij,jk->iz", {ops, 2}), Error);
  EXPECT_THROW(einsum("ij", {ops, 2}), Error);
  check_second([](const Tensors& x) { return Tensors{einsum("bij,bkj->bik", x)}; },
               {wavy({2, 2, 3}), wavy({2, 3, 3})});
}

TEST(Einsum, Relatives) {
  Tensor a = numbers({2, 3}, kFloat64), b = numbers({4, 3}, kFloat64),
         c = numbers({4, 2}, kFloat64);
  expect_product(inner(a, b), a, transpose(b, 0, 1));
  expect_product(tensordot_dims(a, b, IntList(int64_t{1}), IntList(int64_t{1})), a,
                 transpose(b, 0, 1));
  EXPECT_EQ(list_text(kron(a, b).sizes()), "[8, 9]");
  Tensor chain[3] = {a, transpose(b, 0, 1), c};
  expect_product(multi_dot(chain), mm(a, transpose(b, 0, 1)), c);
}

}  // namespace
}  // namespace facula
