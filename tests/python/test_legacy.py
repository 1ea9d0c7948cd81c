"""Changes of geometry in place, out= of an exact dtype, segments, histograms and old spellings."""

from __future__ import annotations

import numpy as np
import pytest

import facula
import facula.nn.functional as F
from facula.autograd import gradcheck, gradgradcheck

GEOMETRY = {
    "unsqueeze_": ((1,), lambda a: a[:, None]),
    "squeeze_": ((), lambda a: a.reshape(2, 3)),
    "transpose_": ((0, 1), lambda a: a.swapaxes(0, 1)),
    "swapaxes_": ((0, -1), lambda a: a.swapaxes(0, -1)),
    "as_strided_": (((3, 2), (1, 3)), lambda a: a.reshape(2, 3).T),
}


@pytest.mark.parametrize("name", sorted(GEOMETRY))
@pytest.mark.parametrize("view", [False, True])
def test_geometry_in_place(name: str, view: bool) -> None:
    args, judge = GEOMETRY[name]
    x = facula.arange(6, dtype=facula.float64).reshape(2, 1, 3).requires_grad_()
    y = x * 2
    if view:
        y = y.view(2, 1, 3)
    before = y._version
    assert getattr(y, name)(*args) is y
    assert y._version == before + 1
    want = judge(np.arange(6.0).reshape(2, 1, 3) * 2)
    assert (y.detach().numpy() == want).all()
    weight = facula.randn(y.shape, dtype=facula.float64)
    (y * y * weight).sum().backward()
    back = np.zeros((2, 1, 3))
    judge(back)[...] = (weight * y.detach() * 4).numpy()
    assert np.allclose(x.grad.numpy(), back)


def test_geometry_in_place_is_checked() -> None:
    leaf = facula.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        leaf.unsqueeze_(0)
    y = leaf.exp()
    y.unsqueeze_(0)
    with pytest.raises(RuntimeError, match="modified"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="dimensions"):
        facula.ones(2, 2, 2).t_()
    with pytest.raises(IndexError):
        facula.ones(2).transpose_(0, 2)


def test_written_base_shows_in_a_view_of_new_geometry() -> None:
    x = facula.ones(2, 3, dtype=facula.float64, requires_grad=True)
    base = x * 1
    part = base.view(3, 2)
    part.transpose_(0, 1)
    base.mul_(3)
    assert part.shape == (2, 3)
    part.sum().backward()
    assert x.grad.tolist() == [[3.0] * 3] * 2


def test_fill_diagonal() -> None:
    for shape in ((3, 4), (7, 3), (4, 4), (3, 3, 3)):
        for wrap in (False, True):
            want = np.zeros(shape)
            np.fill_diagonal(want, 5, wrap=wrap)
            assert (facula.zeros(shape).fill_diagonal_(5, wrap=wrap).numpy() == want).all()
    with pytest.raises(RuntimeError):
        facula.zeros(3).fill_diagonal_(1)
    with pytest.raises(RuntimeError):
        facula.zeros(2, 2, 3).fill_diagonal_(1)


def test_frexp() -> None:
    x = np.array([0.0, -0.0, 1.0, -3.5, 1e-310, 6.02e23])
    m, e = facula.frexp(facula.from_numpy(x))
    wm, we = np.frexp(x)
    assert (m.numpy() == wm).all()
    assert (e.numpy() == we).all()
    assert e.dtype == facula.int32
    special = facula.tensor([float("inf"), float("nan")]).frexp()
    assert special.exponent.tolist() == [0, 0]
    y = facula.tensor([3.5, -7.0], dtype=facula.float64, requires_grad=True)
    assert gradcheck(lambda t: facula.frexp(t)[0], (y,))
    with pytest.raises(RuntimeError):
        facula.frexp(facula.tensor([1, 2]))


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("initial", [None, 2.0])
def test_segment_reduce(reduce: str, initial: float | None) -> None:
    data = np.random.default_rng(0).standard_normal((2, 6, 3))
    lengths = np.array([[2, 0, 4], [1, 5, 0]])
    empty = {"sum": 0.0, "mean": np.nan, "max": -np.inf, "min": np.inf, "prod": 1.0}[reduce]
    start = empty if initial is None else initial
    want = np.full((2, 3, 3), start)
    for b in range(2):
        at = 0
        for s, n in enumerate(lengths[b]):
            part, at = data[b, at : at + n], at + n
            if n == 0:
                continue
            first = [] if initial is None else [np.full((1, 3), initial)]
            full = np.concatenate([*first, part])
            if reduce == "mean":
                want[b, s] = full.sum(0) / n
            else:
                want[b, s] = getattr(np, reduce)(full, axis=0)
    x = facula.from_numpy(data).requires_grad_()

    def run(t: facula.Tensor) -> facula.Tensor:
        at = facula.from_numpy(lengths)
        return facula.segment_reduce(t, reduce, lengths=at, axis=1, initial=initial)

    assert np.allclose(run(x).detach().numpy(), want, equal_nan=True)
    assert gradcheck(lambda t: run(t).nan_to_num(0, 0, 0), (x,))
    flat = facula.from_numpy(data[0, :, 0].copy())
    ends = facula.segment_reduce(flat, reduce, offsets=facula.tensor([0, 2, 2, 6]), initial=initial)
    assert np.allclose(ends.numpy(), want[0, :, 0], equal_nan=True)
    if reduce in ("max", "min"):
        other = facula._segment_reduce(x, f"a{reduce}", lengths=facula.from_numpy(lengths), axis=1,
                                       initial=initial)  # fmt: skip
        assert facula.equal(other, run(x))


