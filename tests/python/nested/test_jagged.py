"""Jagged nested tensors: every function against the same function item by item."""

import copy
import pickle

import pytest

import facula
from facula import nested
from facula.nn import functional as F

LENGTHS = (2, 4, 1, 3)


def items(*shape, seed=0, lengths=LENGTHS, dtype=facula.float64):
    facula.manual_seed(seed)
    return [facula.randn(n, *shape, dtype=dtype) for n in lengths]


def jagged(parts, **options):
    return nested.nested_tensor(parts, layout=facula.jagged, **options)


def alike(parts, like):
    """A nested tensor with the rows of another."""
    return nested.nested_tensor_from_jagged(facula.cat(parts), like.offsets())


def with_holes():
    """Four items in 14 rows, of which some belong to none."""
    facula.manual_seed(3)
    offsets = facula.tensor([0, 3, 7, 9, 14])
    lengths = facula.tensor([2, 4, 1, 3])
    return nested.nested_tensor_from_jagged(
        facula.randn(14, 3, dtype=facula.float64), offsets, lengths
    )


def check(got, want):
    """Items of a nested tensor, or a dense one, are equal to what is wanted."""
    if isinstance(want, list):
        assert got.is_nested and len(got) == len(want)
        for a, b in zip(got.unbind(), want, strict=True):
            facula.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)
    else:
        assert not got.is_nested
        facula.testing.assert_close(got, want, rtol=1e-10, atol=1e-10)


ITEMWISE = [
    lambda t: t * 2 + 1,
    lambda t: 1 - t,
    lambda t: -t.exp(),
    lambda t: t / facula.arange(1.0, 4, dtype=facula.float64),
    lambda t: t > 0,
    lambda t: t.clamp(-0.5, 0.5),
    lambda t: t.masked_fill(t > 0, 7.0),
    lambda t: facula.where(t > 0, t, -t),
    lambda t: F.gelu(t),
    lambda t: t.float(),
    lambda t: t.softmax(-1),
    lambda t: F.log_softmax(t, -1),
    lambda t: t.sum(-1),
    lambda t: t.mean(-1, keepdim=True),
    lambda t: t.amax(-1),
    lambda t: t.max(-1)[0],
    lambda t: t.argmin(-1),
    lambda t: F.layer_norm(t, (3,)),
    lambda t: F.rms_norm(t, (3,)),
    lambda t: F.dropout(t, 0.0),
    lambda t: F.linear(t, facula.arange(6, dtype=facula.float64).view(2, 3)),
    lambda t: t @ facula.arange(6, dtype=facula.float64).view(3, 2),
    lambda t: t.unflatten(-1, (3, 1)),
    lambda t: t.unsqueeze(-1).squeeze(-1),
    lambda t: t.unsqueeze(-1).flatten(-2),
    lambda t: t.chunk(3, -1)[1],
    lambda t: t.split([1, 2], -1)[1],
    lambda t: t.narrow(-1, 1, 2),
    lambda t: t[..., 1:],
    lambda t: facula.cat([t, t * 2], -1),
    lambda t: facula.stack([t, t * 2], -1),
    lambda t: t.clone().mul_(3),
    lambda t: facula.ones_like(t),
    lambda t: t.transpose(-1, -2),
    lambda t: t.cumsum(-1),
    lambda t: t.abs().sqrt(),
]


@pytest.mark.parametrize("f", ITEMWISE)
@pytest.mark.parametrize("holes", [False, True])
def test_item_by_item(f, holes):
    t = with_holes() if holes else jagged(items(3))
    check(f(t), [f(x) for x in t.unbind()])


# What a function gives for the batch, and the same of each item along its rows.
RAGGED = [
    (lambda t: t.sum(1), lambda x: x.sum(0)),
    (lambda t: t.sum(1, keepdim=True), lambda x: x.sum(0, keepdim=True)),
    (lambda t: t.mean(1), lambda x: x.mean(0)),
    (lambda t: t.amax(1), lambda x: x.amax(0)),
    (lambda t: t.min(1)[0], lambda x: x.min(0)[0]),
    (lambda t: t.max(1)[1], lambda x: x.max(0)[1]),
    (lambda t: t.argmax(1), lambda x: x.argmax(0)),
    (lambda t: t.prod(1), lambda x: x.prod(0)),
    (lambda t: (t > 0).all(1), lambda x: (x > 0).all(0)),
    (lambda t: (t > 0).any(1), lambda x: (x > 0).any(0)),
]


