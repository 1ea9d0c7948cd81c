"""Rules of vmap for indices, counts, losses and layers: a call gives what a loop gives.

Every call is made with warnings as errors, so that none falls back to the loop.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable

import pytest

import facula
from facula import nn
from facula.func import grad, vjp, vmap

F = nn.functional
B = 3


@pytest.fixture(autouse=True)
def _seed() -> None:
    facula.manual_seed(0)


def pick(x: facula.Tensor, mapped: bool, i: int) -> facula.Tensor:
    return x.select(-1, i).clone() if mapped else x.clone()


def check(f: Callable, *args: facula.Tensor, exact: bool = False, only: tuple = ()) -> None:
    """Compare for all choices of mapped arguments; samples lie along the last dimension."""
    for which in itertools.product((True, False), repeat=len(args)):
        if not any(which) or (only and which not in only):
            continue
        values = [a if m else a.select(-1, 0) for a, m in zip(args, which, strict=True)]
        dims = tuple(-1 if m else None for m in which)
        rows = []
        for i in range(B):
            out = f(*(pick(v, m, i) for v, m in zip(values, which, strict=True)))
            rows.append(out if isinstance(out, (tuple, list)) else (out,))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = vmap(f, dims)(*(v.clone() for v in values))
        got = got if isinstance(got, (tuple, list)) else (got,)
        for g, column in zip(got, zip(*rows, strict=True), strict=True):
            want = facula.stack(list(column))
            assert g.dtype == want.dtype
            assert g.shape == want.shape
            if exact:
                assert facula.equal(g, want), which
            else:
                facula.testing.assert_close(g, want, rtol=1e-5, atol=1e-6, equal_nan=True)


def numbers(*shape: int, below: int, low: int = 0) -> facula.Tensor:
    return facula.randint(low, below, (*shape, B))


# Only a mapped tensor can be written to.
WITH_SELF = tuple((True, *rest) for rest in itertools.product((True, False), repeat=2))
INDEXED = {
    "add": lambda x, i, s: x.index_add(0, i, s, alpha=2),
    "add_": lambda x, i, s: x.clone().index_add_(0, i, s),
    "copy": lambda x, i, s: x.index_copy(0, i, s),
    "copy_": lambda x, i, s: x.clone().index_copy_(0, i, s),
    "amax": lambda x, i, s: x.index_reduce(0, i, s, "amax"),
    "mean": lambda x, i, s: x.index_reduce(0, i, s, "mean", include_self=False),
    "prod_": lambda x, i, s: x.clone().index_reduce_(0, i, s, "prod"),
}


@pytest.mark.parametrize("name", INDEXED)
def test_slices_written_at_repeated_positions(name: str) -> None:
    f = INDEXED[name]
    only = WITH_SELF if name.endswith("_") else ()

    def compare(g: Callable, *args: facula.Tensor) -> None:
        check(g, *args, exact=True, only=only)

    compare(f, facula.randn(4, 2, B), numbers(6, below=4), facula.randn(6, 2, B))
    compare(
        lambda x, i, s: f(x.t(), i, s.t()).t(),
        facula.randn(2, 4, B),
        numbers(6, below=4),
        facula.randn(2, 6, B),
    )
    zero = facula.zeros(B, dtype=facula.int64)
    compare(f, facula.randn(B), zero, facula.randn(B))
    compare(f, facula.randn(4, B), numbers(below=4), facula.randn(B))


def test_fills_count_positions_from_the_end() -> None:
    x, i = facula.randn(4, 5, B), numbers(3, below=5, low=-5)
    check(lambda x, i: x.index_fill(1, i, 7.0), x, i, exact=True)
    check(
        lambda x, i: x.clone().index_fill_(-1, i, 7.0),
        x,
        i,
        exact=True,
        only=((True, True), (True, False)),
    )
    check(lambda x, i: x.index_fill(0, i, 7.0), facula.randn(B), numbers(below=1), exact=True)


def test_selection() -> None:
    x, i = facula.randn(4, 5, B), numbers(7, below=4)
    check(lambda x, i: x.index_select(0, i), x, i, exact=True)
    check(lambda x, i: x.index_select(-1, i), x, i, exact=True)
    check(lambda x, i: x.index_select(0, i), facula.randn(B), numbers(1, below=1), exact=True)
    check(lambda x, i: x.index_select(0, i), x, numbers(below=4), exact=True)
    check(lambda x, i: x.gather(0, i), facula.randn(B), numbers(2, below=1), exact=True)
    check(lambda x, i: x.gather(0, i), facula.randn(4, B), numbers(below=4), exact=True)
    check(
        lambda x, i, s: x.scatter_add(0, i, s),
        facula.randn(4, B),
        numbers(below=4),
        facula.randn(B),
        exact=True,
    )
    check(lambda x: x.unfold(0, 1, 1), facula.randn(B), exact=True)
    check(lambda i: facula.unravel_index(i, (3, 5)), numbers(2, 4, below=15), exact=True)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, i: x.index_select(0, i),
        lambda x, i: x.index_add(0, i, x[:1]),
        lambda x, i: x.index_copy(0, i, x[:1]),
        lambda x, i: x.index_reduce(0, i, x[:1], "amin"),
        lambda x, i: x.index_fill(0, i, 1.0),
    ],
)
@pytest.mark.parametrize("bad", [4, -5])
def test_a_position_outside_one_sample_is_refused(f: Callable, bad: int) -> None:
    index = facula.tensor([[0], [bad], [3]])
    with pytest.raises((IndexError, RuntimeError), match=r"out of (range|bounds)"):
        vmap(f)(facula.randn(3, 4, 2), index)


@pytest.mark.parametrize(
    ("f", "x", "index"),
    [
        (lambda x, i: x.index_select(0, i), facula.ones(3), facula.zeros(3, 2).long()),
        (lambda x, i: x.index_select(0, i), facula.ones(3, 4), facula.zeros(3, 2).short()),
        (lambda x, i: x.index_add(0, i, x[:2]), facula.ones(3, 4), facula.zeros(3, 2).byte()),
        (lambda x, i: x.index_fill(0, i, 2.0), facula.ones(3, 4), facula.zeros(3, 2).short()),
    ],
)
def test_what_one_sample_is_refused_all_are(f: Callable, x: facula.Tensor, index: facula.Tensor):
    with pytest.raises((IndexError, RuntimeError)):
        f(x[0], index[0])
    for dims in ((0, 0), (None, 0), (0, None)):
        args = [t if d == 0 else t[0] for t, d in zip((x, index), dims, strict=True)]
        with pytest.raises((IndexError, RuntimeError)):
            vmap(f, dims)(*args)


def test_writes_into_samples_reach_the_input() -> None:
    x, i = facula.zeros(B, 2, 4), facula.tensor([[0, 1], [3, 3], [2, 0]])
    y = vmap(lambda t, k: t.index_add_(1, k, facula.ones(2, 2)))(x, i)
    want = facula.stack([facula.zeros(2, 4).index_add(1, k, facula.ones(2, 2)) for k in i])
    assert facula.equal(x, want)
    assert facula.equal(y, want)
    shared = facula.zeros(4).expand(B, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="single memory location"):
            vmap(lambda t, k: t.index_add_(0, k, facula.ones(2)))(shared, i)


def test_gradients_of_indexed_writes() -> None:
    x, i, s = facula.randn(B, 4, 2), facula.tensor([[0, 0], [1, 3], [2, 1]]), facula.randn(B, 2, 2)

    def f(x: facula.Tensor, s: facula.Tensor, i: facula.Tensor) -> facula.Tensor:
        y = x.clone().index_add_(0, i, s).index_fill(0, i[:1], 2.0)
        return (y**2).sum() + (y.index_select(0, i) ** 3).sum()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = vmap(grad(f, (0, 1)))(x, s, i)
        shared = vmap(grad(f, (0, 1)), (None, 0, 0))(x[0], s, i)
    for k in range(B):
        for g, w in zip(got, grad(f, (0, 1))(x[k], s[k], i[k]), strict=True):
            facula.testing.assert_close(g[k], w)
        for g, w in zip(shared, grad(f, (0, 1))(x[0], s[k], i[k]), strict=True):
            facula.testing.assert_close(g[k], w)


def test_nested() -> None:
    x, i = facula.randn(2, B, 4, 3), facula.randint(0, 4, (2, B, 5))
    s = facula.randn(2, B, 5, 3)
    target = facula.randint(0, 3, (2, B, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f in (
            lambda x, i, s: x.index_add(0, i, s),
            lambda x, i, s: x.index_fill(0, i - 4, 2.0),
            lambda x, i, s: facula.bincount(i, minlength=4),
            lambda x, i, s: facula.bincount(i, s[:, 0], minlength=4),
            lambda x, i, s: facula.histc(s, 4),
            lambda x, i, s: x.masked_scatter(x > 0, s.reshape(-1)[:12]),
            lambda x, i, s: facula.searchsorted(x[:, 0].sort().values, s),
        ):
            rows = zip(x, i, s, strict=True)
            want = facula.stack(
                [facula.stack([f(*t) for t in zip(*row, strict=True)]) for row in rows]
            )
            facula.testing.assert_close(vmap(vmap(f))(x, i, s), want)
            got = vmap(vmap(f, (0, 0, 0)), (1, 1, 1))(
                x.transpose(0, 1), i.transpose(0, 1), s.transpose(0, 1)
            )
            facula.testing.assert_close(got, want)
            mixed = vmap(vmap(f, (None, 0, 0)), (0, 0, 0))(x[:, 0], i, s)
            want = facula.stack(
                [facula.stack([f(x[a, 0], i[a, b], s[a, b]) for b in range(B)]) for a in range(2)]
            )
            facula.testing.assert_close(mixed, want)
        losses = vmap(vmap(F.cross_entropy))(x, target)
    for a, b in itertools.product(range(2), range(B)):
        facula.testing.assert_close(losses[a, b], F.cross_entropy(x[a, b], target[a, b]))


def test_masked_scatter() -> None:
    x, mask, source = facula.randn(3, 4, B), facula.randn(3, 4, B) > 0, facula.randn(5, 4, B)
    check(lambda x, m, s: x.masked_scatter(m, s), x, mask, source, exact=True)
    check(
        lambda x, m, s: x.clone().masked_scatter_(m, s), x, mask, source, exact=True, only=WITH_SELF
    )
    check(lambda x, m, s: x.masked_scatter(m, s), x, mask[0], source, exact=True)
    with pytest.raises(RuntimeError, match="at least as many elements"):
        vmap(lambda m: facula.zeros(4).masked_scatter(m, facula.ones(2)))(
            facula.tensor([[True, True, False, False], [True, True, True, False]])
        )


def test_one_value_where_a_mask_is_true() -> None:
    x, v = facula.randn(3, 4, B), facula.randn(B)

    def assigned(x: facula.Tensor, v: facula.Tensor) -> facula.Tensor:
        y = x.clone()
        y[y > 0] = v
        y[y[:, 0] < -1] = 2.0
        return y

    check(assigned, x, v, exact=True, only=((True, True), (True, False)))
    for accumulate in (True, False):
        check(
            lambda x, m, v, a=accumulate: x.index_put((m > 0,), v, a),
            x,
            facula.randn(3, B),
            v,
            exact=True,
        )
    check(
        grad(lambda x, v: (x.index_put((x > 0,), v) ** 2).sum(), (0, 1)),
        x,
        v,
    )
    with pytest.raises(IndexError):
        vmap(lambda x: x.index_put((facula.zeros(5) > 0,), facula.ones(())))(x)


def test_searches() -> None:
    edges = facula.randn(6, B).sort(0).values
    for right in (False, True):
        check(
            lambda e, v, r=right: facula.searchsorted(e, v, right=r),
            edges,
            facula.randn(B),
            exact=True,
        )
        check(
            lambda e, v, r=right: facula.searchsorted(e, v, right=r),
            edges,
            facula.randn(2, 3, B),
            exact=True,
        )
        check(
            lambda e, v, r=right: facula.bucketize(v, e, right=r, out_int32=True),
            edges,
            facula.randn(2, 3, B),
            exact=True,
        )
    table = facula.randn(2, 6, B)
    check(
        lambda t, v: facula.searchsorted(t.sort(1).values, v),
        table,
        facula.randn(2, 3, B),
        exact=True,
    )
    check(
        lambda t, v: facula.searchsorted(t, v, sorter=t.argsort(1)),
        table,
        facula.randn(2, 3, B),
        exact=True,
    )
    check(
        lambda t, v: facula.searchsorted(t, v, sorter=t.argsort(0)),
        table[0],
        facula.randn(2, 3, B),
        exact=True,
    )


def test_counts() -> None:
    i, w = numbers(8, below=5), facula.randn(8, B)
    check(lambda i: facula.bincount(i, minlength=7), i, exact=True)
    check(lambda i, w: facula.bincount(i, w, 7), i, w, exact=True)
    top = facula.cat([i, facula.full((1, B), 4)])
    check(facula.bincount, top, exact=True)
    check(F.one_hot, top, exact=True)
    check(lambda i: F.one_hot(i, 6), i, exact=True)
    with pytest.raises(RuntimeError, match="non-negative"):
        vmap(lambda i: facula.bincount(i, minlength=9))(facula.tensor([[1, 2], [-1, 0]]))
    with pytest.raises(RuntimeError, match="different shapes"):
        vmap(facula.bincount)(facula.tensor([[1, 2], [1, 0]]))
    x = facula.randn(4, 9, B)
    check(lambda x: facula.histc(x, 6), x, exact=True)
    check(lambda x: facula.histc(x, 5, -1, 1.5), x.double(), exact=True)
    flat = x.clone()
    flat[..., 1] = 3.0
    check(lambda x: facula.histc(x, 4), flat, exact=True)
    with pytest.raises(RuntimeError, match="not finite"):
        vmap(lambda x: facula.histc(x, 4))(facula.tensor([[1.0, 2], [float("nan"), 0]]))


SHAPES = [(5,), (6, 5), (2, 5, 3), (2, 5, 3, 2)]
REDUCTIONS = ["mean", "sum", "none"]


def targets(shape: tuple[int, ...]) -> facula.Tensor:
    return numbers(*(shape[:1] + shape[2:] if len(shape) > 1 else ()), below=5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_losses_over_classes(shape: tuple[int, ...], reduction: str) -> None:
    x, t, w = facula.randn(*shape, B), targets(shape), facula.rand(5, B)
    options = {"reduction": reduction, "ignore_index": 1}
    check(lambda x, t: F.cross_entropy(x, t, **options), x, t)
    check(lambda x, t: F.cross_entropy(x, t, label_smoothing=0.2, **options), x, t)
    check(lambda x, t, w: F.cross_entropy(x, t, w, **options), x, t, w)
    check(lambda x, t: F.cross_entropy(x, t, w[:, 0], label_smoothing=0.2, **options), x, t)
    check(lambda x, t, w: F.nll_loss(x, t, w, **options), x, t, w)
    check(lambda x, t: F.nll_loss(x, t.to(facula.uint8), **options), x, t)
    total = lambda f: lambda *a: f(*a).sum()
    check(grad(total(lambda x, t: F.cross_entropy(x, t, w[:, 0], **options))), x, t)
    check(grad(total(lambda x, t: F.nll_loss(x, t, **options))), x, t)


@pytest.mark.parametrize("shape", [*SHAPES[:3], (1, 5)])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_many_gradients_of_one_loss(shape: tuple[int, ...], reduction: str) -> None:
    x, t, w = facula.randn(*shape), targets(shape)[..., 0], facula.rand(5)
    t.view(-1)[0] = 2
    options = {"reduction": reduction, "ignore_index": 1}
    for f in (
        lambda x: F.cross_entropy(x, t, w, label_smoothing=0.2, **options),
        lambda x: F.nll_loss(x, t, w, **options),
    ):
        y, pull = vjp(f, x)
        g = facula.randn(4, *y.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (got,) = vmap(pull)(g)
        facula.testing.assert_close(got, facula.stack([pull(row)[0] for row in g]), equal_nan=True)


def test_a_class_outside_one_sample_is_refused() -> None:
    t = facula.tensor([[0, 1], [2, 5], [1, 1]])
    for f in (F.cross_entropy, F.nll_loss):
        with pytest.raises(IndexError, match="out of bounds"):
            vmap(f, (None, 0))(facula.randn(2, 5), t)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_with_statistics_of_each_sample(training: bool) -> None:
    x, mean, var = facula.randn(4, 2, 5, B), facula.randn(2, B), facula.rand(2, B) + 0.5
    w = facula.rand(2, B)

    def f(x, mean, var, w):
        mean, var = mean.clone(), var.clone()
        y = F.batch_norm(x, mean, var, w, w, training)
        return y, mean, var

    both = [(a, True, True, b) for a in (True, False) for b in (True, False)]
    check(f, x, mean, var, w, only=tuple(both))
    if not training:
        check(f, x, mean, var, w)
    check(
        grad(
            lambda x, w, mean, var: (
                F.batch_norm(x, mean.clone(), var.clone(), w, w, training) ** 3
            ).sum(),
            (0, 1),
        ),
        x,
        w,
        mean,
        var,
        only=((True, True, True, True), (True, False, True, True)),
    )
    stored_mean, stored_var = mean.t().contiguous(), var.t().contiguous()
    vmap(lambda x, m, v: F.batch_norm(x, m, v, training=training), (-1, 0, 0))(
        x, stored_mean, stored_var
    )
    for k in range(B):
        m, v = mean[:, k].clone(), var[:, k].clone()
        F.batch_norm(x[..., k], m, v, training=training)
        facula.testing.assert_close(stored_mean[k], m)
        facula.testing.assert_close(stored_var[k], v)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_recurrent_layers_with_shared_weights(kind: type) -> None:
    layer = kind(4, 5, 2, bidirectional=True)
    x = facula.randn(6, 2, 4, B)
    check(lambda x: layer(x)[0].detach(), x)
    check(grad(lambda x: (layer(x)[0] ** 2).sum()), x)
    lengths = facula.tensor([6, 3])

    def packed(x):
        out, _ = layer(nn.utils.rnn.pack_padded_sequence(x, lengths))
        return out.data.detach()

    check(packed, x)
    assert vmap(lambda x: layer(x)[0])(facula.ones(B, 6, 0, 4)).shape == (B, 6, 0, 10)
    if kind is nn.LSTM:
        projected = nn.LSTM(4, 5, proj_size=3)
        h, c = facula.randn(1, 2, 3, B), facula.randn(1, 2, 5, B)
        check(lambda x, h, c: tuple(t.detach() for t in projected(x, (h, c))[1]), x, h, c)


def test_least_squares() -> None:
    a, b = facula.randn(5, 3, B), facula.randn(5, 2, B)
    check(lambda a, b: tuple(facula.linalg.lstsq(a, b))[:2], a, b)
    check(lambda a, b: facula.linalg.lstsq(a.t(), b[:3]).solution, a, b)
    check(lambda a, b: tuple(facula.linalg.lstsq(a, b, driver="gelsd")), a, b)
    check(grad(lambda a, b: facula.linalg.lstsq(a, b).solution.sum()), a, b)


LAYERS = {
    "layer_norm": (lambda x, w: F.layer_norm(x, (3, 5), w, w), (2, 4, 3, 5), (3, 5)),
    "layer_norm_whole": (lambda x, w: F.layer_norm(x, (3, 5), w, w), (3, 5), (3, 5)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (5,), w), (4, 5), (5,)),
    "group_norm": (lambda x, w: F.group_norm(x, 2, w, w), (3, 4, 5), (4,)),
    "batch_norm": (lambda x, w: F.batch_norm(x, None, None, w, w, True), (3, 4, 5), (4,)),
    "batch_norm_eval": (
        lambda x, w: F.batch_norm(x, facula.zeros(4), facula.ones(4), w, w),
        (3, 4, 5),
        (4,),
    ),
    "grid_sample": (
        lambda x, g: F.grid_sample(x, g.tanh(), align_corners=True),
        (2, 3, 4, 4),
        (2, 5, 5, 2),
    ),
    "instance_norm": (lambda x, w: F.instance_norm(x, weight=w, bias=w), (2, 4, 6), (4,)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_many_gradients_of_one_layer(name: str) -> None:
    f, *shapes = LAYERS[name]
    args = [facula.randn(*s) for s in shapes]
    y, pull = vjp(f, *args)
    g = facula.randn(3, *y.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = vmap(pull)(g)
    for k, t in enumerate(got):
        want = facula.stack([pull(row)[k] for row in g])
        facula.testing.assert_close(t, want, rtol=1e-4, atol=1e-5)
    # Other inputs of each sample as well.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = vmap(lambda x, g: vjp(f, x, args[1])[1](g))(
            facula.stack([args[0], args[0] * 2, args[0] - 1]), g
        )
    for k, x in enumerate([args[0], args[0] * 2, args[0] - 1]):
        for t, want in zip(many, vjp(f, x, args[1])[1](g[k]), strict=True):
            facula.testing.assert_close(t[k], want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["dot", "vdot"])
def test_dot_of_samples_refuses_what_dot_refuses(name):
    dot = vmap(getattr(facula, name))
    for other in (facula.ones(2, 3), facula.ones(2, 0), facula.ones(2, 1, dtype=facula.float64)):
        with pytest.raises(RuntimeError):
            dot(facula.ones(2, 1), other)
    x = facula.tensor([[1, 2], [3, 4]])
    assert dot(x, x).tolist() == [5, 25]
    shared = vmap(getattr(facula, name), in_dims=(0, None))
    assert shared(x, x[1]).tolist() == [11, 25]