def test_segment_reduce_refuses() -> None:
    x = facula.arange(6.0)
    for call in (
        lambda: facula.segment_reduce(x, "sum"),
        lambda: facula.segment_reduce(x, "other", lengths=facula.tensor([2, 4])),
        lambda: facula.segment_reduce(x, "sum", lengths=facula.tensor([2, 3])),
    ):
        with pytest.raises(RuntimeError):
            call()


@pytest.mark.parametrize("density", [False, True])
def test_histogramdd(density: bool) -> None:
    rng = np.random.default_rng(0)
    points, weight = rng.random((50, 2)), rng.random(50)
    t, w = facula.from_numpy(points), facula.from_numpy(weight)
    limits = [(0.1, 0.8), (0.0, 1.0)]
    got = facula.histogramdd(t, [3, 4], range=[0.1, 0.8, 0.0, 1.0], weight=w, density=density)
    hist, edges = np.histogramdd(points, [3, 4], limits, density=density, weights=weight)
    assert np.allclose(got.hist.numpy(), hist)
    assert all(np.allclose(a.numpy(), b) for a, b in zip(got.bin_edges, edges, strict=True))
    own = [np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.2, 0.9])]
    got = facula.histogramdd(t, [facula.from_numpy(e) for e in own], density=density)
    hist, _ = np.histogramdd(points, own, density=density)
    assert np.allclose(got[0].numpy(), hist)
    assert type(got).__name__ == "histogramdd"
    with pytest.raises(RuntimeError):
        facula.histogramdd(t, [2])
    with pytest.raises(RuntimeError):
        facula.histogramdd(t, [0, 1])


def test_histogram_takes_the_range_of_its_elements() -> None:
    x = np.random.default_rng(0).random(30)
    hist, edges = facula.histogram(facula.from_numpy(x), 5)
    want, want_edges = np.histogram(x, 5)
    assert (hist.numpy() == want).all()
    assert np.allclose(edges.numpy(), want_edges)


def test_exact_out() -> None:
    x = facula.ones(2, 2)
    wide = facula.empty(0, dtype=facula.float64)
    for call in (
        lambda: facula.amax(x, 0, out=wide),
        lambda: facula.mm(x, x, out=wide),
        lambda: facula.gather(x, 0, facula.zeros(2, 2, dtype=facula.int64), out=wide),
        lambda: facula.complex(x, x, out=facula.empty(0, dtype=facula.complex128)),
        lambda: facula.max(x, 0, out=(wide, facula.empty(0, dtype=facula.int64))),
    ):
        with pytest.raises(RuntimeError, match="dtype"):
            call()
    assert facula.sum(x, 0, out=wide) is wide
    assert facula.erf(x[0], out=wide) is wide


def test_logaddexp_of_complex_numbers() -> None:
    a = facula.tensor([1 + 10j, 0j, -800 + 1j], dtype=facula.complex128, requires_grad=True)
    b = facula.tensor([0.5 - 1j, 1j, -801 - 1j], dtype=facula.complex128, requires_grad=True)
    got = facula.logaddexp(a, b)
    assert facula.allclose(facula.exp(got[:2]), facula.exp(a[:2]) + facula.exp(b[:2]))
    shifted = facula.logaddexp(a[2] + 800, b[2] + 800)
    assert facula.allclose(got[2], shifted - 800)
    assert gradcheck(facula.logaddexp, (a, b))
    assert gradgradcheck(facula.logaddexp, (a, b))


