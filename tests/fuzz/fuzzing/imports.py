"""Memory that others own: NumPy arrays of every kind, buffers, DLPack capsules, nested lists."""

from __future__ import annotations

import array
import math
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import facula
from fuzzing.judge import allowed, read

ENTRIES = ("from_numpy", "as_tensor", "tensor", "asarray", "frombuffer", "from_dlpack", "Tensor")
DTYPES = (
    "? b B h H i I l L q Q e f d g F D G O S3 U2 M8[s] m8[ns] V4 >f4 >i8 <u2 >c8 i4,f8 "
    "(2,)f4"
).split()
LIKE_NUMPY = set("? b B h H i I l L q Q e f d F D <u2".split())


@dataclass(repr=False)
class Import:
    """One import: the function, and how the array that it gets is made."""

    entry: str
    dtype: str
    shape: tuple[int, ...]
    how: str
    extra: dict

    def __repr__(self) -> str:
        names = ("entry", "dtype", "shape", "how", "extra")
        return f"Import({', '.join(repr(getattr(self, n)) for n in names)})"

    def array(self) -> np.ndarray:
        a = np.zeros(self.shape, dtype=self.dtype)
        if a.dtype.kind in "iuf" and a.size:
            a.flat[:] = np.arange(a.size)
        if self.how == "transposed":
            a = a.T
        elif self.how == "reversed":
            a = a[::-1] if a.ndim else a
        elif self.how == "gaps":
            a = np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a
        elif self.how == "broadcast":
            a = np.broadcast_to(a, (2, *a.shape))
        elif self.how == "readonly":
            a.setflags(write=False)
        elif self.how == "unaligned" and a.dtype.itemsize and a.dtype.kind not in "O":
            raw = np.zeros(a.nbytes + 1, dtype="u1")
            a = raw[1:].view(a.dtype).reshape(a.shape)
        elif self.how == "field":
            a = np.zeros(self.shape, dtype=[("x", "u1"), ("y", "<f8")])["y"]
        elif self.how == "overlapping" and a.size:
            a = np.lib.stride_tricks.as_strided(a, (3, *a.shape), (0, *a.strides))
        elif self.how == "matrix" and a.ndim == 2:
            a = a.view(np.matrix) if a.dtype.names is None else a
        return a

    def given(self) -> Any:
        a = self.array()
        if self.how == "memoryview":
            return memoryview(np.ascontiguousarray(a))
        if self.how == "bytes":
            return a.tobytes() if a.dtype.kind != "O" else b""
        if self.how == "array":
            return array.array("d", [1.0] * min(a.size, 8))
        if self.how == "list":
            return a.tolist()
        if self.how == "interface":
            return Interface(a, self.extra.pop("lie", {}))
        if self.how == "capsule":
            return a.__dlpack__()
        return a

    def run(self) -> tuple[bool, str]:
        """Makes the import: (whether it gave a tensor, what is wrong)."""
        try:
            given = self.given()
        except Exception:  # NumPy itself refuses
            return False, ""
        extra = {k: v for k, v in self.extra.items() if k != "lie"}
        try:
            function = getattr(facula, self.entry)
            if self.entry == "frombuffer":
                extra.setdefault("dtype", facula.float32)
            value = function(given, **extra)
        except Exception as error:
            return False, allowed(error)
        wrong = read(value)
        if not wrong and isinstance(given, np.ndarray) and not extra:
            wrong = self.differs(value, given)
        return True, wrong

    def differs(self, value: facula.Tensor, given: np.ndarray) -> str:
        """Says so where a tensor does not hold what the array holds."""
        if self.dtype not in LIKE_NUMPY or self.entry in ("Tensor", "frombuffer"):
            return ""
        got = value.numpy()
        if got.shape != given.shape or not np.array_equal(got, given, equal_nan=False):
            return f"holds {got!r}, not {given!r}"
        return ""


class Interface:
    """An object with __array_interface__ that may lie about itself."""

    def __init__(self, a: np.ndarray, lie: dict) -> None:
        self.a = a
        self.__array_interface__ = {**a.__array_interface__, **lie}


LIES: list[dict] = [
    {}, {"typestr": "<z9"}, {"typestr": 3}, {"shape": (-1,)}, {"shape": "x"},
    {"strides": (1, 2, 3)}, {"version": 0}, {"shape": (2**62, 2**62)}, {"data": None},
    {"data": "x"},
]
HOWS = (
    "plain transposed reversed gaps broadcast readonly unaligned field overlapping matrix "
    "memoryview bytes array list interface capsule"
).split()


def imported(rnd: Random) -> Import:
    """A drawn import."""
    shape = tuple(rnd.randint(0, 3) for _ in range(rnd.choice((0, 1, 1, 2, 2, 3, 5))))
    entry, how = rnd.choice(ENTRIES), rnd.choice(HOWS)
    extra: dict = {}
    if how == "interface":
        extra["lie"] = rnd.choice(LIES)
    if rnd.random() < 0.2:
        extra["dtype"] = getattr(facula, rnd.choice(("int8", "complex64", "bfloat16", "bool")))
    if entry == "frombuffer" and rnd.random() < 0.7:
        extra["count"] = rnd.choice((-1, 0, 1, 2, 5, -2, 2**40, 2**63 - 1))
        extra["offset"] = rnd.choice((0, 1, 4, 8, -1, 2**40, 2**63 - 1))
    if entry in ("tensor", "as_tensor") and rnd.random() < 0.1:
        extra["device"] = rnd.choice(("meta", "cpu", "cuda", "x", math.nan))
    return Import(entry, rnd.choice(DTYPES), shape, how, extra)
