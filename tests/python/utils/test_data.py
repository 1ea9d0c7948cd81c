"""Datasets, samplers and the loader. Orders for a seed are recorded from PyTorch."""

import collections

import numpy as np
import pytest

import facula
from facula.utils import data
from facula.utils.data import DataLoader


class Stream(data.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


def lists(loader):
    return [b.tolist() for b in loader]


SHUFFLED = [[[6, 2, 0, 1], [8, 3, 5, 4], [7, 9]], [[3, 4, 0, 9], [6, 7, 1, 2], [5, 8]]]
AFTER = [981, 739, 514]
GENERATOR = [[[7, 4, 8, 1], [2, 3, 6, 5], [9, 0]], [[2, 1, 6, 3], [5, 9, 4, 7], [8, 0]]]
REPLACED = [
    5,
    6,
    2,
    4,
    6,
    6,
    4,
    0,
    2,
    6,
    3,
    3,
    5,
    4,
    4,
    2,
    2,
    0,
    5,
    3,
    2,
    1,
    6,
    6,
    2,
    0,
    1,
    1,
    0,
    1,
    0,
    3,
    4,
    2,
    4,
    6,
    0,
    5,
    6,
    3,
]
REPEATED = [2, 0, 1, 3, 1, 2, 0, 3, 0, 2]
SUBSET = [10, 20, 30, 40]
SPLIT = [[5, 8, 0], [9, 7, 2], [4, 6, 3, 1]]
RANK = [7, 8, 2, 0]
RANK_DROP = [7, 8, 2]


def test_shuffles_of_a_seed():
    facula.manual_seed(3)
    items = list(range(10))
    assert [lists(DataLoader(items, 4, shuffle=True)) for _ in range(2)] == SHUFFLED
    assert facula.randint(0, 1000, (3,)).tolist() == AFTER
    g = facula.Generator()
    g.manual_seed(5)
    loader = DataLoader(items, 4, shuffle=True, generator=g)
    assert [lists(loader) for _ in range(2)] == GENERATOR


def test_samplers_of_a_seed():
    facula.manual_seed(3)
    assert list(data.RandomSampler(range(7), True, 40)) == REPLACED
    assert list(data.RandomSampler(range(4), False, 10)) == REPEATED
    assert list(data.SubsetRandomSampler([10, 20, 30, 40])) == SUBSET
    parts = data.random_split(list(range(10)), [0.3, 0.3, 0.4])
    assert [list(s.indices) for s in parts] == SPLIT


def test_distributed_sampler():
    for drop, want in ((False, RANK), (True, RANK_DROP)):
        s = data.DistributedSampler(range(10), 3, 1, seed=2, drop_last=drop)
        s.set_epoch(4)
        assert list(s) == want and len(s) == len(want)
    parts = [list(data.DistributedSampler(range(10), 4, r, shuffle=False)) for r in range(4)]
    assert sorted(sum(parts, [])) == [0, 0, 1, 1, *range(2, 10)]
    assert list(data.DistributedSampler([0], 3, 2, shuffle=False)) == [0]
    with pytest.raises(ValueError, match="Invalid rank 3"):
        data.DistributedSampler(range(10), 3, 3)


def test_weighted_sampler():
    facula.manual_seed(0)
    drawn = list(data.WeightedRandomSampler([0.0, 1.0, 3.0], 4000))
    counts = np.bincount(drawn, minlength=3)
    assert counts[0] == 0 and abs(counts[2] / 4000 - 0.75) < 0.03
    assert sorted(data.WeightedRandomSampler([1.0, 2.0, 0.5], 3, False)) == [0, 1, 2]


def test_batches():
    items = list(range(7))
    assert lists(DataLoader(items, 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert lists(DataLoader(items, 3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert lists(DataLoader(items, sampler=[5, 1], batch_size=2)) == [[5, 1]]
    assert lists(DataLoader(items, batch_sampler=[[0, 1], [6]])) == [[0, 1], [6]]
    assert list(DataLoader(items, batch_size=None)) == items
    assert [len(DataLoader(items, 3, drop_last=d)) for d in (False, True)] == [3, 2]
    assert list(data.BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert list(DataLoader(items, 7, collate_fn=sum)) == [21]


def test_streams():
    assert lists(DataLoader(Stream(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert lists(DataLoader(Stream(7), 3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert list(DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    assert lists(DataLoader(Stream(2) + Stream(3), 4)) == [[0, 1, 0, 1], [2]]

    class Liar(Stream):
        def __len__(self):
            return 1

    loader = DataLoader(Liar(3), batch_size=None)
    assert len(loader) == 1
    with pytest.warns(UserWarning, match="was reported to be 1"):
        list(loader)


def test_datasets():
    x, y = facula.arange(4.0), facula.arange(4) * 2
    pairs = data.TensorDataset(x, y)
    assert len(pairs) == 4 and [v.item() for v in pairs[1]] == [1.0, 2]
    both = data.ConcatDataset([[1, 2], [3]])
    assert [both[i] for i in (0, 1, 2, -1)] == [1, 2, 3, 3] and both.cumulative_sizes == [2, 3]
    assert len(pairs + pairs) == 8
    stack = data.StackDataset(image=pairs, label=[5, 6, 7, 8])
    assert stack[2]["label"] == 7 and len(stack) == 4
    assert [d["label"] for d in stack.__getitems__([0, 3])] == [5, 8]
    assert data.StackDataset([1, 2], [3, 4])[1] == (2, 4)
    sub = data.Subset([10, 20, 30, 40], [3, 1])
    assert (sub[0], len(sub), sub.__getitems__([1, 0])) == (40, 2, [20, 40])


def test_getitems_is_used():
    class Bulk(data.Dataset):
        def __len__(self):
            return 4

        def __getitems__(self, indices):
            return [i * 10 for i in indices]

    assert lists(DataLoader(Bulk(), 2)) == [[0, 10], [20, 30]]


def test_fractions():
    parts = data.random_split(range(10), [0.5, 0.25, 0.25])
    assert [len(p) for p in parts] == [6, 2, 2]
    with pytest.warns(UserWarning, match="index 1 is 0"):
        data.random_split(range(3), [0.9, 0.1, 0.0])


Point = collections.namedtuple("Point", "x y")


def test_collate():
    collate = data.default_collate
    assert collate([1, 2]).tolist() == [1, 2] and collate([1, 2]).dtype == facula.int64
    assert collate([1.0, 2.0]).dtype == facula.float64
    assert collate([True, False]).dtype == facula.bool
    assert collate([facula.ones(2), facula.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert collate([np.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert collate([np.float32(1), np.float32(2)]).dtype == facula.float32
    assert collate(["a", "b"]) == ["a", "b"]
    d = collate([{"a": 1, "b": (1.5, "x")}, {"a": 2, "b": (2.5, "y")}])
    assert d["a"].tolist() == [1, 2] and d["b"][1] == ("x", "y")
    p = collate([Point(1, 2), Point(3, 4)])
    assert type(p) is Point and p.x.tolist() == [1, 3]
    o = collate([collections.OrderedDict(a=1)])
    assert type(o) is collections.OrderedDict
    converted = data.default_convert({"a": [1, np.ones(2)], "s": "x"})
    assert converted["a"][0] == 1 and converted["a"][1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: DataLoader([1], num_workers=1), NotImplementedError, "num_workers=1"),
        (lambda: DataLoader([1], num_workers=-1), ValueError, "non-negative"),
        (lambda: DataLoader([1], timeout=-1), ValueError, "timeout"),
        (lambda: DataLoader([1], prefetch_factor=2), ValueError, "prefetch_factor"),
        (lambda: DataLoader([1], persistent_workers=True), ValueError, "persistent_workers"),
        (lambda: DataLoader([1], batch_size=0), ValueError, "batch_size=0"),
        (lambda: DataLoader([1], shuffle=True, sampler=[0]), ValueError, "mutually exclusive"),
        (lambda: DataLoader([1], batch_sampler=[[0]], batch_size=2), ValueError, "exclusive"),
        (lambda: DataLoader([1], batch_size=None, drop_last=True), ValueError, "drop_last"),
        (lambda: DataLoader(Stream(3), shuffle=True), ValueError, "unspecified shuffle"),
        (lambda: DataLoader(Stream(3), sampler=[0]), ValueError, "unspecified sampler"),
        (lambda: len(DataLoader(Stream(3))), TypeError, "len"),
        (lambda: setattr(DataLoader([1]), "batch_size", 3), ValueError, "batch_size attribute"),
        (lambda: data.RandomSampler([]), ValueError, "num_samples=0"),
        (lambda: data.RandomSampler([1], replacement=1), TypeError, "replacement=1"),
        (lambda: data.WeightedRandomSampler([[1.0]], 2), ValueError, r"shape \(1, 1\)"),
        (lambda: data.random_split([1, 2], [1, 2]), ValueError, "Sum of input lengths"),
        (lambda: data.random_split([1, 2], [-0.1, 1.1]), ValueError, "Fraction at index 0"),
        (
            lambda: data.TensorDataset(facula.zeros(2), facula.zeros(3)),
            AssertionError,
            "Size mismatch",
        ),
        (lambda: data.ConcatDataset([]), AssertionError, "empty iterable"),
        (lambda: data.ConcatDataset([Stream(1)]), AssertionError, "IterableDataset"),
        (lambda: data.StackDataset(), ValueError, "At least one"),
        (lambda: data.StackDataset([1], [1, 2]), ValueError, "Size mismatch"),
        (lambda: data.default_collate([object()]), TypeError, "found <class 'object'>"),
        (lambda: data.default_collate([[1], [1, 2]]), RuntimeError, "equal size"),
        (lambda: data.default_collate([np.array(["a"])]), TypeError, "found"),
        (lambda: data.Dataset()[0], NotImplementedError, "__getitem__"),
        (lambda: data.IterableDataset(), TypeError, "abstract"),
    ],
)
def test_refusals(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_main_process():
    assert data.get_worker_info() is None
    with pytest.warns(UserWarning, match="no accelerator"):
        assert lists(DataLoader([1, 2], 2, pin_memory=True)) == [[1, 2]]


def test_types_may_be_added_to_the_table_of_collate():
    from facula.utils.data._utils.collate import default_collate_fn_map
    from facula.utils.data._utils.worker import _generate_state

    class Note:
        pass

    default_collate_fn_map[Note] = lambda batch, *, collate_fn_map: len(batch)
    try:
        found = facula.utils.data.default_collate([(Note(), 1), (Note(), 2)])
        assert found[0] == 2 and found[1].tolist() == [1, 2]
    finally:
        del default_collate_fn_map[Note]
    with pytest.raises(TypeError):
        facula.utils.data.default_collate([Note()])
    assert _generate_state(1, 0) != _generate_state(1, 1)
