"""Products of matrices by groups, against a loop in NumPy."""

import numpy as np
import pytest

import facula
from facula.autograd import gradcheck
from facula.nn import functional as F


def draw(*shape):
    return facula.from_numpy(np.random.default_rng(sum(shape)).standard_normal(shape))


def ends(*values):
    return facula.tensor(values, dtype=facula.int32)


def test_rows_are_grouped_by_matrix():
    a, b = draw(7, 4), draw(3, 4, 5)
    found = F.grouped_mm(a, b, offs=ends(2, 2, 6)).numpy()
    x, w = a.numpy(), b.numpy()
    wanted = np.concatenate([x[:2] @ w[0], x[2:6] @ w[2], np.zeros((1, 5))])
    np.testing.assert_allclose(found, wanted)


def test_columns_are_grouped_by_matrix():
    a, b = draw(2, 3, 4), draw(4, 6)
    found = F.grouped_mm(a, b, offs=ends(1, 6)).numpy()
    x, w = a.numpy(), b.numpy()
    np.testing.assert_allclose(found, np.concatenate([x[0] @ w[:, :1], x[1] @ w[:, 1:]], 1))


def test_parts_of_the_contraction_make_a_batch():
    a, b = draw(3, 6), draw(6, 2)
    found = facula._grouped_mm(a, b, ends(2, 2, 6)).numpy()
    x, w = a.numpy(), b.numpy()
    wanted = [x[:, :2] @ w[:2], np.zeros((3, 2)), x[:, 2:] @ w[2:]]
    np.testing.assert_allclose(found, np.stack(wanted))


def test_batches_need_no_offsets():
    a, b = draw(2, 3, 4), draw(2, 4, 5)
    np.testing.assert_allclose(F.grouped_mm(a, b).numpy(), a.numpy() @ b.numpy())


@pytest.mark.parametrize(
    ("first", "second", "offs"),
    [((5, 3), (2, 3, 4), (2, 4)), ((2, 3, 4), (4, 5), (3, 5)), ((3, 5), (5, 2), (1, 5))],
)
def test_gradients(first, second, offs):
    a, b = draw(*first).requires_grad_(), draw(*second).requires_grad_()
    assert gradcheck(lambda x, y: F.grouped_mm(x, y, offs=ends(*offs)), (a, b))


@pytest.mark.parametrize(
    ("first", "second", "options", "text"),
    [
        ((4,), (2, 4, 3), {"offs": ends(1, 2)}, "2 or 3d"),
        ((5, 4), (2, 4, 3), {}, "Have to provide offsets"),
        ((2, 5, 4), (2, 4, 3), {"offs": ends(1, 2)}, "Have to provide offsets"),
        ((5, 4), (2, 3, 3), {"offs": ends(1, 2)}, "contraction dimension"),
        ((5, 4), (2, 4, 3), {"offs": ends(1, 2, 3)}, "batch sizes have to match"),
        ((5, 4), (2, 4, 3), {"offs": facula.tensor([1, 2])}, "have to be int32"),
        ((5, 4), (2, 4, 3), {"offs": ends(3, 2)}, "ascend"),
        ((5, 4), (2, 4, 3), {"offs": ends(3, 6)}, "ascend"),
        ((5, 4), (2, 4, 3), {"offs": ends(3, 5), "bias": draw(3)}, "Bias"),
    ],
)
def test_operands_that_do_not_fit(first, second, options, text):
    with pytest.raises(RuntimeError, match=text):
        F.grouped_mm(draw(*first), draw(*second), **options)
