"""DataLoader: batches of a dataset in the order of a sampler, in the main process.

Worker processes are not built; asking for them raises NotImplementedError. Programs that run
under the name of torch are told so once, and load in the main process.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import facula
from facula._alias import under_alias
from facula.utils.data.collate import default_collate, default_convert
from facula.utils.data.dataset import IterableDataset
from facula.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    random_seed,
)

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

# Types of arguments by the names under which libraries import them.
_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]


class _DatasetKind:
    """The two kinds of dataset: found by key and streamed."""

    Map = 0
    Iterable = 1


class _InfiniteSampler(Sampler):
    """The sampler of streams: no indices, for ever."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def get_worker_info() -> None:
    """Return what a worker process knows of itself: always None, in the main process."""
    return None


class DataLoader:
    """Iterates over a dataset in batches.

    `batch_size=None` gives single samples; `sampler` or `batch_sampler` replace the order that
    `shuffle` asks for; `generator` is the source of the shuffle. `pin_memory` is accepted and
    has an effect only where there is an accelerator.
    """

    _initialized = False
    _fixed = (
        "batch_size",
        "batch_sampler",
        "sampler",
        "drop_last",
        "dataset",
        "persistent_workers",
    )

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable | None = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(
            num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context
        )
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._dataset_kind = _DatasetKind.Map
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            _check_stream_options(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            batch_size = None
            drop_last = False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._iterable_length: int | None = None
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in self._fixed:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> _BaseDataLoaderIter:
        return _SingleProcessDataLoaderIter(self)

    def __len__(self) -> int:
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        length = self._iterable_length = len(self.dataset)
        if self.batch_size is None:
            return length
        full, rest = divmod(length, self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)


def _check_workers(
    num_workers: int,
    timeout: float,
    prefetch_factor: int | None,
    persistent_workers: bool,
    multiprocessing_context: Any,
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers > 0:
        if not under_alias():
            raise NotImplementedError(
                f"DataLoader: worker processes are not built yet, got num_workers={num_workers}; "
                "use num_workers=0, which loads in the main process"
            )
        _say_that_workers_are_missing()
        return
    if prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if persistent_workers:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if multiprocessing_context is not None:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )


@functools.cache
def _say_that_workers_are_missing() -> None:
    warnings.warn(
        "DataLoader: worker processes are not built; samples are loaded in the main process, and "
        "worker_init_fn is not called",
        stacklevel=4,
    )


def _check_stream_options(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in (False, None):
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified shuffle option, but got "
            f"shuffle={shuffle}"
        )
    for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )


class _BaseDataLoaderIter:
    """One pass over a loader."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._dataset = loader.dataset
        self._collate = loader.collate_fn
        self._auto_collation = loader._auto_collation
        self._sampler_iter = iter(loader._index_sampler)
        # Drawn in every pass, as PyTorch does, so that the generator moves on equally.
        self._base_seed = random_seed(loader.generator)
        self._num_yielded = 0
        self._pin_memory = loader.pin_memory and _has_accelerator()
        if loader.pin_memory and not self._pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                stacklevel=3,
            )
        self._stream = None
        self._ended = False
        if loader._dataset_kind == _DatasetKind.Iterable:
            self._stream = iter(self._dataset)

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __next__(self) -> Any:
        index = next(self._sampler_iter)
        data = self._from_stream(index) if self._stream is not None else self._by_key(index)
        data = self._collate(data)
        if self._pin_memory:
            data = _pinned(data)
        self._num_yielded += 1
        self._check_length()
        return data

    def _from_stream(self, index: Any) -> Any:
        if self._ended:
            raise StopIteration
        if not self._auto_collation:
            return next(self._stream)
        batch = list(itertools.islice(self._stream, len(index)))
        if len(batch) < len(index):
            self._ended = True
            if not batch or self._loader.drop_last:
                raise StopIteration
        return batch

    def _by_key(self, index: Any) -> Any:
        if not self._auto_collation:
            return self._dataset[index]
        fetch = getattr(self._dataset, "__getitems__", None)
        if fetch:
            return fetch(index)
        dataset = self._dataset
        return [dataset[i] for i in index]

    def _check_length(self) -> None:
        length = self._loader._iterable_length
        if self._stream is not None and length is not None and self._num_yielded > length:
            warnings.warn(
                f"Length of IterableDataset {self._dataset} was reported to be {length} (when "
                f"accessing len(dataloader)), but {self._num_yielded} samples have been fetched. ",
                stacklevel=3,
            )


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """One pass in the main process, for isinstance()."""


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """One pass with worker processes, for isinstance(): there are none yet."""

    def __init__(self, loader: DataLoader) -> None:
        raise NotImplementedError("DataLoader: worker processes are not built yet")


def _has_accelerator() -> bool:
    cuda = getattr(facula, "cuda", None)
    return cuda is not None and cuda.is_available()


def _pinned(data: Any) -> Any:
    """Copy the tensors of a batch to pinned memory, through nested containers."""
    if isinstance(data, facula.Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, dict):
        return type(data)({k: _pinned(v) for k, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(_pinned(v) for v in data))
    if isinstance(data, (list, tuple)):
        return type(data)(_pinned(v) for v in data)
    return data
