"""Products, sums and other operators of sparse tensors, with gradients, against dense ones."""

import pytest

import facula
from facula.autograd import gradcheck, gradgradcheck

LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc")
ALL = (*LAYOUTS, "sparse_bsr", "sparse_bsc")


def matrix(rows=4, cols=6, dtype=facula.float64, seed=0):
    g = facula.Generator().manual_seed(seed)
    t = facula.randn(rows, cols, generator=g, dtype=facula.float64)
    keep = facula.rand(rows, cols, generator=g) < 0.4
    return (t * keep).to(dtype)


def convert(t, layout):
    layout = getattr(facula, layout)
    block = (2, 2) if layout in (facula.sparse_bsr, facula.sparse_bsc) else None
    return t.to_sparse(layout=layout, blocksize=block)


@pytest.mark.parametrize("layout", ALL)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "int32", "complex128"])
def test_mm(layout, dtype):
    dtype = getattr(facula, dtype)
    d = (matrix() * 4).to(dtype)
    x = (facula.arange(18.0).reshape(6, 3) - 9).to(dtype)
    y = (facula.arange(8.0).reshape(2, 4) - 3).to(dtype)
    s = convert(d, layout)
    close = {facula.bfloat16: {"rtol": 2e-2, "atol": 0.3}}.get(dtype, {})
    assert facula.allclose(s @ x, d @ x, **close)
    assert facula.allclose(facula.sparse.mm(s, x), d @ x, **close)
    assert facula.allclose(y @ s, y @ d, **close)
    assert facula.allclose(s @ x[:, 0], d @ x[:, 0], **close)
    assert facula.allclose(s.mv(x[:, 0]), d @ x[:, 0], **close)
    assert facula.allclose(s.t() @ y.t(), d.t() @ y.t(), **close)


@pytest.mark.parametrize("layout", ALL)
def test_mm_gradients(layout):
    d = matrix()
    x = facula.randn(6, 3, dtype=facula.float64, requires_grad=True)
    y = facula.randn(2, 4, dtype=facula.float64, requires_grad=True)
    s = convert(d, layout).requires_grad_()
    dense = d.clone().requires_grad_()
    mask = convert(d, layout).to_dense() != 0
    for a in (s, dense):
        ((a @ x).sin().sum() + (y @ a).cos().sum()).backward()
    assert s.grad.layout is s.layout and s.grad.shape == s.shape
    assert facula.allclose(s.grad.to_dense()[mask], dense.grad[mask])
    assert s.grad._nnz() == s._nnz()
    assert gradcheck(lambda x: facula.sparse.mm(s.detach(), x), (x,))
    assert gradgradcheck(lambda x: facula.sparse.mm(s.detach(), x).sin(), (x,))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_of_values_to_both(layout):
    d = matrix(3, 4)
    s = convert(d, layout)
    x = facula.randn(4, 2, dtype=facula.float64, requires_grad=True)
    values = s.values().clone().requires_grad_()
    if layout == "sparse_coo":
        make = lambda v: facula.sparse_coo_tensor(s.indices(), v, s.shape)
    else:
        lines, others = (
            (s.crow_indices(), s.col_indices())
            if layout == "sparse_csr"
            else (s.ccol_indices(), s.row_indices())
        )
        make = lambda v: facula.sparse_compressed_tensor(lines, others, v, s.shape, layout=s.layout)
    f = lambda v, x: make(v) @ x
    assert gradcheck(f, (values, x)) and gradgradcheck(f, (values, x))
    g = lambda v: make(v).to_dense()
    assert gradcheck(g, (values,)) and gradgradcheck(g, (values,))
    h = lambda v: facula.sparse.softmax(make(v), 1).to_dense()
    assert gradcheck(h, (values,))
    k = lambda v: facula.sparse.sum(make(v) * 2 + make(v) * make(v).sin())
    assert gradcheck(k, (values,)) and gradgradcheck(k, (values,))


def test_uncoalesced_values_get_their_gradients():
    at = facula.tensor([[0, 1, 0], [1, 0, 1]])
    v = facula.tensor([1.0, 2.0, 3.0], dtype=facula.float64, requires_grad=True)
    x = facula.randn(2, 2, dtype=facula.float64, requires_grad=True)
    f = lambda v, x: facula.sparse.mm(facula.sparse_coo_tensor(at, v, (2, 2)), x)
    assert gradcheck(f, (v, x)) and gradgradcheck(f, (v, x))
    g = lambda v: (facula.sparse_coo_tensor(at, v, (2, 2)) * 3).coalesce().values().sin()
    assert gradcheck(g, (v,))
    h = lambda v: facula.sparse_coo_tensor(at, v, (2, 2)).to_dense() ** 2
    assert gradcheck(h, (v,))


