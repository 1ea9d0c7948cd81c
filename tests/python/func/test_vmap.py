"""vmap against a loop: operators, layers, in-place writes, nesting, randomness, errors."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import facula
from facula import nn
from facula.func import vmap

F = nn.functional
B = 3


def rand(*shape: int, seed: int = 0, dtype: facula.dtype = facula.float64) -> facula.Tensor:
    """Numbers in (-2, 2) that depend on the shape and the seed alone."""
    values = np.random.default_rng([seed, *shape]).uniform(-2, 2, shape)
    return facula.tensor(values).to(dtype)


def looped(f: Callable, args: tuple, in_dims: tuple) -> list[facula.Tensor]:
    """What vmap has to give, one sample at a time."""
    rows = []
    for i in range(B):
        picked = [a if d is None else a.select(d, i) for a, d in zip(args, in_dims, strict=True)]
        out = f(*picked)
        rows.append(out if isinstance(out, (tuple, list)) else (out,))
    return [facula.stack(column) for column in zip(*rows, strict=True)]


def check(f: Callable, *shapes: tuple, integer: tuple = (), tolerance: float = 1e-10) -> None:
    """Compare for all choices of which arguments have samples."""
    for which in itertools.product((True, False), repeat=len(shapes)):
        if not any(which):
            continue
        args, dims = [], []
        for k, (shape, mapped) in enumerate(zip(shapes, which, strict=True)):
            at = k % (len(shape) + 1)
            full = [*shape[:at], B, *shape[at:]] if mapped else list(shape)
            if k in integer:
                top = integer[k] if isinstance(integer, dict) else 2
                values = np.random.default_rng([k, *full]).integers(0, top, full)
                args.append(facula.tensor(values))
            else:
                args.append(rand(*full, seed=k))
            dims.append(at if mapped else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = vmap(f, tuple(dims))(*args)
        got = list(got) if isinstance(got, (tuple, list)) else [got]
        for g, w in zip(got, looped(f, tuple(args), tuple(dims)), strict=True):
            assert g.shape == w.shape
            assert g.dtype == w.dtype
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=tolerance, atol=tolerance)


UNARY = {
    "sin": facula.sin,
    "sum": lambda x: x.sum(),
    "sum_dim": lambda x: x.sum(-1, keepdim=True),
    "mean": lambda x: x.mean((0, 1)),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std(),
    "prod": lambda x: x.prod(),
    "norm": lambda x: x.norm(),
    "vector_norm": lambda x: facula.linalg.vector_norm(x, 3, dim=1),
    "max": lambda x: x.max(),
    "max_dim": lambda x: tuple(x.max(1)),
    "argmax": lambda x: x.argmax(),
    "argmax_dim": lambda x: x.argmax(0, keepdim=True),
    "amin": lambda x: x.amin(0),
    "logsumexp": lambda x: x.logsumexp(1),
    "cumsum": lambda x: x.cumsum(0),
    "cummax": lambda x: tuple(x.cummax(1)),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(0),
    "sort": lambda x: tuple(x.sort(0, descending=True)),
    "topk": lambda x: tuple(x.topk(2, dim=1)),
    "view": lambda x: x.view(-1),
    "reshape": lambda x: x.t().reshape(-1, 2),
    "permute": lambda x: x.permute(1, 0),
    "expand": lambda x: x.unsqueeze(0).expand(2, -1, -1),
    "squeeze": lambda x: x.unsqueeze(0).unsqueeze(-1).squeeze(),
    "select": lambda x: x.select(1, -1),
    "slice": lambda x: x[1:, ::2],
    "index_none": lambda x: x[None, ..., 0],
    "diagonal": lambda x: x.diagonal(),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "flip": lambda x: x.flip(0, 1),
    "roll": lambda x: x.roll(1, 0),
    "tril": lambda x: x.tril(),
    "clone": lambda x: x.clone(memory_format=facula.contiguous_format),
    "chunk": lambda x: tuple(x.chunk(2, 1)),
    "repeat": lambda x: x.repeat(2, 1),
    "cat": lambda x: facula.cat([x, x * 2], -1),
    "stack": lambda x: facula.stack([x, x], 1),
    "pad": lambda x: F.pad(x, (1, 2)),
    "einsum": lambda x: facula.einsum("ij,kj->ik", x, x),
    "zeros_like": lambda x: facula.zeros_like(x) + 1,
    "new_zeros": lambda x: x.new_zeros(2, 3).add_(1),
    "where": lambda x: facula.where(x > 0, x, 0.0),
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "type": lambda x: x.to(facula.float32),
    "gelu": F.gelu,
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "dist": lambda x: facula.linalg.vector_norm(x[0] - x[1]),
    "std_mean": lambda x: facula.std_mean(x, 1),
    "any": lambda x: (x > 0).any(1),
    "detach": lambda x: x.detach() * 2,
}


@pytest.mark.parametrize("name", UNARY)
def test_of_one_tensor(name: str) -> None:
    check(UNARY[name], (3, 4))


BINARY = {
    "add": (facula.add, (3, 4), (4,)),
    "sub_0d": (facula.sub, (), (3,)),
    "atan2": (facula.atan2, (2, 1, 3), (4, 1)),
    "mm": (facula.mm, (2, 3), (3, 4)),
    "mv": (facula.mv, (2, 3), (3,)),
    "dot": (facula.dot, (5,), (5,)),
    "bmm": (facula.bmm, (2, 3, 4), (2, 4, 5)),
    "matmul": (facula.matmul, (2, 3, 4), (4, 5)),
    "matmul_vector": (facula.matmul, (4,), (2, 4, 5)),
    "outer": (facula.outer, (3,), (4,)),
    "linear": (F.linear, (2, 3), (4, 3)),
    "linear_vector": (F.linear, (3,), (4, 3)),
    "conv1d": (F.conv1d, (2, 4, 7), (6, 4, 3)),
    "conv2d": (lambda x, w: F.conv2d(x, w, stride=2, padding=1), (2, 4, 5, 6), (6, 4, 3, 3)),
    "conv2d_groups": (lambda x, w: F.conv2d(x, w, groups=2), (1, 4, 5, 5), (6, 2, 3, 3)),
    "conv2d_one": (F.conv2d, (4, 5, 5), (6, 4, 3, 3)),
    "conv_transpose2d": (
        lambda x, w: F.conv_transpose2d(x, w, stride=2, output_padding=1),
        (2, 4, 3, 3),
        (4, 3, 2, 2),
    ),
    "copy": (lambda x, y: facula.cat([x, y.expand(x.shape)]), (2, 3), (3,)),
    "cdist": (facula.cdist, (3, 2), (4, 2)),
    "where": (lambda x, y: facula.where(x > y, x, y), (3, 4), (4,)),
    "lerp": (lambda x, y: facula.lerp(x, y, 0.3), (3,), (3,)),
    "cross_terms": (lambda x, y: (x[:, None] * y[None, :]).sum(0), (3, 2), (4, 2)),
    "addmm": (lambda x, y: facula.addmm(x[0], x, y, beta=2, alpha=3), (4, 4), (4, 4)),
    "weight_norm": (lambda x, w: F.layer_norm(x, (4,), w), (3, 4), (4,)),
    "group_norm": (lambda x, w: F.group_norm(x, 2, w), (2, 4, 3), (4,)),
    "mse": (F.mse_loss, (3, 2), (3, 2)),
}


@pytest.mark.parametrize("name", BINARY)
def test_of_two_tensors(name: str) -> None:
    f, *shapes = BINARY[name]
    check(f, *shapes)


INDEXED = {
    "gather": (lambda x, i: x.gather(1, i), (3, 4), (3, 2)),
    "take": (facula.take, (3, 4), (2, 2)),
    "index_select": (lambda x, i: x.index_select(0, i), (3, 4), (5,)),
    "index": (lambda x, i: x[i], (3, 4), (5,)),
    "index_pair": (lambda x, i: x[i, i + 1], (3, 4), (2, 2)),
    "index_second": (lambda x, i: x[:, i], (3, 4), (5,)),
    "index_gap": (lambda x, i: x[i, :, i], (2, 4, 3), (5,)),
    "index_middle": (lambda x, i: x[:, i, i], (4, 2, 3), (5,)),
    "embedding": (lambda w, i: F.embedding(i, w), (3, 4), (2, 5)),
    "scatter": (lambda x, i: x.scatter(0, i, 7.0), (3, 4), (2, 4)),
    "scatter_add": (
        lambda x, i: facula.zeros(3, 4, dtype=x.dtype).scatter_add(0, i, x),
        (3, 4),
        (3, 4),
    ),
    "index_add": (lambda x, i: x.index_add(0, i, x[:2] * 2), (3, 4), (2,)),
    "index_put": (lambda x, i: x.index_put((i,), x[0, 0]), (3, 4), (2,)),
    "nll": (lambda x, i: F.nll_loss(x.log_softmax(1), i), (3, 4), (3,)),
    "cross_entropy": (F.cross_entropy, (3, 4), (3,)),
    "cross_entropy_smooth": (
        lambda x, i: F.cross_entropy(x, i, label_smoothing=0.1, reduction="none"),
        (3, 4),
        (3,),
    ),
    "one_hot": (lambda x, i: x[:, :2] + F.one_hot(i, 2), (3, 4), (3,)),
}


@pytest.mark.parametrize("name", INDEXED)
def test_with_indices(name: str) -> None:
    f, *shapes = INDEXED[name]
    check(f, *shapes, integer=(1,))


LAYERS = {
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2, padding=1),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, 1),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "unfold": lambda x: F.unfold(x, 2),
    "pad": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "instance_norm": F.instance_norm,
    "dropout_eval": lambda x: F.dropout(x, 0.5, training=False),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
    "attention_causal": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    check(LAYERS[name], (2, 4, 6, 6))


def test_in_place_writes_reach_the_input() -> None:
    x = rand(B, 4)
    want = x * 2 + 1
    y = vmap(lambda t: t.mul_(2).add_(1))(x)
    np.testing.assert_array_equal(y.numpy(), want.numpy())
    np.testing.assert_array_equal(x.numpy(), want.numpy())
    z = vmap(lambda t: t.clone().fill_(3).masked_fill_(t > 0, 0.0))(x)
    np.testing.assert_array_equal(z.numpy(), np.where(x.numpy() > 0, 0.0, 3.0))


def test_writing_samples_into_a_shared_tensor_is_refused() -> None:
    shared = facula.zeros(4)
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(lambda t: shared.add_(t))(facula.ones(B, 4))


def test_assignment_by_index() -> None:
    def f(x: facula.Tensor) -> facula.Tensor:
        y = facula.zeros_like(x)
        y[1:] = x[:-1]
        y[0] = 5
        return y

    check(f, (4, 2))


def test_dims_and_trees() -> None:
    x, y = rand(4, B), rand(B, 5)
    out = vmap(lambda d: {"a": d["x"], "b": (d["y"], d["x"].sum())}, ({"x": 1, "y": 0},))(
        {"x": x, "y": y}
    )
    assert out["a"].shape == (B, 4)
    assert out["b"][0].shape == (B, 5)
    assert out["b"][1].shape == (B,)
    moved = vmap(lambda a: (a, a[0]), 1, (1, 0))(x)
    np.testing.assert_array_equal(moved[0].numpy(), x.numpy())
    both = vmap(lambda a: (a * 2, facula.ones(2)), -1, (0, None))(x)
    assert both[1].shape == (2,)


def test_nested() -> None:
    x, y = rand(B, 4), rand(5, 4)
    pairs = vmap(lambda a: vmap(lambda b: (a * b).sum())(y))(x)
    np.testing.assert_allclose(pairs.numpy(), x.numpy() @ y.numpy().T)
    table = vmap(vmap(lambda a: a.softmax(0)), 1, 1)(rand(2, B, 6))
    np.testing.assert_allclose(table.numpy(), rand(2, B, 6).softmax(-1).numpy())
    scalars = vmap(vmap(lambda a, b: a * b + 1, (0, None)), (None, 0))(rand(4), rand(B))
    np.testing.assert_allclose(scalars.numpy(), np.outer(rand(B).numpy(), rand(4).numpy()) + 1)


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 100])
def test_chunks(chunk: int) -> None:
    x = rand(2, 5)
    got = vmap(lambda a: (a.sum(), a), 1, (0, 1), chunk_size=chunk)(x)
    np.testing.assert_allclose(got[0].numpy(), x.sum(0).numpy())
    np.testing.assert_array_equal(got[1].numpy(), x.numpy())


def test_promotion_sees_samples_of_no_dimensions() -> None:
    a = facula.ones(B, dtype=facula.float64)
    b = facula.ones(2, dtype=facula.float32)
    assert vmap(lambda s: s * b)(a).dtype == facula.float32
    assert (
        vmap(lambda s: s + facula.tensor(1.0, dtype=facula.float64))(a.float()).dtype
        == facula.float64
    )
    assert vmap(lambda s: s * 1.5)(facula.ones(B, dtype=facula.int64)).dtype == facula.float32


def test_nothing_to_map_over() -> None:
    out = vmap(lambda x: facula.linalg.vector_norm(x[None] @ x[:, None]))(facula.ones(0, 4))
    assert out.shape == (0,)
    out = vmap(lambda x: x.scatter_reduce(0, x.long(), x, "sum"))(facula.ones(0, 4))
    assert out.shape == (0, 4)


def test_randomness() -> None:
    x = facula.ones(B, 50)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda t: t + facula.randn(50))(x)
    same = vmap(lambda t: t * facula.rand(50), randomness="same")(x)
    assert same[0].equal(same[1])
    other = vmap(lambda t: t * facula.rand(50), randomness="different")(x)
    assert not other[0].equal(other[1])
    for f in (
        lambda t: F.dropout(t, 0.5),
        lambda t: F.alpha_dropout(t, 0.5, training=True),
        facula.bernoulli,
        lambda t: t.clone().normal_(),
    ):
        data = x * 0.5
        same = vmap(f, randomness="same")(data)
        assert same[0].equal(same[1])
        other = vmap(f, randomness="different")(data)
        assert not other[0].equal(other[1])
    kept = vmap(lambda t: F.dropout(t, 0.5), randomness="different")(x)
    assert set(kept.unique().tolist()) == {0.0, 2.0}


def test_data_dependent_programs_are_refused() -> None:
    x = rand(B, 4)
    for f in (
        lambda t: t.sum().item(),
        lambda t: t if t.sum() > 0 else -t,
        lambda t: t.numpy(),
        lambda t: t.tolist(),
        lambda t: facula.allclose(t, t),
        lambda t: t[t > 0],
    ):
        with pytest.raises(RuntimeError):
            vmap(f)(x)


def test_escaped_tensors_are_refused() -> None:
    kept = []
    vmap(lambda t: kept.append(t) or t)(rand(B, 4))
    with pytest.raises(RuntimeError, match="after the vmap has ended"):
        kept[0] + 1
    assert "BatchedTensor" in repr(kept[0])


def test_messages() -> None:
    x = rand(B, 4)
    with pytest.raises(ValueError, match="must only return Tensors"):
        vmap(lambda t: 3)(x)
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        vmap(facula.add)(x, rand(B + 1, 4))
    with pytest.raises(ValueError, match="in_dims"):
        vmap(facula.add, (0, 0, 0))(x, x)
    with pytest.raises(ValueError, match="Got in_dim=2"):
        vmap(facula.sin, 2)(x)
    with pytest.raises(ValueError, match="out_dim is None"):
        vmap(facula.sin, out_dims=None)(x)
    with pytest.raises(RuntimeError, match="randomness"):
        vmap(facula.sin, randomness="sometimes")


class Cube(facula.autograd.Function):
    """A Function without a rule for vmap."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class Double(facula.autograd.Function):
    """A Function with a rule."""

    @staticmethod
    def forward(ctx, x, y):
        return x * 2 + y

    @staticmethod
    def backward(ctx, g):
        return g * 2, g

    @staticmethod
    def vmap(info, in_dims, x, y):
        assert info.batch_size == B
        assert in_dims == (0, None)
        return Double.apply(x, y), 0


