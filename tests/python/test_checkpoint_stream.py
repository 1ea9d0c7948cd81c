"""Checkpoints of PyTorch before 1.6: a file of PyTorch's, files put together by hand, damage."""

import collections
import gzip
import io
import os
import pickle
import random
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

import facula
from facula import nn
from facula.serialization import load, safe_globals, save

RECORDED = Path(__file__).parent / "fixtures" / "checkpoint_stream.pt"
REFUSALS = (RuntimeError, EOFError, pickle.UnpicklingError)
MAGIC = 0x1950A86A20F9469CFC6C


# Pickles put together by hand, opcode by opcode.


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value):
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def pack(*parts):
    return b"(" + b"".join(parts) + b"t"


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def storage(key, count, kind="FloatStorage", part=None, location="cpu"):
    view = b"N" if part is None else pack(text(part[0]), number(part[1]), number(part[2]))
    words = (text("storage"), name("torch", kind), text(key), text(location), number(count), view)
    return pack(*words) + b"Q"


def tensor(stored, size, stride, offset=0):
    rest = pack(*map(number, size)), pack(*map(number, stride))
    hooks = name("collections", "OrderedDict") + b")R"
    args = pack(stored, number(offset), *rest, b"\x89", hooks)
    return name("torch._utils", "_rebuild_tensor_v2") + args + b"R"


def items(*parts):
    return b"](" + b"".join(parts) + b"e"


def floats(*values, count=None):
    number_of = len(values) if count is None else count
    return struct.pack("<Q", number_of % 2**64) + struct.pack(f"<{len(values)}f", *values)


def stream(body, keys=(), storages=(), magic=MAGIC, version=1001, machine=None):
    machine = {"little_endian": True} if machine is None else machine
    head = b"".join(pickle.dumps(part, 2) for part in (magic, version, machine))
    body = b"\x80\x02" + body + b"."
    return io.BytesIO(head + body + pickle.dumps(list(keys), 2) + b"".join(storages))


def written(obj, **options):
    file = io.BytesIO()
    save(obj, file, _use_new_zipfile_serialization=False, **options)
    file.seek(0)
    return file


ONE = items(tensor(storage("7", 3), (3,), (1,)))


# Reading.


def test_file_written_by_pytorch():
    d = load(RECORDED, weights_only=True)
    assert d["base"].tolist() == facula.arange(12.0).reshape(3, 4).tolist()
    d["base"][0, 1] = 50.0
    assert d["column"].tolist() == [50.0, 5.0, 9.0] and d["column"].stride() == (4,)
    assert d["p"] is d["same"] and isinstance(d["p"], nn.Parameter) and d["tagged"].tag == "x"
    values = {
        "bf16": ("bfloat16", [1.5, -2.0]),
        "half": ("float16", [0.5]),
        "c": ("complex64", [1 - 2j]),
        "conj": ("complex64", [1 + 2j]),
        "bool": ("bool", [True, False]),
        "i8": ("int8", [-1]),
        "i16": ("int16", [-300]),
        "i32": ("int32", [-70000]),
        "i64": ("int64", [2**40]),
        "u8": ("uint8", [255]),
        "u16": ("uint16", [1, 65535]),
        "f64": ("float64", [0.1]),
        "scalar": ("int64", 7),
    }
    for key, (dtype, value) in values.items():
        assert (d[key].dtype, d[key].tolist()) == (getattr(facula, dtype), value), key
    assert d["empty"].shape == (0, 3) and d["meta"].device.type == "meta"
    assert d["sparse"].to_dense().tolist() == [[0.0, 2.0], [3.0, 0.0]]
    assert d["plain"] == [
        1, 2.5, None, True, "text", b"\x00\xff", (1, 2), {3}, 1 + 2j, 10**20,
        collections.OrderedDict(a=1), collections.Counter("aab"),
    ]  # fmt: skip
    assert type(d["model"]) is collections.OrderedDict
    assert d["model"]._metadata[""] == {"version": 1}
    model = nn.Linear(2, 2)
    model.load_state_dict(d["model"])
    o = facula.optim.Adam(model.parameters())
    o.load_state_dict(d["optimizer"])
    assert o.param_groups[0]["lr"] == 0.5 and o.state[model.weight]["step"].item() == 1