def test_aliases_are_methods_too() -> None:
    x = facula.tensor([0.5, -0.25])
    for name, other in (
        ("absolute", "abs"), ("negative", "neg"), ("arccos", "acos"), ("arcsin", "asin"),
        ("arctan", "atan"), ("arcsinh", "asinh"), ("arctanh", "atanh"), ("fix", "trunc"),
    ):  # fmt: skip
        assert facula.equal(getattr(x, name)(), getattr(x, other)())
        y = x.clone()
        assert getattr(y, name + "_")() is y
        assert facula.equal(y, getattr(x, other)())
    assert x.clip(0, 1).tolist() == [0.5, 0.0]
    assert x.clone().clip_(0, 1).tolist() == [0.5, 0.0]
    for name in ("subtract", "multiply", "divide", "true_divide"):
        getattr(x.clone(), name + "_")(2)
    for name in ("greater", "less_equal", "not_equal"):
        assert getattr(x, name)(0).dtype == facula.bool
    assert facula.tensor([5.0, -7.0]).div_(2, rounding_mode="floor").tolist() == [2, -4]
    assert facula.tensor([5.0, -7.0]).divide(2, rounding_mode="trunc").tolist() == [2, -3]
    assert (
        facula.ones(2, 3).swapaxes(0, 1).shape == facula.ones(2, 3).moveaxis(0, 1).shape == (3, 2)
    )


def test_old_functions() -> None:
    m = [facula.randn(3, 4), facula.randn(4, 2), facula.randn(2, 5)]
    assert facula.allclose(facula.chain_matmul(*m), m[0] @ m[1] @ m[2], atol=1e-5)
    v = facula.randn(3, 4, 5)
    assert facula.allclose(facula.norm_except_dim(v, 2, 1).reshape(-1), v.norm(dim=(0, 2)))
    assert facula.norm_except_dim(v, 2, -1).shape == ()
    assert facula.empty_permuted((2, 3, 4), (0, 2, 1)).stride() == (12, 1, 3)
    t = facula.arange(12.0).reshape(3, 4)
    out, mean, rstd = facula.native_layer_norm(t, [4], None, None, 1e-5)
    assert mean.shape == rstd.shape == (3, 1)
    assert facula.allclose(out, facula.nn.functional.layer_norm(t, [4]))
    out, mean, rstd = facula.native_group_norm(t.reshape(1, 3, 4), None, None, 1, 3, 4, 3, 1e-5)
    assert mean.shape == (1, 3)
    out, mask = facula.native_dropout(t + 1, 0.5, True)
    assert facula.equal(out, (t + 1) * mask * 2)
    assert facula.hash_tensor(t).dtype == facula.uint64
    bits = np.bitwise_xor.reduce(t.double().numpy().view(np.int64), axis=0)
    assert (facula.hash_tensor(t, 0).numpy().view(np.int64) == bits).all()
    assert t.hash_tensor(-1, keepdim=True).shape == (3, 1)
    assert facula.hash_tensor(facula.tensor(7)).item() == 7
    with pytest.raises(RuntimeError, match="mode"):
        facula.hash_tensor(t, mode=1)
    with pytest.raises(IndexError, match="non-zero size"):
        facula.hash_tensor(facula.empty(0, 2), 0)
    t.apply_(lambda x: x + 1)
    assert t[0].tolist() == [1, 2, 3, 4]
    assert t.map_(t, lambda a, b: a * b)[0].tolist() == [1, 4, 9, 16]


def test_from_file(tmp_path) -> None:
    path = str(tmp_path / "numbers")
    t = facula.from_file(path, shared=True, size=4, dtype=facula.float64)
    t.fill_(3)
    assert np.fromfile(path).tolist() == [3.0] * 4
    private = facula.from_file(path, size=2, dtype=facula.float64)
    private.fill_(1)
    assert np.fromfile(path).tolist() == [3.0] * 4
    with pytest.raises(RuntimeError):
        facula.from_file(path, size=5, dtype=facula.float64)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_is_that_of_numpy(edge_order):
    t = facula.rand(5, 6, dtype=facula.float64)
    x = facula.tensor([0.0, 1.0, 1.5, 4.0, 6.0], dtype=facula.float64)
    y = facula.arange(6.0, dtype=facula.float64) ** 2
    for ours, theirs in (
        (facula.gradient(t, edge_order=edge_order), np.gradient(t.numpy(), edge_order=edge_order)),
        (
            facula.gradient(t, spacing=(0.5, 3), edge_order=edge_order),
            np.gradient(t.numpy(), 0.5, 3, edge_order=edge_order),
        ),
        (
            facula.gradient(t, spacing=(x, y), edge_order=edge_order),
            np.gradient(t.numpy(), x.numpy(), y.numpy(), edge_order=edge_order),
        ),
    ):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a.numpy(), b, atol=1e-12)


