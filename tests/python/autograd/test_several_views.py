"""Writes into views that one call made together: refused where they are recorded."""

import pytest

import facula

MAKERS = {
    "unbind": lambda x: x.unbind(0),
    "iteration": lambda x: list(x),
    "split": lambda x: x.split(1),
    "split_with_sizes": lambda x: x.split([1, 2]),
    "chunk": lambda x: x.chunk(3),
    "one chunk": lambda x: x.chunk(1),
}
SINGLE = {
    "tensor_split": lambda x: x.tensor_split(3),
    "hsplit": lambda x: x.hsplit(3),
    "unsafe_split": lambda x: x.unsafe_split(1),
    "unsafe_split_with_sizes": lambda x: x.unsafe_split_with_sizes([1, 2]),
    "unsafe_chunk": lambda x: x.unsafe_chunk(3),
}
several = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
single = pytest.mark.parametrize("make", SINGLE.values(), ids=SINGLE)
TEXT = "output of a function that returns multiple views"


def wanted() -> facula.Tensor:
    return facula.rand(3, 3, requires_grad=True)


@several
def test_recorded_writes_are_refused(make):
    for x in (wanted(), wanted().clone()):
        with pytest.raises(RuntimeError, match=TEXT):
            make(x)[0].mul_(2)
    with pytest.raises(RuntimeError, match=TEXT):
        make(wanted().clone())[0].view(-1).mul_(2)
    plain = facula.zeros(3, 3)
    with pytest.raises(RuntimeError, match=TEXT):
        make(plain)[0].mul_(wanted()[0, 0])
    assert not plain.requires_grad and not plain.any()


@several
def test_their_history_ends_with_a_write_to_the_base(make):
    x = wanted().clone()
    part = make(x)[0]
    x.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base"):
        part.sum()


@several
def test_writes_that_are_not_recorded_are_made(make):
    x = facula.ones(3, 3)
    make(x)[0].mul_(2)
    assert x.sum() > 9
    leaf = wanted()
    with facula.no_grad():
        for part in make(leaf):
            part.zero_()
    assert not leaf.any() and leaf.is_leaf
    made = make(wanted().clone())[0].detach()
    made.zero_()
    assert made.grad_fn is None


@single
def test_other_pieces_take_recorded_writes(make):
    leaf = wanted()
    x = leaf.clone()
    make(x)[0].mul_(2)
    x.sum().backward()
    want = facula.ones(3, 3)
    make(want)[0].mul_(2)
    assert facula.equal(leaf.grad, want)
