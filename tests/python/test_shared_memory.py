"""Memory that others see keeps its place: it is not resized while, or after, it was handed out."""

import numpy as np
import pytest

import facula

MESSAGE = "not resizable"


def grow(t):
    return t.resize_(1000)


@pytest.mark.parametrize(
    "export",
    [
        lambda t: t.numpy(),
        lambda t: np.asarray(t),
        lambda t: t.detach().numpy(),
        lambda t: t.view(2, 3).numpy(),
        lambda t: t[2:].__array__(),
    ],
)
@pytest.mark.parametrize("size", [6, 6 * 4096])
def test_arrays_over_a_tensor(export, size):
    t = facula.zeros(size)[:6]
    array = export(t)
    for change in (
        lambda: t.resize_(size + 100),
        lambda: t.untyped_storage().resize_(8 * size + 100),
        lambda: facula.add(facula.ones(size + 100), 1, out=t),
    ):
        with pytest.raises(RuntimeError, match=MESSAGE):
            change()
    with pytest.raises(RuntimeError):
        t.set_(t.untyped_storage(), 0, (size + 100,))
    assert t.shape == (6,)
    t.fill_(3)
    assert (array == 3).all()
    assert t.resize_(2).shape == (2,)  # what fits is no change of the memory


@pytest.mark.parametrize(
    "make",
    [
        lambda: facula.from_numpy(np.zeros(3)),
        lambda: facula.frombuffer(bytearray(24), dtype=facula.float64),
        lambda: facula.asarray(bytearray(24)),
        lambda: facula.from_dlpack(facula.zeros(3)),
        lambda: facula.from_dlpack(np.zeros(3)),
    ],
)
def test_tensors_over_foreign_memory(make):
    t = make()
    with pytest.raises(RuntimeError, match=MESSAGE):
        grow(t)
    with pytest.raises(RuntimeError, match=MESSAGE):
        t.untyped_storage().resize_(4096)


def test_a_capsule_gives_the_memory_back():
    t = facula.zeros(3)
    twin = facula.from_dlpack(t)
    array = np.from_dlpack(t)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=MESSAGE):
            grow(t)
        twin = None
    assert array[0] == 0 and twin is None
    del array
    assert grow(t).shape == (1000,)


def test_a_view_of_the_bytes_gives_them_back():
    t = facula.zeros(3)
    storage = t.untyped_storage()
    with memoryview(storage) as one, memoryview(storage) as two:
        with pytest.raises(RuntimeError, match=MESSAGE):
            storage.resize_(4096)
        one.release()
        with pytest.raises(RuntimeError, match=MESSAGE):
            storage.resize_(4096)
        two[0] = 1
    assert storage.resize_(4096).nbytes() == 4096 and storage[0] == 1


def test_many_loans_and_copies():
    t = facula.zeros(3)
    arrays = [t.numpy() for _ in range(5000)]
    with pytest.raises(RuntimeError, match=MESSAGE):
        grow(t)
    assert len(arrays) == 5000
    assert grow(t.clone()).shape == (1000,)
    other = facula.zeros(3)
    other.numpy()
    other.set_(facula.zeros(10))  # another memory: the old one stays with the array
    assert grow(other).shape == (1000,)
