"""Small rules of operators: shares of gradients at ties, dtypes and shapes of results, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import facula
import facula.nn.functional as F

NAN = math.nan
X = [1.0, 2.0, 3.0, NAN, 4.0, 5.0]


def grads(f, *values, dtype=facula.float64):
    """The gradients of the sum of f, by each of the values that is not None."""
    leaves = [None if v is None else facula.tensor(v, dtype=dtype) for v in values]
    wanted = [v.requires_grad_() for v in leaves if v is not None]
    return [g.tolist() for g in facula.autograd.grad(f(*leaves).sum(), wanted)]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ([2.0] * 6, None, [[0, 0.5, 1, 1, 1, 1], [1, 0.5, 0, 1, 0, 0]]),
        (None, [2.0] * 6, [[1, 0.5, 0, 1, 0, 0], [0, 0.5, 1, 1, 1, 1]]),
        (
            [2.0] * 6,
            [4.0] * 6,
            [[0, 0.5, 1, 1, 0.5, 0], [1, 0.5, 0, 0, 0, 0], [0, 0, 0, 0, 0.5, 1]],
        ),
        ([2.0] * 6, [2.0] * 6, [[0, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 1, 1]]),
        ([4.0] * 6, [2.0] * 6, [[0, 0, 0, 1, 0, 0], [0] * 6, [1] * 6]),
        ([NAN] * 6, [2.0] * 6, [[1, 1, 0, 1, 0, 0], [0] * 6, [0] * 6]),
        ([2.0] * 6, [NAN] * 6, [[0, 1, 1, 1, 1, 1], [0] * 6, [0] * 6]),
        ([NAN] * 6, None, [[1] * 6, [1] * 6]),
    ],
)
def test_tensor_bounds_share_the_gradient(low, high, expected):
    assert grads(facula.clamp, X, low, high) == expected


@pytest.mark.parametrize("inplace", [False, True])
def test_number_bounds_take_no_gradient(inplace):
    def clamp(low, high):
        return lambda x: (x * 1).clamp_(low, high) if inplace else x.clamp(low, high)

    assert grads(clamp(2.0, None), X) == [[0, 0, 1, 0, 1, 1]]
    assert grads(clamp(None, 4.0), X) == [[1, 1, 1, 0, 0, 0]]
    assert grads(clamp(2.0, 4.0), X) == [[0, 0, 1, 0, 0, 0]]
    assert grads(clamp(NAN, None), X) == [[0] * 6]


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("dtype", [facula.float16, facula.bfloat16])
@pytest.mark.parametrize("bound", [0.1, 0.3])
def test_a_rounded_bound_is_met_in_half_types(dtype, bound, inplace):
    for low, high in ((bound, None), (None, bound), (bound, 2), (-1, bound)):
        for create in (False, True):
            x = facula.tensor([bound, 0.2], dtype=dtype, requires_grad=True)
            y = (x * 1).clamp_(low, high) if inplace else x.clamp(low, high)
            (g,) = facula.autograd.grad(y.sum(), x, create_graph=create)
            inside = (low is None or low < 0.2) and (high is None or high > 0.2)
            assert g.tolist() == [0, float(inside)]


def test_clamp_of_integers_by_a_float_promotes():
    x = facula.tensor([1, 2, 3])
    for y in (x.clamp(min=1.5), x.clamp_min(1.5), x.clamp(1.5, 9)):
        assert y.dtype == facula.float32 and y.tolist() == [1.5, 2, 3]


@pytest.mark.parametrize("other", ["number", "0-d float32", "0-d float64"])
@pytest.mark.parametrize("dtype", [facula.float16, facula.bfloat16])
def test_comparisons_see_values_of_the_promoted_dtype(dtype, other):
    values = [0.1, 0.3, -1.7, 0.7]
    x = facula.tensor(values, dtype=dtype)
    for i, value in enumerate(values):
        y = value if other == "number" else facula.tensor(value, dtype=getattr(facula, other[4:]))
        equal = [k == i for k in range(4)]
        assert (x == y).tolist() == equal
        assert (x != y).tolist() == [not same for same in equal]
        assert (x >= y)[i] and (x <= y)[i] and not (x > y)[i] and not (x < y)[i]
        assert x.clone().ge_(y)[i] == 1
        assert facula.eq(x[::2], y, out=facula.empty(2)).tolist() == equal[::2]
    whole = facula.tensor([2049, 4097])
    assert (whole.to(dtype) == whole).tolist() == [True, True]


def test_fmax_and_fmin_share_ties():
    other = [2.0] * 6
    assert grads(facula.fmax, X, other) == [[0, 0.5, 1, 0, 1, 1], [1, 0.5, 0, 1, 0, 0]]
    assert grads(facula.fmin, X, other) == [[1, 0.5, 0, 0, 0, 0], [0, 0.5, 1, 1, 1, 1]]
    assert grads(facula.fmax, X, [NAN] * 6) == [[1] * 6, [0] * 6]
    assert grads(facula.nextafter, [1.0, 2.0, 3.0], [2.0] * 3) == [[1, 0, 1], [0] * 3]


@pytest.mark.parametrize("dtype", [facula.float16, facula.bfloat16, facula.float32, facula.float64])
@pytest.mark.parametrize("kind", [facula.int8, facula.int32, facula.int64, facula.uint8])
def test_ldexp_keeps_the_dtype_of_the_mantissa(dtype, kind):
    x = facula.tensor([1.5, -0.25, 0.0], dtype=dtype, requires_grad=True)
    power = facula.tensor([3, 2, 100], dtype=kind)
    y = facula.ldexp(x, power)
    assert y.dtype == dtype
    assert y.tolist() == [12.0, -1.0, 0.0]
    (g,) = facula.autograd.grad(y[:2].sum(), x)
    assert g.dtype == dtype and g.tolist() == [8.0, 4.0, 0.0]
    assert facula.ldexp(x[0], power[0]).dtype == dtype
    assert facula.ldexp(x.detach()[0], power).tolist()[:2] == [12.0, 6.0]


def test_ldexp_reaches_the_whole_range():
    tiny = facula.tensor([2.0**-149, 2.0**-100, 1.0, 1.0])
    power = facula.tensor([276, 200, 128, -150])
    assert facula.ldexp(tiny, power).tolist() == [2.0**127, 2.0**100, math.inf, 0.0]
    assert facula.ldexp(facula.tensor([3]), facula.tensor([2])).dtype == facula.float32
    assert facula.ldexp(facula.tensor([3.0]), facula.tensor([0.5])).item() == pytest.approx(
        3 * 2**0.5
    )


def test_frexp_has_gradients_as_large_as_the_type_holds():
    x = facula.tensor([1e-5, 3.0], dtype=facula.float16, requires_grad=True)
    mantissa, _ = facula.frexp(x)
    (g,) = facula.autograd.grad(mantissa, x, facula.tensor([0.75, 1.0], dtype=facula.float16))
    assert g.tolist() == [0.75 * 2**16, 0.25]


@pytest.mark.parametrize("kind", [facula.float64, facula.float16, facula.int64])
def test_lerp_takes_a_0d_weight_for_a_number(kind):
    start, end = facula.tensor([1.0, 3.0]), facula.tensor([2.0, 5.0])
    weight = facula.tensor(1, dtype=kind)
    assert facula.lerp(start, end, weight).tolist() == [2.0, 5.0]
    assert facula.lerp(start, end, weight).dtype == facula.float32
    with pytest.raises(RuntimeError, match="weight"):
        facula.lerp(start, end, facula.ones(2, dtype=kind))


def test_cosine_similarity_broadcasts_along_the_vectors():
    a = np.random.default_rng(0).standard_normal((1, 2, 3))
    b = np.random.default_rng(1).standard_normal((2, 1, 3))

    def judge(dim):
        x, y = np.broadcast_arrays(a, b)
        norms = np.linalg.norm(x, axis=dim) * np.linalg.norm(y, axis=dim)
        return (x * y).sum(dim) / norms

    for dim in (-3, -2, -1, 0, 1, 2):
        found = F.cosine_similarity(facula.from_numpy(a), facula.from_numpy(b), dim=dim)
        assert np.allclose(found.numpy(), judge(dim))
    row = facula.tensor([0.0, 1.0, 2.0])
    assert F.cosine_similarity(row, facula.ones(2, 3)).tolist() == pytest.approx([0.6**0.5] * 2)
    with pytest.raises(IndexError):
        F.cosine_similarity(row, facula.ones(2, 3), dim=2)


@pytest.mark.parametrize("dtype", [facula.int32, facula.uint8, facula.bool])
def test_einsum_of_integers_promotes_what_it_sums(dtype):
    a, b = facula.ones(1, 2, 3, dtype=dtype), facula.ones(3, dtype=dtype)
    found = facula.einsum("...ik, ...j -> ij", a, b)
    assert found.dtype == facula.int64 and found.tolist() == [[3, 3, 3]] * 2
    found = facula.einsum("ijk,k->k", a, b)
    assert found.dtype == facula.int64 and found.tolist() == [2, 2, 2]
    assert facula.einsum("i,i->i", b, b).dtype == dtype
    assert facula.einsum("...,...->...", a, b).tolist() == a.tolist()


NUMBERS = {
    "add": lambda x, v: facula.add(x, x, alpha=v),
    "addcmul": lambda x, v: facula.addcmul(x, x, x, value=v),
    "addmm": lambda x, v: facula.addmm(x, x, x, beta=v),
    "elu": lambda x, v: F.elu(x, v),
    "full": lambda x, v: facula.full((2,), v),
    "index_add": lambda x, v: facula.index_add(x, 0, facula.tensor([0]), x[:1], alpha=v),
    "layer_norm": lambda x, v: F.layer_norm(x, (3,), eps=v),
    "norm": lambda x, v: facula.linalg.vector_norm(x, v),
    "softplus": lambda x, v: F.softplus(x, v),
    "uniform_": lambda x, v: facula.empty(3).uniform_(0, v),
}


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_a_number_is_no_tensor_with_a_gradient(name):
    call, x = NUMBERS[name], facula.ones(3, 3)
    call(x, facula.tensor(2.0))
    with pytest.raises(TypeError):
        call(x, facula.tensor(2.0, requires_grad=True))


def test_index_fill_with_a_tensor_has_its_gradient():
    value = facula.tensor(2.0, requires_grad=True)
    index = facula.tensor([0, 2])
    facula.index_fill(facula.ones(3, 4), 0, index, value).sum().backward()
    assert value.grad.item() == 8.0
    value.grad = None
    facula.index_fill(facula.ones(3, 4), 1, facula.tensor([0, 0, 3]), value).sum().backward()
    assert value.grad.item() == 6.0  # what is filled twice counts once
    value.grad = None
    facula.ones(3, 4).index_fill_(1, index, value).sum().backward()
    assert value.grad.item() == 6.0


@pytest.mark.parametrize("dtype", [facula.float16, facula.bfloat16, facula.float32])
def test_statistics_of_norms_have_the_parameters_dtype(dtype):
    x = facula.rand(4, 6, 3).to(dtype)
    mean = x.float().mean((0, 2))
    for kind in (dtype, facula.float32):
        w, v = facula.ones(6, dtype=kind), facula.ones(3, dtype=kind)
        found = [
            facula.native_batch_norm(x, w, w, None, None, True, 0.1, 1e-5),
            facula.native_layer_norm(x, [3], v, v, 1e-5),
            facula.native_group_norm(x, w, w, 4, 6, 3, 2, 1e-5),
        ]
        assert all(f[1].dtype == f[2].dtype == kind and f[0].dtype == dtype for f in found)
        assert np.allclose(found[0][1].float().numpy(), mean.numpy(), atol=1e-2)
    found = facula.native_layer_norm(x, [3], None, None, 1e-5)
    assert found[1].dtype == dtype
    empty = facula.native_batch_norm(x, None, None, mean, mean, False, 0.1, 1e-5)
    assert empty[1].dtype == facula.float32 and empty[1].shape == (0,)


def gradients_of_statistics(x):
    x = x.clone().requires_grad_()
    _, mean, rstd = facula.native_group_norm(x, None, None, 2, 6, 3, 3, 1e-5)
    assert mean.dtype == rstd.dtype == x.dtype
    up = facula.arange(6.0, dtype=x.dtype).reshape(2, 3)
    (g,) = facula.autograd.grad((mean * up + rstd * (6 - up)).sum(), x)
    return g


def test_native_group_norm_has_gradients_of_its_statistics():
    x = (facula.arange(36, dtype=facula.float64) * 0.37 % 1).reshape(2, 6, 3)
    expected = [
        *(14.676073477, -14.676073477, -6.504740494, -0.328628892),
        *(0.996471669, 7.677448412, 3.279345579, -1.612678913),
    ]
    assert gradients_of_statistics(x).flatten()[::5].tolist() == pytest.approx(expected, rel=1e-7)
    for dtype in (facula.float16, facula.bfloat16):
        short = x.to(dtype)
        found, wide = gradients_of_statistics(short), gradients_of_statistics(short.double())
        assert found.dtype == dtype
        assert np.allclose(found.double().numpy(), wide.numpy(), rtol=0.01, atol=0.01)


def test_group_norm_refuses_nothing_to_average():
    for shape, words in (((1, 2, 0), "HxW"), ((0, 2, 0), "HxW"), ((1, 0, 3), "channels")):
        with pytest.raises(RuntimeError, match=f"{words} to be greater than 0"):
            F.group_norm(facula.ones(shape), 1)
    assert F.group_norm(facula.ones(0, 2, 3), 1).shape == (0, 2, 3)


@pytest.mark.parametrize(
    ("driver", "expected"),
    [(None, (0,)), ("gels", (2,)), ("gelsy", (0,)), ("gelsd", (2,)), ("gelss", (2,))],
)
def test_residuals_of_least_squares(driver, expected):
    a, b = facula.rand(4, 3, dtype=facula.float64), facula.rand(4, 2, dtype=facula.float64)
    found = facula.linalg.lstsq(a, b, driver=driver)
    assert found.residuals.shape == expected
    if expected == (2,):
        gap = (a @ found.solution - b).square().sum(0)
        assert np.allclose(found.residuals.numpy(), gap.numpy())
    none = facula.linalg.lstsq(a[:, :0], b, driver=driver).residuals
    assert none.shape == expected
    if expected == (2,):
        assert np.allclose(none.numpy(), b.square().sum(0).numpy())


@pytest.mark.parametrize("dtype", [facula.float16, facula.bfloat16])
def test_matrix_exp_of_short_types_is_rounded_once(dtype):
    x = (facula.rand(2, 4, 4) - 0.5).to(dtype).requires_grad_()
    y = facula.linalg.matrix_exp(x)
    wide = x.detach().float().requires_grad_()
    expected = facula.linalg.matrix_exp(wide)
    assert y.dtype == dtype and facula.equal(y, expected.to(dtype))
    y.sum().backward()
    expected.sum().backward()
    assert x.grad.dtype == dtype
    assert np.allclose(x.grad.float().numpy(), wide.grad.numpy(), rtol=2e-2, atol=2e-2)


def test_heads_are_shared_over_a_broadcast_batch():
    def values(*shape):
        return (facula.arange(math.prod(shape), dtype=facula.float64) * 0.37 % 1).reshape(shape)

    key, value = values(2, 2, 5, 3), values(2, 2, 5, 3) * 2
    found = F.scaled_dot_product_attention(values(4, 2, 3), key, value, enable_gqa=True)
    expected = [
        *(0.41584295, 1.157780858, 1.0167427965, 1.5729458557),
        *(1.3544281512, 0.881514241, 1.4016846427),
    ]
    assert found.shape == (2, 4, 2, 3)
    assert found.flatten()[::7].tolist() == pytest.approx(expected)
    with pytest.raises(IndexError):
        F.scaled_dot_product_attention(key[0, 0], key[0, 0], key[0, 0], enable_gqa=True)


def test_hardtanh_of_unsigned_integers():
    x = facula.tensor([0, 1, 2, 7], dtype=facula.uint8)
    assert F.hardtanh(x, -1.0, 1.0).tolist() == [0, 1, 1, 1]
    assert F.hardtanh(x, -1.0, 1.0).dtype == facula.uint8
    assert F.hardtanh(x, -1.0, 2.0, inplace=True) is x and x.tolist() == [0, 1, 2, 2]
    with pytest.raises(RuntimeError, match="max value -1"):
        F.hardtanh(x, -2, -1)


TRICUBIC = [
    ("zeros", False, [0.2533336719, 0.2847091338, -0.0094990752], -1.1286196811),
    ("zeros", True, [0.4647861739, 0.739210312, 0.3980799979], -0.7919685364),
    ("border", False, [0.2243830078, 0.6799525703, 0.7946253125], -1.0357470703),
    ("border", True, [0.436875, 0.6552520625, 0.7390745], -0.77634375),
    ("reflection", False, [0.2243830078, 0.6830865625, 0.7980685859], -1.0357470703),
    ("reflection", True, [0.3699796875, 0.654437375, 0.779083], -0.887859375),
]


@pytest.mark.parametrize(("padding", "align", "expected", "slope"), TRICUBIC)
def test_cubic_samples_of_volumes(padding, align, expected, slope):
    x = (facula.arange(27, dtype=facula.float64) * 0.37 % 1).reshape(1, 1, 3, 3, 3)
    at = facula.tensor(
        [[0.1, -0.3, 0.5], [-0.9, 0.95, 0.2], [0.3, 1.2, -1.4]],
        dtype=facula.float64,
        requires_grad=True,
    )
    y = F.grid_sample(x, at[None, None, None], "bicubic", padding, align).flatten()
    assert y.tolist() == pytest.approx(expected, abs=1e-9)
    (g,) = facula.autograd.grad(y[0], at)
    assert g[0, 2].item() == pytest.approx(slope, abs=1e-9)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags_of_short_types_are_rounded_once(mode):
    table = facula.rand(50, 4).to(facula.bfloat16)
    index = facula.arange(50)
    found = F.embedding_bag(index, table, facula.tensor([0, 20]), mode=mode)
    wide = F.embedding_bag(index, table.float(), facula.tensor([0, 20]), mode=mode)
    assert found.dtype == facula.bfloat16 and facula.equal(found, wide.to(facula.bfloat16))


def test_refusals():
    zero = facula.tensor(1.0)
    for call in (lambda: facula.roll(zero, 0, 0), lambda: facula.roll(zero, (1,), (-1,))):
        with pytest.raises(IndexError, match="no dimensions"):
            call()
    assert facula.roll(zero, 1).item() == 1.0
    with pytest.raises(IndexError, match="dim 1 to have non-zero size"):
        facula.aminmax(facula.zeros(5, 0, 5), dim=1)
    with pytest.raises(RuntimeError, match="aminmax"):
        facula.aminmax(facula.zeros(0))
    with pytest.raises(RuntimeError, match="dtype int64"):
        facula.multinomial(facula.rand(1, 2), 2, out=facula.zeros(1, 2))
    with pytest.raises(RuntimeError, match="tau"):
        facula.ormqr(facula.ones(5, 3), facula.ones(2), facula.ones(5, 5))
