"""Checkpoints: round trips, a file of PyTorch's, sharing, sizes, hostile and damaged files."""

import collections
import copy
import dataclasses
import io
import os
import pickle
import random
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pytest

import facula
from facula import nn
from facula.serialization import load, safe_globals, save

RECORDED = Path(__file__).parent / "fixtures" / "checkpoint.pt"
REFUSALS = (RuntimeError, EOFError, pickle.UnpicklingError)


def stored(obj):
    file = io.BytesIO()
    save(obj, file)
    file.seek(0)
    return file


def again(obj, **options):
    return load(stored(obj), **options)


def test_values_strides_and_sharing():
    base = facula.arange(24.0).reshape(2, 3, 4)
    p = nn.Parameter(facula.ones(2))
    d = again({"t": base.permute(2, 0, 1), "s": base[:, 1], "p": p, "same": p})
    assert d["t"].stride() == (1, 12, 4) and d["t"].tolist() == base.permute(2, 0, 1).tolist()
    assert isinstance(d["p"], nn.Parameter) and d["p"] is d["same"] and d["p"].requires_grad
    d["t"][0, 0, 1] = -1.0
    assert d["s"][0, 0].item() == -1.0


@pytest.mark.parametrize(
    "name",
    "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool uint16 uint32 uint64 "
    "complex64 complex128".split(),
)
def test_dtypes(name):
    t = facula.tensor([0, 1, 1, 0]).to(getattr(facula, name))
    back = again(t)
    assert back.dtype == t.dtype and back.tolist() == t.tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: facula.tensor(3.0),
        lambda: facula.zeros(0, 3),
        lambda: facula.ones(1).expand(4),
        lambda: facula.arange(10.0)[::3],
        lambda: facula.ones(2, requires_grad=True),
        lambda: facula.ones(2, requires_grad=True) * 2,
    ],
)
def test_shapes(make):
    t = make()
    back = again(t)
    assert (back.shape, back.tolist()) == (t.shape, t.tolist())
    assert back.requires_grad == t.requires_grad and back.is_leaf


def test_plain_data():
    data = {
        "list": [1, 2.5, None, True, "tëxt", b"\x00\xff", bytearray(b"x")],
        ("tuple", 1): (1, (2,), 10**30, -1),
        "sets": [{1, 2}, frozenset([3]), 1 + 2j],
        "dicts": [
            collections.OrderedDict(a=1),
            collections.Counter("aab"),
            collections.defaultdict(list, {1: [2]}),
        ],
        "types": [facula.int8, facula.device("cpu"), facula.Size([1, 2])],
    }
    back = again(data)
    assert back == data
    assert type(back["dicts"][2]) is collections.defaultdict
    assert back["dicts"][2].default_factory is list


def test_state_dicts_keep_their_metadata():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    o = facula.optim.Adam(model.parameters())
    model(facula.ones(4, 2)).sum().backward()
    o.step()
    d = again({"model": model.state_dict(), "optimizer": o.state_dict()})
    assert d["model"]._metadata == model.state_dict()._metadata
    model.load_state_dict(d["model"])
    o.load_state_dict(d["optimizer"])
    assert d["optimizer"]["state"][0]["step"].item() == 1


def test_attributes_of_tensors():
    p = nn.Parameter(facula.ones(1))
    p.tag = "x"
    t = facula.ones(1)
    t.note = [1]
    a, b = again([p, t])
    assert a.tag == "x" and b.note == [1]


