"""What loaders know of their workers."""

from __future__ import annotations

from facula.utils.data.dataloader import get_worker_info

__all__ = ["get_worker_info"]

_worker_info = None


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Give four 32-bit numbers that differ for every base seed and worker."""
    import random

    draw = random.Random(f"{base_seed} {worker_id}")
    return [draw.getrandbits(32) for _ in range(4)]