def test_a_leaf_gets_a_sparse_gradient_and_adds_up():
    s = matrix().to_sparse().requires_grad_()
    x = facula.randn(6, 2, dtype=facula.float64)
    (s @ x).sum().backward()
    once = s.grad.to_dense().clone()
    (s @ x).sum().backward()
    assert s.grad.is_sparse and s.grad._nnz() == s._nnz()
    assert facula.allclose(s.grad.to_dense(), 2 * once)
    s.grad = None
    s.to_dense().sum().backward()
    assert s.grad.is_sparse
    (g,) = facula.autograd.grad((s @ x).sum(), s)
    assert g.is_sparse and facula.allclose(g.to_dense(), once)
    seen = []
    s.register_hook(lambda g: seen.append(g.layout))
    (s @ x).sum().backward()
    assert seen == [facula.sparse_coo]


@pytest.mark.parametrize("layouts", [(a, b) for a in LAYOUTS for b in LAYOUTS])
def test_sparse_times_sparse(layouts):
    a, b = matrix(4, 6), matrix(6, 5, seed=1)
    s, t = convert(a, layouts[0]), convert(b, layouts[1])
    r = s @ t
    assert r.layout in (facula.sparse_coo, facula.sparse_csr)
    assert facula.allclose(r.to_dense(), a @ b)
    s.requires_grad_(), t.requires_grad_()
    x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
    facula.sparse.sum(facula.sparse.mm(s, t)).backward()
    (x @ y).sum().backward()
    assert facula.allclose(s.grad.to_dense(), x.grad * (a != 0))
    assert facula.allclose(t.grad.to_dense(), y.grad * (b != 0))


def test_addmm_and_bmm():
    d, x, c = matrix(), facula.randn(6, 2).double(), facula.randn(4, 2).double()
    s = d.to_sparse()
    assert facula.allclose(facula.addmm(c, s, x, beta=2, alpha=3), 2 * c + 3 * d @ x)
    assert facula.allclose(facula.sparse.addmm(c, s, x, beta=0.5), 0.5 * c + d @ x)
    b = facula.stack([matrix(seed=i) for i in range(3)])
    y = facula.randn(3, 6, 2).double()
    assert facula.allclose(facula.bmm(b.to_sparse(), y), b @ y)
    with pytest.raises(RuntimeError):
        facula.sparse.mm(s, facula.ones(5, 2).double())
    with pytest.raises(RuntimeError):
        facula.sparse.mm(s, facula.ones(6, 2))
    with pytest.raises(RuntimeError):
        facula.sparse.mm(s, facula.ones(6).double())


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_products_with_another_reduction(reduce):
    d, x = matrix().float(), facula.randn(6, 3)
    rows = []
    for row in d:
        terms = (row[:, None] * x)[row != 0]
        rows.append(getattr(terms, reduce)(0) if len(terms) else facula.zeros(3))
    for layout in ("sparse_csr", "sparse_coo"):
        got = facula.sparse.mm(convert(d, layout), x, reduce)
        assert facula.allclose(got, facula.stack(rows))


def test_results_do_not_depend_on_the_number_of_threads():
    g = facula.Generator().manual_seed(3)
    n = 20000
    at = facula.randint(0, 400, (2, n), generator=g)
    s = facula.sparse_coo_tensor(at, facula.randn(n, generator=g), (400, 400)).coalesce()
    x = facula.randn(400, 70, generator=g)
    before, results = facula.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            facula.set_num_threads(threads)
            w, leaf = x.clone().requires_grad_(), s.detach().requires_grad_()
            y = leaf @ w
            y.sin().sum().backward()
            results.append((y.detach(), w.grad, leaf.grad._values()))
    finally:
        facula.set_num_threads(before)
    for other in results[1:]:
        for p, q in zip(results[0], other, strict=True):
            assert facula.equal(p, q)
    assert facula.allclose(results[0][0], s.to_dense() @ x, atol=1e-4)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arithmetic(layout):
    a, b = matrix(), matrix(seed=5)
    s, t = convert(a, layout), convert(b, layout)
    x = facula.randn(4, 6).double()
    for r, wanted in (
        (s + t, a + b),
        (s - t, a - b),
        (s * t, a * b),
        (s * 2, a * 2),
        (2 * s, a * 2),
        (s / 4, a / 4),
        (-s, -a),
        (s**2, a**2),
        (s * x, a * x),
        (x * s, a * x),
        (s.abs(), a.abs()),
        (s.sin(), a.sin()),
        (facula.sqrt(s.abs()), a.abs().sqrt()),
        (s.relu(), a.relu()),
        (facula.add(s, t, alpha=3), a + 3 * b),
        (s.sign(), a.sign()),
        (s.expm1(), a.expm1()),
        (facula.nn.functional.relu(s), a.relu()),
        (s.to(facula.float32).double(), a.float().double()),
    ):
        assert r.layout is s.layout
        assert facula.allclose(r.to_dense(), wanted)
    assert facula.allclose(x + s, x + a) and facula.allclose(facula.add(x, s, alpha=2), x + 2 * a)
    assert facula.allclose(x - s, x - a)
    assert facula.allclose(s.sum(), a.sum()) and facula.allclose(facula.sparse.sum(s), a.sum())


