"""Composites that check values answer inside vmap, where tensors have no data of their own."""

import pytest

import facula
from facula import vmap

ROWS = facula.arange(1.0, 7.0).reshape(2, 3)
TABLES = facula.arange(24.0).reshape(2, 3, 4)


def quantiles_of(name):
    return lambda x, q: getattr(facula, name)(x, q)


def spectrum_and_back(x, w):
    return facula.istft(facula.stft(x, 16, window=w, return_complex=True), 16, window=w)


CASES = {
    "quantile": (quantiles_of("quantile"), ROWS, facula.tensor([0.2, 0.5])),
    "quantiles": (quantiles_of("quantile"), ROWS, facula.tensor([[0.2, 0.0], [0.5, 1.0]])),
    "nanquantile": (quantiles_of("nanquantile"), ROWS, facula.tensor([0.2, 0.5])),
    "istft": (
        spectrum_and_back,
        facula.arange(128.0).reshape(2, 64),
        facula.stack([facula.ones(16), facula.hann_window(16)]),
    ),
    "cov of counts": (
        lambda x, w: facula.cov(x, fweights=w),
        TABLES,
        facula.tensor([[1, 2, 1, 1], [1, 1, 1, 3]]),
    ),
    "cov of weights": (
        lambda x, w: facula.cov(x, aweights=w),
        TABLES,
        facula.tensor([[0.1, 0.2, 1.0, 1.0], [1.0, 0.5, 1.0, 3.0]]),
    ),
    "segment_reduce": (
        lambda x, n: facula.segment_reduce(x, "sum", lengths=n),
        ROWS,
        facula.tensor([[1, 2], [3, 0]]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_samples(name):
    f, x, values = CASES[name]
    got = vmap(f)(x, values)
    want = facula.stack([f(a, v) for a, v in zip(x, values, strict=True)])
    assert facula.allclose(got, want)
    shared = vmap(lambda v: f(x[0], v))(values)
    assert facula.allclose(shared, facula.stack([f(x[0], v) for v in values]))


WRONG = {
    "quantile": facula.tensor([0.2, 1.5]),
    "quantiles": facula.tensor([[0.2, 0.5], [0.2, -1.0]]),
    "nanquantile": facula.tensor([0.2, float("nan")]),
    "istft": facula.stack([facula.ones(16), facula.zeros(16)]),
    "cov of counts": facula.tensor([[1, 2, 1, 1], [1, 1, 1, -3]]),
    "cov of weights": facula.tensor([[1.0, 2, 1, 1], [1, 1, 1, -3]]),
    "segment_reduce": facula.tensor([[1, 2], [3, 3]]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_of_any_sample_are_refused(name):
    f, x, _ = CASES[name]
    with pytest.raises(RuntimeError):
        vmap(f)(x, WRONG[name])
    with pytest.raises(RuntimeError):
        f(x[1], WRONG[name][1])


@pytest.mark.parametrize(
    "convert", ["to_sparse", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc"]
)
def test_sparse_layouts_are_refused(convert):
    with pytest.raises(RuntimeError, match="vmap"):
        vmap(lambda x: getattr(x, convert)().to_dense())(TABLES)


COLUMNS = facula.tensor([[0, 1], [0, 2]])
STARTS = facula.tensor([0, 1, 2])
SPARSE = {
    "coo": lambda i: facula.sparse_coo_tensor(i.reshape(1, 2), facula.ones(2)),
    "csr": lambda i: facula.sparse_csr_tensor(STARTS, i, facula.ones(2)),
    "csc": lambda i: facula.sparse_csc_tensor(STARTS, i, facula.ones(2)),
    "bsr": lambda i: facula.sparse_bsr_tensor(STARTS, i, facula.ones(2, 1, 1)),
    "starts": lambda i: facula.sparse_csr_tensor(i, COLUMNS[0, :1], facula.ones(1)),
}


@pytest.mark.parametrize("layout", SPARSE)
def test_sizes_of_sparse_tensors_are_not_guessed_without_indices(layout):
    with pytest.raises(NotImplementedError, match="inside vmap"):
        vmap(lambda i: SPARSE[layout](i).to_dense())(COLUMNS)
    with pytest.raises((NotImplementedError, RuntimeError)):
        SPARSE[layout](COLUMNS[0].to("meta"))
