"""Sequences that callers hand over: read as far as they say they are long."""

import pytest

import facula
from facula._arguments import as_tuple


class Endless:
    """Answers every index."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return i


def test_items():
    assert as_tuple(3, "f: dim") == (3,)
    assert as_tuple([0, 1], "f: dim") == as_tuple(Endless(), "f: dim") == (0, 1)
    with pytest.raises(TypeError, match="f: dim must be an int or a sequence of ints, not object"):
        as_tuple(object(), "f: dim")


def test_endless_sequences_end():
    x = facula.arange(6.0).view(2, 3)
    assert len(facula.gradient(x, dim=Endless())) == 2
    assert facula.broadcast_shapes(Endless(), (1, 1)) == (0, 1)
    assert facula.tensordot(x, x.t(), dims=([1], [0])).shape == (2, 2)
    with pytest.raises(TypeError, match="gradient: dim"):
        facula.gradient(x, dim=(i for i in range(2)))
