// Tests of the engine: order, accumulation, memory, deep graphs, hooks, re-entrance, threads.
#include "facula/autograd/engine.h"

#include <gtest/gtest.h>

#include <thread>

#include "facula/core/allocator.h"
#include "facula/core/observer.h"
#include "small_ops.h"

namespace facula {
namespace {

using namespace small;

class Engine : public ::testing::Test {
  SmallOps ops_;
};

int64_t in_use() { return cpu_allocator().stats().allocated.current; }

TEST_F(Engine, ChainRule) {
  Tensor x = leaf({1, 2, 3}), y = leaf({4, 5, 6});
  Tensor z = sum(mul(mul(x, y), x));
  backward(z);
  EXPECT_EQ(values(grad(x)), (Numbers{8, 20, 36}));
  EXPECT_EQ(values(grad(y)), (Numbers{1, 4, 9}));
  EXPECT_TRUE(is_leaf(x));
  EXPECT_FALSE(is_leaf(z));
}

TEST_F(Engine, BroadcastGradientsAreSummed) {
  Tensor x = leaf({1, 2}), s = leaf({3});
  backward(sum(mul(x, s)));
  EXPECT_EQ(values(grad(s)), (Numbers{3}));
  EXPECT_EQ(grad(s).sizes(), IntList({1}));
}

TEST_F(Engine, DiamondsRunEachNodeOnce) {
  Tensor x = leaf({2});
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = add(y, y);  // 2^60 paths
  backward(sum(y));
  EXPECT_EQ(values(grad(x)), (Numbers{std::pow(2.0, 60)}));
}

TEST_F(Engine, SecondBackwardRaisesUnlessRetained) {
  Tensor x = leaf({2});
  Tensor y = sum(mul(x, x));
  backward(std::span(&y, 1), {}, {.retain_graph = true});
  backward(y);
  EXPECT_EQ(values(grad(x)), (Numbers{8}));
  EXPECT_NE(message_of([&] { backward(y); }).find("backward through the graph a second time"),
            std::string::npos);
  Tensor z = sum(add(x, x));  // nothing saved, nothing missing
  backward(z);
  backward(z);
}

TEST_F(Engine, SecondDerivatives) {
  Tensor x = leaf({3});
  Tensor y = mul(mul(x, x), x);
  Tensor s = sum(y);
  std::vector<Tensor> g = grad({&s, 1}, {&x, 1}, {}, {.create_graph = true});
  EXPECT_EQ(values(g[0]), (Numbers{27}));
  std::vector<Tensor> gg = grad({&g[0], 1}, {&x, 1}, {}, {.create_graph = true});
  EXPECT_EQ(values(gg[0]), (Numbers{18}));
  EXPECT_EQ(values(grad({&gg[0], 1}, {&x, 1})[0]), (Numbers{6}));
  EXPECT_FALSE(grad(x).defined());

  Tensor t = leaf({0.3});
  Tensor u = sum(sigmoid(t));
  Tensor du = grad({&u, 1}, {&t, 1}, {}, {.create_graph = true})[0];
  Tensor d2u = grad({&du, 1}, {&t, 1})[0];
  double y0 = sigmoid_of(0.3);
  EXPECT_NEAR(values(d2u)[0], y0 * (1 - y0) * (1 - 2 * y0), 1e-12);
}

TEST_F(Engine, LeavesDieWithTheirGraphs) {
  int64_t before = in_use();
  Tensor y;
  {
    Tensor x = leaf({1});
    y = sum(mul(x, x));
  }
  backward(y);  // the leaf lives as long as edges lead to it
  y = Tensor();
  EXPECT_EQ(in_use(), before);
}

TEST_F(Engine, PassesMayBeNested) {
  Tensor x = leaf({3});
  Tensor y = mul(x, x);
  Tensor other = leaf({5});
  bool inner = false;
  add_hook(y, hook([&](Gradients&, const Gradients*) {
             if (std::exchange(inner, true)) return;
             GradMode on(true);
             backward(sum(mul(other, other)));
             // through the graph that is being run, up to the node whose hook this is
             Tensor s = sum(y);
             EXPECT_EQ(values(grad({&s, 1}, {&x, 1}, {}, {.retain_graph = true})[0]), (Numbers{6}));
           }));
  backward(sum(mul(y, y)));
  EXPECT_EQ(values(grad(other)), (Numbers{10}));
  EXPECT_EQ(values(grad(x)), (Numbers{2 * 9 * 6}));
}

TEST_F(Engine, AFailedPassLeavesTheGraphUsable) {
  Tensor x = leaf({2});
  Tensor y = mul(x, x), z = mul(x, y);
  bool fail_now = true;
  add_hook(y, hook([&](Gradients&, const Gradients*) {
             if (fail_now) raise_error(ErrorKind::kRuntime, "no");
           }));
  Tensor s = sum(add(y, z));
  BackwardOptions keep{.retain_graph = true};
  EXPECT_EQ(message_of([&] { backward({&s, 1}, {}, keep); }), "no");
  fail_now = false;
  set_grad(x, Tensor());
  backward({&s, 1}, {}, keep);
  EXPECT_EQ(values(grad(x)), (Numbers{4 + 12}));
}

TEST_F(Engine, ThreadsShareAGraph) {
  Tensor x = leaf(Numbers(50, 1.0));
  Tensor y = x;
  for (int i = 0; i < 200; ++i) y = mul(y, x);
  Tensor s = sum(y);
  constexpr int kThreads = 4, kRounds = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) backward({&s, 1}, {}, {.retain_graph = true});
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(values(grad(x)), Numbers(50, 201.0 * kThreads * kRounds));
}

TEST_F(Engine, ThreadsThatReleaseASharedGraphDoNotCrash) {
  for (int round = 0; round < 50; ++round) {
    Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < 50; ++i) y = mul(y, x);
    std::atomic<int> failed{0};
    auto run = [&] {
      try {
        backward(sum(y));
      } catch (const Error&) {
        ++failed;
      }
    };
    std::thread a(run), b(run);
    a.join();
    b.join();
    EXPECT_LE(failed.load(), 1);
  }
}

