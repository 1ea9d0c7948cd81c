"""DistributedSampler: the share of a dataset that belongs to one process of several."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import facula
from facula.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index from `rank` on, shuffled by `seed + epoch`.

    All processes get the same number of indices: the list is filled up from its start, or cut
    with `drop_last`. Call `set_epoch` before each epoch for another order.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            group = getattr(facula, "distributed", None)
            if group is None or not group.is_available():
                raise RuntimeError("Requires distributed package to be available")
            num_replicas = group.get_world_size() if num_replicas is None else num_replicas
            rank = group.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)
        if drop_last and count % num_replicas != 0:
            self.num_samples = math.ceil((count - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        if self.shuffle:
            generator = facula.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = facula.randperm(count, generator=generator).tolist()
        else:
            indices = list(range(count))
        missing = self.total_size - len(indices)
        if missing > 0 and indices:
            indices += (indices * math.ceil(missing / len(indices)))[:missing]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which goes into the seed of the shuffle."""
        self.epoch = epoch