def test_file_written_by_pytorch():
    d = load(RECORDED)
    assert d["base"].tolist() == facula.arange(12.0).reshape(3, 4).tolist()
    d["base"][0, 1] = 50.0
    assert d["column"].tolist() == [50.0, 5.0, 9.0] and d["column"].stride() == (4,)
    assert d["p"] is d["same"] and isinstance(d["p"], nn.Parameter) and d["tagged"].tag == "x"
    assert d["bf16"].tolist() == [1.5, -2.0] and d["bf16"].dtype == facula.bfloat16
    assert d["half"].tolist() == [0.5] and d["c"].tolist() == [1 - 2j]
    assert d["bool"].tolist() == [True, False] and d["u16"].tolist() == [1, 65535]
    assert d["empty"].shape == (0, 3) and d["scalar"].item() == 7
    assert d["meta"].device.type == "meta" and d["meta"].shape == (2, 3)
    assert d["dtype"] is facula.int8 and d["size"] == (1, 2) and d["device"].type == "cpu"
    assert d["plain"] == [
        1, 2.5, None, True, "text", b"\x00\xff", (1, 2), {3}, 1 + 2j, 10**20,
        collections.OrderedDict(a=1), collections.Counter("aab"),
    ]  # fmt: skip
    model = nn.Linear(2, 2)
    model.load_state_dict(d["model"])
    o = facula.optim.Adam(model.parameters())
    o.load_state_dict(d["optimizer"])
    assert o.param_groups[0]["lr"] == 0.5 and o.state[model.weight]["step"].item() == 1
    assert d["model"]._metadata[""] == {"version": 1}


def test_views_cost_what_they_show():
    big = facula.zeros(1_000_000)
    assert len(stored(big[:10]).getvalue()) < 2048
    assert len(stored([big[:10], big[-10:]]).getvalue()) < 3000
    assert len(stored(big.view(1000, 1000)[:, 3]).getvalue()) < 6000
    x, y = again([big[:10], big[2:4]])
    x[2] = 5.0
    assert y[0].item() == 5.0


def test_one_storage_as_two_types():
    t = facula.zeros(4)
    with pytest.raises(RuntimeError, match="different types"):
        stored([t, t.view(facula.int32)])


def test_paths(tmp_path):
    path = tmp_path / "model.v1.pt"
    save([facula.ones(3)], path)
    assert load(str(path))[0].tolist() == load(path)[0].tolist() == [1.0, 1.0, 1.0]
    names = zipfile.ZipFile(path).namelist()
    assert names[0] == "model.v1/data.pkl" and "model.v1/data/0" in names
    assert os.listdir(tmp_path) == ["model.v1.pt"]
    with open(path, "rb") as file:
        assert load(file)[0].shape == (3,)


def test_storages_are_aligned(tmp_path):
    path = tmp_path / "x.pt"
    save([facula.ones(3), facula.ones(5)], path)
    with open(path, "rb") as file:
        raw = file.read()
    for info in zipfile.ZipFile(path).infolist():
        if "/data/" in info.filename:
            at = info.header_offset
            at += 30 + int.from_bytes(raw[at + 26 : at + 28], "little")
            at += int.from_bytes(raw[info.header_offset + 28 : info.header_offset + 30], "little")
            assert at % 64 == 0 and raw[at : at + 4] == b"\x00\x00\x80\x3f"


def test_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.pt"
    save([1], path)

    class Bad:
        def __reduce__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        save([facula.ones(3), Bad()], path)
    assert load(path) == [1] and os.listdir(tmp_path) == ["x.pt"]
    with pytest.raises(RuntimeError, match="does not exist"):
        save([1], tmp_path / "no" / "x.pt")


def test_mmap(tmp_path):
    path = tmp_path / "x.pt"
    save({"a": facula.arange(1000.0)}, path)
    a = load(path, mmap=True)["a"]
    assert a.sum().item() == 499500.0
    a[0] = 7.0
    assert load(path)["a"][0].item() == 0.0
    with pytest.raises(ValueError, match="mmap"):
        load(stored(1), mmap=True)


@pytest.mark.parametrize(
    "where", ["cpu", {"cpu": "cpu"}, lambda storage, location: storage, lambda *a: None]
)
def test_map_location(where):
    assert again(facula.ones(2), map_location=where).tolist() == [1.0, 1.0]


