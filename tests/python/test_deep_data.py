"""Data that nests deeper than tensors have dimensions, or contains itself, is refused."""

import pytest

import facula

pytestmark = pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")

MAKERS = {
    "tensor": facula.tensor,
    "as_tensor": facula.as_tensor,
    "asarray": facula.asarray,
    "Tensor": facula.Tensor,
    "new_tensor": lambda data: facula.ones(1).new_tensor(data),
    "with a dtype": lambda data: facula.tensor(data, dtype=facula.float32),
    "index": lambda data: facula.ones(3)[data],
    "index of a write": lambda data: facula.ones(3).__setitem__(data, 0),
}


def nested(levels, kind, first):
    data = kind([1])
    for _ in range(levels):
        data = kind([1, data]) if first else kind([data])
    return data


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("kind", [list, tuple])
def test_deep(name, kind):
    for levels, first in ((70, False), (70, True), (200_000, False), (200_000, True)):
        with pytest.raises((ValueError, TypeError, IndexError)):
            MAKERS[name](nested(levels, kind, first))


@pytest.mark.parametrize("name", MAKERS)
def test_cyclic(name):
    only, later, ring = [], [1.0], [1.0]
    only.append(only)
    later.append(later)
    ring.append([2.0, ring])
    for data in (only, later, ring):
        with pytest.raises((ValueError, TypeError)):
            MAKERS[name](data)


def test_messages():
    itself = [1.0]
    itself.append(itself)
    with pytest.raises(TypeError, match="self-referential lists are incompatible"):
        facula.tensor(itself)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        facula.tensor(nested(64, list, True))
    assert facula.tensor(nested(63, list, False)).dim() == 64
