"""Dictionaries by weakly held tensors, and contexts that decorate."""

import pytest

import facula
from facula.utils._contextlib import _DecoratorContextManager
from facula.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakTensorKeyDictionary


def test_entries_go_with_their_keys():
    a, b = facula.ones(2), facula.ones(2)
    notes = WeakIdKeyDictionary({a: 1})
    notes[b] = 2
    assert notes[a] == 1 and notes[b] == 2 and len(notes) == 2
    assert a in notes and facula.ones(2) not in notes and 3 not in notes
    del b
    assert len(notes) == 1 and list(notes)[0] is a
    del notes[a]
    with pytest.raises(KeyError):
        notes[a]


def test_copies_and_references():
    a = facula.ones(2)
    notes = WeakTensorKeyDictionary({a: "x"})
    again = notes.copy()
    ref = TensorWeakRef(a)
    assert again[a] == "x" and ref() is a
    del a
    assert ref() is None and not notes and not again


class Doubled(_DecoratorContextManager):
    depth = 0

    def __enter__(self):
        Doubled.depth += 1

    def __exit__(self, *exc):
        Doubled.depth -= 1


def test_decorated_functions_and_generators_run_inside():
    @Doubled()
    def plain():
        return Doubled.depth

    @Doubled()
    def steps():
        yield Doubled.depth
        yield Doubled.depth

    assert plain() == 1 and Doubled.depth == 0
    for depth in steps():
        assert depth == 1 and Doubled.depth == 0
