"""Train a small convolutional network on handwritten digits, save it, reload it, classify.

    python examples/digits.py [--epochs 20] [--quick] [--out FOLDER]

Everything is drawn from one generator in this order: the parameters, layer by layer as the model
lists them, then one permutation of the training images an epoch. `examples/cpp/digits.cpp` does the
same and prints the same losses.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import facula
from facula import nn
from facula.datasets import digits
from facula.nn import functional as F

BATCH = 32


def make_model() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def show_progress(done: int, total: int, start: float, text: str) -> None:
    """Draw a progress bar over the line before; nothing where the output is not a terminal."""
    if not sys.stderr.isatty():
        return
    width = 30
    filled = width * done // total
    bar = "█" * filled + "·" * (width - filled)
    rate = done / max(time.perf_counter() - start, 1e-9)
    print(f"\r{done:5}/{total} |{bar}| {rate:6.0f} it/s {text}", end="", file=sys.stderr)
    if done == total:
        print(file=sys.stderr)


def accuracy(model: nn.Module, images: facula.Tensor, labels: facula.Tensor) -> float:
    model.eval()
    with facula.no_grad():
        right = (model(images).argmax(1) == labels).sum().item()
    model.train()
    return right / len(labels)


def train(model: nn.Module, epochs: int) -> dict[str, list[float]]:
    images, labels = digits("train").tensors
    test_images, test_labels = digits("test").tensors
    optimizer = facula.optim.Adam(model.parameters(), lr=2e-3)
    curves: dict[str, list[float]] = {"loss": [], "accuracy": []}
    batches = -(-len(images) // BATCH)
    start = time.perf_counter()
    for epoch in range(epochs):
        total = 0.0
        for i, batch in enumerate(facula.randperm(len(images)).split(BATCH)):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item()
            done = epoch * batches + i + 1
            show_progress(done, epochs * batches, start, f"loss {total / (i + 1):.4f}")
        curves["loss"].append(total / batches)
        curves["accuracy"].append(accuracy(model, test_images, test_labels))
        print(f"epoch {epoch + 1:2}  loss {curves['loss'][-1]:.6f}", flush=True)
    print(f"trained in {time.perf_counter() - start:.1f} s")
    return curves


def draw_curves(curves: dict[str, list[float]], path: Path) -> Path:
    """Draw loss and accuracy with matplotlib where there is one, else as an SVG of our own."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        path = path.with_suffix(".svg")
        path.write_text(svg_of(curves))
        return path
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.5))
    for axis, (name, values) in zip(axes, curves.items(), strict=True):
        axis.plot(range(1, len(values) + 1), values)
        axis.set(title=name, xlabel="epoch")
    figure.tight_layout()
    figure.savefig(path.with_suffix(".png"))
    return path.with_suffix(".png")


def svg_of(curves: dict[str, list[float]]) -> str:
    width, height, margin = 360, 240, 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * len(curves)}" '
        f'height="{height}" font-family="sans-serif" font-size="12">'
    ]
    for k, (name, values) in enumerate(curves.items()):
        low, high = min(values), max(values)
        span = high - low or 1.0
        left, right = k * width + margin, (k + 1) * width - margin / 2
        points = " ".join(
            f"{left + (right - left) * i / max(len(values) - 1, 1):.1f},"
            f"{height - margin - (height - 2 * margin) * (v - low) / span:.1f}"
            for i, v in enumerate(values)
        )
        parts += [
            f'<text x="{left}" y="{margin / 2}">{name}: {values[-1]:.4f} at the end</text>',
            f'<text x="{left - 36}" y="{margin + 4}">{high:.3f}</text>',
            f'<text x="{left - 36}" y="{height - margin + 4}">{low:.3f}</text>',
            f'<text x="{(left + right) / 2}" y="{height - 10}">epoch</text>',
            f'<path d="M{left},{margin} V{height - margin} H{right}" fill="none" stroke="#888"/>',
            f'<polyline points="{points}" fill="none" stroke="#1f77b4" stroke-width="2"/>',
        ]
    return "\n".join([*parts, "</svg>\n"])


def show_digit(image: facula.Tensor) -> str:
    """Return an image as characters."""
    shades = " .:-=+*#%@"
    return "\n".join("".join(2 * shades[round(v * 9)] for v in row) for row in image[0].tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="one epoch, to see that it runs")
    parser.add_argument("--out", default=os.environ.get("FACULA_EXAMPLE_OUT", "out"))
    args = parser.parse_args()
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)

    facula.manual_seed(0)
    model = make_model()
    curves = train(model, 1 if args.quick else args.epochs)
    images, labels = digits("test").tensors
    print(f"test accuracy {accuracy(model, images, labels):.2%}")

    checkpoint = out / "digits.pt"
    facula.save({"model": model.state_dict(), "curves": curves}, checkpoint)
    picture = draw_curves(curves, out / "digits")
    print(f"saved {checkpoint} and {picture}")

    again = make_model()
    again.load_state_dict(facula.load(checkpoint)["model"])
    again.eval()
    with facula.no_grad():
        guesses = again(images[:3]).argmax(1).tolist()
    print(f"reloaded: test accuracy {accuracy(again, images, labels):.2%}")
    for image, guess, label in zip(images[:3], guesses, labels[:3].tolist(), strict=True):
        print(f"{show_digit(image)}\nclassified as {guess}, labelled {label}")


if __name__ == "__main__":
    main()