def test_map_to_meta():
    assert again(facula.ones(2), map_location="meta").device.type == "meta"


def rewritten(change):
    """Return a checkpoint whose pickle `change` has edited."""
    source, out = zipfile.ZipFile(stored([facula.ones(2)])), io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, change(data) if name.endswith("data.pkl") else data)
    return io.BytesIO(out.getvalue())


def test_device_that_is_not_there():
    file = rewritten(lambda d: d.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"))
    with pytest.raises(RuntimeError, match="deserialize object on a CUDA device"):
        load(file)
    file.seek(0)
    assert load(file, map_location="cpu")[0].tolist() == [1.0, 1.0]


def touch(path):
    return type("Evil", (), {"__reduce__": lambda self: (os.system, (f"touch {path}",))})()


HOSTILE = {
    "system": b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.",
    "eval": b"\x80\x02c__builtin__\neval\nX\x01\x00\x00\x001\x85R.",
    "getattr": b"\x80\x02cbuiltins\ngetattr\n}X\x03\x00\x00\x00pop\x86R.",
    "nested name": b"\x80\x04\x8c\x05torch\x8c\x0bhub.os.path\x93.",
    "instance": b"\x80\x02(ios\nsystem\n.",
    "object": b"\x80\x02(cos\nsystem\no.",
    "extension": b"\x80\x02\x82\x01.",
    "text id": b"\x80\x02Pstorage\n.",
    "id of no storage": b"\x80\x02X\x01\x00\x00\x00aQ.",
    "build of a list": b"\x80\x02]}b.",
    "call of a tensor": b"\x80\x02ctorch\nfloat32\n)R.",
    "bytes from a number": b"\x80\x02c__builtin__\nbytearray\nJ\x00\xca\x9a\x3b\x85R.",
    "text times number": b"\x80\x02c__builtin__\nbytes\nJ\x00\xca\x9a\x3b\x85R.",
    "empty stack": b"\x80\x02.",
    "no mark": b"\x80\x02NN\x74.",
    "memo": b"\x80\x02h\x07.",
    "short": b"\x80\x02X\xff\xff\xff\x7fa.",
    "long": b"\x80\x02\x8b\xff\xff\xff\x7f1.",
    "frame only": b"\x80\x04\x95",
    "protocol": b"\x80\x09N.",
    "deep": b"\x80\x02" + b"(" * 200_000 + b".",
    "append to none": b"\x80\x02NNa.",
    "unhashable": b"\x80\x02}]Ns.",
    "codec": b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00hex\x86R.",
    "factory": b"\x80\x02ccollections\ndefaultdict\nK\x01\x85R.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pickles(name):
    with pytest.raises(REFUSALS):
        load(rewritten(lambda _: HOSTILE[name]))


def test_nothing_runs(tmp_path):
    target = tmp_path / "ran"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = stored({"a": touch(target), "w": facula.ones(2)})
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global"):
        load(file)
    assert not target.exists()


def test_damaged_tensors():
    def patched(old, new):
        def change(data):
            assert old in data
            return data.replace(old, new)

        return change

    # The size (2,) becomes (9,): out of bounds of the storage.
    with pytest.raises(REFUSALS):
        load(rewritten(patched(b"K\x02\x85", b"K\x09\x85")))
    # The storage claims 9 elements.
    with pytest.raises(REFUSALS):
        load(rewritten(patched(b"K\x02t", b"K\x09t")))
    # Negative stride.
    with pytest.raises(REFUSALS):
        load(rewritten(patched(b"K\x01\x85", b"J\xff\xff\xff\xff\x85")))


def test_truncated_and_flipped_files():
    raw = stored([facula.arange(100.0), {"a": nn.Parameter(facula.ones(3))}]).getvalue()
    for n in range(0, len(raw) - 1, 7):
        with pytest.raises(REFUSALS):
            load(io.BytesIO(raw[:n]))
    dice = random.Random(0)
    for _ in range(300):
        damaged = bytearray(raw)
        damaged[dice.randrange(len(raw))] = dice.randrange(256)
        try:
            load(io.BytesIO(bytes(damaged)))
        except (*REFUSALS, NotImplementedError):
            pass


def test_damaged_pickles():
    dice = random.Random(1)
    for _ in range(300):

        def change(data):
            data = bytearray(data)
            for _ in range(dice.choice([1, 2, 5])):
                data[dice.randrange(len(data))] = dice.randrange(256)
            return bytes(data)

        try:
            load(rewritten(change))
        except (*REFUSALS, NotImplementedError):
            pass


def turned(obj):
    """Return a checkpoint as a big-endian machine writes it; numbers of 4 bytes only."""
    source, out = zipfile.ZipFile(stored(obj)), io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if "/data/" in name:
                data = b"".join(data[i : i + 4][::-1] for i in range(0, len(data), 4))
            target.writestr(name, b"big" if name.endswith("/byteorder") else data)
    return io.BytesIO(out.getvalue())


def test_files_of_big_endian_machines(tmp_path):
    values = [facula.arange(3.0), facula.tensor([1 - 2j]), facula.tensor([7], dtype=facula.int32)]
    assert [t.tolist() for t in load(turned(values))] == [t.tolist() for t in values]
    path = tmp_path / "x.pt"
    path.write_bytes(turned(values).getvalue())
    assert load(path, mmap=True)[0].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(RuntimeError, match="byte order"):
        load(turned(facula.tensor([1], dtype=facula.uint32)))


def test_storages_in_files():
    data = rewritten(lambda d: d[: d.index(b"ctorch._utils")] + STORAGE + b"a.")
    s = load(data)[0]
    assert isinstance(s, facula.storage.TypedStorage)
    assert s.dtype == facula.float32 and s.tolist() == [1.0, 1.0]


STORAGE = (
    b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"
)


def test_compressed_records_are_refused():
    source, out = zipfile.ZipFile(stored([facula.zeros(10_000)])), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    with pytest.raises(RuntimeError, match="compressed"):
        load(io.BytesIO(out.getvalue()))


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (b"", EOFError, "Ran out of input"),
        (b"hello, world", pickle.UnpicklingError, "neither a zip nor a pickle"),
        (b"PK\x03\x04garbage", RuntimeError, "central directory"),
    ],
)
def test_other_files(data, error, text):
    with pytest.raises(error, match=text):
        load(io.BytesIO(data))


