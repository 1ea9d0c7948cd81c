"""CSR, CSC, BSR and BSC tensors: making, checks, text and conversion."""

import pytest

import facula

CROW, COL, V = [0, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0]
DENSE = [[1, 0, 2], [0, 3, 0]]


def test_csr():
    a = facula.sparse_csr_tensor(CROW, COL, V, (2, 3))
    assert a.layout is facula.sparse_csr and a.is_sparse_csr and not a.is_sparse
    assert a.crow_indices().tolist() == CROW and a.col_indices().tolist() == COL
    assert a.values().tolist() == V and a._nnz() == 3 and a.to_dense().tolist() == DENSE
    assert (a.sparse_dim(), a.dense_dim()) == (2, 0)
    assert facula.sparse_csr_tensor(CROW, COL, V).shape == (2, 3)
    for call in (a.indices, a.coalesce, a.is_coalesced, a.ccol_indices, a._indices):
        with pytest.raises(RuntimeError):
            call()
    short = facula.sparse_csr_tensor(
        facula.tensor(CROW, dtype=facula.int32), facula.tensor(COL, dtype=facula.int32), V
    )
    assert short.crow_indices().dtype == facula.int32
    assert facula.equal(short @ facula.ones(3, 1), a @ facula.ones(3, 1))
    t = a.t()
    assert t.layout is facula.sparse_csc and t.ccol_indices().tolist() == CROW


REPR = """tensor(crow_indices=tensor([0, 2, 3]),
       col_indices=tensor([0, 2, 1]),
       values=tensor([1., 2., 3.]), size=(2, 3), nnz=3,
       layout=facula.sparse_csr)"""


def test_text():
    assert repr(facula.sparse_csr_tensor(CROW, COL, V, (2, 3))) == REPR