def test_views_of_storages_share_them():
    whole = tensor(storage("7", 6), (6,), (1,))
    view = storage("7", 6, part=("8", 2, 3))
    file = stream(
        items(whole, tensor(view, (2,), (1,), offset=1), tensor(view, (3,), (1,)), view),
        ["7"],
        [floats(0, 1, 2, 3, 4, 5)],
    )
    a, b, c, s = load(file)
    assert (b.tolist(), c.tolist(), s.tolist()) == ([3.0, 4.0], [2.0, 3.0, 4.0], [2.0, 3.0, 4.0])
    a[3] = 50.0
    assert (b.tolist(), c.tolist(), s.tolist()) == ([50.0, 4.0], [2.0, 50.0, 4.0], [2, 50, 4])
    assert not a.requires_grad and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def test_parameters_of_the_first_versions():
    value = tensor(storage("7", 2), (2,), (1,))
    made = name("torch.nn.parameter", "Parameter") + pack(value) + b"R"
    hooks = name("collections", "OrderedDict") + b")R"
    frozen = made + pack(b"\x89", b"\x89", hooks) + b"b"
    trained = made + pack(b"\x88", b"\x89", hooks) + b"b"
    a, b, c = load(stream(items(frozen, trained, made), ["7"], [floats(1, 2)]))
    assert all(isinstance(p, nn.Parameter) and p.tolist() == [1.0, 2.0] for p in (a, b, c))
    assert (a.requires_grad, b.requires_grad, c.requires_grad) == (False, True, True)
    with pytest.raises(REFUSALS):
        load(stream(items(made + pack(b"N") + b"b"), ["7"], [floats(1, 2)]))


class Container:
    pass


def test_classes_with_their_source():
    cls = name(__name__, "Container")
    key = pack(text("module"), cls, text("file.py"), text("class Container: pass")) + b"Q"
    with pytest.raises(pickle.UnpicklingError, match="Container was not an allowed global"):
        load(stream(key + b")\x81"))
    with safe_globals([Container]):
        made = load(stream(key + b")\x81" + b"}" + text("width") + b"K\x03sb"))
    assert type(made) is Container and made.width == 3
    other = pack(text("module"), name("collections", "OrderedDict"), b"N", b"N") + b"Q"
    with pytest.raises(pickle.UnpicklingError, match="unknown class of modules"):
        load(stream(other))


def test_several_in_one_file(tmp_path):
    path = tmp_path / "x.pt"
    with open(path, "wb") as file:
        file.write(b"zz")
        for i in range(3):
            save([facula.full((i,), 1.0), i], file, _use_new_zipfile_serialization=False)
    with open(path, "rb") as file:
        file.seek(2)
        for i in range(3):
            ones, last = load(file)
            assert (ones.tolist(), last) == ([1.0] * i, i)
        assert not file.read()


def test_compressed_and_slow_files(tmp_path):
    big = facula.arange(300_000.0)  # more than is read at first
    data = written({"big": big, "p": nn.Parameter(facula.ones(1))}).getvalue()

    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 70_001))

    with gzip.open(tmp_path / "x.gz", "wb", compresslevel=1) as file:
        file.write(data)
    with gzip.open(tmp_path / "x.gz", "rb") as file:
        assert facula.equal(load(file)["big"], big)
    assert facula.equal(load(Slow(data))["big"], big)


def test_long_pickles():
    value = {f"{'n' * 1000}{i}": i for i in range(1500)} | {"t": facula.ones(2)}
    file = written(value)
    assert len(file.getvalue()) > 1 << 20
    back = load(file)
    assert back.pop("t").tolist() == [1.0, 1.0] and back == {
        k: v for k, v in value.items() if k != "t"
    }


def test_map_location():
    file = written([facula.ones(2)]).getvalue()
    seen = []

    def place(stored, location):
        seen.append((stored.nbytes(), location))
        return stored

    for where in ("cpu", {"cpu": "cpu"}, place):
        assert load(io.BytesIO(file), map_location=where)[0].tolist() == [1.0, 1.0]
    assert seen == [(8, "cpu")]
    assert load(io.BytesIO(file), map_location="meta")[0].device.type == "meta"
    elsewhere = items(tensor(storage("7", 3, location="cuda:0"), (3,), (1,)))
    with pytest.raises(RuntimeError, match="deserialize object on a CUDA device"):
        load(stream(elsewhere, ["7"], [floats(1, 2, 3)]))
    file = stream(elsewhere, ["7"], [floats(1, 2, 3)])
    assert load(file, map_location="cpu")[0].tolist() == [1.0, 2.0, 3.0]


def test_mmap_is_for_zip_files(tmp_path):
    path = tmp_path / "x.pt"
    save([1], path, _use_new_zipfile_serialization=False)
    for file in (path, written([1])):
        with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
            load(file, mmap=True)


