"""nn.grad: gradients of convolutions by their operands, against autograd."""

import pytest

import facula
from facula.nn import functional as F
from facula.nn import grad as G


@pytest.mark.parametrize("n", [1, 2, 3])
def test_same_as_autograd(n):
    facula.manual_seed(0)
    x = facula.randn(2, 4, *([6] * n), dtype=facula.float64, requires_grad=True)
    w = facula.randn(6, 2, *([3] * n), dtype=facula.float64, requires_grad=True)
    convolve = getattr(F, f"conv{n}d")
    y = convolve(x, w, None, 2, 1, 1, 2)
    g = facula.randn_like(y)
    by_x, by_w = facula.autograd.grad(y, (x, w), g)
    with facula.no_grad():
        found = getattr(G, f"conv{n}d_input")(x.shape, w, g, 2, 1, 1, 2)
        assert facula.allclose(found, by_x) and not found.requires_grad
        found = getattr(G, f"conv{n}d_weight")(x, w.shape, g, 2, 1, 1, 2)
        assert facula.allclose(found, by_w)


def test_functional_names_the_gradients_too():
    assert facula.nn.functional.grad is facula.nn.grad
