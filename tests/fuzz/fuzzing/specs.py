"""Descriptions of arguments: plain data whose text is Python that builds the argument again.

A call is described before it runs, so that one that ends the process can still be named and
repeated: `python tests/fuzz --repeat "Call('add', [T((2, 3), 'int8'), 'x'])"`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

import facula

DTYPES = (
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
).split()
LAYOUTS = "plain transposed gaps expanded overlap offset channels_last meta".split()
FILLS = "normal zeros ones special extreme arange index".split()
SHARED = "self view row shift transposed detached".split()
SPECIAL = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1e-45, 3.4e38, 0.5, -1.0, 2.0]
LARGEST = 1 << 16  # elements of a tensor that holds data


class Data:
    """A description; its repr is the expression that makes it again."""

    def build(self, made: list) -> Any:
        """The argument; `made` holds the tensors made before it in this call."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class T(Data):
    """A tensor: shape, dtype, how it lies in memory, what it holds, whether it wants a gradient."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    layout: str = "plain"
    fill: str = "normal"
    grad: bool = False
    seed: int = 0

    def __repr__(self) -> str:
        given = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"T({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in given)})"

    def build(self, made: list) -> facula.Tensor:
        dtype = getattr(facula, self.dtype)
        if self.layout == "meta":
            t = facula.empty(self.shape, dtype=dtype, device="meta")
        else:
            t = laid_out(self.layout, self.shape, self.array)
        if self.grad and (dtype.is_floating_point or dtype.is_complex):
            t.requires_grad_()
        made.append(t)
        return t

    def array(self, shape: tuple[int, ...]) -> facula.Tensor:
        """A fresh dense tensor of this dtype and fill."""
        if math.prod(shape) > LARGEST:
            raise MemoryError("the description asks for too much data")
        return tensor_of(filled(shape, self.dtype, self.fill, self.seed), self.dtype)


@dataclass(frozen=True, repr=False)
class Recorded(Data):
    """A tensor of the recorded cases, in another dtype or layout if asked."""

    ref: str
    dtype: str
    layout: str = "plain"
    grad: bool = False

    def __repr__(self) -> str:
        return f"Recorded({self.ref!r}, {self.dtype!r}, {self.layout!r}, {self.grad!r})"

    def build(self, made: list) -> facula.Tensor:
        from fuzzing.recorded import array

        values = array(self.ref)
        dense = tensor_of(values, self.dtype)

        def take(shape: tuple[int, ...]) -> facula.Tensor:
            if tuple(shape) == tuple(dense.shape):
                return dense
            flat = dense.reshape(-1)
            need = math.prod(shape)
            times = -(-need // max(1, flat.numel()))
            return facula.cat([flat] * max(1, times))[:need].reshape(shape)

        if self.layout == "meta":
            t = dense.to("meta")
        else:
            t = laid_out(self.layout, tuple(values.shape), take)
        if self.grad and (t.is_floating_point() or t.is_complex()):
            t.requires_grad_()
        made.append(t)
        return t


@dataclass(frozen=True, repr=False)
class Same(Data):
    """The tensor that an earlier argument is, or a view of it; a new one where there is none."""

    which: int
    how: str = "self"

    def __repr__(self) -> str:
        return f"Same({self.which}, {self.how!r})"

    def build(self, made: list) -> facula.Tensor:
        if not made:
            return T((2,)).build(made)
        t = made[self.which % len(made)]
        if self.how == "view":
            return t.view_as(t)
        if self.how == "row" and t.dim() and t.size(0):
            return t[0]
        if self.how == "shift" and t.dim() and t.size(0) > 1:
            return t[1:]
        if self.how == "transposed" and t.dim() > 1:
            return t.transpose(0, 1)
        if self.how == "detached":
            return t.detach()
        return t


@dataclass(frozen=True, repr=False)
class Odd(Data):
    """An object that no operator expects."""

    name: str

    def __repr__(self) -> str:
        return f"Odd({self.name!r})"

    def build(self, made: list) -> Any:
        return ODD[self.name]()


class Indexed:
    """An object whose __index__ raises."""

    def __index__(self) -> int:
        raise ValueError("no index")


class Endless:
    """A sequence that never ends."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, i: int) -> int:
        return i