def test_gradient_keeps_types_and_refuses_what_does_not_fit():
    t = facula.arange(5.0)
    assert facula.gradient(t.half(), spacing=0.5)[0].dtype == facula.float16
    assert facula.gradient(t.long(), spacing=2)[0].tolist() == [0.5] * 5
    assert facula.gradient(t, spacing=2j)[0].tolist() == [-0.5j] * 5
    for arguments in ({"edge_order": 3}, {"spacing": (1, 2)}, {"dim": (0, -1)}):
        with pytest.raises(RuntimeError):
            facula.gradient(t, **arguments)
    with pytest.raises(RuntimeError, match="coordinates"):
        facula.gradient(t, spacing=[facula.ones(3)])
    with pytest.raises(RuntimeError, match="edge_order"):
        facula.gradient(t[:2], edge_order=2)
    with pytest.raises(IndexError):
        facula.gradient(t, dim=1)


def test_unravel_index_takes_sizes_and_one_size():
    where = facula.tensor([7, 4])
    assert [i.tolist() for i in facula.unravel_index(where, (2, 3))] == [[0, 1], [1, 1]]
    assert [i.tolist() for i in facula.unravel_index(where, 5)] == [[2, 4]]
    with pytest.raises(ValueError, match="negative"):
        facula.unravel_index(where, (-2, 3))
    with pytest.raises(TypeError, match="integer"):
        facula.unravel_index(where.double(), (2, 3))


@pytest.mark.parametrize("t", ["nearest-exact", "", 3, "facula.nn", "zeros", facula.float64])
def test_default_type_is_a_legacy_type(t):
    with pytest.raises(TypeError, match="expected a floating-point tensor type"):
        facula.set_default_tensor_type(t)
    with pytest.raises(TypeError, match="only floating-point types"):
        facula.set_default_tensor_type("facula.LongTensor")


X = facula.linspace(-2.0, 2.0, 2 * 8 * 8).reshape(1, 2, 8, 8)
TAKES_OUT = {
    "hardshrink": lambda **k: facula.hardshrink(X, **k),
    "nn.hardshrink": lambda **k: F.hardshrink(X, 0.3, **k),
    "gelu": lambda **k: F.gelu(X, approximate="tanh", **k),
    "softplus": lambda **k: F.softplus(X, 2, 20, **k),
    "softshrink": lambda **k: F.softshrink(X, 0.3, **k),
    "logsigmoid": lambda **k: F.logsigmoid(X, **k),
    "linear": lambda **k: F.linear(X, X[0, 0], X[0, 0, 0], **k),
    "avg_pool2d": lambda **k: F.avg_pool2d(X, 2, stride=1, **k),
    "avg_pool3d": lambda **k: F.avg_pool3d(X, 2, **k),
}


@pytest.mark.parametrize("name", TAKES_OUT)
def test_out_of_functions_of_nn(name):
    call = TAKES_OUT[name]
    want, out = call(), facula.empty(0)
    assert call(out=out) is out and facula.equal(out, want)
    with pytest.raises(RuntimeError, match="dtype"):
        call(out=facula.empty(0, dtype=facula.float64))
    with pytest.raises(TypeError):
        call(out=3)


def test_out_of_histogram():
    x, edges = facula.tensor([0.1, 0.2, 0.6, 0.9]), facula.tensor([0.0, 0.5, 1.0])
    for bins, options in ((2, {"range": (0.0, 1.0)}), (edges, {"density": False})):
        out = facula.empty(0), facula.empty(0)
        found = facula.histogram(x, bins, **options, out=out)
        assert found[0] is out[0] and found[1] is out[1]
        assert out[0].tolist() == [2.0, 2.0] and out[1].tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(TypeError):
        facula.histogram(x, 2, out=facula.empty(0))
    with pytest.raises(RuntimeError, match="dtype"):
        facula.histogram(x, 2, out=(facula.empty(0), facula.empty(0, dtype=facula.float64)))