@pytest.mark.parametrize("batch, single", RAGGED)
@pytest.mark.parametrize("holes", [False, True])
def test_ragged_reductions(batch, single, holes):
    t = with_holes() if holes else jagged(items(3))
    check(batch(t), facula.stack([single(x) for x in t.unbind()]))


@pytest.mark.parametrize("holes", [False, True])
def test_reductions_over_all_rows(holes):
    t = with_holes() if holes else jagged(items(3))
    rows = facula.cat(t.unbind())
    check(t.sum(), rows.sum())
    check(t.mean(), rows.mean())
    check(t.max(), rows.max())
    check(t.sum((0, 1)), rows.sum(0))
    check(t.mean((0, 1), keepdim=True), rows.mean(0).view(1, 1, 3))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_ragged_dim(name):
    parts = items(3)
    check(getattr(jagged(parts), name)(1), [getattr(x, name)(0) for x in parts])


def test_binary_with_nested():
    t = jagged(items(3))
    other = alike(items(3, seed=1), t)
    pairs = zip(t.unbind(), other.unbind(), strict=True)
    check(t * other, [a * b for a, b in pairs])
    assert t.shape == other.shape and t.size(1) == other.size(1)
    with pytest.raises(RuntimeError, match="cannot call binary pointwise function add"):
        t + jagged(items(3, seed=1))
    assert facula.equal(t, jagged(items(3))) and not facula.equal(t, other)


def test_binary_with_dense():
    parts, (t, per_item) = items(3), (jagged(items(3)), facula.randn(4, 1, 3, dtype=facula.float64))
    check(t + per_item, [a + b for a, b in zip(parts, per_item, strict=True)])
    check(per_item - t, [b - a for a, b in zip(parts, per_item, strict=True)])
    padded = facula.randn(4, 4, 3, dtype=facula.float64)
    check(t * padded, [a * b[: len(a)] for a, b in zip(parts, padded, strict=True)])
    check(t + facula.ones(1, 1, 3), [a + 1 for a in parts])
    turned = t.transpose(1, 2)
    column = facula.randn(4, 3, 1, dtype=facula.float64)
    check(turned + column, [a.t() + b for a, b in zip(parts, column, strict=True)])
    for shape in [(2,), (4, 3, 3), (3, 1, 3), (1, 4, 1, 3)]:
        with pytest.raises(RuntimeError):
            t + facula.ones(shape)


def test_products():
    parts = items(3)
    t, dense = jagged(parts), facula.randn(4, 3, 2, dtype=facula.float64)
    check(facula.bmm(t, dense), [a @ b for a, b in zip(parts, dense, strict=True)])
    check(t.transpose(1, 2) @ t, facula.stack([a.t() @ a for a in parts]))
    with pytest.raises(RuntimeError, match="matmul"):
        t @ t.transpose(1, 2)
    with pytest.raises(RuntimeError, match="matmul"):
        facula.ones(3, 3) @ t


def test_views():
    parts = items(6)
    t = jagged(parts)
    check(t.view(4, -1, 2, 3), [a.view(-1, 2, 3) for a in parts])
    check(t.view(4, t.size(1), 2, -1), [a.view(-1, 2, 3) for a in parts])
    heads = t.unflatten(-1, (2, 3)).transpose(1, 2)
    assert heads.shape == (4, 2, t.size(1), 3) and not heads.is_contiguous()
    check(heads.transpose(1, 2).flatten(2), parts)
    check(t.permute(0, 2, 1), [a.t() for a in parts])
    check(t.unsqueeze(1), [a.unsqueeze(0) for a in parts])
    check(t.unsqueeze(1).expand(-1, 2, -1, -1), [a.expand(2, -1, -1) for a in parts])
    check(t[1], parts[1])
    check(t[-1, 0], parts[-1][0])
    check(t[:, :, 2], [a[:, 2] for a in parts])
    for first, second in zip(t.chunk(2, 0), (parts[:2], parts[2:]), strict=True):
        check(first, list(second))


