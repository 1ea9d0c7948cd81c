"""What all programs use: weights from NumPy by parameter name, training steps, digests of values.

The programs and this file import torch; they run on Facula through the alias, and ran on PyTorch
when the values were recorded. Random numbers come from NumPy only.
"""

import zlib

import numpy as np
import torch


def numbers(name, shape, scale=1.0):
    """Normal numbers that depend on a name and a shape alone."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return np.asarray(generator.standard_normal(tuple(shape)) * scale, np.float32)


def array(name, *shape, scale=1.0):
    """A tensor of such numbers."""
    return torch.from_numpy(numbers(name, shape, scale))


def integers(name, high, *shape):
    """A tensor of int64 numbers below `high`."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return torch.from_numpy(generator.integers(0, high, shape))


def fill(module):
    """Sets every floating parameter from its name: matrices by their fan-in, vectors near zero, and
    near one where they are weights (of norms). Buffers keep what the module gave them.
    """
    with torch.no_grad():
        for name, p in module.named_parameters():
            if not p.is_floating_point():
                continue
            if p.dim() > 1:
                scale = 1.0 / max(p[0].numel(), 1) ** 0.5
                p.copy_(torch.from_numpy(numbers(name, p.shape, scale)))
            else:
                start = 1.0 if name.endswith(("weight", "gamma", "scale")) else 0.0
                p.copy_(torch.from_numpy(numbers(name, p.shape, 0.1)) + start)
    return module


def step(model, optimizer, loss_of, steps=3):
    """Trains and returns the losses before each step."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def digest(value):
    """What is kept of a value: all of a short list, else shape, mean, spread, samples."""
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [digest(v) for v in value]
    if isinstance(value, dict):
        return {str(k): digest(v) for k, v in value.items()}
    t = value.detach()
    if t.is_complex():
        t = torch.view_as_real(t)
    flat = t.to(torch.float64).reshape(-1).numpy()
    picked = flat[:: max(1, len(flat) // 12)][:12]
    return {
        "shape": list(value.shape),
        "dtype": str(value.dtype).split(".")[-1],
        "mean": float(flat.mean()) if len(flat) else 0.0,
        "spread": float(np.abs(flat).mean()) if len(flat) else 0.0,
        "values": [float(v) for v in picked],
    }


def trained(model, out_of, steps=3, lr=0.05, optimizer=None):
    """Outputs of a model, the losses of training steps on the mean square, and a digest of what
    the weights are afterwards.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = optimizer or torch.optim.SGD(parameters, lr=lr, momentum=0.9)
    out = out_of()
    losses = step(model, optimizer, lambda: out_of().float().pow(2).mean(), steps)
    weights = torch.cat([p.detach().reshape(-1)[:50].float() for p in parameters])
    return {"output": digest(out), "losses": losses, "weights": digest(weights)}
