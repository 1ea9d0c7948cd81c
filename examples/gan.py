"""A generative adversarial network in the few lines that PyTorch's 2019 paper needs (listing 2).

    python examples/gan.py [--steps 300] [--quick]

The generator learns to draw 8 x 8 digits. Draws come in this order: the generator's parameters, the
discriminator's, then in each step the indices of real images and the noise. `examples/cpp/gan.cpp`
prints the same losses.
"""

from __future__ import annotations

import argparse

import facula
from facula import nn, optim
from facula.datasets import digits

NOISE, BATCH = 16, 64


def create_generator() -> nn.Module:
    return nn.Sequential(nn.Linear(NOISE, 64), nn.ReLU(), nn.Linear(64, 64), nn.Sigmoid())


def create_discriminator() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="20 steps, to see that it runs")
    args = parser.parse_args()
    steps = 20 if args.quick else args.steps

    facula.manual_seed(0)
    images = digits("train").tensors[0].flatten(1)
    generator, discriminator = create_generator(), create_discriminator()
    optim_g = optim.Adam(generator.parameters(), lr=2e-3)
    optim_d = optim.Adam(discriminator.parameters(), lr=2e-3)
    loss = nn.BCEWithLogitsLoss()
    real_label, fake_label = facula.ones(BATCH, 1), facula.zeros(BATCH, 1)

    for step in range(steps):
        real = images[facula.randint(0, len(images), (BATCH,))]
        noise = facula.randn(BATCH, NOISE)

        # The discriminator: real images are real, drawn ones are not.
        optim_d.zero_grad()
        error_real = loss(discriminator(real), real_label)
        error_real.backward()
        fake = generator(noise)
        error_fake = loss(discriminator(fake.detach()), fake_label)
        error_fake.backward()
        optim_d.step()

        # The generator: its images should pass for real.
        optim_g.zero_grad()
        error_g = loss(discriminator(fake), real_label)
        error_g.backward()
        optim_g.step()

        if step % 20 == 0 or step == steps - 1:
            error_d = (error_real + error_fake).item()
            print(f"step {step:4}  discriminator {error_d:.6f}  generator {error_g.item():.6f}")


if __name__ == "__main__":
    main()