REFUSED = [
    (lambda t: t.transpose(0, 1), ValueError, "Transpose"),
    (lambda t: t.permute(1, 0, 2), ValueError, "Permute"),
    (lambda t: t.view(12, -1), RuntimeError, "view"),
    (lambda t: t.sum(0), RuntimeError, "batch dimension but not the ragged"),
    (lambda t: t.sum((1, 2)), RuntimeError, "ragged and non-batch"),
    (lambda t: t.softmax(0), RuntimeError, "batch dimension"),
    (lambda t: t.unsqueeze(0), RuntimeError, "unsqueeze"),
    (lambda t: t.select(1, 0), RuntimeError, "ragged dim"),
    (lambda t: t.narrow(1, 0, 1), RuntimeError, "ragged dim"),
    (lambda t: t.flatten(0, 1), RuntimeError, "flatten"),
    (lambda t: t.flatten(1), RuntimeError, "ragged dim"),
    (lambda t: t[0:1], RuntimeError, "dim=0"),
    (lambda t: facula.cat([t, t], 0), RuntimeError, "dim=0"),
    (lambda t: t.unbind(1), RuntimeError, "dim=0"),
    (lambda t: t.size(3), IndexError, "out of range"),
    (lambda t: t[4], IndexError, "out of range"),
    (lambda t: t.item(), RuntimeError, "30 elements"),
    (lambda t: t.numpy(), RuntimeError, "numpy"),
    (lambda t: t.tolist(), RuntimeError, "tolist"),
    (lambda t: bool(t), RuntimeError, "ambiguous"),
    (lambda t: t.sort(), NotImplementedError, "sort"),
    (lambda t: t.cumsum(1), NotImplementedError, "cumsum"),
    (lambda t: facula.linalg.svd(t), NotImplementedError, "svd"),
    (lambda t: F.layer_norm(t, (4, 3)), RuntimeError, "ragged dimension"),
    (lambda t: t.to_padded_tensor(0, (4, 2, 3)), RuntimeError, "output_size"),
]


@pytest.mark.parametrize("f, error, text", REFUSED)
def test_refusals(f, error, text):
    with pytest.raises(error, match=text):
        f(jagged(items(3)))


def test_what_it_says_of_itself():
    t = jagged(items(3, dtype=facula.float32), requires_grad=True)
    assert t.is_nested and t.layout is facula.jagged and t.dim() == t.ndim == 3
    assert len(t) == t.size(0) == t.shape[0] == 4 and t.size(-1) == 3 and t.numel() == 30
    assert t.is_leaf and t.requires_grad and t.dtype == facula.float32 and t.is_contiguous()
    assert t.offsets().tolist() == [0, 2, 6, 7, 10] and t.lengths() is None
    assert t.values().shape == (10, 3) and t._max_seqlen() == 4 and t._min_seqlen() == 1
    symbol = repr(t.size(1))
    assert symbol.startswith("j")
    start = f"NestedTensor(size=(4, {symbol}, 3), offsets=tensor([ 0,  2,  6,  7, 10])"
    assert repr(t) == f"{start}, requires_grad=True, contiguous=True)"
    assert repr(t.detach()) == f"{start}, contiguous=True)"
    assert repr(t * 2).startswith(f"{start}, grad_fn=<MulBackward0 object at 0x")
    assert t.to(facula.float64).dtype == facula.float64 and not t.detach().requires_grad


def test_holes():
    t = with_holes()
    assert t.lengths().tolist() == [2, 4, 1, 3] and not t.is_contiguous()
    filled = t.contiguous()
    assert filled.is_contiguous() and filled.values().shape == (10, 3)
    check(filled, list(t.unbind()))
    check(t.to_padded_tensor(-1.0), filled.to_padded_tensor(-1.0))


def test_padding():
    parts = items(3)
    dense = jagged(parts).to_padded_tensor(-1.0, (4, 6, 3))
    for row, part in zip(dense, parts, strict=True):
        check(row[: len(part)], part)
        assert (row[len(part) :] == -1).all()
    check(nested.to_padded_tensor(jagged(parts), -1.0), dense[:, :4])
    check(jagged(parts).transpose(1, 2).to_padded_tensor(-1.0), dense[:, :4].transpose(1, 2))