def test_big_endian_machines():
    # They write the elements little-endian; the first versions wrote the count in their own order.
    machine = {"little_endian": False}
    for count in (struct.pack("<q", 3), struct.pack(">q", 3)):
        data = count + struct.pack("<3f", 1, 2, 3)
        assert load(stream(ONE, ["7"], [data], machine=machine))[0].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="wrong byte size"):
        load(stream(ONE, ["7"], [data]))


# Writing.


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_round_trip(protocol):
    base = facula.arange(24.0).reshape(2, 3, 4)
    p = nn.Parameter(facula.ones(2))
    file = written(
        {"t": base.permute(2, 0, 1), "s": base[:, 1], "p": p, "same": p, "none": facula.empty(0)},
        pickle_protocol=protocol,
    )
    d = load(file)
    assert d["t"].stride() == (1, 12, 4) and d["t"].tolist() == base.permute(2, 0, 1).tolist()
    assert d["p"] is d["same"] and d["p"].requires_grad and d["none"].shape == (0,)
    d["t"][0, 0, 1] = -1.0
    assert d["s"][0, 0].item() == -1.0


@pytest.mark.parametrize(
    "dtype",
    "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool uint16 uint32 uint64 "
    "complex64 complex128".split(),
)
def test_dtypes(dtype):
    t = facula.tensor([0, 1, 1, 0]).to(getattr(facula, dtype))
    back = load(written(t))
    assert back.dtype == t.dtype and back.tolist() == t.tolist()


def test_bytes_that_are_written():
    t = facula.tensor([1.0, 2.0])
    data = written([t]).getvalue()
    assert data.startswith(pickle.dumps(MAGIC, 2) + pickle.dumps(1001, 2))
    file = io.BytesIO(data)
    assert [pickle.load(file) for _ in range(2)] == [MAGIC, 1001]
    assert pickle.load(file)["little_endian"] is True
    assert data.endswith(pickle.dumps(["0"], 2) + struct.pack("<q2f", 2, 1, 2))
    # PyTorch cannot read streams with storages of no type.
    assert b"UntypedStorage" not in written(t.to(facula.uint16)).getvalue()


def test_paths_are_replaced_at_once(tmp_path):
    path = tmp_path / "x.pt"
    save([facula.ones(3)], path, _use_new_zipfile_serialization=False)
    assert not zipfile.is_zipfile(path) and load(path)[0].tolist() == [1.0, 1.0, 1.0]

    class Bad:
        def __reduce__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        save([facula.ones(3), Bad()], path, _use_new_zipfile_serialization=False)
    assert load(path)[0].shape == (3,) and os.listdir(tmp_path) == ["x.pt"]


def test_files_that_can_only_be_written():
    class Pipe:
        data = b""

        def write(self, piece):
            self.data += bytes(piece)

    pipe = Pipe()
    save([facula.ones(2)], pipe, _use_new_zipfile_serialization=False)
    assert load(io.BytesIO(pipe.data))[0].tolist() == [1.0, 1.0]


# Damage.

