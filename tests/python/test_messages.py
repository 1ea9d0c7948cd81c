"""Errors name the function that was called, not the operators that it is made of."""

import re

import pytest

import facula
import facula.nn.functional as F

M, N = facula.ones(2, 3), facula.ones(4, 5)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("zeros", lambda: facula.zeros(-1)),
        ("ones", lambda: facula.ones(2, -1)),
        ("full", lambda: facula.full((-1,), 0.0)),
        ("rand", lambda: facula.rand(-1)),
        ("randn", lambda: facula.randn(-1)),
        ("randint", lambda: facula.randint(3, (-1,))),
        ("empty", lambda: facula.empty(-1)),
        ("new_zeros", lambda: M.new_zeros(-1)),
        ("linear", lambda: F.linear(M, N)),
        ("linear", lambda: F.linear(M, facula.ones(4, 3), facula.ones(5))),
        ("mm", lambda: facula.mm(M, N)),
        ("addmm", lambda: facula.addmm(M, M, N)),
        ("bmm", lambda: facula.bmm(M[None], N[None])),
        ("conv2d", lambda: F.conv2d(facula.ones(1, 1, 4, 4), facula.ones(1, 2, 3, 3))),
        ("softmax", lambda: facula.softmax(M, 5)),
        ("cross_entropy", lambda: F.cross_entropy(M, facula.ones(3, dtype=facula.int64))),
        ("embedding", lambda: F.embedding(facula.ones(2), M)),
        ("layer_norm", lambda: F.layer_norm(M, (4,))),
        ("narrow", lambda: M.narrow(0, 5, 1)),
        ("split", lambda: M.split(-1)),
        ("chunk", lambda: M.chunk(0)),
        ("gather", lambda: M.gather(0, facula.tensor([[9]]))),
        ("index_select", lambda: M.index_select(0, facula.tensor([9]))),
        ("unflatten", lambda: M.unflatten(1, (2, 2))),
    ],
)
def test_no_other_operator_is_named(name, call):
    with pytest.raises((RuntimeError, IndexError, ValueError, TypeError)) as caught:
        call()
    head = re.match(r"(?:\w+\.)*(\w+)[:(]", str(caught.value))
    assert head is None or head[1] in (name, "argument")


def test_the_name_of_the_call_takes_the_place_of_the_operators():
    with pytest.raises(RuntimeError, match=r"^zeros: "):
        facula.zeros(-1)
    with pytest.raises(NotImplementedError, match="linspace"):
        facula.linspace(0, 1, 3, dtype=facula.bool)
    with pytest.raises(NotImplementedError, match="logspace"):
        facula.logspace(0, 1, 3, dtype=facula.bool)
