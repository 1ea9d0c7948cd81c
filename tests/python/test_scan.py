"""Scans along a dimension, against loops in NumPy."""

import numpy as np
import pytest

import facula
from facula._higher_order_ops import associative_scan, scan
from facula._higher_order_ops.associative_scan import associative_scan as same


@pytest.mark.parametrize("length", [1, 2, 5, 8])
@pytest.mark.parametrize("reverse", [False, True])
def test_linear_recurrences(length, reverse):
    draw = np.random.default_rng(0).standard_normal
    a, b = draw((2, length, 3)), draw((2, length, 3))

    def combine(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    pair = (facula.from_numpy(a), facula.from_numpy(b))
    found = associative_scan(combine, pair, 1, reverse, "generic")[1].numpy()
    h, wanted = np.zeros((2, 3)), np.zeros_like(b)
    for i in reversed(range(length)) if reverse else range(length):
        h = a[:, i] * h + b[:, i]
        wanted[:, i] = h
    np.testing.assert_allclose(found, wanted)
    last, all_states = scan(
        lambda c, x: (x[0] * c + x[1],) * 2, facula.zeros(2, 3, dtype=facula.float64), pair,
        dim=1, reverse=reverse,
    )  # fmt: skip
    np.testing.assert_allclose(all_states.movedim(0, 1).numpy(), wanted)
    np.testing.assert_allclose(last.numpy(), h)


def test_gradients_and_errors():
    x = facula.rand(4, dtype=facula.float64, requires_grad=True)
    assert facula.autograd.gradcheck(lambda v: same(lambda a, b: a * b, v, 0), (x,))
    with pytest.raises(ValueError):
        associative_scan(lambda a, b: a, (facula.ones(2), facula.ones(3)), 0)
    with pytest.raises(ValueError):
        associative_scan(lambda a, b: a, 3, 0)
    with pytest.raises(RuntimeError):
        scan(lambda c, x: (c, x), 0, facula.ones(0))