def test_functions() -> None:
    x = rand(B, 4)
    np.testing.assert_allclose(vmap(Cube.apply)(x).numpy(), x.numpy() ** 3)
    got = facula.func.vmap(facula.func.grad(lambda t: Cube.apply(t).sum()))(x)
    np.testing.assert_allclose(got.numpy(), 3 * x.numpy() ** 2)
    y = rand(4)
    got = vmap(Double.apply, (0, None))(x, y)
    np.testing.assert_allclose(got.numpy(), x.numpy() * 2 + y.numpy())


@pytest.mark.parametrize("masked", [False, True])
def test_attention_in_tiles(masked):
    """Enough queries for tiles; the samples share neither heads nor statistics."""
    q, k, v = (rand(B, 2, 2, 16, 4, seed=s).requires_grad_() for s in range(3))
    mask = rand(16, 16, seed=3) if masked else None

    def attend(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    got = vmap(attend)(q, k, v)
    want = facula.stack([attend(q[i], k[i], v[i]) for i in range(B)])
    assert facula.allclose(got, want)
    grads = facula.autograd.grad(got.square().sum(), (q, k, v))
    for a, b in zip(grads, facula.autograd.grad(want.square().sum(), (q, k, v)), strict=True):
        assert facula.allclose(a, b)


@pytest.mark.parametrize(
    "write",
    [lambda x, y: x.add_(y), lambda x, y: x.copy_(y), lambda x, y: x.masked_fill_(y > 0, 0.0)],
)
def test_writes_do_not_take_other_dimensions_for_samples(write):
    """Each sample is a vector; a matrix does not fit into it, whatever its size."""
    with pytest.raises(RuntimeError):
        vmap(lambda x: write(x, rand(B, 4)))(rand(B, 4))


def test_the_same_numbers_in_every_chunk():
    got = vmap(lambda x: x + facula.rand(2), randomness="same", chunk_size=2)(facula.zeros(5, 2))
    assert facula.equal(got, got[:1].expand(5, 2))


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
def test_a_function_is_told_the_randomness(randomness):
    told = []

    class Double(facula.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            told.append((info.batch_size, info.randomness))
            return Double.apply(x), in_dims[0]

    out = vmap(vmap(Double.apply), randomness=randomness)(facula.ones(3, 2))
    assert facula.equal(out, facula.full((3, 2), 2.0))
    assert told == [(2, "error"), (3, randomness)]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_one_by_one_writes_into_shared_memory_are_refused():
    def write(t, mask):
        return t.masked_scatter_(mask, facula.ones(3))

    mask = facula.eye(2, 3) > 0
    shared = facula.zeros(3).expand(2, 3)
    with pytest.raises(RuntimeError, match=r"masked_scatter_.*single memory location"):
        vmap(write)(shared, mask)
    assert shared.sum() == 0
    out = vmap(write)(shared.clone(), mask)
    assert facula.equal(out, facula.tensor([[1.0, 0, 0], [0, 1.0, 0]]))


def test_put_runs_for_all_samples_at_once():
    x, source = facula.randn(3, 2, 4), facula.randn(3, 2)
    index = facula.tensor([[0, -1], [3, 5], [-8, 2]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for accumulate in (False, True):
            for inside in (
                lambda a, i, s: a.put(i, s, accumulate),
                lambda a, i, s: a.clone().put_(i, s, accumulate),
            ):
                got = vmap(inside)(x, index, source)
                want = facula.stack([inside(*t) for t in zip(x, index, source, strict=True)])
                assert facula.equal(got, want)
        got = vmap(lambda i: x[0].put(i, source[0]))(index)
        assert facula.equal(got, facula.stack([x[0].put(i, source[0]) for i in index]))
        grads = vmap(facula.func.grad(lambda a, i: (a.take(i % 8) ** 2).sum()))(x, index)
        want = [
            facula.func.grad(lambda a, i=i: (a.take(i % 8) ** 2).sum())(a)
            for a, i in zip(x, index, strict=True)
        ]
        assert facula.equal(grads, facula.stack(want))
    with pytest.raises(IndexError, match="out of range"):
        vmap(lambda a, i: a.put(i, source[0]))(x, index + 8)


def test_steps_of_vmap_can_be_replaced(monkeypatch):
    """As libraries do that let their containers of tensors take part, by PyTorch's names."""
    from facula._functorch import vmap as steps

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def each(self, f):
            return Pair(f(self.a), f(self.b))

    def process(in_dims, args, func):
        (pair,) = args
        _, spec = facula.utils._pytree.tree_flatten(args)
        return pair.a.shape[in_dims], [in_dims], [pair], spec

    def create(dims, flat, level, spec):
        return [flat[0].each(lambda t: steps._add_batch_dim(t, dims[0], level))]

    def unwrap(out, out_dims, level, size, func):
        return out.each(lambda t: steps._maybe_remove_batch_dim("f", t, level, size, out_dims))

    monkeypatch.setattr(steps, "_process_batched_inputs", process)
    monkeypatch.setattr(steps, "_create_batched_inputs", create)
    monkeypatch.setattr(steps, "_unwrap_batched", unwrap)
    x, y = facula.randn(2, 3), facula.randn(4, 3)
    out = vmap(lambda p: Pair(p.a.cumsum(0), p.b.sum() + p.a), in_dims=1, out_dims=1)(Pair(x, y))
    assert facula.equal(out.a, x.cumsum(0))
    facula.testing.assert_close(out.b, y.sum(0) + x)


def test_compiled_module_knows_tensors_inside_vmap():
    from facula import _C

    wrapped = _C._functorch

    def inside(x):
        assert wrapped.is_batchedtensor(x) and wrapped.is_functorch_wrapped_tensor(x)
        level = wrapped.maybe_get_level(x)
        assert level >= 1 and wrapped.maybe_get_bdim(x) == 0
        assert wrapped.get_unwrapped(x).shape == (2, 3)
        twice = wrapped._add_batch_dim(wrapped._remove_batch_dim(x, level, 2, 1), 1, level)
        assert twice.shape == x.shape
        return twice

    x = facula.randn(2, 3)
    assert facula.equal(vmap(inside)(x), x)
    assert not wrapped.is_batchedtensor(x) and wrapped.maybe_get_level(x) == -1
    assert wrapped.maybe_get_bdim(x) == -1 and wrapped.get_unwrapped(x) is x


def test_keywords_may_be_named_as_what_steps_take():
    x = facula.ones(3)
    for chunk in (None, 2):
        for name in ("func", "batch_size", "flat_args", "out_dims", "randomness", "chunk_size"):
            mapped = facula.vmap(lambda x, **names: x * names.popitem()[1], chunk_size=chunk)
            assert mapped(x, **{name: 3}).tolist() == [3.0] * 3
