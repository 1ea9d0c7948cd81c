// Sparse tensors in C++: making, merging, products and their gradients, conversions.
#include "facula/sparse/sparse.h"

#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "facula/base/error.h"
#include "facula/ops/functions.h"

namespace facula {
namespace {

Tensor numbers(std::initializer_list<double> values) {
  Tensor t = new_empty({static_cast<int64_t>(values.size())}, kFloat64);
  std::copy(values.begin(), values.end(), t.data_as<double>());
  return t;
}

Tensor positions(std::initializer_list<int64_t> values, IntList sizes) {
  Tensor t = new_empty(sizes, kInt64);
  std::copy(values.begin(), values.end(), t.data_as<int64_t>());
  return t;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && all(eq(a, b)).data_as<bool>()[0];
}

SparseTensor sample() {
  return sparse_coo_tensor(positions({0, 1, 1, 0, 2, 0, 2, 2}, {2, 4}), numbers({3, 4, 5, 10}),
                           {{2, 3}});
}

TEST(Sparse, CoalesceAddsUp) {
  SparseTensor a = sample();
  EXPECT_EQ(a.nnz(), 4);
  EXPECT_FALSE(a.is_coalesced());
  EXPECT_THROW(a.indices(), Error);
  SparseTensor c = coalesce(a);
  EXPECT_TRUE(c.is_coalesced());
  EXPECT_TRUE(same(values(c), numbers({13, 4, 5})));
  EXPECT_TRUE(same(to_dense(a), reshape(numbers({0, 0, 13, 4, 0, 5}), {2, 3})));
}

TEST(Sparse, ProductsAndTheirGradients) {
  Tensor v = numbers({3, 4, 5, 10});
  set_requires_grad(v, true);
  Tensor x = reshape(numbers({1, 2, 3, 4, 5, 6}), {3, 2});
  set_requires_grad(x, true);
  SparseTensor a = sparse_coo_tensor(positions({0, 1, 1, 0, 2, 0, 2, 2}, {2, 4}), v, {{2, 3}});
  Tensor y = mm(a, x);
  EXPECT_TRUE(same(detach(y), matmul(to_dense(sample()), detach(x))));
  backward(sum(y));
  EXPECT_TRUE(same(grad(v), numbers({11, 3, 11, 11})));
  EXPECT_TRUE(same(grad(x), reshape(numbers({4, 4, 0, 0, 18, 18}), {3, 2})));
}

TEST(Sparse, LeavesGetSparseGradients) {
  SparseTensor a = coalesce(sample());
  set_requires_grad(a.handle(), true);
  backward(sum(mm(a, ones({3, 2}, kFloat64))));
  Tensor g = grad(a.handle());
  ASSERT_TRUE(is_sparse(g));
  EXPECT_TRUE(same(values(SparseTensor(g)), numbers({2, 2, 2})));
}

TEST(Sparse, AddsInPlaceToStrided) {
  Tensor d = ones({2, 3}, kFloat64);
  add_(d, sample(), 2);
  EXPECT_TRUE(same(d, add(ones({2, 3}, kFloat64), mul(to_dense(sample()), 2))));
  Tensor turned = transpose(ones({3, 2}, kFloat64), 0, 1);
  add_(turned, sample());
  EXPECT_TRUE(same(turned, add(ones({2, 3}, kFloat64), to_dense(sample()))));
}

TEST(Sparse, LayoutsConvert) {
  Tensor d = reshape(numbers({0, 1, 0, 2, 3, 0, 0, 4, 0, 0, 5, 6}), {3, 4});
  for (Layout layout : {Layout::kCoo, Layout::kCsr, Layout::kCsc}) {
    SparseTensor s = to_sparse(d, layout);
    EXPECT_EQ(s.layout(), layout);
    EXPECT_EQ(s.nnz(), 6);
    EXPECT_TRUE(same(to_dense(s), d));
    EXPECT_TRUE(same(to_dense(transpose(s, 0, 1)), transpose(d, 0, 1)));
    EXPECT_TRUE(same(to_dense(add(s, s)), add(d, d)));
    EXPECT_TRUE(same(to_dense(mul(s, d)), mul(d, d)));
    EXPECT_TRUE(same(to_dense(mm(s, transpose(s, 0, 1))), matmul(d, transpose(d, 0, 1))));
    for (Layout other : {Layout::kCoo, Layout::kCsr, Layout::kCsc}) {
      EXPECT_TRUE(same(to_dense(to_layout(s, other)), d));
    }
    SparseTensor blocks = to_layout(s, Layout::kBsr, {3, 2});
    EXPECT_TRUE(same(to_dense(blocks), d));
    EXPECT_TRUE(same(to_dense(sparse_mask(d, s)), d));
  }
}

TEST(Sparse, Resizes) {
  SparseTensor t =
      sparse_coo_tensor(positions({1}, {1, 1}), reshape(numbers({2, 3}), {1, 2}), {{2, 2}});
  sparse_resize_(t, {{4, 3}}, 1, 1);
  EXPECT_TRUE(same(to_dense(t), reshape(numbers({0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0}), {4, 3})));
  EXPECT_THROW(sparse_resize_(t, {{4, 2}}, 1, 1), Error);
  EXPECT_THROW(sparse_resize_(t, {{4, 3}}, 2, 0), Error);
  EXPECT_THROW(sparse_resize_(t, {{4, 3}}, 1, 0), Error);
  sparse_resize_and_clear_(t, {{2}}, 1, 0);
  EXPECT_EQ(t.nnz(), 0);
  EXPECT_TRUE(same(to_dense(t), zeros({2}, kFloat64)));
  sparse_resize_(t, {{1, 2}}, 2, 0);
  EXPECT_EQ(t.sparse_dim(), 2);
}

// refusal gives the message with which a call is refused, which must be of the kind.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotImplemented);
    return error.what();
  }
  return "nothing";
}