@pytest.mark.parametrize(
    "layout", ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
)
@pytest.mark.parametrize("shape", [(4, 6), (2, 4, 6)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64", "bool"])
def test_all_conversions(layout, shape, dtype):
    # Each batch keeps as many elements, as compressed layouts ask for.
    d = facula.arange(24.0).reshape(4, 6)
    d = facula.where(d % 3 == 0, d + 1, 0.0).expand(shape).to(getattr(facula, dtype))
    kinds = {
        "sparse_coo": lambda t: t.to_sparse(),
        "sparse_csr": lambda t: t.to_sparse_csr(),
        "sparse_csc": lambda t: t.to_sparse_csc(),
        "sparse_bsr": lambda t: t.to_sparse_bsr((2, 3)),
        "sparse_bsc": lambda t: t.to_sparse_bsc((2, 3)),
    }
    s = kinds[layout](d)
    assert s.layout is getattr(facula, layout) and s.shape == d.shape
    assert facula.equal(s.to_dense(), d)
    for other, convert in kinds.items():
        r = convert(s)
        assert r.layout is getattr(facula, other) and facula.equal(r.to_dense(), d)


def test_dense_dimensions_and_blocks():
    d = facula.arange(24.0).reshape(3, 4, 2)
    s = d.to_sparse_csr(dense_dim=1)
    assert s.dense_dim() == 1 and s.values().shape == (12, 2)
    assert facula.equal(s.to_dense(), d)
    b = facula.sparse_bsr_tensor([0, 1], [0], facula.ones(1, 2, 2))
    assert b.shape == (2, 2) and b.values().shape == (1, 2, 2)
    with pytest.raises(RuntimeError, match="divisible"):
        facula.ones(3, 4).to_sparse_bsr((2, 2))
    with pytest.raises(RuntimeError, match="blocksize"):
        facula.ones(4, 4).to_sparse(layout=facula.sparse_bsr)
    with pytest.raises(RuntimeError):
        facula.ones(4).to_sparse_csr()
    with pytest.raises(RuntimeError, match="same number"):
        facula.stack([facula.eye(2), facula.zeros(2, 2)]).to_sparse_csr()


@pytest.mark.parametrize(
    ("crow", "col", "values", "size"),
    [
        ([0, 2, 1], COL, V, (2, 3)),
        ([1, 2, 3], COL, V, (2, 3)),
        ([0, 2, 9], COL, V, (2, 3)),
        ([0, 9, 3], COL, V, (2, 3)),
        ([0, -1, 3], COL, V, (2, 3)),
        (CROW, [0, 5, 1], V, (2, 3)),
        (CROW, [0, -2, 1], V, (2, 3)),
        (CROW, COL, V, (5, 3)),
        (CROW, COL, V[:2], (2, 3)),
        (CROW, COL, V, (2,)),
        (CROW, [COL], V, (2, 3)),
        ([], [], [], None),
        (CROW, COL, V, (2, -3)),
    ],
)
def test_bad_parts_are_refused(crow, col, values, size):
    with pytest.raises(RuntimeError):
        facula.sparse_csr_tensor(crow, col, values, size)


def test_full_checks():
    parts = [0, 2, 2], [1, 0], [1.0, 2.0], (2, 2)
    assert facula.sparse_csr_tensor(*parts).to_dense().tolist() == [[2, 1], [0, 0]]
    with pytest.raises(RuntimeError, match="sorted"):
        facula.sparse_csr_tensor(*parts, check_invariants=True)
    check = facula.sparse.check_sparse_tensor_invariants
    assert not check.is_enabled()
    with check():
        assert check.is_enabled()
        with pytest.raises(RuntimeError, match="sorted"):
            facula.sparse_csr_tensor(*parts)
    assert not check.is_enabled()
    check.enable()
    try:
        assert check.is_enabled()
    finally:
        check.disable()

    @check(True)
    def make():
        return facula.sparse_csr_tensor(*parts)

    with pytest.raises(RuntimeError, match="sorted"):
        make()


def test_arbitrary_parts_never_crash():
    g = facula.Generator().manual_seed(7)

    def numbers(n, low, high):
        return facula.randint(low, high, (n,), generator=g)

    made = 0
    for _ in range(1500):
        rows, n, kind = numbers(3, 0, 4).tolist()
        slip = int(numbers(1, 0, 3))  # how far numbers may lie outside
        wrong = int(numbers(1, 0, 8)) == 0
        try:
            if kind == 0:
                at = numbers(2 * n, -slip, 3 + slip).reshape(2, n)
                t = facula.sparse_coo_tensor(at, facula.ones(n + wrong), (3, 3))
            else:
                starts = facula.cat([facula.tensor([0]), numbers(rows, 0, n + 1).sort()[0]])
                starts[-1] = starts[-1] if wrong else n
                t = facula.sparse_compressed_tensor(
                    starts,
                    numbers(n, -slip, 4 + slip),
                    facula.ones(n),
                    (rows, 4) if kind < 3 else (4, rows),
                    layout=facula.sparse_csr if kind < 3 else facula.sparse_csc,
                )
        except RuntimeError:
            continue
        made += 1
        dense = t.to_dense()
        assert facula.equal(t @ facula.ones(t.size(1), 2), dense @ facula.ones(t.size(1), 2))
        assert facula.equal(t.to_sparse_csr().to_dense(), dense)
    assert 200 < made < 1400


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "bsc"])
def test_tensors_like_compressed_ones_keep_its_positions(layout):
    dense = facula.tensor([[1.0, 0, 2, 0], [0, 0, 0, 3], [0, 0, 4, 0], [0, 0, 0, 0]])
    s = getattr(dense, f"to_sparse_{layout}")(*([(2, 2)] if layout[0] == "b" else []))
    none = facula.zeros_like(s)
    assert none.layout is s.layout and none._nnz() == 0 and not none.to_dense().any()
    assert none.values().shape[1:] == s.values().shape[1:]
    two, one = facula.full_like(s, 2), facula.ones_like(s, dtype=facula.int64)
    assert facula.equal(two.values(), facula.full_like(s.values(), 2))
    assert one.dtype is facula.int64 and facula.equal(one.to_dense() * 2, two.to_dense().long())
    facula.manual_seed(3)
    random = facula.randn_like(s, requires_grad=True)
    facula.manual_seed(3)
    assert facula.equal(random.detach().values(), facula.randn(s.values().shape))
    assert random.layout is s.layout and random.requires_grad and random.is_leaf
    with pytest.raises(NotImplementedError, match="uniform_"):
        facula.rand_like(s)
    with pytest.raises(NotImplementedError, match="fill_"):
        facula.ones_like(s, layout=facula.sparse_coo)


@pytest.mark.parametrize("dim", [0, 1, (0, 1), None])
def test_sums_that_keep_their_dimensions(dim):
    dense = facula.tensor([[1.0, 0, 2], [0, 3, 0]])
    for layout in (facula.sparse_csr, facula.sparse_csc, facula.sparse_coo):
        total = dense.to_sparse(layout=layout).sum(dim, keepdim=True)
        expected = dense.sum(dim, keepdim=True)
        assert facula.equal(total.to_dense() if total.layout is layout else total, expected)
        assert total.layout is layout or layout is facula.sparse_coo
