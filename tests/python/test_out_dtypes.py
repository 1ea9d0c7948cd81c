"""The dtype of out=: it decides that of factories and sums, while others insist on theirs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import facula

FLOATS = facula.tensor([1.5, 2.5])


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda out: facula.zeros(2, out=out), [0, 0]),
        (lambda out: facula.ones((2,), out=out), [1, 1]),
        (lambda out: facula.full((2,), 1.5, out=out), [1, 1]),
        (lambda out: facula.arange(0, 3, 1.5, out=out), [0, 1]),
        (lambda out: facula.linspace(0, 3, 2, out=out), [0, 3]),
        (lambda out: facula.logspace(0, 1, 2, out=out), [1, 10]),
        (lambda out: facula.cumsum(FLOATS, 0, out=out), [1, 3]),
        (lambda out: facula.cumprod(FLOATS, 0, out=out), [1, 2]),
        (lambda out: facula.sum(FLOATS.view(2, 1), 1, out=out), [1, 2]),
        (lambda out: facula.prod(FLOATS.view(2, 1), 1, out=out), [1, 2]),
    ],
)
def test_out_decides_the_dtype(call: Callable, expected: list[int]) -> None:
    out = facula.full((2,), 7, dtype=facula.int32)
    assert call(out) is out
    assert out.dtype == facula.int32
    assert out.tolist() == expected


def test_sums_are_taken_in_the_dtype_of_out() -> None:
    values = facula.full((1024,), 1.00390625, dtype=facula.float16)
    out = facula.zeros((), dtype=facula.float64)
    facula.sum(values, 0, out=out)
    assert out.item() == 1024 * values[0].item()


@pytest.mark.parametrize(
    "call",
    [
        lambda out: facula.zeros(2, dtype=facula.float64, out=out),
        lambda out: facula.arange(2, dtype=facula.float64, out=out),
        lambda out: facula.eye(2, dtype=facula.float64, out=out),
    ],
)
def test_factories_refuse_another_dtype_than_that_of_out(call: Callable) -> None:
    with pytest.raises(RuntimeError, match="dtype Double does not match dtype of out parameter"):
        call(facula.zeros(2, dtype=facula.float32))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: facula.linalg.inv(x, out=out),
        lambda x, out: facula.linalg.norm(x, out=out),
        lambda x, out: facula.linalg.vector_norm(x, out=out),
        lambda x, out: facula.linalg.svdvals(x, out=out),
        lambda x, out: facula.diag(x, out=out),
        lambda x, out: facula.permute_copy(x, (1, 0), out=out),
        lambda x, out: facula.index_add(x, 0, facula.tensor([0]), x[:1], out=out),
        lambda x, out: facula.isposinf(x, out=out),
        lambda x, out: facula.nonzero(x, out=out),
    ],
)
def test_some_take_only_their_own_dtype(call: Callable) -> None:
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        call(facula.eye(2), facula.zeros(2, dtype=facula.float64))
