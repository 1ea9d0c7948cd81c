"""Adafactor and Muon, whose rules look at a whole matrix."""

import numpy as np
import pytest

import facula
from facula import optim


def train(optimizer, p, grads):
    for g in grads:
        p.grad = facula.from_numpy(g.copy())
        optimizer.step()
    return p.detach().numpy()


def grads(shape, steps=4):
    rng = np.random.RandomState(1)
    return [rng.standard_normal(shape) for _ in range(steps)]


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)])
def test_adafactor(shape):
    start = np.random.RandomState(0).standard_normal(shape)
    p = facula.from_numpy(start.copy()).requires_grad_()
    got = train(optim.Adafactor([p], lr=0.1, weight_decay=0.1), p, grads(shape))
    eps1, eps2 = np.finfo(np.float64).eps, 1e-3

    def rms(a):
        return np.sqrt((a * a).mean())

    row = col = full = 0.0
    w = start.copy()
    for t, g in enumerate(grads(shape), 1):
        beta = t**-0.8
        alpha = max(eps2, rms(w)) * min(0.1, 1 / np.sqrt(t))
        w = w * (1 - 0.1 * 0.1)
        if w.ndim > 1:
            row = (1 - beta) * row + beta * (g * g).mean(-1, keepdims=True)
            col = (1 - beta) * col + beta * (g * g).mean(-2, keepdims=True)
            v = row * col / np.maximum(row.mean(-2, keepdims=True), eps1)
        else:
            full = (1 - beta) * full + beta * g * g
            v = full
        u = g / np.sqrt(np.maximum(v, eps1**2))
        w = w - alpha / max(1.0, rms(u)) * u
    np.testing.assert_allclose(got, w, rtol=1e-6)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5)])
def test_muon_steps_along_nearly_orthogonal_matrices(shape):
    start = np.random.RandomState(0).standard_normal(shape)
    p = facula.from_numpy(start.copy()).requires_grad_()
    got = train(optim.Muon([p], lr=1.0, weight_decay=0.0), p, grads(shape, 1))
    update = start - got
    factor = np.sqrt(max(1, shape[0] / shape[1]))
    values = np.linalg.svd(update / factor, compute_uv=False)
    assert values.min() > 0.5 and values.max() < 1.3
    u, _, vt = np.linalg.svd(grads(shape, 1)[0], full_matrices=False)
    cosine = (update * (u @ vt)).sum() / np.linalg.norm(update) / np.linalg.norm(u @ vt)
    assert cosine > 0.95


def test_muon_rounds_as_pytorch_does():
    rng = np.random.RandomState(0)
    p = facula.from_numpy(rng.standard_normal((3, 3)).astype("float32")).requires_grad_()
    train(
        optim.Muon([p], lr=0.1),
        p,
        [rng.standard_normal((3, 3)).astype("float32") for _ in range(3)],
    )
    # recorded from PyTorch 2.15
    want = [
        [1.6847118139, 0.3352847993, 0.8781976104],
        [2.0201098919, 1.6643927097, -0.8507043123],
        [0.9002900720, -0.2022935301, -0.0767213330],
    ]
    np.testing.assert_allclose(p.detach().numpy(), want, rtol=1e-6)


def test_muon_takes_a_rate_in_a_tensor():
    p, q = (facula.ones(2, 2, requires_grad=True) for _ in range(2))
    g = [np.array([[1.0, 2.0], [3.0, 5.0]], dtype="float32")]
    got = train(optim.Muon([p], lr=facula.tensor(0.1)), p, g)
    np.testing.assert_allclose(got, train(optim.Muon([q], lr=0.1), q, g))


def test_muon_rate_rule():
    p = facula.ones(8, 2, requires_grad=True)
    q = facula.ones(8, 2, requires_grad=True)
    p.grad = q.grad = facula.arange(16.0).reshape(8, 2)
    optim.Muon([p], lr=0.1, weight_decay=0.5).step()
    optim.Muon([q], lr=0.1, weight_decay=0.5, adjust_lr_fn="match_rms_adamw").step()
    ratio = ((0.95 - p) / (0.95 - q)).detach().numpy()
    np.testing.assert_allclose(ratio, np.sqrt(4) / (0.2 * np.sqrt(8)), rtol=1e-4)
    with pytest.raises(ValueError, match="not supported"):
        optim.Muon([p], adjust_lr_fn="other")


@pytest.mark.parametrize("shape", [(8, 2), (2, 8)])
def test_muon_spectral_rate(shape):
    p, q = (facula.ones(shape, requires_grad=True) for _ in range(2))
    p.grad = q.grad = facula.arange(16.0).reshape(shape)
    optim.Muon([p], lr=0.1, adjust_lr_fn="spectral_unclamped").step()
    optim.Muon([q], lr=0.1, adjust_lr_fn="match_rms_adamw").step()
    ratio = ((0.99 - p) / (0.99 - q)).detach().numpy()
    want = np.sqrt(shape[0] / shape[1]) / (0.2 * np.sqrt(8))
    np.testing.assert_allclose(ratio, want, rtol=1e-4)
