// A generative adversarial network that learns to draw 8 x 8 digits.
//
//     gan [--steps 300] [--quick]
//
// The twin of examples/gan.py: the same draws in the same order and the same losses.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "facula/nn/nn.h"

using namespace facula;

namespace {

constexpr int64_t kNoise = 16, kBatch = 64;

nn::Sequential create_generator() {
  return nn::Sequential{nn::Linear(kNoise, 64), nn::ReLU(), nn::Linear(64, 64), nn::Sigmoid()};
}

nn::Sequential create_discriminator() {
  return nn::Sequential{nn::Linear(64, 64), nn::LeakyReLU(0.2), nn::Linear(64, 1)};
}

void train(int steps) {
  Tensor images = flatten(nn::digits("train").tensors()[0], 1);
  nn::Sequential generator = create_generator();
  nn::Sequential discriminator = create_discriminator();
  optim::Adam optim_g(generator.parameters(), {.lr = 2e-3});
  optim::Adam optim_d(discriminator.parameters(), {.lr = 2e-3});
  Tensor real_label = ones({kBatch, 1}), fake_label = zeros({kBatch, 1});

  for (int step = 0; step < steps; ++step) {
    Tensor real = index_select(images, 0, randint(images.size(0), {kBatch}));
    Tensor noise = randn({kBatch, kNoise});

    // The discriminator: real images are real, drawn ones are not.
    optim_d.zero_grad();
    Tensor error_real = binary_cross_entropy_with_logits(discriminator(real), real_label);
    backward(error_real);
    Tensor fake = generator(noise);
    Tensor guess = discriminator(detach(fake));
    Tensor error_fake = binary_cross_entropy_with_logits(guess, fake_label);
    backward(error_fake);
    optim_d.step();

    // The generator: its images should pass for real.
    optim_g.zero_grad();
    Tensor error_g = binary_cross_entropy_with_logits(discriminator(fake), real_label);
    backward(error_g);
    optim_g.step();

    if (step % 20 == 0 || step == steps - 1) {
      std::printf("step %4d  discriminator %.6f  generator %.6f\n", step,
                  item(error_real + error_fake), item(error_g));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 300;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--quick") steps = 20;
    if (std::string_view(argv[i]) == "--steps" && i + 1 < argc) steps = std::atoi(argv[++i]);
  }
  try {
    manual_seed(0);
    train(steps);
  } catch (const Error& error) {
    std::fprintf(stderr, "gan: %s\n", error.what());
    return 1;
  }
  return 0;
}
