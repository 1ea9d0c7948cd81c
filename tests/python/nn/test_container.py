"""Containers of modules and parameters."""

from collections import OrderedDict

import pytest

import facula
from facula import nn


def test_sequential_is_a_list():
    a, b, c = nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)
    seq = nn.Sequential(a, b)
    seq.append(c)
    assert len(seq) == 3 and list(seq) == [a, b, c] and seq[-1] is c
    assert isinstance(seq[:2], nn.Sequential) and len(seq[:2]) == 2
    seq.insert(1, nn.Tanh())
    assert [type(m).__name__ for m in seq] == ["Linear", "Tanh", "ReLU", "Linear"]
    del seq[1]
    assert seq.pop(1) is b and list(seq._modules) == ["0", "1"]
    seq[0] = nn.Identity()
    assert isinstance(seq[0], nn.Identity)
    assert len(seq + nn.Sequential(b)) == 3 and len(seq * 2) == 4
    seq += nn.Sequential(b)
    seq.extend([nn.ReLU()])
    assert len(seq) == 4
    with pytest.raises(IndexError, match="out of range"):
        seq[9]
    with pytest.raises(ValueError, match="Non-positive"):
        seq * 0


def test_sequential_by_name():
    seq = nn.Sequential(OrderedDict(first=nn.Linear(2, 2), second=nn.ReLU()))
    assert seq.first is seq[0] and list(seq.state_dict()) == ["first.weight", "first.bias"]
    assert seq(facula.ones(1, 2)).shape == (1, 2)


def test_module_list():
    items = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
    items.append(nn.ReLU())
    items += [nn.Tanh()]
    assert len(items) == 5 and len(items[1:3]) == 2 and items[-1] is items[4]
    items.insert(0, nn.Identity())
    assert isinstance(items[0], nn.Identity) and len(items) == 6
    del items[0]
    assert list(items._modules) == ["0", "1", "2", "3", "4"]
    assert repr(items) == (
        "ModuleList(\n  (0-2): 3 x Linear(in_features=1, out_features=1, bias=True)\n"
        "  (3): ReLU()\n  (4): Tanh()\n)"
    )
    assert len(items + nn.ModuleList([nn.ReLU()])) == 6
    with pytest.raises(IndexError, match="index 7 is out of range"):
        items[7]
    with pytest.raises(TypeError, match="should be called with an iterable"):
        items.extend(3)


def test_module_dict():
    d = nn.ModuleDict({"a": nn.ReLU()})
    d["b"] = nn.Linear(1, 1)
    d.update([("c", nn.Tanh())])
    assert list(d) == ["a", "b", "c"] and "b" in d and len(d) == 3
    assert d.pop("a").__class__ is nn.ReLU and list(d.keys()) == ["b", "c"]
    assert [k for k, _ in d.items()] == ["b", "c"] and len(list(d.values())) == 2
    assert list((d | nn.ModuleDict({"z": nn.ReLU()})).keys()) == ["b", "c", "z"]
    with pytest.raises(TypeError, match="key/value pairs"):
        d.update(3)
    d.clear()
    assert len(d) == 0


def test_parameter_list():
    items = nn.ParameterList([facula.ones(2), nn.Parameter(facula.zeros(1))])
    items.append(facula.ones(3))
    assert len(items) == 3 and isinstance(items[0], nn.Parameter)
    assert len(list(items.parameters())) == 3 and len(items[1:]) == 2
    items[1] = facula.ones(4)
    assert items[1].shape == (4,) and list(items.state_dict()) == ["0", "1", "2"]
    assert "(0): Parameter containing: [" in repr(items) and "of size 2]" in repr(items)
    with pytest.raises(RuntimeError, match="should not be called"):
        items()


def test_parameter_dict():
    d = nn.ParameterDict({"a": facula.ones(2)})
    d["b"] = facula.zeros(1)
    assert list(d.keys()) == ["a", "b"] and isinstance(d["a"], nn.Parameter)
    assert d.get("x", 5) == 5 and d.setdefault("b") is d["b"]
    assert len(d | nn.ParameterDict({"c": facula.ones(1)})) == 3
    assert list(d.copy()) == ["a", "b"] and list(reversed(d)) == ["b", "a"]
    assert d.popitem()[0] == "b" and d.pop("a").shape == (2,) and len(d) == 0
