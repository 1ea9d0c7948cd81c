"""Damaged checkpoints: bytes changed, files cut short, and pickles that claim what is not there."""

from __future__ import annotations

import functools
import io
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from pickle import UnpicklingError
from random import Random

import facula
from fuzzing.judge import allowed, outside, read, tensors_in

BASES = ("state", "views", "plain", "legacy")
EXPECTED = (UnpicklingError, EOFError, zipfile.BadZipFile)
NUMBERS = (b"J", b"K", b"M", b"\x8a")  # opcodes of integers


@functools.cache
def base(name: str) -> bytes:
    """A sound file."""
    t = facula.arange(12.0).reshape(3, 4)
    what = {
        "state": OrderedDict(w=t, b=t[0].to(facula.bfloat16), n=facula.tensor(3), s={"lr": 0.5}),
        "views": [t, t.t(), t[1:, ::2], facula.nn.Parameter(t[:, 1].clone())],
        "plain": {"a": [1, 2.5, "x", None, True, (1, {2})], "b": 2**70},
        "legacy": {"u": facula.tensor([1, 2], dtype=facula.uint32), "m": facula.zeros(2, 0)},
    }[name]
    file = io.BytesIO()
    facula.save(what, file)
    return file.getvalue()


@dataclass(repr=False)
class File:
    """One damaged file: a sound one and the edits made to it."""

    base: str
    edits: list[tuple]

    def __repr__(self) -> str:
        return f"File({self.base!r}, {self.edits!r})"

    def content(self) -> bytes:
        data = bytearray(base(self.base))
        for edit in self.edits:
            data = bytearray(EDITS[edit[0]](data, *edit[1:]))
        return bytes(data)

    def run(self) -> tuple[bool, str]:
        """Loads it: (whether that gave an object, what is wrong)."""
        try:
            value = facula.load(io.BytesIO(self.content()))
        except EXPECTED:
            return False, ""
        except Exception as error:
            return False, allowed(error)
        try:
            items = list(value.values()) if isinstance(value, dict) else value
            found = [t for t in tensors_in(items) if outside(t)]
            return True, read(items) or ("outside its storage" if found else "")
        except Exception as error:
            return True, f"reading what was loaded: {type(error).__name__}: {error}"


def flipped(data: bytearray, at: int, value: int) -> bytearray:
    data[at % len(data)] = value
    return data


def cut(data: bytearray, at: int) -> bytearray:
    return data[: at % len(data)]


def doubled(data: bytearray, at: int, n: int) -> bytearray:
    at %= len(data)
    return data[: at + n] + data[at:]


def rewritten(data: bytearray, change) -> bytes:
    """The file with its pickle changed, as a sound zip."""
    try:
        old = zipfile.ZipFile(io.BytesIO(bytes(data)))
        records = {name: old.read(name) for name in old.namelist()}
    except Exception:
        return bytes(data)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as new:
        for name, content in records.items():
            new.writestr(name, change(name, content))
    return file.getvalue()


def pickle_flipped(data: bytearray, at: int, value: int) -> bytes:
    """One byte of the pickle."""

    def change(name: str, content: bytes) -> bytes:
        if not name.endswith("data.pkl") or not content:
            return content
        return bytes(flipped(bytearray(content), at, value))

    return rewritten(data, change)


def pickle_number(data: bytearray, which: int, value: int) -> bytes:
    """One of the pickle's small integers, such as a size or a stride, replaced by another."""

    def change(name: str, content: bytes) -> bytes:
        places = [i for i in range(len(content) - 1) if content[i : i + 1] == b"K"]
        if not name.endswith("data.pkl") or not places:
            return content
        at = places[which % len(places)]
        long = value.to_bytes(9, "little", signed=True)
        return content[:at] + b"\x8a\x09" + long + content[at + 2 :]

    return rewritten(data, change)


def record_cut(data: bytearray, size: int) -> bytes:
    """The bytes of storages cut short."""
    return rewritten(data, lambda name, c: c[:size] if "/data/" in name else c)


EDITS = {
    "flip": flipped, "cut": cut, "double": doubled, "pickle": pickle_flipped,
    "number": pickle_number, "record": record_cut,
}


def damaged(rnd: Random) -> File:
    """A file with one to three edits."""
    edits: list[tuple] = []
    for _ in range(rnd.randint(1, 3)):
        kind = rnd.choice((*EDITS, "pickle", "pickle", "number"))
        if kind in ("flip", "pickle"):
            edits.append((kind, rnd.randrange(1 << 16), rnd.randrange(256)))
        elif kind == "cut":
            edits.append((kind, rnd.randrange(1 << 16)))
        elif kind == "double":
            edits.append((kind, rnd.randrange(1 << 16), rnd.randrange(1, 64)))
        elif kind == "record":
            edits.append((kind, rnd.randrange(64)))
        else:
            value = rnd.choice((-1, 0, 7, 2**31, 2**40, 2**62, 2**63 - 1, 2**64, -(2**63)))
            edits.append((kind, rnd.randrange(64), value))
    return File(rnd.choice(BASES), edits)
