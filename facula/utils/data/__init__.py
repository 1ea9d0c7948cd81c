"""Datasets, samplers and the loader that makes batches of them."""

from facula._submodules import lazy_submodules
from facula.utils.data.collate import default_collate, default_convert
from facula.utils.data.dataloader import DataLoader, _DatasetKind, get_worker_info
from facula.utils.data.datapipes.datapipe import (
    DFIterDataPipe,
    IterDataPipe,
    MapDataPipe,
    functional_datapipe,
)
from facula.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from facula.utils.data.distributed import DistributedSampler
from facula.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "DFIterDataPipe",
    "IterDataPipe",
    "MapDataPipe",
    "functional_datapipe",
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "_DatasetKind",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

__getattr__ = lazy_submodules(__name__, "_utils")