def test_arithmetic_in_place():
    a, b = matrix(), matrix(seed=5)
    s = a.to_sparse()
    assert s.add_(b.to_sparse()) is s and facula.allclose(s.to_dense(), a + b)
    s.mul_(2)
    s /= 4
    assert facula.allclose(s.to_dense(), (a + b) / 2)
    x = b.clone()
    x.add_(a.to_sparse(), alpha=2)
    assert facula.allclose(x, b + 2 * a)
    turned = facula.ones(6, 4).double().t()
    turned.sub_(a.to_sparse())
    assert facula.allclose(turned, 1 - a)
    x = b.float()
    x += a.to_sparse().float()
    assert facula.allclose(x, (a + b).float())
    with pytest.raises(RuntimeError):
        facula.ones(4, 6, dtype=facula.int64).add_(a.to_sparse())
    leaf = facula.ones(4, 6).double().requires_grad_()
    (leaf * 1).add_(a.to_sparse()).sum().backward()
    assert facula.equal(leaf.grad, facula.ones(4, 6).double())
    with pytest.raises(RuntimeError):
        s.requires_grad_().mul_(2)


def test_adding_uncoalesced_ones_keeps_all():
    at = [[0, 0], [1, 1]]
    s = facula.sparse_coo_tensor(at, [1.0, 2.0], (2, 2))
    r = s + s
    assert r._nnz() == 4 and not r.is_coalesced() and r.to_dense()[0, 1].item() == 6
    c = s.coalesce()
    assert (c + c).is_coalesced() and (c + c)._nnz() == 1
    assert (s * s).to_dense()[0, 1].item() == 9 and (s.sqrt() ** 2).to_dense()[0, 1].item() == 3


def test_reductions():
    g = facula.randn(3, 4, 2, dtype=facula.float64)
    g = g * (facula.rand(3, 4, 1) < 0.5)
    s = g.to_sparse(2)
    for dims in (0, 1, 2, [0, 1], [1, 2], [0, 1, 2], -1):
        r = facula.sparse.sum(s, dims)
        r = r.to_dense() if r.layout is not facula.strided else r
        assert facula.allclose(r, g.sum(dims))
    whole = facula.ones(2, 3, dtype=facula.int32).to_sparse()
    assert facula.sparse.sum(whole, 0).dtype == facula.int32 and whole.sum(0).dtype == facula.int64
    assert s.sum(0).is_sparse and not s.sum([0, 1]).is_sparse
    leaf = s.detach().requires_grad_()
    facula.sparse.sum(leaf, 0).to_dense().pow(2).sum().backward()
    dense = g.clone().requires_grad_()
    dense.sum(0).pow(2).sum().backward()
    mask = (g != 0).any(-1)
    assert facula.allclose(leaf.grad.to_dense()[mask], dense.grad[mask])
    assert facula.allclose(s.norm(), g.norm())


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax(dim):
    g = facula.randn(3, 4, 2, dtype=facula.float64)
    g = g * (facula.rand(3, 4, 1) < 0.7)
    s = g.to_sparse(2)
    kept = (g != 0).any(-1, keepdim=True).expand_as(g)
    full = facula.where(kept, g, facula.tensor(float("-inf"), dtype=facula.float64)).softmax(dim)
    r = facula.sparse.softmax(s, dim)
    assert facula.allclose(r.to_dense()[kept], full[kept])
    assert facula.allclose(facula.sparse.log_softmax(s, dim).to_dense()[kept].exp(), full[kept])


