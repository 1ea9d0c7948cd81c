"""NumPy arrays and tensors share memory: nothing is copied on the way there or back.

    python examples/numpy_roundtrip.py [--quick]

A linear regression whose data come from NumPy and whose result goes back to it.
"""

from __future__ import annotations

import argparse
import sys

import facula

try:
    import numpy as np
except ImportError:
    sys.exit("this example needs NumPy (pip install numpy)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="20 steps, to see that it runs")
    args = parser.parse_args()

    array = np.arange(6.0).reshape(2, 3)
    tensor = facula.from_numpy(array)
    tensor[0, 0] = 100.0
    array[1, 2] = -1.0
    print("one memory, two names:", array[0, 0] == 100.0 and tensor[1, 2].item() == -1.0)
    print("strides too:", facula.from_numpy(array.T).stride() == (1, 3))
    back = tensor.t().numpy()
    print("and back:", back.base is not None and np.shares_memory(back, array))
    print("NumPy functions take tensors:", float(np.sum(np.asarray(tensor))) == tensor.sum().item())
    print("DLPack:", np.shares_memory(np.from_dlpack(tensor), array))

    rng = np.random.RandomState(0)
    x = rng.standard_normal((200, 3))
    truth = np.array([1.5, -2.0, 0.5])
    y = x @ truth + 0.01 * rng.standard_normal(200)
    inputs, targets = facula.from_numpy(x), facula.from_numpy(y)
    weight = facula.zeros(3, dtype=facula.float64, requires_grad=True)
    optimizer = facula.optim.SGD([weight], lr=0.1)
    for _ in range(20 if args.quick else args.steps):
        optimizer.zero_grad()
        loss = ((inputs @ weight - targets) ** 2).mean()
        loss.backward()
        optimizer.step()
    exact = np.linalg.lstsq(x, y, rcond=None)[0]
    found = weight.detach().numpy()
    print(f"loss {loss.item():.6f}  found {np.round(found, 3)}  least squares {np.round(exact, 3)}")


if __name__ == "__main__":
    main()
