// Train a small convolutional network on handwritten digits.
//
//     digits [--epochs 20] [--quick]
//
// The twin of examples/digits.py: the same draws in the same order and the same losses.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "facula/nn/nn.h"

using namespace facula;

namespace {

constexpr int64_t kBatch = 32;

nn::Sequential make_model() {
  return nn::Sequential{
      nn::Conv2d(1, 16, 3, {.padding = 1}),
      nn::ReLU(),
      nn::Conv2d(16, 32, 3, {.padding = 1}),
      nn::ReLU(),
      nn::MaxPool2d(2),
      nn::Flatten(),
      nn::Linear(32 * 4 * 4, 64),
      nn::ReLU(),
      nn::Linear(64, 10),
  };
}

double accuracy(nn::Module& model, const nn::TensorDataset& data) {
  NoGrad off;
  model.eval();
  Tensor guesses = argmax(model(data.tensors()[0]), 1);
  model.train();
  return item(sum(eq(guesses, data.tensors()[1]))) / static_cast<double>(data.size());
}

void train(nn::Module& model, int epochs) {
  nn::TensorDataset data = nn::digits("train");
  optim::Adam optimizer(model.parameters(), {.lr = 2e-3});
  auto start = std::chrono::steady_clock::now();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double total = 0;
    std::vector<Tensor> batches = split(randperm(data.size()), kBatch);
    for (const Tensor& batch : batches) {
      std::vector<Tensor> samples = data.at(batch);
      optimizer.zero_grad();
      Tensor loss = cross_entropy(model(samples[0]), samples[1]);
      backward(loss);
      optimizer.step();
      total += item(loss);
    }
    std::printf("epoch %2d  loss %.6f\n", epoch, total / static_cast<double>(batches.size()));
    std::fflush(stdout);
  }
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  std::printf("trained in %.1f s\n", spent.count());
}

}  // namespace

int main(int argc, char** argv) {
  int epochs = 20;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--quick") epochs = 1;
    if (std::string_view(argv[i]) == "--epochs" && i + 1 < argc) epochs = std::atoi(argv[++i]);
  }
  try {
    manual_seed(0);
    nn::Sequential model = make_model();
    train(model, epochs);
    std::printf("test accuracy %.2f%%\n", 100 * accuracy(model, nn::digits("test")));
  } catch (const Error& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
  return 0;
}
