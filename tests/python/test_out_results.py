"""Which functions take out=."""

import pytest

import facula
import facula.nn.functional as F


def test_functions_without_out():
    x = facula.ones(2, 2)
    for f in (F.sigmoid, F.tanh):
        assert facula.equal(f(x), getattr(facula, f.__name__)(x))
        with pytest.raises(TypeError):
            f(x, out=facula.empty(2, 2))
    for f in (facula.special.softmax, facula.special.log_softmax):
        assert f(x, 1, dtype=facula.float64).dtype == facula.float64
        with pytest.raises(TypeError):
            f(x, 1, out=facula.empty(2, 2))
    out = facula.empty(2, 2)
    assert facula.softmax(x, 1, out=out) is out