struct BadNode final : Node {
  const char* name() const override { return "BadBackward0"; }
  void apply(Gradients&, Gradients& grads_in) override { grads_in[0] = vec({1, 2, 3, 4, 5}); }
};

TEST_F(Engine, WrongShapesNameTheNode) {
  Tensor x = leaf({1, 2});
  Tensor y = vec({1, 2});
  auto node = make_ref<BadNode>();
  node->add_edge(x);
  node->set_history(y);
  EXPECT_EQ(message_of([&] { backward(sum(y)); }),
            "Function BadBackward0 returned an invalid gradient at index 0 - got [5] but expected "
            "shape compatible with [2]");
}

TEST_F(Engine, UndefinedGradientsBecomeZeros) {
  Tensor x = leaf({1, 2, 3});
  std::vector<Tensor> parts = unbind(x);
  backward(parts[1]);
  EXPECT_EQ(values(grad(x)), (Numbers{0, 1, 0}));
}

TEST_F(Engine, CallbacksRunAfterTheOutermostPass) {
  static std::string order;
  order.clear();
  Tensor x = leaf({1});
  Tensor y = mul(x, x);
  add_hook(y, hook([&](Gradients&, const Gradients*) {
             queue_callback([](void*) { order += "end"; }, nullptr);
             GradMode on(true);
             backward(sum(mul(x, x)));
             order += "hook ";
           }));
  backward(sum(y));
  EXPECT_EQ(order, "hook end");
  EXPECT_THROW(queue_callback([](void*) {}, nullptr), Error);
}

TEST_F(Engine, AnomalyModeNamesTheCall) {
  Tensor x = leaf({1}), nan = vec({NAN});
  set_anomaly_mode(true, true);
  std::string text = message_of([&] { backward(sum(mul(x, nan))); });
  set_anomaly_mode(false, false);
  EXPECT_NE(text.find("Function 'MulBackward0' returned nan values in its 0th output."),
            std::string::npos);
  EXPECT_NE(text.find("Error detected in MulBackward0"), std::string::npos);
}

TEST_F(Engine, CreateGraphMakesGradientsDifferentiable) {
  Tensor x = leaf({3});
  Tensor s = sum(mul(x, mul(x, x)));
  backward({&s, 1}, {}, {.create_graph = true});
  Tensor g = grad(x);
  EXPECT_TRUE(requires_grad(g));
  set_grad(x, Tensor());
  backward(sum(g));
  EXPECT_EQ(values(grad(x)), (Numbers{18}));
}

// Notes nodes: "[" and the name where the engine begins with one, "(" where its formulas do.
struct NodeNames final : CallObserver {
  std::string text;
  std::vector<char> open;
  uint64_t begin_call(const OpInfo&, std::span<const Value>) override { return 0; }
  uint64_t begin_node(NodePart part, const char* name, uint64_t) override {
    text += part == kEvaluate ? str("[", name, " ") : "(";
    open.push_back(part == kEvaluate ? ']' : ')');
    return 0;
  }
  void end(uint64_t, const Values*) noexcept override {
    text += open.back();
    open.pop_back();
  }
};

TEST_F(Engine, TellsTheObserverOfNodes) {
  Tensor x = leaf({1, 2});
  Tensor y = sum(mul(x, x));
  std::string last(y->grad_fn->name());
  std::string first(y->grad_fn->edges[0].node->name());
  NodeNames names;
  set_call_observer(&names);
  backward(y);
  set_call_observer(nullptr);
  std::string leaf = "[AccumulateGrad ()]";
  EXPECT_EQ(names.text, str("[", last, " ()][", first, " ()]", leaf, leaf));
  EXPECT_TRUE(names.open.empty());
  EXPECT_EQ(values(grad(x)), (Numbers{2, 4}));
}

}  // namespace
}  // namespace facula