TEST(Sparse, OperatorsOfStridedTensorsRefuseHandles) {
  Tensor handle = coalesce(sample()).handle();
  Tensor list[] = {ones({2, 3}, kFloat64), handle};
  auto names = [](const std::string& message, const char* name) {
    return message.find(name) != std::string::npos &&
           message.find("sparse_coo") != std::string::npos;
  };
  EXPECT_PRED2(names, refusal([&] { add(handle, 1); }), "'add'");
  EXPECT_PRED2(names, refusal([&] { exp(handle); }), "'exp'");
  EXPECT_PRED2(names, refusal([&] { sum(handle); }), "'sum'");
  EXPECT_PRED2(names, refusal([&] { matmul(handle, ones({3, 2}, kFloat64)); }), "'mm'");
  EXPECT_PRED2(names, refusal([&] { reshape(handle, {-1}); }), "");
  EXPECT_PRED2(names, refusal([&] { cat(TensorList(list)); }), "'cat'");
  EXPECT_PRED2(names, refusal([&] { mul_(list[0], handle); }), "'mul_'");
  EXPECT_TRUE(same(add(ones({2, 3}, kFloat64), SparseTensor(handle)),
                   add(to_dense(SparseTensor(handle)), 1)));
}

TEST(Sparse, BadPartsAreRefused) {
  Tensor at = positions({0, 5}, {1, 2});
  EXPECT_THROW(sparse_coo_tensor(at, numbers({1, 2}), {{3}}), Error);
  EXPECT_THROW(sparse_coo_tensor(at, numbers({1}), {{6}}), Error);
  Tensor crow = positions({0, 2, 1}, {3}), col = positions({0}, {1});
  EXPECT_THROW(sparse_csr_tensor(crow, col, numbers({1}), {{2, 2}}), Error);
  EXPECT_THROW(SparseTensor(numbers({1})), Error);
  EXPECT_THROW(mm(sample(), ones({2, 2}, kFloat64)), Error);
}

}  // namespace
}  // namespace facula