def test_creation():
    parts = items(3)
    leaf = parts[0].clone().requires_grad_(True)
    nested.as_nested_tensor([leaf, parts[1]], layout=facula.jagged).sum().backward()
    assert (leaf.grad == 1).all()
    dense = facula.arange(12.0).view(2, 3, 2)
    check(nested.as_nested_tensor(dense, layout=facula.jagged), list(dense))
    by_length = nested.nested_tensor_from_jagged(facula.cat(parts), lengths=facula.tensor(LENGTHS))
    check(by_length, parts)
    check(jagged([p.t() for p in parts]), [p.t() for p in parts])
    assert jagged([[1, 2], [3]]).values().tolist() == [1, 2, 3]
    picked = nested.masked_select(dense[:, :, 0], dense[:, :, 0] > 3)
    assert [t.tolist() for t in picked.unbind()] == [[4], [6, 8, 10]]


def test_narrow():
    dense = facula.arange(24.0).view(2, 4, 3).requires_grad_(True)
    t = nested.narrow(dense, 1, facula.tensor([0, 1]), facula.tensor([2, 3]), layout=facula.jagged)
    check(t, [dense[0, 0:2], dense[1, 1:4]])
    (t * 2).sum().backward()
    assert dense.grad.sum() == 2 * 5 * 3 and dense.grad[0, 2:].abs().sum() == 0
    items_ = nested.narrow(dense, 1, 1, 2).unbind()
    check(items_[1], dense[1, 1:3])
    with pytest.raises(RuntimeError, match="dim=1"):
        nested.narrow(dense, 2, 0, 1, layout=facula.jagged)
    with pytest.raises(RuntimeError, match="leave"):
        nested.narrow(dense, 1, 3, 2, layout=facula.jagged)


def test_bad_creation():
    a = facula.ones(2, 3)
    with pytest.raises(RuntimeError, match="same dim"):
        jagged([a, facula.ones(3)])
    with pytest.raises(RuntimeError, match="Cannot represent"):
        jagged([a, facula.ones(3, 2)])
    with pytest.raises(RuntimeError, match="empty"):
        jagged([])
    with pytest.raises(TypeError, match="list"):
        jagged(7)
    with pytest.raises(RuntimeError, match="offsets or lengths"):
        nested.nested_tensor_from_jagged(a)
    for offsets in ([0, 3], [-1, 2], [2, 1]):
        with pytest.raises(RuntimeError, match="do not lie"):
            nested.nested_tensor_from_jagged(a, facula.tensor(offsets))
    with pytest.raises(RuntimeError, match="int64"):
        nested.nested_tensor_from_jagged(a, facula.tensor([0.0, 2.0]))
    with pytest.raises(RuntimeError, match="layout"):
        nested.nested_tensor([a], layout=facula.sparse_coo)


GRADIENTS = [
    lambda t: t * t,
    lambda t: t.sum(1),
    lambda t: t.mean(1),
    lambda t: t.amax(1),
    lambda t: t.softmax(1),
    lambda t: t.softmax(-1),
    lambda t: F.layer_norm(t, (3,)),
    lambda t: F.linear(t, facula.ones(2, 3, dtype=facula.float64)),
    lambda t: t + t.sum(1, keepdim=True),
    lambda t: t.to_padded_tensor(0.0),
    lambda t: facula.cat(t.unbind()[:2]),
    lambda t: facula.bmm(t, facula.ones(4, 3, 2, dtype=facula.float64)),
    lambda t: t.contiguous(),
    lambda t: F.scaled_dot_product_attention(t, t, t),
    lambda t: F.scaled_dot_product_attention(t, t.cos(), t, is_causal=True),
]


@pytest.mark.parametrize("f", GRADIENTS)
@pytest.mark.parametrize("holes", [False, True])
def test_gradients(f, holes):
    like = with_holes() if holes else jagged(items(3))
    structure = (like.offsets(), like.lengths())

    def of_values(values):
        out = f(nested.nested_tensor_from_jagged(values, *structure))
        return facula.cat(out.unbind()) if out.is_nested else out

    values = like.values().detach().requires_grad_(True)
    assert facula.autograd.gradcheck(of_values, (values,))
    assert facula.autograd.gradgradcheck(of_values, (values,))


