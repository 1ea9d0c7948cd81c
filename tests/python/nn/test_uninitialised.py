"""A module registers nothing and is not called before Module.__init__ has run."""

import copy
import pickle

import pytest

import facula
from facula import nn


class Late(nn.Module):
    """Does in its __init__ what it is told, and calls Module.__init__ only then, if at all."""

    def __init__(self, first, begin=False):
        first(self)
        if begin:
            super().__init__()

    def forward(self, x):
        return x + 1


REGISTRATIONS = {
    "module": lambda m: setattr(m, "layer", nn.Linear(2, 2)),
    "parameters": lambda m: setattr(m, "weight", nn.Parameter(facula.zeros(2))),
    "buffer": lambda m: m.register_buffer("state", facula.zeros(2)),
    "parameter": lambda m: m.register_parameter("weight", None),
}


@pytest.mark.parametrize("what", REGISTRATIONS)
def test_nothing_is_registered_early(what):
    with pytest.raises(AttributeError, match=f"cannot assign {what} before Module.__init__"):
        Late(REGISTRATIONS[what])
    with pytest.raises(AttributeError):
        Late(lambda m: m.add_module("layer", nn.Linear(2, 2)))


def test_what_needs_no_registration():
    m = Late(lambda m: (setattr(m, "size", 3), setattr(m, "mask", facula.zeros(2))), begin=True)
    assert m.size == 3 and m.mask.shape == (2,) and m.training
    assert m(facula.ones(1)) == 2 and not list(m.parameters())
    m.layer = nn.Linear(2, 2)
    assert len(list(m.parameters())) == 2


def test_a_module_that_was_never_begun():
    m = Late(lambda m: setattr(m, "size", 3))
    assert m.size == 3
    for use in (
        lambda: m(facula.ones(1)),
        lambda: m.training,
        lambda: list(m.parameters()),
        lambda: m.state_dict(),
        lambda: repr(m),
        lambda: nn.Sequential(m)(facula.ones(1)),
    ):
        with pytest.raises(AttributeError):
            use()


def test_copies_need_no_init():
    m = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)).eval()
    x = facula.ones(1, 2)
    hollow = nn.Linear.__new__(nn.Linear)
    hollow.__dict__.update(m[0].__dict__)
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m)), copy.copy(m)):
        assert facula.equal(twin(x), m(x)) and not twin.training
    assert facula.equal(hollow(x), m(x))


def test_a_second_init_starts_again():
    m = nn.Linear(2, 3)
    nn.Module.__init__(m)
    assert not list(m.parameters())
