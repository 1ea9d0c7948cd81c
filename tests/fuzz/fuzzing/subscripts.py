"""Subscripts of every kind, read and written, with NumPy as the judge."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import facula
from fuzzing.judge import allowed, outside

HUGE = (2**31, -(2**31), 2**63 - 1, -(2**63), 2**64)


@dataclass(repr=False)
class Subscript:
    """One expression a[items] or a[items] = value; items are texts that Python evaluates."""

    shape: tuple[int, ...]
    items: list[str]
    value: str = ""

    def __repr__(self) -> str:
        return f"Subscript({self.shape!r}, {self.items!r}, {self.value!r})"

    def indices(self, as_tensors: bool) -> Any:
        names = {"np": np, "facula": facula, "at": facula.tensor if as_tensors else np.array}
        items = tuple(eval(text, names) for text in self.items)
        return items[0] if len(items) == 1 else items

    def run(self) -> tuple[bool, str]:
        """Evaluates it in both: (whether Facula gave a value, what is wrong)."""
        n = int(np.prod(self.shape))
        a = np.arange(n, dtype="int64").reshape(self.shape)
        t = facula.from_numpy(a.copy())
        value = eval(self.value, {"np": np}) if self.value else None
        try:
            want: Any = self.of_numpy(a, value)
        except Exception as error:
            want = error
        try:
            got = self.of_facula(t, value)
        except Exception as error:
            wrong = allowed(error)
            if not wrong and not isinstance(want, Exception) and not (
                self.beyond() or self.mixed()
            ):
                wrong = f"refuses what NumPy takes: {type(error).__name__}: {error}"
            return False, wrong
        wrong = outside(got)
        if wrong or isinstance(want, Exception):
            return True, wrong
        if self.mixed():
            # Beside index arrays NumPy reads a number as one of them, which moves dimensions.
            got, want = got.flatten().sort().values, np.sort(want, axis=None)
        if got.shape != want.shape or not np.array_equal(got.numpy(), want):
            return True, f"gives {got.tolist()} of shape {tuple(got.shape)}, not {want!r}"
        return True, ""

    def of_numpy(self, a: np.ndarray, value: Any) -> np.ndarray:
        if not self.value:
            return a[self.indices(False)]
        a[self.indices(False)] = value
        return a

    def of_facula(self, t: facula.Tensor, value: Any) -> facula.Tensor:
        if not self.value:
            return t[self.indices(True)]
        t[self.indices(True)] = facula.tensor(value) if isinstance(value, np.ndarray) else value
        return t

    def mixed(self) -> bool:
        """Whether numbers stand beside index arrays, masks or truth values."""
        numbers = [text for text in self.items if text.lstrip("-").isdigit() or "(0)" in text]
        arrays = [text for text in self.items if text[0] in "[aTF"]
        return bool(numbers and arrays)

    def beyond(self) -> bool:
        """Whether PyTorch's rules are narrower than NumPy's here: negative steps."""
        steps = [text.split(",")[-1] for text in self.items if text.startswith("slice")]
        return any("-" in step for step in steps)


def bound(rnd: Random) -> str:
    return str(rnd.choice((None, None, *range(-5, 6), rnd.choice(HUGE))))


def item(rnd: Random, size: int) -> str:
    """One subscript of a dimension."""
    how = rnd.randrange(12)
    if how < 3:
        return str(rnd.randint(-size, size) if rnd.random() < 0.95 else rnd.choice(HUGE))
    if how < 6:
        return f"slice({bound(rnd)}, {bound(rnd)}, {rnd.choice((None, 1, 2, 3, 7, 2**62, -1))})"
    if how == 6:
        return "None"
    if how == 7:
        return "..."
    if how == 8:
        return rnd.choice(("True", "False", "at(True)", "np.int8(0)", "at(0)"))
    if how == 9:
        return f"at({[rnd.random() < 0.5 for _ in range(size)]}, dtype=bool)" if size else "None"
    positions = [rnd.randint(-size, size - 1) for _ in range(rnd.randint(0, 3))] if size else []
    if rnd.random() < 0.03:
        positions.append(rnd.choice((size, -size - 1, 99)))
    if how == 10:
        return str(positions) if positions else "slice(None, None, None)"
    nested = [positions] if rnd.random() < 0.3 else positions
    return f"at({nested}, dtype='int64')".replace("dtype='int64'", "dtype=int")


def subscript(rnd: Random) -> Subscript:
    """A drawn subscript of a small array."""
    shape = tuple(rnd.randint(0, 4) for _ in range(rnd.choice((0, 1, 1, 2, 2, 3, 4))))
    count = rnd.randint(1, len(shape) + (rnd.random() < 0.3)) if shape else 1
    items = [item(rnd, shape[i] if i < len(shape) else 1) for i in range(count)]
    value = rnd.choice(("", "", "7", "-1", "np.array([5])", "np.arange(3)", "np.zeros((0,), int)"))
    return Subscript(shape, items, value)