def test_leaf_gradient_is_nested():
    t = jagged(items(3), requires_grad=True)
    (t * t).sum().backward()
    check(t.grad, [2 * x for x in t.detach().unbind()])
    t.grad = None
    (t * 3).backward(facula.ones_like(t))
    check(t.grad, [facula.full_like(x, 3) for x in t.detach().unbind()])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_attention(causal, groups):
    """Queries and keys differ in their lengths; heads of keys may be shared."""
    facula.manual_seed(0)
    key_lengths = (5, 1, 0, 200)
    q = jagged(items(4, 8, lengths=(3, 150, 2, 64)), requires_grad=True)
    k = jagged(items(4 // groups, 8, seed=1, lengths=key_lengths), requires_grad=True)
    v = alike(items(4 // groups, 6, seed=2, lengths=key_lengths), k).detach().requires_grad_(True)
    heads = [t.transpose(1, 2) for t in (q, k, v)]
    out = F.scaled_dot_product_attention(*heads, is_causal=causal, enable_gqa=groups > 1)
    assert out.shape[:2] == (4, 4) and out.size(3) == 6
    triples = [[x.detach().clone().requires_grad_(True) for x in t.unbind()] for t in (q, k, v)]
    wanted = [
        F.scaled_dot_product_attention(
            *(x.transpose(0, 1)[None] for x in part), is_causal=causal, enable_gqa=groups > 1
        )[0]
        for part in zip(*triples, strict=True)
    ]
    check(out, wanted)
    out.sin().sum().backward()
    sum(w.sin().sum() for w in wanted).backward()
    for ours, theirs in zip((q, k, v), triples, strict=True):
        check(ours.grad, [x.grad for x in theirs])


def test_attention_with_dropout_and_refusals():
    t = jagged(items(2, 4)).transpose(1, 2)
    facula.manual_seed(0)
    out = F.scaled_dot_product_attention(t, t, t, dropout_p=0.5)
    assert out.shape == t.shape and not facula.equal(out, F.scaled_dot_product_attention(t, t, t))
    with pytest.raises(ValueError, match="nested"):
        F.scaled_dot_product_attention(t, t, facula.ones(4, 2, 4, 4))
    with pytest.raises(NotImplementedError, match="attn_mask"):
        F.scaled_dot_product_attention(t, t, t, facula.ones(4, 4))


def test_modules_train():
    """A small model gives the same loss and gradients as item by item."""
    facula.manual_seed(0)
    model = facula.nn.Sequential(
        facula.nn.Linear(3, 8), facula.nn.GELU(), facula.nn.LayerNorm(8), facula.nn.Linear(8, 1)
    ).double()
    parts = items(3)
    model(jagged(parts)).mean(1).square().sum().backward()
    ours = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    sum(model(x).mean(0).square().sum() for x in parts).backward()
    for a, p in zip(ours, model.parameters(), strict=True):
        facula.testing.assert_close(a, p.grad)


def test_embedding():
    t = jagged([facula.tensor([0, 2]), facula.tensor([1])])
    table = facula.randn(3, 4)
    check(F.embedding(t, table), [table[[0, 2]], table[[1]]])


def test_copies():
    t = jagged(items(3), requires_grad=True)
    twin = copy.deepcopy(t)
    assert facula.equal(twin, t) and twin.requires_grad
    assert facula.equal(pickle.loads(pickle.dumps(t)), t)


def test_items_may_not_share_rows():
    offsets, lengths = facula.tensor([0, 2, 4]), facula.tensor([3, 2])
    with pytest.raises(RuntimeError, match="overlap"):
        nested.nested_tensor_from_jagged(facula.ones(6, 2), offsets, lengths)


def test_a_loaded_tensor_has_a_symbol_of_its_own():
    a = jagged(items(2))
    b = pickle.loads(pickle.dumps(a))
    assert a.size(1) != b.size(1) and b.size(1) == (b * 2).size(1)
