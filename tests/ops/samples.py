"""Samples for suites that run every operator: few, small ones of the recorded cases, made anew."""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import facula

CONFORMANCE = Path(__file__).resolve().parents[1] / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import opcases  # noqa: E402

DTYPES = (
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
).split()
LARGEST = 64  # elements of an input; larger recorded cases serve the conformance run only


@dataclass
class Sample:
    """One call: the operator, its arguments as recorded, and where its tensors stand."""

    op: str
    case: dict

    def build(
        self, change: Callable[[facula.Tensor], facula.Tensor] = lambda t: t
    ) -> tuple[Callable, list, dict]:
        """Fresh arguments with every tensor put through `change`: (function, args, kwargs)."""
        cases = load()
        leaves: list = []
        args = [
            map_tensors(opcases.decode(facula, cases, a, leaves), change) for a in self.case["args"]
        ]
        kwargs = {
            k: map_tensors(opcases.decode(facula, cases, v, leaves), change)
            for k, v in self.case["kwargs"].items()
        }
        return opcases.resolve(facula, self.op), args, kwargs


@functools.cache
def load() -> Any:
    """The recorded cases."""
    return opcases.Cases(str(CONFORMANCE / "opcases.zip"))


def map_tensors(value: Any, change: Callable) -> Any:
    """Put the tensors of a nested argument through `change`."""
    if isinstance(value, facula.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(v, change) for v in value)
    return value


def tensors_in(value: Any) -> list[facula.Tensor]:
    """All tensors of a nested argument or result."""
    if isinstance(value, facula.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_in(v)]
    return []


def elements(case: dict) -> int:
    """The size of a case's largest tensor."""

    def shapes(x: Any) -> list[int]:
        if isinstance(x, list):
            return [n for v in x for n in shapes(v)]
        if isinstance(x, dict) and x.get("kind") == "tensor":
            return [int(np.prod(load().array(x["ref"]).shape))]
        if isinstance(x, dict) and "items" in x:
            return shapes(list(x["items"].values()) if isinstance(x["items"], dict) else x["items"])
        return [0]

    return max(shapes(case["args"]) + shapes(list(case["kwargs"].values())), default=0)


def works(op: str) -> bool:
    """Whether an operator is built."""
    try:
        opcases.resolve(facula, op)
    except AttributeError:
        return False
    return True


@functools.cache
def passing() -> frozenset[str]:
    """Operators whose recorded cases all pass; the others are listed there as work to do."""
    return frozenset((CONFORMANCE / "passing" / "opcases.txt").read_text().splitlines())


def samples(want: Callable[[dict], bool], most: int) -> dict[str, list[Sample]]:
    """Up to `most` small samples of each built operator among the cases that `want` accepts."""
    found: dict[str, list[Sample]] = {}
    for case in load().index["cases"]:
        op = case["op"]
        if (
            "error" in case
            or not want(case)
            or op not in passing()
            or not works(op)
            or len(found.get(op, [])) >= most
        ):
            continue
        if elements(case) <= LARGEST:
            found.setdefault(op, []).append(Sample(op, copy.deepcopy(case)))
    return found


def transposed(t: facula.Tensor) -> facula.Tensor:
    """The same values with the order of dimensions in memory reversed."""
    if t.dim() < 2:
        return t.detach()
    order = list(range(t.dim()))[::-1]
    return t.detach().permute(order).contiguous().permute(order)


def spread(t: facula.Tensor) -> facula.Tensor:
    """The same values with gaps: every second element of a longer last dimension, at an offset."""
    if t.dim() == 0:
        return facula.stack([t.detach(), t.detach()])[1]
    wide = facula.stack([t.detach(), t.detach()], -1).flatten(-2)
    return facula.cat([wide[..., :1], wide], -1)[..., 1::2]
