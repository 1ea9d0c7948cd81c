"""Seeds and states of the default random generator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from facula._C import Generator, Tensor, default_generator

__all__ = [
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def manual_seed(seed: int) -> Generator:
    """Seed the default generator, from which every call without a generator draws.

    Returns the generator. Only the low 32 bits of the seed tell streams apart, as in PyTorch;
    negative seeds count back from 2**64.
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator with a number that nobody can foresee, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the number that the default generator was last seeded with."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator into a state from `get_rng_state`."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: object = None, enabled: bool = True, device_type: str = "cpu"
) -> Iterator[None]:
    """Restore the state of the default generator when the block is left.

    `devices` and `device_type` name further generators to restore; there are none besides the
    CPU's, and both are accepted so that programs for several devices run.
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
