"""0-d tensors go to overloads that take tensors, not to those for which they are read."""

import pytest

import facula
from facula import vmap

LIMIT = facula.tensor(2.0, dtype=facula.float64)


@pytest.mark.parametrize("name", ["clamp", "clip"])
def test_dtypes_count(name):
    one = facula.tensor(1.0)
    for bounds in ({"min": LIMIT}, {"max": LIMIT}, {"min": LIMIT, "max": LIMIT}):
        assert getattr(one, name)(**bounds).dtype == facula.float64
        assert getattr(facula, name)(one, **bounds).dtype == facula.float64
    assert facula.ones(3).clamp(LIMIT).dtype == facula.float32


EYES = facula.eye(3).expand(2, 3, 3)
INDEX = facula.tensor([0, 2])
CALLS = {
    "clamp min": (lambda x, v: x.clamp(min=v), facula.ones(2, 3)),
    "clamp max": (lambda x, v: x.clamp(max=v), facula.ones(2, 3)),
    "clamp both": (lambda x, v: x.clamp(v, v), facula.ones(2, 3)),
    "clamp_": (lambda x, v: (x * 1).clamp_(v), facula.ones(2, 3)),
    "index_fill": (lambda x, v: x.index_fill(0, INDEX, v), facula.ones(2, 3)),
    "index_fill_": (lambda x, v: (x * 1).index_fill_(0, INDEX, v), facula.ones(2, 3)),
    "matrix_rank": (lambda x, v: facula.linalg.matrix_rank(x, v), EYES),
    "matrix_rank tol": (lambda x, v: facula.linalg.matrix_rank(x, tol=v), EYES),
    "matrix_rank atol": (lambda x, v: facula.linalg.matrix_rank(x, atol=v), EYES),
    "pinv": (lambda x, v: facula.linalg.pinv(x, v), EYES),
    "pinv rcond": (lambda x, v: facula.linalg.pinv(x, rcond=v), EYES),
    "pinv rtol": (lambda x, v: facula.linalg.pinv(x, rtol=v), EYES),
}


@pytest.mark.parametrize("name", CALLS)
def test_inside_vmap(name):
    f, x = CALLS[name]
    values = facula.tensor([0.5, 2.0])
    want = facula.stack([f(a, v) for a, v in zip(x, values, strict=True)])
    assert facula.equal(vmap(f)(x, values), want)
    numbers = facula.stack([f(a, v) for a, v in zip(x, [0.5, 2.0], strict=True)])
    assert facula.equal(numbers, want)


def test_beside_numbers_they_are_read():
    assert facula.arange(4.0).clamp(facula.tensor(1.0), 2.0).tolist() == [1, 1, 2, 2]
