"""Draws calls from a random generator: mostly sensible arguments, with hostile ones among them.

Hypothesis gives the generators: fast ones that it only seeds, or slow ones whose every draw it
records, so that it can shrink what it finds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from fuzzing.recorded import Name, array, by_operator
from fuzzing.specs import DTYPES, FILLS, LAYOUTS, ODD, SHARED, Call, Data, Odd, Recorded, Same, T
from fuzzing.targets import Parameter, Target

HUGE = [
    2**31 - 1, 2**31, -(2**31), 2**32, 2**33 + 1, 2**40, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1,
    2**63, 2**64, -(2**64), 10**30, 65536, 1 << 20,
]
TEXTS = (
    "none mean sum reflect replicate circular constant zeros border bilinear nearest bicubic "
    "linear trilinear area nearest-exact same valid ij xy L U fro nuc amax amin prod trunc floor "
    "tanh left right ortho forward backward reduced complete r relu leaky_relu fan_in cpu meta "
    "cuda cuda:99 float32 ij,jk->ik ii->i ...,...-> i,j-> ij->ji->"
).split() + ["", " ", "x", "->", "é", "\0", "a" * 300]
NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 0.0, 0.5, -0.5, 1.5, 1e-3, 1e300, -1e300, 1e-320, math.nan, math.inf, -math.inf,
    -0.0, True, False, 1j, complex(math.nan, math.inf), 127, 128, 255, 256, -129,
]
COMMON = ["float32"] * 8 + ["float64", "int64", "complex64", "bool"] * 2
FORMATS = ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"]
OF_INDICES = ("index", "indices", "offsets", "lengths", "labels")


def shape(rnd: Random) -> tuple[int, ...]:
    return tuple(rnd.randint(0, 4) for _ in range(rnd.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5))))


def dtype(rnd: Random) -> str:
    return rnd.choice(COMMON if rnd.random() < 0.6 else DTYPES)


def integer(rnd: Random) -> Any:
    r = rnd.random()
    if r < 0.75:
        return rnd.randint(-4, 6)
    return rnd.choice(HUGE) if r < 0.95 else r < 0.97


def axis(rnd: Random) -> int:
    r = rnd.random()
    return rnd.randint(-2, 2) if r < 0.5 else rnd.randint(-4, 4) if r < 0.9 else rnd.choice(HUGE)


def number(rnd: Random) -> Any:
    r = rnd.random()
    return rnd.choice(NUMBERS) if r < 0.6 else integer(rnd) if r < 0.8 else rnd.uniform(-4, 4)


def some(rnd: Random, most: int, make: Callable[[Random], Any]) -> list:
    return [make(rnd) for _ in range(rnd.randint(0, most))]


def wrong(rnd: Random) -> Any:
    """Something of a type that is rarely right."""
    how = rnd.randrange(8)
    if how == 0:
        return None
    if how == 1:
        return Odd(rnd.choice(list(ODD)))
    if how == 2:
        return rnd.choice(TEXTS)
    if how == 3:
        return number(rnd)
    if how == 4:
        return some(rnd, 3, integer)
    if how == 5:
        return [None] * rnd.randint(0, 2)
    return T(shape(rnd)) if how == 6 else (T(shape(rnd)), "x")


class Builder:
    """Draws the arguments of one call; tensors of a call agree in shape and dtype more often."""

    def __init__(self, rnd: Random, hostile: float, checked: bool) -> None:
        self.rnd = rnd
        self.hostile = hostile
        self.checked = checked
        self.shape = shape(rnd)
        self.dtype = dtype(rnd)

    def chance(self, p: float) -> bool:
        return self.rnd.random() < p

    def near(self) -> tuple[int, ...]:
        """The shape of this call, or one that may go with it."""
        new = list(self.shape)
        how = self.rnd.randrange(10)
        if how == 5 and new:
            new[self.rnd.randrange(len(new))] = 1
        elif how == 6 and new:
            del new[0]
        elif how == 7:
            new.insert(0, self.rnd.randint(0, 4))
        elif how == 8:
            new.reverse()
        elif how == 9:
            return shape(self.rnd)
        return tuple(new)

    def tensor(self, name: str = "") -> Data:
        """A tensor, or now and then one that shares memory with an earlier one."""
        rnd = self.rnd
        if self.chance(0.06):
            return Same(rnd.randint(0, 2), rnd.choice(SHARED))
        kind = self.dtype if self.chance(0.85) else dtype(rnd)
        fill = rnd.choice(FILLS) if self.chance(0.4) else "normal"
        if any(part in name for part in OF_INDICES) and self.chance(0.85):
            kind, fill = "int64", "index"
        elif name in ("mask", "condition") and self.chance(0.7):
            kind = "bool"
        layout = rnd.choice(LAYOUTS) if self.chance(0.3) else "plain"
        new = self.near()
        if layout == "meta" and self.chance(0.3):
            new = tuple(rnd.choice((1, 2**20, 2**31, 2**40)) for _ in range(rnd.randint(0, 3)))
        return T(new, kind, layout, fill, self.chance(0.35), rnd.randint(0, 3))

    def argument(self, p: Parameter) -> Any:
        """A value for a parameter."""
        # Methods written in Python take whatever is given as self; only rows check it.
        trusted = p.name == "self" and not self.checked
        if self.chance(self.hostile) and not trusted:
            return wrong(self.rnd)
        kind = p.type
        if kind.endswith("?"):
            if self.chance(0.35):
                return None
            kind = kind[:-1]
        if kind == "any":
            kind = self.rnd.choice(("Tensor", "Tensor", "int", "float", "int[]", "Tensor[]"))
        make = getattr(self, "of_" + KINDS[kind])
        return make(p.name)

    def of_tensor(self, name: str) -> Any:
        return self.tensor(name)

    def of_operand(self, name: str) -> Any:
        return self.tensor(name) if self.chance(0.6) else number(self.rnd)

    def of_tensors(self, name: str) -> Any:
        many = [self.tensor(name) for _ in range(self.rnd.randint(0, 3))]
        return tuple(many) if self.chance(0.5) else many

    def of_options(self, name: str) -> Any:
        many = [None if self.chance(0.3) else self.tensor(name) for _ in range(3)]
        return many[self.rnd.randint(0, 3) :]

    def of_scalar(self, name: str) -> Any:
        return number(self.rnd)

    def of_int(self, name: str) -> Any:
        return axis(self.rnd) if "dim" in name else integer(self.rnd)

    def of_ints(self, name: str) -> Any:
        rnd = self.rnd
        if self.chance(0.2):
            return integer(rnd)
        one = axis if "dim" in name else integer if self.chance(0.5) else lambda r: r.randint(0, 3)
        return tuple(some(rnd, 6 if self.chance(0.2) else 3, one))

    def of_float(self, name: str) -> Any:
        return self.rnd.random() if self.chance(0.5) else self.rnd.choice(NUMBERS)

    def of_floats(self, name: str) -> Any:
        return some(self.rnd, 3, lambda r: r.uniform(-2, 2))

    def of_bool(self, name: str) -> Any:
        return self.chance(0.5)

    def of_text(self, name: str) -> Any:
        return self.rnd.choice(TEXTS)

    def of_dtype(self, name: str) -> Any:
        return Name(dtype(self.rnd))

    def of_device(self, name: str) -> Any:
        return self.rnd.choice(["cpu", "cpu", "meta", "cuda", "cpu:1", "nonsense", 0, -1])

    def of_format(self, name: str) -> Any:
        return Name(self.rnd.choice(FORMATS))

    def of_layout(self, name: str) -> Any:
        return Name(self.rnd.choice(["strided", "sparse_coo", "jagged"]))

    def of_generator(self, name: str) -> Any:
        return Odd("Generator")

    def of_storage(self, name: str) -> Any:
        return Odd(self.rnd.choice(("storage", "meta storage")))

    def of_size(self, name: str) -> Any:
        return Odd("Size")

    def of_out(self, name: str) -> Any:
        n = self.rnd.randint(0, 3)
        return self.tensor() if n < 2 else tuple(self.tensor() for _ in range(n))


KINDS = {
    "Tensor": "tensor", "Tensor|Scalar": "operand", "Tensor[]": "tensors", "Tensor?[]": "options",
    "Scalar": "scalar", "int": "int", "Dim": "int", "int[]": "ints", "int...": "ints",
    "float": "float", "float[]": "floats", "bool": "bool", "str": "text", "DType": "dtype",
    "Device": "device", "Generator": "generator", "MemoryFormat": "format", "Layout": "layout",
    "Out": "out", "Storage": "storage", "Size": "size",
}


def typed(rnd: Random, target: Target) -> Call:
    """A call by the types of the parameters."""
    hostile = rnd.choice((0, 0, 0.03, 0.12, 0.4))
    b = Builder(rnd, hostile, target.in_table)
    call = Call(target.path)
    by_position = True
    for p in rnd.choice(target.overloads):
        if not p.required and not b.chance(0.15 if p.type == "Out" else 0.4):
            by_position = False
            continue
        if p.required and p.name != "self" and b.chance(hostile / 8):
            continue
        value = b.argument(p)
        if p.keyword or not by_position or b.chance(0.05):
            by_position = False
            call.kwargs[p.name] = value
        elif p.type == "int..." and isinstance(value, tuple) and b.chance(0.5):
            call.args += value
        else:
            call.args.append(value)
    if b.chance(hostile / 8):
        call.args.append(wrong(rnd))
    if b.chance(hostile / 8):
        call.kwargs[rnd.choice(("out", "dim", "nonsense", "input", "self", "é"))] = wrong(rnd)
    return call


def mutated(rnd: Random, op: str) -> Call:
    """A recorded call with up to three of its arguments changed."""
    call = rnd.choice(by_operator()[op])
    args, kwargs = list(call.args), dict(call.kwargs)
    places = [(args, i) for i in range(len(args))] + [(kwargs, k) for k in kwargs]
    for _ in range(rnd.randint(0, 3) if places else 0):
        own, key = rnd.choice(places)
        own[key] = changed(rnd, own[key], 2)
    return Call(call.path, args, kwargs)


def changed(rnd: Random, value: Any, depth: int) -> Any:
    """Another value in the place of one."""
    if rnd.random() < 0.1:
        return wrong(rnd)
    if isinstance(value, Recorded):
        how = rnd.randrange(6)
        if how == 0:
            return replace(value, dtype=rnd.choice(DTYPES))
        if how == 1:
            return replace(value, layout=rnd.choice(LAYOUTS))
        if how == 2:
            return Same(rnd.randint(0, 2), rnd.choice(SHARED))
        return reshaped(rnd, value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return integer(rnd) if rnd.random() < 0.7 else value + rnd.randint(-2, 2)
    if isinstance(value, (float, complex)):
        return number(rnd)
    if isinstance(value, str):
        return rnd.choice(TEXTS)
    if isinstance(value, (list, tuple)) and depth:
        return list_changed(rnd, value, depth)
    return wrong(rnd)


def list_changed(rnd: Random, value: Any, depth: int) -> Any:
    """A list with an item changed, added or taken away."""
    items = list(value)
    how = rnd.randrange(4)
    if how == 0 and items:
        del items[rnd.randrange(len(items))]
    elif how == 1:
        items.insert(rnd.randint(0, len(items)), items[0] if items else integer(rnd))
    elif items:
        i = rnd.randrange(len(items))
        items[i] = changed(rnd, items[i], depth - 1)
    return type(value)(items)


def reshaped(rnd: Random, old: Recorded) -> T:
    """A tensor of nearly the shape of a recorded one."""
    new = list(array(old.ref).shape)
    how = rnd.randrange(5)
    if how == 0 and new:
        new[rnd.randrange(len(new))] = rnd.randint(0, 5)
    elif how == 1 and new:
        del new[rnd.randrange(len(new))]
    elif how == 2:
        new.insert(rnd.randint(0, len(new)), rnd.randint(0, 4))
    elif how == 3:
        new.reverse()
    fill = rnd.choice(FILLS)
    return T(tuple(new), old.dtype, rnd.choice(LAYOUTS), fill, old.grad, rnd.randint(0, 3))
