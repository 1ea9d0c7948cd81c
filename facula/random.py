"""Seeds and states of the random numbers of the process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from facula._C import Generator, Tensor, default_generator

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: int) -> Generator:
    """Restart the random numbers from a seed; returns the generator."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Restart the random numbers from a seed that nobody can foresee, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """Give the seed that the random numbers started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Give the state of the random numbers as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Restore a state that get_rng_state gave."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable | None = None, enabled: bool = True, device_type: str = "cpu", **_: Any
) -> Iterator[None]:
    """Restore the state of the random numbers at the end of the block."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