ODD = {
    "object": object,
    "bytes": lambda: b"abc",
    "dict": dict,
    "set": lambda: {1, 2},
    "numpy int": lambda: np.int64(2),
    "numpy float": lambda: np.float32(1.5),
    "numpy bool": lambda: np.bool_(True),
    "numpy array": lambda: np.arange(3.0),
    "numpy object": lambda: np.array([None, "a"], dtype=object),
    "longdouble": lambda: np.longdouble(2),
    "bad index": Indexed,
    "sequence": Endless,
    "generator": lambda: (i for i in range(3)),
    "range": lambda: range(3),
    "type": lambda: int,
    "function": lambda: len,
    "dtype": lambda: facula.int8,
    "device": lambda: facula.device("meta"),
    "Generator": lambda: facula.Generator(),
    "Size": lambda: facula.Size([2, 3]),
    "slice": lambda: slice(0, 2),
    "ellipsis": lambda: ...,
    "meta storage": lambda: facula.zeros(3, device="meta").untyped_storage(),
    "storage": lambda: facula.zeros(3).untyped_storage(),
    "surrogate": lambda: "\ud800",
    "nested list": lambda: [[1, 2], [3]],
    "parameter": lambda: facula.nn.Parameter(facula.ones(2)),
    "recursive": lambda: recursive(),
    "float format": lambda: facula.channels_last,
    "layout": lambda: facula.strided,
}


def recursive() -> list:
    """A list that holds itself."""
    x: list = []
    x.append(x)
    return x


@dataclass(repr=False)
class Call:
    """One call: the path of the function below facula, and its arguments."""

    path: str
    args: list = field(default_factory=list)
    kwargs: dict = field(default_factory=dict)

    def run(self) -> tuple[bool, str]:
        """Makes the call: (whether it returned a value, what is wrong or an empty text)."""
        from fuzzing.judge import complaint

        return complaint(self)

    def __repr__(self) -> str:
        rest = f", {self.kwargs!r}" if self.kwargs else ""
        return f"Call({self.path!r}, {self.args!r}{rest})"


def built(value: Any, made: list) -> Any:
    """Arguments from their descriptions, through lists, tuples and dicts."""
    if isinstance(value, Data):
        return value.build(made)
    if isinstance(value, (list, tuple)):
        return type(value)(built(v, made) for v in value)
    if isinstance(value, dict):
        return {k: built(v, made) for k, v in value.items()}
    return value


def filled(shape: tuple[int, ...], dtype: str, fill: str, seed: int) -> np.ndarray:
    """Values for a tensor, as the nearest array type that NumPy has."""
    kind = np.dtype("float32" if dtype == "bfloat16" else dtype)
    rng = np.random.default_rng(seed)
    n = math.prod(shape)
    with np.errstate(all="ignore"):
        if fill in ("zeros", "ones"):
            a = np.full(n, int(fill == "ones"), dtype=kind)
        elif fill == "arange":
            a = np.arange(n).astype(kind)
        elif fill == "index":
            a = rng.integers(-1 if kind.kind != "u" else 0, 4, n).astype(kind)
        elif fill == "extreme" and kind.kind in "iu":
            info = np.iinfo(kind)
            a = rng.choice(np.array([info.min, info.max, 0, 1, info.max - 1], dtype=kind), n)
        elif fill in ("special", "extreme") and kind.kind in "fc":
            a = rng.choice(SPECIAL, n).astype(kind)
            if kind.kind == "c":
                a = (a + 1j * rng.choice(SPECIAL, n)).astype(kind)
        else:
            a = (rng.standard_normal(n) * 2).astype(kind)
            if kind.kind == "c":
                a = (a + 1j * rng.standard_normal(n)).astype(kind)
    return a.reshape(shape)


def tensor_of(array: np.ndarray, dtype: str) -> facula.Tensor:
    """A tensor of a dtype that NumPy may lack."""
    with np.errstate(all="ignore"):
        wanted = np.dtype("float32" if dtype == "bfloat16" else dtype)
        if array.dtype.kind == "c" and wanted.kind != "c":
            array = array.real
        t = facula.from_numpy(np.array(array, dtype=wanted, order="C"))
    return t.to(facula.bfloat16) if dtype == "bfloat16" else t


def laid_out(layout: str, shape: tuple[int, ...], make: Any) -> facula.Tensor:
    """A tensor of this shape from `make(shape)`, lying in memory as `layout` says."""
    rank = len(shape)
    if layout == "transposed" and rank > 1:
        order = list(range(rank))[::-1]
        return make(shape[::-1]).permute(order)
    if layout == "gaps" and rank:
        return make((*shape[:-1], 2 * shape[-1] + 1))[..., 1::2]
    if layout == "expanded":
        return make((1,) * rank).expand(shape)
    if layout == "overlap" and rank:
        return make((sum(n for n in shape) + 1,)).as_strided(shape, (1,) * rank)
    if layout == "offset":
        return make((math.prod(shape) + 3,))[3:].view(shape)
    if layout == "channels_last" and rank == 4:
        return make(shape).to(memory_format=facula.channels_last)
    return make(shape)