GOOD = floats(1, 2, 3)
DAMAGED = {
    "magic": (stream(ONE, ["7"], [GOOD], magic=MAGIC + 1), RuntimeError, "Invalid magic number"),
    "other magic": (stream(ONE, magic=[]), RuntimeError, "Invalid magic number"),
    "version": (stream(ONE, version=1002), RuntimeError, "Invalid protocol version: 1002"),
    "huge version": (stream(ONE, version=1 << 99999), RuntimeError, "Invalid protocol version"),
    "machine": (stream(ONE, machine=3), pickle.UnpicklingError, "machine"),
    "count": (stream(ONE, ["7"], [floats(1, 2, 3, count=4)]), RuntimeError, "wrong byte size"),
    "negative": (stream(ONE, ["7"], [floats(1, 2, 3, count=-3)]), RuntimeError, "got -3"),
    "overflow": (stream(ONE, ["7"], [floats(1, 2, 3, count=2**62 + 3)]), RuntimeError, "size"),
    "twice": (stream(ONE, ["7", "7"], [GOOD, GOOD]), RuntimeError, "twice"),
    "not used": (stream(ONE, ["7", "8"], [GOOD, GOOD]), RuntimeError, "'8' is listed but not"),
    "not listed": (stream(ONE, [], [GOOD]), RuntimeError, "'7' is used but not listed"),
    "keys": (stream(ONE, [7], [GOOD]), pickle.UnpicklingError, "not listed"),
    "no storage": (stream(ONE, ["7"]), RuntimeError, "unexpected EOF, expected 8 more"),
    "cut storage": (stream(ONE, ["7"], [GOOD[:-5]]), RuntimeError, "expected 5 more bytes"),
    "id": (stream(pack(text("storage")) + b"Q"), pickle.UnpicklingError, "persistent id"),
    "other id": (stream(pack(text("x"), b"N") + b"Q"), pickle.UnpicklingError, "persistent id"),
    "name in head": (stream(ONE, version={1}), pickle.UnpicklingError, "unexpected name"),
    "global": (stream(name("os", "system") + b")R"), pickle.UnpicklingError, "os.system"),
    "call": (stream(name("torch", "float32") + b")R"), pickle.UnpicklingError, "may not be called"),
    "bounds": (stream(tensor(storage("7", 3), (4,), (1,)), ["7"], [GOOD]), RuntimeError, "bounds"),
    "tar": (io.BytesIO(b"sys_info".ljust(257, b"\0") + b"ustar  "), RuntimeError, "tar format"),
    "text": (io.BytesIO(b"hello, world"), pickle.UnpicklingError, "not a checkpoint"),
    "pickle": (io.BytesIO(pickle.dumps([1], 2)), RuntimeError, "Invalid magic number"),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files(case):
    file, error, words = DAMAGED[case]
    file.seek(0)
    with pytest.raises(error, match=words):
        load(file)


@pytest.mark.parametrize("count", [2**40, 2**61, 2**62, 2**63 - 1, 2**63, 2**64, 2**2000, -1])
def test_sizes_that_the_file_does_not_hold(count):
    body = tensor(storage("7", count), (3,), (1,))
    tracemalloc.start()
    with pytest.raises(REFUSALS):
        load(stream(body, ["7"], [floats(1, 2, 3, count=count)]))
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    "part",
    [("8", 1, 3), ("8", 4, 0), ("8", -1, 2), ("8", 0, 2**63), ("8", 2**62, 2**62), ("8", 2**63, 0)],
)
def test_damaged_views(part):
    with pytest.raises(REFUSALS):
        load(stream(tensor(storage("7", 3, part=part), (0,), (1,)), ["7"], [GOOD]))


def test_views_of_views_mean_the_storage():
    # A view may bear the key of another storage, or of its own: it is a part of the first key's.
    parts = [storage("7", 3, part=("8", 1, 2)), storage("8", 3, part=("7", 0, 2))]
    body = items(*(tensor(part, (2,), (1,)) for part in parts))
    a, b = load(stream(body, ["7", "8"], [GOOD, floats(4, 5, 6)]))
    assert (a.tolist(), b.tolist()) == ([2.0, 3.0], [4.0, 5.0])
    own = load(stream(tensor(storage("7", 3, part=("7", 1, 2)), (2,), (1,)), ["7"], [GOOD]))
    assert own.tolist() == [2.0, 3.0]


def test_cyclic_containers():
    back = load(stream(b"]q\x00h\x00a"))
    assert back[0] is back


def test_tuples_nested_too_deeply_to_be_hashed():
    deep = b"})" + b"\x85" * 1_000_000 + b"Ns"
    wide = b"})" + b"q\x00h\x00\x86" * 60 + b"Ns"
    made = name("builtins", "tuple") + b"]h\x00a\x85Rq\x000"  # tuple([last])
    hidden = b")q\x000" + made * 2000 + b"}h\x00Ns"
    for body in (deep, wide, hidden):
        with pytest.raises(pickle.UnpicklingError, match="nested too deeply"):
            load(stream(body))
    assert load(stream(b"})" + b"\x85" * 100 + b"Ns"))


def test_every_truncation():
    small = written([facula.ones(2), {"a": facula.ones(1, dtype=facula.bfloat16)}]).getvalue()
    large = RECORDED.read_bytes()
    for data, step in ((small, 1), (large, 29)):
        for n in range(0, len(data), step):
            with pytest.raises(REFUSALS):
                load(io.BytesIO(data[:n]))


def test_flipped_bytes():
    data = RECORDED.read_bytes()
    small = stream(ONE, ["7"], [GOOD]).getvalue()
    dice = random.Random(0)
    read = 0
    for i in range(600):
        damaged = bytearray(data if i % 6 == 0 else small)
        for _ in range(dice.choice([1, 1, 2, 5])):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        try:
            load(io.BytesIO(bytes(damaged)))
            read += 1
        except REFUSALS:
            pass
    assert 0 < read < 600


def test_cut_out_and_doubled_parts():
    data = RECORDED.read_bytes()
    dice = random.Random(1)
    for _ in range(60):
        start, end = sorted(dice.randrange(len(data)) for _ in range(2))
        for damaged in (data[:start] + data[end:], data[:end] + data[start:]):
            try:
                load(io.BytesIO(damaged))
            except REFUSALS:
                pass
