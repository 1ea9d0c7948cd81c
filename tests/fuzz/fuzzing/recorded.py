"""The recorded cases of tests/conformance as descriptions, small ones only."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np

import facula
from fuzzing.specs import Call, Data, Recorded

CONFORMANCE = Path(__file__).resolve().parents[2] / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import opcases  # noqa: E402

LARGEST = 256  # elements of a tensor
MOST = 60  # cases of an operator
RECORDED = "recorded:"  # begins the path of a recorded operator


@functools.cache
def cases() -> opcases.Cases:
    """The recorded cases."""
    return opcases.Cases(str(CONFORMANCE / "opcases.zip"))


@functools.cache
def array(ref: str) -> np.ndarray:
    """One recorded array."""
    return cases().array(ref)


class NotDescribed(Exception):
    """An argument that has no description."""


def described(x: Any) -> Any:
    """A recorded argument as a description or a plain value."""
    if isinstance(x, list):
        return [described(v) for v in x]
    if not isinstance(x, dict):
        return x
    kind = x["kind"]
    if kind == "tensor":
        if array(x["ref"]).size > LARGEST:
            raise NotDescribed
        layout = "transposed" if x.get("transposed") else "plain"
        return Recorded(x["ref"], x["dtype"], layout, bool(x.get("grad")))
    if kind == "tuple":
        return tuple(described(v) for v in x["items"])
    if kind == "dict":
        return {k: described(v) for k, v in x["items"].items()}
    if kind in ("complex", "float"):
        return opcases.decode(facula, None, x, [])
    if kind in ("dtype", "memory_format", "layout"):
        return Name(x["name"])
    if kind in ("slice", "ellipsis", "device"):
        raise NotDescribed
    raise ValueError(kind)


class Name(Data):
    """A constant of the package by its name: a dtype, a memory format, a layout."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Name({self.name!r})"

    def build(self, made: list) -> Any:
        return getattr(facula, self.name)


@functools.cache
def by_operator() -> dict[str, list[Call]]:
    """Up to MOST described calls of each operator that is built, spread over its cases."""
    found: dict[str, list[dict]] = {}
    for case in cases().index["cases"]:
        found.setdefault(case["op"], []).append(case)
    calls: dict[str, list[Call]] = {}
    for op, own in found.items():
        try:
            opcases.resolve(facula, op)
        except AttributeError:
            continue
        for case in own[:: max(1, len(own) // MOST)]:
            try:
                args = described(case["args"])
                kwargs = {k: described(v) for k, v in case["kwargs"].items()}
            except NotDescribed:
                continue
            calls.setdefault(op, []).append(Call(RECORDED + op, args, kwargs))
    return calls