def test_zip_of_something_else():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("a/b.txt", "x")
    out.seek(0)
    with pytest.raises(RuntimeError, match=r"no data\.pkl"):
        load(out)


def test_wrong_arguments():
    with pytest.raises(RuntimeError, match="data only"):
        load(stored(1), weights_only=False)
    with pytest.raises(AttributeError, match="no attribute 'read'"):
        load(3)
    with pytest.raises(AttributeError, match="'write' attribute"):
        save(1, 3)
    with pytest.raises(TypeError, match="binary file"):
        load(io.StringIO("abc"))
    with pytest.raises(FileNotFoundError):
        load("/no/such/file.pt")


@dataclasses.dataclass
class Config:
    width: int = 1
    weight: object = None


def test_safe_globals():
    with pytest.warns(UserWarning, match="Config will be refused"):
        file = stored(Config(3, facula.ones(2)))
    with pytest.raises(pickle.UnpicklingError, match="Config was not an allowed global"):
        load(file)
    file.seek(0)
    with safe_globals([Config]):
        back = load(file)
    assert back.width == 3 and back.weight.tolist() == [1.0, 1.0]
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        load(file)


def test_files_that_cannot_seek():
    class Pipe:
        def __init__(self):
            self.data = b""

        def write(self, piece):
            self.data += bytes(piece)

    pipe = Pipe()
    save([facula.ones(2)], pipe)
    assert load(io.BytesIO(pipe.data))[0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("zipped", [True, False])
def test_storages_alone(zipped):
    t = facula.tensor([1.0, 2.0, 3.0])
    file = io.BytesIO()
    held = {"bytes": facula.arange(5, dtype=facula.uint8).untyped_storage(), "v": t[1:]}
    held |= {"typed": t.storage(), "none": facula.empty(0, dtype=facula.int64).storage()}
    save(held, file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    d = load(file)
    assert d["bytes"].dtype == facula.uint8 and d["bytes"].tolist() == [0, 1, 2, 3, 4]
    assert d["typed"].dtype == facula.float32 and d["typed"].tolist() == [1.0, 2.0, 3.0]
    assert d["none"].dtype == facula.int64 and len(d["none"]) == 0
    d["v"][0] = -1.0
    assert d["typed"].tolist() == [1.0, -1.0, 3.0]


def test_storages_of_dtypes_without_a_class():
    with pytest.raises(NotImplementedError, match="uint16"):
        stored(facula.zeros(2, dtype=facula.uint16).storage())
    with pytest.raises(RuntimeError, match="different types"):
        t = facula.zeros(2)
        stored([t, t.untyped_storage()])


def test_storages_are_copied_and_pickled():
    t = facula.tensor([1.0, 2.0])
    for storage in (t.untyped_storage(), t.storage()):
        loaded = pickle.loads(pickle.dumps(storage))
        for other in (copy.copy(storage), copy.deepcopy(storage), loaded):
            assert type(other) is type(storage) and list(other) == list(storage)
            assert other.data_ptr() != t.data_ptr()
    tensor, memory, typed = copy.deepcopy([t, t.untyped_storage(), t.storage()])
    assert tensor.data_ptr() == memory.data_ptr() == typed.data_ptr() != t.data_ptr()


class MadeWhenWritten:
    """Its state holds tensors that are made for the file."""

    def __init__(self, size: int = 2) -> None:
        self.size = size

    def __getstate__(self) -> dict:
        return {"size": self.size, "weight": facula.ones(self.size) * 3}


class Lines(list):
    def __reduce__(self) -> tuple:
        return Lines, (), None, iter([facula.ones(1) * i for i in range(2)])


@pytest.mark.parametrize("zipped", [True, False])
def test_state_that_makes_tensors_for_the_file(tmp_path: Path, zipped: bool) -> None:
    made = {"run": [MadeWhenWritten()] * 2, "lines": Lines(), "rng": facula.Generator()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about classes that load() asks for
        facula.save(made, tmp_path / "all.pt", _use_new_zipfile_serialization=zipped)
        made = {"run": made["run"], "ordered": collections.OrderedDict(a=facula.ones(1))}
        facula.save(made, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    with facula.serialization.safe_globals([MadeWhenWritten]):
        back = facula.load(tmp_path / "a.pt")
    assert back["run"][0] is back["run"][1]
    assert back["run"][0].weight.tolist() == [3.0, 3.0]
    assert back["ordered"]["a"].tolist() == [1.0]


def test_files_and_pickles_need_no_numpy(tmp_path: Path) -> None:
    program = """
import sys
sys.modules["numpy"] = None
import pickle, facula
x = facula.arange(6.0)
made = {"a": x[2:5], "none": facula.ones(0, 3), "half": x.bfloat16(), "t": x.view(2, 3).t()}
for zipped in (True, False):
    facula.save(made, sys.argv[1], _use_new_zipfile_serialization=zipped)
    back = facula.load(sys.argv[1])
    assert all(facula.equal(back[k], v) and back[k].shape == v.shape for k, v in made.items())
back = pickle.loads(pickle.dumps(made))
assert all(facula.equal(back[k], v) for k, v in made.items())
"""
    command = [sys.executable, "-P", "-c", program, str(tmp_path / "a.pt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
