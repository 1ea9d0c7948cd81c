// A layer and a gradient of one's own.
//
//     custom_layer [--steps 200] [--quick]
//
// The twin of examples/custom_layer.py: the same draws in the same order and the same losses. Where
// Python calls gradcheck, the gradient of Clip is compared with finite differences here.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "facula/nn/nn.h"

using namespace facula;

namespace {

constexpr int64_t kSamples = 500, kBatch = 50;

// Clip to [-limit, limit]; the gradient is that of the identity inside and a tenth outside.
struct Clip : Function<Clip> {
  static Tensor forward(Context& ctx, const Tensor& x, double limit) {
    ctx.save_for_backward({x});
    ctx.saved_data["limit"] = limit;
    return clamp(x, -limit, limit);
  }
  static std::vector<Tensor> backward(Context& ctx, const std::vector<Tensor>& grads) {
    Tensor x = ctx.saved_tensors()[0];
    Tensor inside = le(abs(x), std::any_cast<double>(ctx.saved_data["limit"]));
    return {grads[0] * (0.1 + 0.9 * to(inside, std::nullopt, grads[0].dtype()))};
  }
};

// sigmoid(x G + g) * (x W + b), with weights drawn from a normal distribution.
struct GatedLinear : nn::Module {
  GatedLinear(int64_t features, int64_t outputs) : Module("GatedLinear") {
    double scale = std::pow(static_cast<double>(features), -0.5);
    weight = register_parameter("weight", randn({features, outputs}) * scale);
    gate = register_parameter("gate", randn({features, outputs}) * scale);
    bias = register_parameter("bias", zeros({2, outputs}));
  }
  Tensor forward(const Tensor& x) override {
    Tensor open = sigmoid(matmul(x, gate) + select(bias, 0, 0));
    return open * (matmul(x, weight) + select(bias, 0, 1));
  }
  std::string extra_repr() const override { return str(weight.size(0), ", ", weight.size(1)); }

  Tensor weight, gate, bias;
};

struct Net : nn::Module {
  Net()
      : Module("Net"),
        hidden(register_module("hidden", GatedLinear(1, 32))),
        out(register_module("out", nn::Linear(32, 1))) {}
  Tensor forward(const Tensor& x) override { return Clip::apply(out(hidden(x)), 1.5); }

  GatedLinear& hidden;
  nn::Linear& out;
};

// clip_is_right compares Clip's gradient inside the limit with central differences.
bool clip_is_right() {
  Tensor x = linspace(-1, 1, 8, kFloat64);
  set_requires_grad(x, true);
  backward(sum(Clip::apply(x, 2.0)));
  NoGrad off;
  const double step = 1e-6;
  Tensor slope = (Clip::apply(x + step, 2.0) - Clip::apply(x - step, 2.0)) / (2 * step);
  return item(sum(abs(slope - grad(x)))) < 1e-6;
}

void train(int passes) {
  Tensor x = rand({kSamples, 1}) * 4 - 2;
  Tensor y = sin(2 * x) + 0.05 * randn({kSamples, 1});
  Net net;
  std::printf("%s\n", net.repr().c_str());
  optim::AdamW optimizer(net.parameters(), {.lr = 1e-2});
  for (int pass = 0; pass < passes; ++pass) {
    double total = 0;
    for (const Tensor& batch : split(randperm(kSamples), kBatch)) {
      optimizer.zero_grad();
      Tensor loss = mse_loss(net(index_select(x, 0, batch)), index_select(y, 0, batch));
      backward(loss);
      optimizer.step();
      total += item(loss) * static_cast<double>(batch.size(0));
    }
    if (pass % 20 == 0 || pass == passes - 1) {
      std::printf("pass %3d  loss %.6f\n", pass, total / kSamples);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int passes = 200;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--quick") passes = 10;
    if (std::string_view(argv[i]) == "--steps" && i + 1 < argc) passes = std::atoi(argv[++i]);
  }
  try {
    bool right = clip_is_right();
    std::printf("gradient of Clip checked: %s\n", right ? "True" : "False");
    manual_seed(0);
    train(passes);
    return right ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "custom_layer: %s\n", error.what());
    return 1;
  }
}
