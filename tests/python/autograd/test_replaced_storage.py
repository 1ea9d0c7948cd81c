"""A saved tensor that gets other elements is refused in the backward pass."""

import pytest

import facula
from facula.utils import swap_tensors

REPLACE = {
    "tensor": lambda a: a.set_(facula.full((3,), 5.0)),
    "storage": lambda a: a.set_(facula.full((3,), 5.0).untyped_storage(), 0, (3,), (1,)),
    "nothing": lambda a: a.set_(),
    "swap": lambda a: swap_tensors(a, facula.full((3,), 5.0)),
    "swapped": lambda a: swap_tensors(facula.full((3,), 5.0), a),
}


@pytest.mark.parametrize("name", REPLACE)
def test_saved(name):
    x = facula.ones(3, requires_grad=True)
    a = facula.full((3,), 2.0)
    y = x * a
    REPLACE[name](a)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_versions():
    a = facula.ones(3)
    b = a.detach()
    a.set_(facula.zeros(3))
    assert (a._version, b._version) == (1, 1)
    b.add_(1)
    assert (a._version, b._version) == (1, 2)
