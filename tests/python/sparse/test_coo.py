"""COO tensors: making, merging, text, conversion; judged by dense computation."""

import copy
import pickle

import pytest

import facula
from facula import nn

I = [[0, 1, 1, 0], [2, 0, 2, 2]]
V = [3.0, 4.0, 5.0, 10.0]


def sample(**kwargs):
    return facula.sparse_coo_tensor(I, V, (2, 3), **kwargs)


def dense_of(indices, values, size):
    out = facula.zeros(size, dtype=values.dtype)
    for k in range(indices.size(1)):
        out[tuple(indices[:, k].tolist())] += values[k]
    return out


def random_sparse(size, nnz, dense=(), dtype=facula.float64, seed=0):
    g = facula.Generator().manual_seed(seed)
    rows = [facula.randint(0, s, (nnz,), generator=g) for s in size]
    values = facula.randn(nnz, *dense, generator=g, dtype=facula.float64).to(dtype)
    at = facula.stack(rows)
    return facula.sparse_coo_tensor(at, values, (*size, *dense)), at, values


def test_properties():
    a = sample()
    assert isinstance(a, facula.Tensor)
    assert a.layout is facula.sparse_coo and a.is_sparse and not a.is_sparse_csr
    assert a.shape == (2, 3) and a.size(1) == 3 and a.dim() == 2 and a.numel() == 6
    assert a._nnz() == 4 and a.sparse_dim() == 2 and a.dense_dim() == 0
    assert not a.is_coalesced() and a.dtype == facula.float32 and len(a) == 2
    assert a._indices().tolist() == I and a._values().tolist() == V
    with pytest.raises(RuntimeError, match="uncoalesced"):
        a.indices()
    with pytest.raises(RuntimeError, match="uncoalesced"):
        a.values()
    c = a.coalesce()
    assert c.is_coalesced() and c.indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert c.values().tolist() == [13.0, 4.0, 5.0]
    assert c.coalesce().indices().tolist() == c.indices().tolist()


