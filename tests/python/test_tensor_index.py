"""tensor[...] and assignment through it, against values worked out by hand or by NumPy."""

import numpy as np
import pytest

import facula

A = np.arange(24).reshape(2, 3, 4)

VIEWS = [
    0, -1, (0, 1), (1, 2, 3), slice(None), slice(0, 1), (slice(None), slice(1, None)),
    (Ellipsis, 0), (0, Ellipsis), (None, 0), (Ellipsis, None),
    (slice(None), None, slice(None, None, 2)),
    (slice(5, 9),), (slice(None, None, 3),), (1, slice(-2, None), slice(0, 4, 3)), Ellipsis,
    (0, Ellipsis, 1), np.int64(1),
]


@pytest.mark.parametrize("index", VIEWS, ids=str)
@pytest.mark.parametrize("grad", [False, True])
def test_views(index, grad):
    t = facula.tensor(A).double().requires_grad_(grad)
    got = t[index]
    want = A[index]
    assert got.shape == want.shape and got.tolist() == want.tolist()
    assert got._is_view() and got.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
    if grad:
        got.sum().backward()
        mask = np.zeros(A.shape)
        mask[index] += 1
        assert t.grad.tolist() == mask.tolist()


def test_errors():
    t = facula.zeros(3)
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 3"):
        t[5]
    with pytest.raises(IndexError, match="index -4 is out of bounds"):
        t[-4]
    with pytest.raises(IndexError, match="too many indices"):
        t[0, 0]
    with pytest.raises(IndexError, match="0-dim tensor"):
        facula.tensor(1.0)[0]
    with pytest.raises(ValueError, match="step must be greater than zero"):
        t[::-1]
    with pytest.raises(IndexError, match="only integers, slices"):
        t[1.0]
    with pytest.raises(TypeError):
        t["a"]
    with pytest.raises(TypeError, match="does not support deleting"):
        del t[0]


def test_assignment():
    t = facula.zeros(2, 3)
    t[0] = 1
    t[1, 1:] = facula.tensor([5.0, 6.0])
    t[:, 0] = facula.tensor([[7.0]])
    assert t.tolist() == [[7.0, 1.0, 1.0], [7.0, 5.0, 6.0]]
    t[...] = 2.5
    assert t.tolist() == [[2.5] * 3] * 2
    with pytest.raises(TypeError, match="can't assign a list"):
        t[0] = [1, 2, 3]
    with pytest.raises(RuntimeError):
        t[0] = facula.zeros(4)


def test_assignment_has_gradients():
    base = facula.zeros(3, requires_grad=True)
    value = facula.tensor(2.0, requires_grad=True)
    t = base * 1
    t[1] = value
    (t * facula.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert base.grad.tolist() == [1.0, 0.0, 100.0]
    assert value.grad.item() == 10.0


def test_assignment_to_leaf_is_refused():
    t = facula.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError):
        t[0] = 1.0


def test_views_share_memory():
    t = facula.zeros(4)
    v = t[1:3]
    v[0] = 9.0
    assert t.tolist() == [0.0, 9.0, 0.0, 0.0]


def test_zero_dim_index_tensor_is_an_int():
    t = facula.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert t[facula.tensor(1)].tolist() == [3.0, 4.0]
    assert t[facula.tensor(0), facula.tensor(1)].item() == 2.0


TENSOR_INDICES = [
    [0, 1, 1], np.array([1, 0]), [[0, 1], [1, 0]], (slice(None), [2, 0]), ([0, 1], [2, 1], [3, 0]),
    (slice(None), [0, 1], slice(1, 3)), ([0], slice(None), [1]), (None, [0, 1]), A > 5,
    (0, A[0] > 3), True, (Ellipsis, [3, 1]), [True, False], (slice(None), [True, False, True]), [],
]


@pytest.mark.parametrize("index", TENSOR_INDICES, ids=str)
def test_index_tensors(index):
    t = facula.tensor(A)
    as_numpy = index
    if index == [[0, 1], [1, 0]] if isinstance(index, list) else False:
        as_numpy = ([0, 1], [1, 0])  # the old rule: a list of lists stands for a tuple
    if isinstance(index, list) and not index:
        as_numpy = np.array([], dtype=int)
    want = A[as_numpy]
    got = t[index]
    assert got.shape == want.shape and got.tolist() == want.tolist()


@pytest.mark.parametrize("index", TENSOR_INDICES, ids=str)
def test_index_tensor_assignment(index):
    if isinstance(index, list) and not index:
        pytest.skip("nothing to assign")
    t, want = facula.tensor(A), A.copy()
    t[index] = -1
    as_numpy = ([0, 1], [1, 0]) if isinstance(index, list) and index == [[0, 1], [1, 0]] else index
    want[as_numpy] = -1
    assert t.tolist() == want.tolist()


def test_index_errors_of_tensors():
    t = facula.zeros(3)
    with pytest.raises(IndexError):
        t[facula.tensor([5])]
    with pytest.raises(IndexError, match="shape of the mask"):
        t[[True, False]]
    with pytest.raises(IndexError):
        t[facula.tensor([1.0])]


@pytest.mark.parametrize(
    ("index", "dimension"),
    [
        ((None, ..., slice(0, 2), 7), 3),
        ((True, 1, 5), 2),
        ((None, 7), 1),
        ((..., 7), 1),
        ((..., facula.tensor(True), 7), 2),
        ((facula.tensor([0, 1]), 7), 1),
    ],
)
def test_errors_name_the_place_in_the_subscript(index, dimension):
    for x in (facula.ones(2, 3), facula.ones(2, 3, requires_grad=True)):
        with pytest.raises(IndexError, match=f"out of bounds for dimension {dimension} with size"):
            x[index]
