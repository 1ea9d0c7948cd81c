// Tests of custom functions written in C++, and of how their outputs join the graph.
#include "facula/autograd/function.h"

#include <gtest/gtest.h>

#include "facula/core/allocator.h"
#include "small_ops.h"

namespace facula {
namespace {

using namespace small;
using List = std::vector<Tensor>;

class CustomFunction : public ::testing::Test {
  SmallOps ops_;
};

// x^2 * scale, with a wrong gradient on purpose: scale * 10 * x.
struct Tenfold : Function<Tenfold> {
  static Tensor forward(Context& ctx, const Tensor& x, double scale) {
    EXPECT_FALSE(grad_enabled());
    ctx.save_for_backward({x});
    ctx.saved_data["scale"] = scale;
    return mul(mul(x, x), vec({scale}));
  }
  static List backward(Context& ctx, const List& grads) {
    double scale = std::any_cast<double>(ctx.saved_data["scale"]);
    return {mul(mul(grads[0], ctx.saved_tensors()[0]), vec({10 * scale}))};
  }
};

TEST_F(CustomFunction, ForwardAndBackward) {
  Tensor x = leaf({2, 3});
  Tensor y = Tenfold::apply(x, 2.0);
  EXPECT_EQ(values(y), (Numbers{8, 18}));
  EXPECT_STREQ(grad_fn(y)->name(), "TenfoldBackward");
  Tensor s = sum(y);
  Tensor g = grad({&s, 1}, {&x, 1}, {}, {.create_graph = true})[0];
  EXPECT_EQ(values(g), (Numbers{40, 60}));
  Tensor t = sum(g);  // backward runs recorded
  EXPECT_EQ(values(grad({&t, 1}, {&x, 1})[0]), (Numbers{20, 20}));
  EXPECT_FALSE(requires_grad(Tenfold::apply(vec({1}), 1.0)));
  Tensor z = sum(Tenfold::apply(x, 1.0));
  backward(z);
  EXPECT_NE(message_of([&] { backward(z); }).find("a second time"), std::string::npos);
}

// Saves its result, which must not make a cycle.
struct Exp : Function<Exp> {
  static Tensor forward(Context& ctx, const Tensor& x) {
    Tensor y = zip(x, x, [](double a, double) { return std::exp(a); });
    ctx.save_for_backward({y});
    return y;
  }
  static List backward(Context& ctx, const List& grads) {
    return {mul(grads[0], ctx.saved_tensors()[0])};
  }
};

TEST_F(CustomFunction, SavedOutputsMakeNoCycle) {
  int64_t before = cpu_allocator().stats().allocated.current;
  {
    Tensor x = leaf({0.5});
    Exp::apply(x);
    Tensor s = sum(Exp::apply(x));
    Tensor g = grad({&s, 1}, {&x, 1}, {}, {.create_graph = true})[0];
    EXPECT_DOUBLE_EQ(values(grad({&g, 1}, {&x, 1})[0])[0], std::exp(0.5));
  }
  EXPECT_EQ(cpu_allocator().stats().allocated.current, before);
}

// Two outputs, the second without a gradient.
struct Split : Function<Split> {
  static List forward(Context& ctx, const List& inputs) {
    List out{mul(inputs[0], inputs[1]), add(inputs[0], inputs[1]), vec({7})};
    ctx.mark_non_differentiable({&out[2], 1});
    return out;
  }
  static List backward(Context& ctx, const List& grads) {
    EXPECT_TRUE(grads[0].defined());  // zeros
    EXPECT_EQ(ctx.needs_input_grad(0), true);
    EXPECT_EQ(ctx.needs_input_grad(1), false);
    return {add(grads[0], grads[1]), Tensor()};
  }
};

TEST_F(CustomFunction, SeveralOutputs) {
  Tensor x = leaf({2}), y = vec({5});
  List out = Split::apply(List{x, y});
  EXPECT_TRUE(requires_grad(out[1]));
  EXPECT_FALSE(requires_grad(out[2]));
  backward(sum(out[1]));
  EXPECT_EQ(values(grad(x)), (Numbers{1}));
}

struct Undefined : Function<Undefined> {
  static List forward(Context& ctx, const Tensor& x) {
    ctx.set_materialize_grads(false);
    return {mul(x, x), add(x, x)};
  }
  static List backward(Context&, const List& grads) {
    EXPECT_FALSE(grads[0].defined());
    return {grads[1]};
  }
};

TEST_F(CustomFunction, UndefinedGradientsOnDemand) {
  Tensor x = leaf({2});
  backward(sum(Undefined::apply(x)[1]));
  EXPECT_EQ(values(grad(x)), (Numbers{1}));
}

struct Increment : Function<Increment> {
  static Tensor forward(Context& ctx, const Tensor& x) {
    ctx.mark_dirty({&x, 1});
    add_(x, vec({1}));
    return x;
  }
  static List backward(Context&, const List& grads) { return {mul(grads[0], vec({10}))}; }
};

TEST_F(CustomFunction, InPlace) {
  Tensor x = leaf({1, 2});
  Tensor y = mul(x, vec({2}));
  Tensor z = Increment::apply(y);
  EXPECT_TRUE(z.is_same(y));
  backward(sum(z));
  EXPECT_EQ(values(grad(x)), (Numbers{20, 20}));
  EXPECT_NE(message_of([&] { Increment::apply(x); }).find("a leaf Variable that requires grad"),
            std::string::npos);
  Tensor base = mul(leaf({1, 2}), vec({1})), w = leaf({3, 4});
  base = mul(w, vec({2}));
  Increment::apply(as_strided(base, {1}, {1}, 0));
  EXPECT_STREQ(grad_fn(base)->name(), "CopySlices");
  backward(sum(base));
  EXPECT_EQ(values(grad(w)), (Numbers{20, 2}));
}

struct DirtyButLost : Function<DirtyButLost> {
  static Tensor forward(Context& ctx, const Tensor& x) {
    ctx.mark_dirty({&x, 1});
    return mul(x, x);
  }
  static List backward(Context&, const List& grads) { return grads; }
};

struct Identity : Function<Identity> {
  static Tensor forward(Context&, const Tensor& x) { return x; }
  static List backward(Context&, const List& grads) { return {mul(grads[0], vec({3}))}; }
};

struct First : Function<First> {
  static Tensor forward(Context&, const Tensor& x) { return as_strided(x, {1}, {1}, x->offset); }
  static List backward(Context&, const List& grads) {
    return {mul(vec({1, 0}), expanded(grads[0], {2}))};
  }
};

TEST_F(CustomFunction, ViewsAndReturnedInputs) {
  Tensor x = leaf({1, 2});
  EXPECT_NE(message_of([&] { DirtyButLost::apply(mul(x, x)); }).find("marked as dirty"),
            std::string::npos);
  Tensor y = Identity::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_EQ(y.data(), x.data());
  backward(sum(y));
  EXPECT_EQ(values(grad(x)), (Numbers{3, 3}));
  EXPECT_FALSE(Identity::apply(vec({1})).is_same(x));
  Tensor base = mul(x, x), part = First::apply(base);
  EXPECT_NE(message_of([&] {
              mul_(part, vec({2}));
            }).find("This view was created inside a custom Function"),
            std::string::npos);
  backward(sum(part));
  EXPECT_EQ(values(grad(x)), (Numbers{5, 3}));
}

struct WrongCount : Function<WrongCount> {
  static Tensor forward(Context&, const Tensor& a, const Tensor& b) { return add(a, b); }
  static List backward(Context&, const List& grads) { return {grads[0]}; }
};

TEST_F(CustomFunction, TheNumberOfGradientsIsChecked) {
  Tensor x = leaf({1});
  EXPECT_EQ(
      message_of([&] { backward(sum(WrongCount::apply(x, x))); }),
      "function WrongCountBackward returned an incorrect number of gradients (expected 2, got "
      "1)");
}

}  // namespace
}  // namespace facula