def test_dense_dimensions():
    a = facula.sparse_coo_tensor([[1, 1]], [[1.0, 2.0], [3.0, 4.0]], (3, 2))
    assert (a.sparse_dim(), a.dense_dim()) == (1, 1)
    assert a.to_dense().tolist() == [[0, 0], [4, 6], [0, 0]]
    assert facula.sparse_coo_tensor([[0, 2]], [[1.0], [2.0]]).shape == (3, 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32", "complex64"])
@pytest.mark.parametrize("dense", [(), (2,)])
def test_to_dense_and_back(dtype, dense):
    a, at, v = random_sparse((4, 5), 12, dense, getattr(facula, dtype))
    wanted = dense_of(at, v, (4, 5, *dense))
    assert facula.allclose(a.to_dense(), wanted)
    assert facula.allclose(a.coalesce().to_dense(), wanted)
    back = wanted.to_sparse(2)
    assert back.is_coalesced() and facula.equal(back.to_dense(), wanted)


def test_bool_values_merge_as_or():
    a = facula.sparse_coo_tensor([[0, 0, 2]], [True, True, False], (3,))
    assert a.coalesce().values().tolist() == [True, False]
    assert a.to_dense().tolist() == [True, False, False]


def test_merging_adds_in_the_order_given():
    big = [1e8, 1.0, -1e8, 1.0]
    a = facula.sparse_coo_tensor([[0, 0, 0, 0]], big, (1,))
    total = facula.tensor(0.0)
    for v in big:
        total = total + v
    assert a.coalesce().values().item() == total.item()


REPR = """tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([3., 4., 5.]),
       size=(2, 3), nnz=3, layout=facula.sparse_coo)"""
REPR_EMPTY = """tensor(indices=tensor([], size=(2, 0)),
       values=tensor([], size=(0,)),
       size=(2, 3), nnz=0, dtype=facula.float64, layout=facula.sparse_coo)"""


def test_text():
    a = facula.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    assert repr(a) == REPR and str(a) == REPR
    a.requires_grad_()
    assert repr(a).endswith("layout=facula.sparse_coo, requires_grad=True)")
    empty = facula.sparse_coo_tensor(size=(2, 3), dtype=facula.float64)
    assert repr(empty) == REPR_EMPTY


@pytest.mark.parametrize(
    ("indices", "values", "size", "kind"),
    [
        ([[0, 3]], [1.0, 2.0], (3,), RuntimeError),
        ([[0, -1]], [1.0, 2.0], (3,), RuntimeError),
        ([[0, -1]], [1.0, 2.0], None, RuntimeError),
        ([[0, 1]], [1.0, 2.0, 3.0], (3,), RuntimeError),
        ([0, 1], [1.0, 2.0], (3,), RuntimeError),
        ([[0, 1]], [1.0, 2.0], (3, 3), RuntimeError),
        ([[0, 1]], [[1.0], [2.0]], (3, 2), RuntimeError),
        ([[0, 1]], [1.0, 2.0], (-3,), RuntimeError),
        ([[0.5, 1]], [1.0, 2.0], (3,), TypeError),
        ([[0, 1], [0, 1]], [1.0, 2.0], (2**40, 2**40), RuntimeError),
    ],
)
def test_bad_parts_are_refused(indices, values, size, kind):
    with pytest.raises(kind):
        facula.sparse_coo_tensor(indices, values, size)


def test_indices_that_are_overwritten_later_are_found():
    a = sample().coalesce()
    a.indices()[0, 0] = 10**12
    with pytest.raises(RuntimeError, match="overwritten"):
        a.to_dense()
    with pytest.raises(RuntimeError, match="overwritten"):
        a @ facula.ones(3, 2)
    c = facula.eye(3).to_sparse_csr()
    c.crow_indices()[1] = 50
    with pytest.raises(RuntimeError, match="overwritten"):
        c @ facula.ones(3, 2)
    with pytest.raises(RuntimeError, match="overwritten"):
        c.to_dense()


def test_false_claim_of_being_coalesced_is_refused():
    with pytest.raises(RuntimeError):
        facula.sparse_coo_tensor(I, V, (2, 3), is_coalesced=True)


def test_copies_and_types():
    a = sample()
    b = a.clone()
    b._values().zero_()
    assert a._values().tolist() == V
    assert a.to(facula.float64).dtype == facula.float64 and a.long().dtype == facula.int64
    assert a.to("cpu") is a and a.cpu() is a
    d = copy.deepcopy(a)
    assert d is not a and facula.equal(d.to_dense(), a.to_dense())
    p = pickle.loads(pickle.dumps(a.coalesce()))
    assert p.is_coalesced() and facula.equal(p.to_dense(), a.to_dense())
    assert a.detach().to_dense().tolist() == a.to_dense().tolist()
    assert facula.zeros_like(a)._nnz() == 0
    a.zero_()
    assert a._nnz() == 0 and a.shape == (2, 3)
    a.copy_(sample())
    assert a._nnz() == 4
    with pytest.raises(RuntimeError, match="copy_"):
        a.copy_(facula.ones(2, 3))


def test_files(tmp_path):
    a, c = sample().coalesce(), facula.eye(3).to_sparse_csr()
    facula.save({"a": a, "c": c}, tmp_path / "t.pt")
    back = facula.load(tmp_path / "t.pt")
    assert back["a"].is_coalesced() and facula.equal(back["a"].to_dense(), a.to_dense())
    assert back["c"].layout is facula.sparse_csr
    assert facula.equal(back["c"].to_dense(), facula.eye(3))


def test_what_is_absent_is_named():
    a = sample()
    for call in (a.exp, lambda: facula.cos(a), lambda: a > 0, a.max, lambda: a.view(6)):
        with pytest.raises(NotImplementedError, match=r"Could not run '\w+' .* facula.sparse_coo"):
            call()
    with pytest.raises(TypeError, match="to_dense"):
        a.numpy()
    with pytest.raises(RuntimeError, match="dense"):
        _ = a + 1
    with pytest.raises(RuntimeError):
        _ = a + facula.ones(2, 3)
    with pytest.raises(RuntimeError):
        bool(a)
    with pytest.raises(RuntimeError):
        facula.ones(2).coalesce()
    with pytest.raises(NotImplementedError):
        facula.nn.functional.conv1d(a, facula.ones(1, 1, 1))
    with pytest.raises(RuntimeError):
        facula.ones(2, 3).copy_(a)


def test_operators_see_sparse_tensors_beside_other_subclasses():
    class Named(facula.Tensor):
        pass

    x = facula.ones(3, 2).as_subclass(Named)
    assert facula.equal(
        facula.mm(sample(), x).as_subclass(facula.Tensor), sample().to_dense() @ facula.ones(3, 2)
    )
    with pytest.raises((NotImplementedError, RuntimeError, TypeError)):
        facula.maximum(x, facula.eye(3)[:, :2].to_sparse())


def test_sparse_resize():
    a = sample().coalesce()
    a.sparse_resize_((4, 5), 2, 0)
    assert a.shape == (4, 5) and a._nnz() == 3
    with pytest.raises(RuntimeError):
        a.sparse_resize_((1, 1), 2, 0)
    a.sparse_resize_and_clear_((1, 2, 3), 1, 2)
    assert (a.sparse_dim(), a.dense_dim(), a._nnz()) == (1, 2, 0)


def test_legacy_constructors():
    a = facula.sparse.FloatTensor(facula.tensor(I), facula.tensor(V), facula.Size([2, 3]))
    assert facula.equal(a.to_dense(), sample().to_dense())
    assert facula.sparse.DoubleTensor(2, 3).dtype == facula.float64
    assert isinstance(a, facula.sparse.FloatTensor)


def test_embedding_gradients_are_sparse():
    table = nn.Embedding(6, 3, padding_idx=1, sparse=True)
    table(facula.tensor([2, 4, 2, 1])).sum().backward()
    g = table.weight.grad
    assert g.is_sparse and not g.is_coalesced() and g.shape == (6, 3) and g._nnz() == 3
    wanted = facula.zeros(6, 3)
    wanted[2], wanted[4] = 2, 1
    assert facula.equal(g.to_dense(), wanted)
    table(facula.tensor([0])).sum().backward()
    wanted[0] = 1
    assert table.weight.grad.is_sparse and facula.equal(table.weight.grad.to_dense(), wanted)
    (table.weight.sum()).backward()
    assert facula.equal(table.weight.grad, wanted + 1)
    table.weight.grad = facula.zeros(6, 3)
    table(facula.tensor([0])).sum().backward()
    assert table.weight.grad.layout is facula.strided and table.weight.grad[0, 0].item() == 1


def test_sparse_gradient_meets_strided_operators():
    w = facula.randn(5, 2, dtype=facula.float64, requires_grad=True)
    at = facula.tensor([1, 3, 1])
    nn.functional.embedding(at, w * 3, sparse=True).sum().backward()
    wanted = facula.zeros(5, 2, dtype=facula.float64)
    wanted[1], wanted[3] = 6, 3
    assert facula.equal(w.grad, wanted)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_embedding_bag_gradients(mode):
    at, starts = facula.tensor([1, 3, 1, 0]), facula.tensor([0, 1])
    grads = []
    for sparse in (False, True):
        bag = nn.EmbeddingBag(5, 2, mode=mode, sparse=sparse)
        with facula.no_grad():
            bag.weight.copy_(facula.arange(10.0).reshape(5, 2))
        (bag(at, starts) ** 2).sum().backward()
        grads.append(bag.weight.grad)
    assert grads[1].is_sparse
    assert facula.allclose(grads[1].to_dense(), grads[0])
    w = facula.arange(10.0).reshape(5, 2).requires_grad_()
    number = {"sum": 0, "mean": 1}[mode]
    facula.embedding_bag(w, at, starts, False, number, True)[0].pow(2).sum().backward()
    assert w.grad.is_sparse and facula.allclose(w.grad.to_dense(), grads[0])


def test_matrix_transposes_of_batches():
    s, _, _ = random_sparse((2, 3, 4), 9, dtype=facula.complex64)
    dense = s.to_dense()
    for turned, want in (
        (s.mT, dense.mT),
        (s.mH, dense.mH),
        (s.adjoint(), dense.adjoint()),
        (s.T, dense.permute(2, 1, 0)),
    ):
        assert turned.is_sparse and facula.equal(turned.to_dense(), want)
    full = facula.arange(1.0, 25.0).reshape(2, 3, 4)
    assert facula.equal(full.to_sparse_csr().mT.to_dense(), full.mT)
    x = facula.randn(2, 3, 5, dtype=facula.complex64)
    assert facula.allclose(facula.bmm(s.mT, x), dense.mT @ x, atol=1e-5)


@pytest.mark.parametrize(("name", "size"), [
    ("mT", (3,)), ("mH", (3,)), ("H", (3,)), ("adjoint", (3,)), ("H", (2, 3, 4)), ("t", (2, 3, 4)),
])  # fmt: skip
def test_transposes_of_other_ranks_are_refused(name, size):
    s = facula.ones(size).to_sparse()
    with pytest.raises(RuntimeError):
        found = getattr(s, name)
        found()
