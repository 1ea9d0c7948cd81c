// Nodes: lifetimes of deep graphs and of what they save, hooks in their order.
#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "facula/core/allocator.h"
#include "small_ops.h"

namespace facula {
namespace {

using namespace small;

class Nodes : public ::testing::Test {
  SmallOps ops_;
};

int64_t in_use() { return cpu_allocator().stats().allocated.current; }

TEST_F(Nodes, AMillionNodes) {
  int64_t before = in_use();
  {
    Tensor x = leaf({1}), y = x;
    for (int i = 0; i < 1000000; ++i) y = add(y, x);
    backward(sum(y));
    EXPECT_EQ(values(grad(x)), (Numbers{1000001}));
    y = mul(x, x);
    for (int i = 0; i < 300000; ++i) y = mul(y, x);  // with saved tensors, dropped unused
    std::vector<Tensor> g = grad({&y, 1}, {&y, 1}, {});
  }
  EXPECT_EQ(in_use(), before);
}

TEST_F(Nodes, SavedTensorsAreFreedOnTheWay) {
  Tensor x = leaf({1});
  Tensor y = mul(x, x);
  TensorImpl* inner = y.impl();
  Tensor z = mul(y, y);
  retain(inner);
  y = Tensor();
  EXPECT_GT(inner->refs.load(), 1u);
  backward(sum(z));
  EXPECT_EQ(inner->refs.load(), 1u);  // although z's graph is still there
  release(inner);
}

TEST_F(Nodes, HooksRunInOrder) {
  Tensor x = leaf({1});
  Tensor y = mul(x, x), z = mul(y, y);
  std::string order;
  auto note = [&](char c) {
    return hook([&order, c](Gradients&, const Gradients*) { order += c; });
  };
  add_accumulated_hook(x, note('A'));
  add_hook(x, note('x'));
  y->grad_fn->make_hooks().pre.push_back({1, note('p')});
  y->grad_fn->make_hooks().post.push_back({2, note('q')});
  add_hook(y, note('1'));
  uint64_t second = add_hook(y, note('2'));
  add_hook(y, note('3'));
  add_hook(z, note('z'));
  Tensor s = sum(z);
  backward({&s, 1}, {}, {.retain_graph = true});
  EXPECT_EQ(order, "z123pqxA");
  remove_hook(y, second);
  order.clear();
  backward(s);
  EXPECT_EQ(order, "z13pqxA");
}

TEST_F(Nodes, TensorHooksReplaceGradients) {
  Tensor x = leaf({1, 2});
  Tensor y = mul(x, x);
  add_hook(y, hook([](Gradients& g, const Gradients*) { g[0] = mul(g[0], vec({10, 10})); }));
  retain_grad(y);
  backward(sum(y));
  EXPECT_EQ(values(grad(y)), (Numbers{10, 10}));  // after the hooks
  EXPECT_EQ(values(grad(x)), (Numbers{20, 40}));
  Tensor z = mul(x, x);
  add_hook(z, hook([](Gradients& g, const Gradients*) { g[0] = vec({1, 2, 3}); }));
  EXPECT_NE(message_of([&] { backward(sum(z)); }).find("hook has changed the size of value"),
            std::string::npos);
}

TEST_F(Nodes, AreNumberedInOrder) {
  Tensor x = leaf({1});
  Tensor a = mul(x, x), b = add(x, x);
  EXPECT_LT(a->grad_fn->sequence, b->grad_fn->sequence);
  EXPECT_EQ(operator_name(*a->grad_fn), "Mul");
  Node* accumulator = a->grad_fn->edges[0].node.get();
  EXPECT_TRUE(accumulator->is_accumulator());
  EXPECT_EQ(accumulator->sequence, 0u);
  EXPECT_EQ(b->grad_fn->edges[1].node.get(), accumulator);
}

TEST_F(Nodes, OutputsWithoutGradientsAreOnlyCounted) {
  Tensor x = leaf({1});
  auto node = make_ref<AddNode>();
  node->add_edge(x);
  node->add_edge(vec({1}));
  EXPECT_TRUE(node->needs(0));
  EXPECT_FALSE(node->needs(1));
  EXPECT_FALSE(node->needs(2));
  Tensor index = new_empty({2}, kInt64), value = vec({1});
  node->set_history(index);
  node->set_history(Tensor());
  node->set_history(value);
  EXPECT_FALSE(requires_grad(index));
  EXPECT_EQ(value->output_nr, 2u);
  EXPECT_EQ(node->outputs.size(), 3u);
}

}  // namespace
}  // namespace facula
