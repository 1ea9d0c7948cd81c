"""Objects of classes in checkpoints: what is made of a file, and that no file runs code."""

import argparse
import collections
import copyreg
import dataclasses
import enum
import functools
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import types

import numpy
import pytest

import facula
from facula import _restore
from facula._checkpoint_stream import _Scan

RAN = []


def note(*args, **kwargs):
    RAN.append(args)
    return None


def read(data):
    return _restore.Reader(None, None, True).load(data)


class Plain:
    pass


class Settings(dict):
    pass


class Overriding(dict):
    def __setitem__(self, key, value):
        note(key)

    def update(self, *args):
        note(args)


class Filled(list):
    def extend(self, items):
        note(items)


class Slotted:
    __slots__ = ("a", "b")

    def __setattr__(self, name, value):
        note(name)


class Watching:
    @property
    def watched(self):
        return 1

    @watched.setter
    def watched(self, value):
        note(value)


class WithNew:
    def __new__(cls, *args):
        note(args)
        return object.__new__(cls)


class WithState:
    def __setstate__(self, state):
        note(state)


class WithEnd:
    def __del__(self):
        note("end")


class WithHash:
    def __hash__(self):
        note("hash")
        return 1


class Converting:
    def __index__(self):
        note("index")
        return 1

    def __float__(self):
        note("float")
        return 1.0

    def __bool__(self):
        note("bool")
        return True

    def __contains__(self, part):
        note("contains")
        return True

    def __eq__(self, other):
        note("eq")
        return True

    __hash__ = object.__hash__


class Iterating(tuple):
    def __iter__(self):
        note("iter")
        return tuple.__iter__(self)


class Sizes(list):
    def __iter__(self):
        note("iter")
        return list.__iter__(self)


class WithKeys:
    @staticmethod
    def keys():
        note("keys")
        return ()


class Equal(enum.Enum):
    A = 1

    def __eq__(self, other):
        note("eq")
        return True

    __hash__ = enum.Enum.__hash__


class Asking(type):
    def __getattribute__(cls, name):
        note(name)
        return type.__getattribute__(cls, name)


class Asked(metaclass=Asking):
    pass


class WatchedOptimizer(facula.optim.SGD):
    def __setattr__(self, name, value):
        note(name)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


class Reading:
    def __getattribute__(self, name):
        note(name)
        return object.__getattribute__(self, name)


class Meta(type):
    def __call__(cls, *args):
        note(args)
        return type.__call__(cls, *args)


class Made(metaclass=Meta):
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = "blue"

    @classmethod
    def _missing_(cls, value):
        note(value)


class Bits(enum.Flag):
    A = 1
    B = 2


Point = collections.namedtuple("Point", "x y")


