"""The order in which einsum multiplies more than two operands; Facula plans it by itself.

>>> import facula
>>> with facula.backends.opt_einsum.flags(strategy="greedy"):
...     facula.einsum("ij,jk,kl->il", facula.ones(2, 3), facula.ones(3, 4), facula.ones(4, 1))
tensor([[12.],
        [12.]])
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

_STRATEGIES = ("auto", "greedy", "optimal")
# What the package opt_einsum knows besides; programs set these on the module.
_OTHERS = ("auto-hq", "branch-1", "branch-2", "branch-all", "dp", "dynamic-programming", "eager",
           "opportunistic", "random-greedy", "random-greedy-128")  # fmt: skip

enabled: bool = True
strategy: str = "auto"


def is_available() -> bool:
    """Say that the order is chosen by cost."""
    return True


def get_opt_einsum() -> None:
    """Return None: the package opt_einsum is not used."""


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[bool, str]:
    """Change the settings that are given, and return those from before.

    Without `_enabled` operands are multiplied from left to right. `_strategy`, "auto", "greedy",
    "optimal" or another one of the package opt_einsum, is kept, but what is done is "auto": the
    cheapest order of up to four operands, a greedy one of more. ValueError for any other text.
    """
    before = (enabled, strategy)
    module: Any = sys.modules[__name__]
    if _enabled is not None:
        module.enabled = _enabled
    if _strategy is not None:
        module.strategy = _strategy
    return before


@contextlib.contextmanager
def flags(enabled: bool | None = None, strategy: str | None = None) -> Iterator[None]:
    """Change the settings while the block runs."""
    before = set_flags(enabled, strategy)
    try:
        yield
    finally:
        set_flags(*before)


class _Settings(types.ModuleType):
    """The module's type: it refuses values that mean nothing."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "strategy" and value not in _STRATEGIES + _OTHERS:
            raise ValueError(
                f"`strategy` must be one of the following: {list(_STRATEGIES)}, got {value!r}"
            )
        super().__setattr__(name, bool(value) if name == "enabled" else value)


sys.modules[__name__].__class__ = _Settings
