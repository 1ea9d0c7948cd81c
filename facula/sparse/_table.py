"""The table of the operators of sparse tensors, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TABLE: dict[str, Callable[..., Any]] = {}


def entry(*names: str) -> Callable[[Callable], Callable]:
    """Register a function, which takes the arguments of the strided operator, under names."""

    def add(function: Callable) -> Callable:
        for name in names:
            TABLE[name] = function
        return function

    return add
