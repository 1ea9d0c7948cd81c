"""A layer and a gradient of one's own.

    python examples/custom_layer.py [--steps 200] [--quick]

`Clip` is an `autograd.Function`: it clips its input and lets the gradient through where the input
lay inside. `GatedLinear` is a module made of parameters. Together they fit a noisy curve. Draws
come in this order: the data, the parameters, then one permutation a pass.
`examples/cpp/custom_layer.cpp` prints the same losses.
"""

from __future__ import annotations

import argparse
from typing import Any

import facula
from facula import nn
from facula.autograd import gradcheck

BATCH = 50


class Clip(facula.autograd.Function):
    """Clip to [-limit, limit]; the gradient is that of the identity inside and a tenth outside."""

    @staticmethod
    def forward(ctx: Any, x: facula.Tensor, limit: float) -> facula.Tensor:
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.clamp(-limit, limit)

    @staticmethod
    def backward(ctx: Any, grad: facula.Tensor) -> tuple[facula.Tensor, None]:
        (x,) = ctx.saved_tensors
        inside = (x.abs() <= ctx.limit).to(grad.dtype)
        return grad * (0.1 + 0.9 * inside), None


class GatedLinear(nn.Module):
    """`sigmoid(x G + g) * (x W + b)`, with weights drawn from a normal distribution."""

    def __init__(self, features: int, outputs: int) -> None:
        super().__init__()
        scale = features**-0.5
        self.weight = nn.Parameter(facula.randn(features, outputs) * scale)
        self.gate = nn.Parameter(facula.randn(features, outputs) * scale)
        self.bias = nn.Parameter(facula.zeros(2, outputs))

    def forward(self, x: facula.Tensor) -> facula.Tensor:
        gate = facula.sigmoid(x @ self.gate + self.bias[0])
        return gate * (x @ self.weight + self.bias[1])

    def extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = GatedLinear(1, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, x: facula.Tensor) -> facula.Tensor:
        return Clip.apply(self.out(self.hidden(x)), 1.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="passes over the data")
    parser.add_argument("--quick", action="store_true", help="10 passes, to see that it runs")
    args = parser.parse_args()
    passes = 10 if args.quick else args.steps

    inside = facula.linspace(-1, 1, 8, dtype=facula.float64).requires_grad_()
    print("gradient of Clip checked:", gradcheck(lambda x: Clip.apply(x, 2.0), (inside,)))

    facula.manual_seed(0)
    x = facula.rand(500, 1) * 4 - 2
    y = facula.sin(2 * x) + 0.05 * facula.randn(500, 1)
    net = Net()
    print(net)
    optimizer = facula.optim.AdamW(net.parameters(), lr=1e-2)
    for step in range(passes):
        total = 0.0
        for batch in facula.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x[batch]), y[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        if step % 20 == 0 or step == passes - 1:
            print(f"pass {step:3}  loss {total / len(x):.6f}")


if __name__ == "__main__":
    main()