class Net(facula.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = facula.nn.Linear(2, 2)
        self.activation = facula.nn.functional.relu

    def forward(self, x):
        return self.activation(self.layer(x))


class OwnState(Net):
    def __setstate__(self, state):
        note(state)


class _Call:
    """Pickles as a call; with `state` also as the state that is given to what it makes."""

    def __init__(self, function, args=(), state=None, new=False, items=None, pairs=None):
        self.parts = (function, args, state, new, items, pairs)


class _Pickler(pickle._Pickler):
    """Writes what Python's own pickler refuses to write, as a hostile program would."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_call(self, obj):
        function, args, state, new, items, pairs = obj.parts
        self.save(function)
        self.save(args)
        self.write(b"\x81" if new else b"R")
        if state is not None:
            for each in state if type(state) is list else [state]:
                self.save(each)
                self.write(b"b")
        for entries, code in ((items, b"e"), (pairs, b"u")):
            if entries is not None:
                self.write(b"(")
                for entry in entries:
                    self.save(entry)
                self.write(code)

    dispatch[_Call] = save_call


class _Set:
    def __init__(self, *members):
        self.members = members


def _save_set(self, obj):
    self.write(b"\x8f(")
    for member in obj.members:
        self.save(member)
    self.write(b"\x90")


_Pickler.dispatch[_Set] = _save_set


class _Key:
    def __init__(self, key):
        self.key = key


def _save_key(self, obj):
    self.write(b"}")
    self.save(obj.key)
    self.save(1)
    self.write(b"s")


_Pickler.dispatch[_Key] = _save_key


def pickled(obj):
    import io

    file = io.BytesIO()
    _Pickler(file, 2).dump(obj)
    return file.getvalue()


def new(cls, state=None, args=(), **kwargs):
    return _Call(cls, args, state, True, **kwargs)


STRUCT = ("V8", False, True)


def ndarray(dtype, data, shape=(1,), version=1, fortran=False):
    from numpy._core import multiarray

    made = _Call(multiarray._reconstruct, (numpy.ndarray, (0,), b"b"))
    made.parts = (*made.parts[:2], (version, shape, dtype, fortran, data), *made.parts[3:])
    return made


def described(*state, name="f8"):
    return _Call(numpy.dtype, (name, False, True), (3, *state))


F8 = described("<", None, None, None, -1, -1, 0)


HOSTILE = {
    "a function": _Call(note, (1,)),
    "a function of Python's": _Call(os.system, ("true",)),
    "a base with a constructor": _Call(
        copyreg._reconstructor, (subprocess.Popen, subprocess.Popen, ["true"])
    ),
    "a base of the program's": _Call(copyreg._reconstructor, (WithNew, WithNew, None)),
    "a state of the object's own": new(
        argparse.Namespace, [{"__setstate__": note}, "command"]
    ),
    "a class made of parts": new(type, None, ("X", (), {"__setstate__": note})),
    "a class made by a metaclass": new(Meta, None, ("X", (), {})),
    "a list of the object's own": new(
        argparse.Namespace, {"extend": note, "append": note}, items=[1, 2]
    ),
    "a dict of the object's own": new(
        argparse.Namespace, {"__setitem__": note, "update": note}, pairs=["a", 1]
    ),
    "__new__": new(WithNew, None, (1,)),
    "__setstate__": new(WithState, {"a": 1}),
    "__setstate__ of a module": new(OwnState, {"a": 1}),
    "__del__": new(WithEnd),
    "__getattribute__": new(Reading, {"a": 1}),
    "__hash__ of a key": _Key(new(WithHash)),
    "__hash__ in a tuple": _Key((1, (new(WithHash),))),
    "__hash__ of a dataclass": _Key(new(Frozen)),
    "__hash__ of a member": _Set(new(WithHash)),
    "__hash__ in a call": _Call(set, ([new(WithHash)],)),
    "__hash__ in pairs": _Call(collections.OrderedDict, ([[new(WithHash), 1]],)),
    "a property": new(Watching, (None, {"watched": 1})),
    "a finaliser of Python's": new(tempfile._TemporaryFileCloser, {"file": note}),
    "the state of a class": _Call(copyreg._reconstructor, (Plain, object, None)),
    "a member that is not there": _Call(Color, (7,)),
    "another enumeration": _Call(Color, ("X", ["a"])),
    "the library's machinery": new(_restore._Maker, {"make": note}),
    "a storage of the library's": new(facula.TypedStorage, {"_elements": 1}),
    "methods of an optimizer": new(
        facula.optim.SGD, {"_make_hook_dicts": note, "param_groups": [], "state": {}}
    ),
    "groups of an optimizer": new(
        facula.optim.SGD,
        {"param_groups": [new(argparse.Namespace, {"setdefault": note})], "state": {}},
    ),
    "entries of an optimizer": new(
        facula.optim.Adam,
        {"param_groups": [], "state": {1: new(Settings, {"get": note})}, "defaults": {}},
    ),
    "an iterator in a call": _Call(tuple, (new(argparse.Namespace, {"__iter__": note}),)),
    "keys of a mapping": _Call(dict, (new(argparse.Namespace, {"keys": note}),)),
    "a partial with other parts": _Call(functools.partial, (note,), (note, (), {}, 5)),
    "an array of pointers": ndarray(
        _Call(numpy.dtype, ("O8", False, True), (3, "|", None, None, None, -1, -1, 0)), bytes(8)
    ),
    "an array with pointers": ndarray(
        _Call(
            numpy.dtype,
            STRUCT,
            (3, "|", None, ("a",), {"a": (_Call(numpy.dtype, ("O8",)), 0)}, 8, 1, 0),
        ),
        bytes(8),
    ),
    "the version of an array": ndarray(F8, bytes(8), version=new(Converting)),
    "the order of an array": ndarray(F8, bytes(8), fortran=new(Converting)),
    "the shape of an array": ndarray(F8, bytes(8), shape=new(Iterating, None, ((1,),))),
    "numbers of an array": ndarray(
        _Call(numpy.dtype, ("O,f8", False, True)), [(1, new(Converting))]
    ),
    "an array of texts by their pointers": ndarray(
        _Call(numpy.dtype, ("T", False, True)), bytes(16)
    ),
    "the alignment of a dtype": described("<", None, None, None, -1, new(Converting), 0),
    "names of a dtype": described("|", None, (new(WithHash),), {}, 8, 1, 0, name="V8"),
    "a path's hash": _Key(_Call(pathlib.PurePosixPath, ("a",), (None, {"_hash": 1}))),
    "a path's parts": _Key(
        _Call(
            pathlib.PureWindowsPath,
            ("a",),
            (None, {"_parts": [new(argparse.Namespace, {"lower": note})]}),
        )
    ),
    "keys of a class": _Call(dict, (WithKeys,)),
    "__eq__ of a member": _Key(Equal.A),
    "__eq__ of a base": _Call(copyreg._reconstructor, (Plain, new(Converting), None)),
    "__bool__ of a state": new(Plain, new(Converting)),
    "__getattribute__ of a metaclass": new(Asked),
    "numbers of an optimizer": new(
        facula.optim.ASGD,
        {"param_groups": [], "state": {1: {"eta": new(Converting)}}, "defaults": {}},
    ),
    "__setattr__ of an optimizer": new(
        WatchedOptimizer, {"param_groups": [], "state": {}, "defaults": {}}
    ),
    "an array that reaches out": ndarray(
        _Call(
            numpy.dtype,
            STRUCT,
            (3, "|", None, ("a",), {"a": (_Call(numpy.dtype, ("f8",)), 4096)}, 8, 1, 0),
        ),
        bytes(8),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_runs_code(name):
    obj = HOSTILE[name]
    data = pickled(obj)
    if name == "the state of a class":  # of one that stands before any object
        data = pickled(Plain)[:-1] + pickled((None, {"__setstate__": note}))[2:-1] + b"b."
    RAN.clear()
    with pytest.raises(pickle.UnpicklingError):
        read(data)
    assert not RAN


def meta_tensor(size=(2,), dtype="float32", state=None):
    """Return the pickle of a tensor without elements; with `state` those are its attributes."""
    text = b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
    strides = tuple(range(len(size), 0, -1))
    parts = b"ctorch\n" + dtype.encode() + b"\n" + _bare(size) + _bare(strides) + b"\x89t"
    if state is None:
        return text + b"(" + parts + b"R"
    rest = b"ctorch\nTensor\n(" + parts + _bare(state) + b"tR"
    return b"ctorch._tensor\n_rebuild_from_type_v2\n(" + text + rest


def _bare(obj):
    # Without the memo, whose numbers the pickle around it uses too.
    import io

    file = io.BytesIO()
    pickler = _Pickler(file, 2)
    pickler.fast = True
    pickler.dump(obj)
    return file.getvalue()[2:-1]


def parameter(state, value=b""):
    made = b"ctorch._utils\n_rebuild_parameter_with_state\n(" + meta_tensor() + b"\x89N"
    return b"\x80\x02" + made + _bare(state) + b"tR" + value + b"."


SPARSE = b"ctorch.serialization\n_get_layout\n" + _bare(("torch.sparse_coo",)) + b"R"
ATTRIBUTES = {
    "a method of a parameter": parameter({"requires_grad_": note}, b"(\x88NNtb"),
    "a method of a tensor": b"\x80\x02" + meta_tensor(state={"detach": note}) + b".",
    "a class's own name": b"\x80\x02" + meta_tensor(state={"__class__": note}) + b".",
    "a method of Parameter's": parameter({"__deepcopy__": note}),
    "indices of a sparse tensor": b"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\n("
    + SPARSE
    + b"("
    + meta_tensor((1, 2), "int64", {"is_floating_point": note})
    + meta_tensor()
    + _bare((2,))
    + b"\x88ttR.",
}


@pytest.mark.parametrize("objects", [True, False])
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_stand_in_for_no_methods(name, objects):
    RAN.clear()
    with facula.serialization.safe_globals([] if objects else [note]):
        with pytest.raises(pickle.UnpicklingError, match="which tensors define"):
            _restore.Reader(None, None, objects).load(ATTRIBUTES[name])
    assert not RAN


def test_attributes_of_tensors_stay():
    t = read(b"\x80\x02" + meta_tensor(state={"tag": [1], "_mine": 2}) + b".")
    assert t.tag == [1] and t._mine == 2 and t.shape == (2,)
    p = read(parameter({"tag": "a"}, b"(\x88NNtb"))
    assert p.tag == "a" and p.requires_grad


def test_persistent_ids_are_compared_with_nothing():
    for count in (4, 5):
        RAN.clear()
        key = pickled((new(Converting), *range(count - 1)))[:-1]
        with pytest.raises(pickle.UnpicklingError):
            read(key + b"Q.")
        assert not RAN


def test_sizes_are_of_pythons_own_types():
    data = b"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\n(" + SPARSE + b"("
    data += meta_tensor((1, 2), "int64") + meta_tensor()
    RAN.clear()
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        read(data + _bare(new(Sizes, items=[2])) + b"\x88ttR.")
    assert not RAN


def test_tuples_are_read_as_tuples():
    RAN.clear()
    made = read(pickled(new(Iterating, None, ((1, (2, 3)),))))
    assert tuple.__len__(made) == 2 and type(made) is Iterating and not RAN
    layer = read(pickled(new(facula.nn.TransformerEncoderLayer, {"_modules": new(Converting)})))
    assert type(layer) is facula.nn.TransformerEncoderLayer and not RAN


def test_fields_of_arrays_stay_what_was_checked():
    def dtype(name):
        return b"cnumpy\ndtype\n(" + _bare(name) + b"\x89\x88tR"

    head = b"\x80\x02" + dtype("V8") + b"(K\x03" + _bare("|") + b"N(" + _bare("a") + b"t"
    inner = dtype("f8") + b"q\x07"
    fields = b"}q\x05(" + _bare("a") + inner + b"K\x00\x86u"
    rest = b"K\x08K\x01K\x00tbq\x06h\x05" + _bare("a") + dtype("O8") + b"K\x00\x86s0."
    found = read(head + fields + rest)
    assert found.fields["a"][0] == numpy.dtype("f8") and not found.hasobject
    # What is a field of itself has no end.
    head = b"\x80\x02" + dtype("V8") + b"q\x06(K\x03" + _bare("|") + b"N(" + _bare("a") + b"t"
    found = read(head + b"}(" + _bare("a") + b"h\x06K\x00\x86uK\x08K\x01K\x00tb.")
    assert found.fields["a"][0].fields is None


def test_attributes_of_functions_and_modules_stay(tmp_path):
    before = vars(note).copy()
    for target in (note, Plain, Color.RED, numpy.dtype("f8")):
        with pytest.raises(pickle.UnpicklingError):
            state = pickled({"marked": 1})[2:-1]
            read(pickled(target)[:-1] + state + b"b.")
    assert vars(note) == before and not hasattr(Plain, "marked")
    assert not hasattr(Color.RED, "marked")


def test_no_module_is_imported(tmp_path, monkeypatch):
    (tmp_path / "imported_by_a_file.py").write_text("from pathlib import Path\nraise SystemExit\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    data = b"\x80\x02cimported_by_a_file\nThing\n)\x81."
    with pytest.raises(pickle.UnpicklingError, match="imports no modules"):
        read(data)
    for name in ("this", "antigravity", "idlelib.idle"):
        if name not in sys.modules:
            with pytest.raises(pickle.UnpicklingError, match="imports no modules"):
                read(f"\x80\x02c{name}\nThing\n.".encode("latin1"))
    assert "imported_by_a_file" not in sys.modules
    with pytest.raises((pickle.UnpicklingError, EOFError, RuntimeError)):
        _Scan(b"".join(pickle.dumps(x, 2) for x in (1, 2, 3)), True)


def test_names_lead_through_no_module():
    # argparse has imported os under another name.
    for name in ("_os.system", "_os", "_sys.exit"):
        with pytest.raises(pickle.UnpicklingError):
            read(f"\x80\x04\x8c\x08argparse\x8c{chr(len(name))}{name}\x93.".encode("latin1"))


def test_containers_are_filled_by_python_itself():
    RAN.clear()
    found = read(pickled([new(Overriding, pairs=["a", 1]), new(Filled, items=[1, 2])]))
    slotted = read(pickled(new(Slotted, (None, {"a": 3}))))
    assert dict(found[0]) == {"a": 1} and list(found[1]) == [1, 2]
    assert type(found[0]) is Overriding and slotted.a == 3 and not RAN


@pytest.mark.parametrize("protocol", [2, 4])
def test_objects_come_back(protocol):
    plain = Plain()
    plain.a, plain.inner = 1, {"list": [Plain()]}
    values = [
        argparse.Namespace(lr=0.5),
        types.SimpleNamespace(a=1),
        Settings(a=1),
        collections.OrderedDict(a=1),
        collections.Counter("aab"),
        collections.deque([1, 2], 5),
        Point(1, [2]),
        Color.RED,
        Color.BLUE,
        Bits.A | Bits.B,
        {Color.RED: 1, ("a", 2): Point(1, 2), pathlib.PurePosixPath("a"): 3},
        {1, "a"},
        frozenset([1]),
        pathlib.PurePosixPath("a/b"),
        Frozen(3),
        numpy.float64(0.25),
        numpy.datetime64("2020-01-01"),
    ]
    for value in values:
        found = read(pickle.dumps(value, protocol))
        assert found == value and type(found) is type(value)
    arrays = [
        numpy.arange(3.0),
        numpy.array([[1, "a", None]], dtype=object),
        numpy.array(["ab", "c"]),
        numpy.array([(1, 2.0)], dtype=[("a", "i4"), ("b", ">f8")]),
        numpy.array([True]),
        numpy.zeros((2, 3), order="F"),
    ]
    for array in arrays:
        found = read(pickle.dumps(array, protocol))
        assert found.dtype == array.dtype and found.tolist() == array.tolist()
    assert read(pickle.dumps(plain, protocol)).inner["list"][0].__class__ is Plain
    half = read(pickle.dumps(functools.partial(facula.softmax, dim=1), protocol))
    assert half.func is facula.softmax and half.keywords == {"dim": 1}
    assert type(read(pickled(_Call(copyreg._reconstructor, (Plain, object, None))))) is Plain
    made = read(pickled(_Call(copyreg._reconstructor, (Settings, dict, {"a": 1}))))
    assert made == Settings(a=1) and type(made) is Settings


def test_trusted_classes_do_what_they_like():
    with facula.serialization.safe_globals([WithNew, WithState, Frozen, WithHash]):
        RAN.clear()
        read(pickled(new(WithState, {"a": 1})))
        assert RAN == [({"a": 1},)]
        assert read(pickled(_Key(new(Frozen, {"a": 2})))) == {Frozen(2): 1}
        # Also then, what the file has put into an object stands in for nothing.
        RAN.clear()
        read(pickled(new(WithNew, [{"__setstate__": note}, {"a": 1}])))
        assert RAN == [((),)]
