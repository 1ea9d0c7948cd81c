"""Random generators of CUDA devices: seeds are accepted, there are no generators."""

from facula.cuda import (
    get_rng_state,  # noqa: F401  made by a loop there
    get_rng_state_all,
    initial_seed,  # noqa: F401
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,  # noqa: F401
    set_rng_state_all,
)

__all__ = [
    "get_rng_state_all",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state_all",
]
