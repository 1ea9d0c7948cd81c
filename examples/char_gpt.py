"""A character-level GPT that learns to write Python from the standard library's own sources.

    python examples/char_gpt.py [--steps 200] [--quick] [--sample 200]

Text: some modules of this Python's standard library, joined in the order below; characters outside
ASCII become '?', so the vocabulary is the 128 codes. Draws come in this order: the parameters as
the modules are made, then in each step the starts of the windows. `examples/cpp/char_gpt.cpp` reads
the same text with --text and prints the same losses.
"""

from __future__ import annotations

import argparse
import sysconfig
from pathlib import Path

import facula
from facula import nn
from facula.nn import functional as F

MODULES = ("argparse", "ast", "bisect", "calendar", "dataclasses", "heapq", "statistics")
VOCABULARY, WIDTH, HEADS, DEPTH, LENGTH, BATCH = 128, 64, 4, 2, 64, 16


def read_text() -> str:
    folder = Path(sysconfig.get_paths()["stdlib"])
    text = "".join((folder / f"{name}.py").read_text(encoding="utf-8") for name in MODULES)
    return text.encode("ascii", "replace").decode("ascii")


class Block(nn.Module):
    """Attention over the past and a two-layer network, both beside a residual path."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: facula.Tensor) -> facula.Tensor:
        b, t, _ = x.shape
        parts = self.qkv(self.norm1(x)).split(WIDTH, dim=2)
        q, k, v = (p.view(b, t, HEADS, WIDTH // HEADS).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class CharGPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(DEPTH)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, codes: facula.Tensor) -> facula.Tensor:
        x = self.tokens(codes) + self.places(facula.arange(codes.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def write(model: CharGPT, start: str, count: int) -> str:
    """Continue a text by the most probable characters, drawn one by one."""
    codes = facula.tensor([[ord(c) for c in start]])
    with facula.no_grad():
        for _ in range(count):
            last = model(codes[:, -LENGTH:])[:, -1]
            drawn = facula.multinomial(facula.softmax(last / 0.8, -1), 1)
            codes = facula.cat([codes, drawn], 1)
    return "".join(map(chr, codes[0].tolist()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--sample", type=int, default=200, help="characters to write at the end")
    parser.add_argument("--quick", action="store_true", help="5 steps, to see that it runs")
    parser.add_argument("--save-text", help="write the training text to this file, for C++")
    args = parser.parse_args()
    steps, sample = (5, 20) if args.quick else (args.steps, args.sample)

    text = read_text()
    if args.save_text:
        Path(args.save_text).write_text(text)
    data = facula.frombuffer(bytearray(text, "ascii"), dtype=facula.uint8).long()
    print(f"{len(data)} characters")

    facula.manual_seed(0)
    model = CharGPT()
    optimizer = facula.optim.AdamW(model.parameters(), lr=3e-3)
    offsets = facula.arange(LENGTH + 1)
    for step in range(steps):
        starts = facula.randint(0, len(data) - LENGTH, (BATCH, 1))
        window = data[starts + offsets]
        optimizer.zero_grad()
        scores = model(window[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), window[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        if step % 10 == 0 or step == steps - 1:
            print(f"step {step:4}  loss {loss.item():.6f}", flush=True)
    print(write(model, "def ", sample))


if __name__ == "__main__":
    main()