def test_shapes():
    a = matrix(5, 4)
    s = a.to_sparse()
    at = facula.tensor([3, 0, 3, -1 % 5])
    for r, wanted in (
        (s.t(), a.t()),
        (s.T, a.T),
        (s.transpose(0, 1), a.t()),
        (s.permute(1, 0), a.t()),
        (s.unsqueeze(0), a[None]),
        (s.unsqueeze(2), a[..., None]),
        (s.index_select(0, at), a[at]),
        (s.index_select(1, at[:3]), a[:, at[:3]]),
        (s[1:4], a[1:4]),
        (s[:, 2], a[:, 2]),
        (s[2], a[2]),
        (s[2, 1], a[2, 1]),
        (s[at], a[at]),
        (s[..., 1:], a[..., 1:]),
        (s[a[:, 0] > 0], a[a[:, 0] > 0]),
        (s[::2], a[::2]),
        (s.narrow_copy(1, 1, 2), a[:, 1:3]),
        (s.select(1, -1), a[:, -1]),
        (facula.cat([s, s]), facula.cat([a, a])),
        (facula.cat([s, s], 1), facula.cat([a, a], 1)),
        (facula.stack([s, s], 1), facula.stack([a, a], 1)),
    ):
        dense = r.to_dense() if r.layout is not facula.strided else r
        assert facula.equal(dense, wanted)
    assert [facula.equal(r.to_dense(), a[i]) for i, r in enumerate(s)] == [True] * 5
    with pytest.raises(IndexError):
        s[9]
    with pytest.raises(IndexError):
        s.index_select(0, facula.tensor([7]))
    with pytest.raises(RuntimeError):
        s.reshape(20)
    leaf = s.detach().requires_grad_()
    (leaf.index_select(0, at).to_dense() * 2).sum().backward()
    dense = a.clone().requires_grad_()
    (dense[at] * 2).sum().backward()
    assert facula.allclose(leaf.grad.to_dense(), dense.grad * (a != 0))


def test_sparse_mask():
    a, x = matrix(), facula.randn(4, 6, dtype=facula.float64, requires_grad=True)
    for layout in ALL:
        m = convert(a, layout)
        got = x.sparse_mask(m)
        assert got.layout is m.layout and got._nnz() == m._nnz()
        ones = facula.ones_like(a).sparse_mask(m).to_dense()
        assert facula.equal(got.to_dense(), x * ones)
        assert gradcheck(lambda x: x.sparse_mask(m).to_dense(), (x,))
    other = matrix(seed=9).to_sparse()
    got = other.sparse_mask(a.to_sparse()).to_dense()
    assert facula.equal(got, other.to_dense() * (a != 0))


@pytest.mark.parametrize("layout", ALL)
def test_gradcheck_takes_sparse_tensors(layout):
    s = convert(matrix(), layout).requires_grad_()
    x = facula.randn(6, 2, dtype=facula.float64, requires_grad=True)
    assert gradcheck(facula.sparse.mm, (s, x), masked=True)
    assert gradcheck(lambda s: s * s, (s,)) and gradgradcheck(lambda s: s.sin(), (s,))
    wrong = lambda s: facula.sparse.sum(s.detach() * 2 + s)
    with pytest.raises(RuntimeError):
        gradcheck(wrong, (s,))


def test_assert_close_takes_sparse_tensors():
    close = facula.testing.assert_close
    s = matrix().to_sparse()
    close(s, s.clone())
    close(s + s, s * 2)
    with pytest.raises(AssertionError):
        close(s, s * 2)
    with pytest.raises(AssertionError, match="layout"):
        close(s, s.to_sparse_csr())
    close(s, s.to_sparse_csr(), check_layout=False)


def test_samples_and_tensors_without_data_are_refused():
    a = matrix().to_sparse_csr()
    with pytest.raises(NotImplementedError, match="inside vmap"):
        facula.vmap(lambda v: a @ v)(facula.ones(3, 6, dtype=facula.float64))
    with pytest.raises(NotImplementedError, match="meta"):
        facula.sparse.mm(a, facula.ones(6, 2, dtype=facula.float64, device="meta"))
    index = facula.zeros(2, 1, dtype=facula.int64)
    with pytest.raises((NotImplementedError, RuntimeError)):
        facula.sparse_coo_tensor(index.to("meta"), facula.ones(1), (2, 2))
    with pytest.raises((NotImplementedError, RuntimeError)):
        facula.vmap(lambda i: facula.sparse_coo_tensor(i, facula.ones(1), (2, 2)).to_dense())(
            facula.zeros(3, 2, 1, dtype=facula.int64)
        )


def test_sampled_products_keep_the_order_of_unsorted_columns():
    a = facula.sparse_csr_tensor(
        facula.tensor([0, 2, 3]), facula.tensor([2, 0, 1]), facula.tensor([10.0, 20.0, 30.0]),
        (2, 3), check_invariants=False,
    )  # fmt: skip
    x, y = facula.arange(4.0).view(2, 2), facula.arange(6.0).view(2, 3)
    got = facula.sparse.sampled_addmm(a, x, y).to_dense()
    dense = a.to_dense()
    assert facula.equal(got, (dense + x @ y) * (dense != 0))
