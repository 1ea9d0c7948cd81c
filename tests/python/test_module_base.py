"""The C base class of nn.Module: calls, attributes, and the path in errors."""

import gc
import weakref

import pytest

import facula
from facula import nn


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(facula.ones(2))

    def forward(self, x, factor=2):
        return x * factor * self.weight


def test_calls():
    m = Twice()
    assert m(facula.ones(2)).tolist() == [2.0, 2.0]
    assert m(facula.ones(2), factor=3).tolist() == [3.0, 3.0]
    m.forward = lambda x: "own"
    assert m(1) == "own"


def test_own_call_is_respected():
    class Own(Twice):
        def __call__(self, x):
            return "called"

    assert Own()(1) == "called"


def test_attributes():
    m = Twice()
    assert list(m._parameters) == ["weight"] and m.weight is m._parameters["weight"]
    with pytest.raises(AttributeError, match="'Twice' object has no attribute 'nothing'"):
        _ = m.nothing
    m.plain = 3
    assert m.plain == 3 and "plain" in m.__dict__
    del m.weight
    assert not hasattr(m, "weight")

    class Falls(Twice):
        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                if not name.startswith("un"):
                    raise
                return "fallback"

    f = Falls()
    assert f.weight is f._parameters["weight"] and f.unknown == "fallback"


def test_property_errors_survive():
    class Broken(Twice):
        @property
        def broken(self):
            raise AttributeError("inner reason")

    with pytest.raises(AttributeError, match="inner reason"):
        _ = Broken().broken


def test_hooks_run():
    m = Twice()
    handle = m.register_forward_hook(lambda mod, args, out: out + 1)
    assert m(facula.ones(2)).tolist() == [3.0, 3.0]
    handle.remove()
    assert m(facula.ones(2)).tolist() == [2.0, 2.0]


def test_errors_name_the_module_path():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = nn.Sequential(Twice())

        def forward(self, x):
            return self.block(x)

    with pytest.raises(RuntimeError, match=r"Net\.block\.0 \(Twice\)"):
        Net()(facula.ones(3))
    with pytest.raises(ZeroDivisionError) as info:
        class Fails(nn.Module):
            def forward(self, x):
                return 1 / 0

        nn.Sequential(Fails())(1)
    assert "module" not in str(info.value)


def test_cycles_are_collected():
    m = Twice()
    m.me = [m]
    ref = weakref.ref(m)
    del m
    gc.collect()
    assert ref() is None


def test_names_of_attributes_are_str():
    m = Twice()
    for read in (m.__getattr__, m.__getattribute__):
        for name in (5, None, b"weight", ["weight"]):
            with pytest.raises(TypeError, match="attribute name must be string"):
                read(name)


def test_keywords_are_str():
    for call in (facula.add, facula.tensor(1).add, facula.UntypedStorage, facula.nn.Parameter):
        with pytest.raises(TypeError, match="keywords must be strings"):
            call(**{5: 1})
