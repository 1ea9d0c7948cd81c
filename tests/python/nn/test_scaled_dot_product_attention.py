"""Attention in tiles against sums written out in NumPy, and what it costs in memory."""

import os
import subprocess
import sys

import numpy as np
import pytest

import facula
from facula.nn.attention import SDPBackend, bias, sdpa_kernel
from facula.nn.functional import scaled_dot_product_attention as attend

TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 4e-2}


def expected(q, k, v, g, mask=None, causal=False, scale=None):
    """Result and gradients in float64; heads of k and v repeat; blind rows give 0."""
    group = q.shape[1] // k.shape[1]
    wide_k, wide_v = k.repeat(group, 1), v.repeat(group, 1)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    score = q @ wide_k.swapaxes(-1, -2) * scale
    if causal:
        score = np.where(np.tri(*score.shape[-2:], dtype=bool), score, -np.inf)
    if mask is not None:
        score = np.where(mask, score, -np.inf) if mask.dtype == bool else score + mask
    top = score.max(-1, keepdims=True)
    e = np.where(np.isinf(top), 0, np.exp(score - np.where(np.isinf(top), 0, top)))
    total = e.sum(-1, keepdims=True)
    p = e / np.where(total == 0, 1, total)
    out = p @ wide_v
    ds = p * (g @ wide_v.swapaxes(-1, -2) - (g * out).sum(-1, keepdims=True)) * scale

    def by_group(x):
        return x.reshape(x.shape[0], k.shape[1], group, *x.shape[2:]).sum(2)

    return (
        out,
        ds @ wide_k,
        by_group(ds.swapaxes(-1, -2) @ q),
        by_group(p.swapaxes(-1, -2) @ g),
    )


def check(rng, q_shape, kv_shape, value_size=None, dtype="float32", mask=None, gqa=False, **kw):
    kind = getattr(facula, dtype)
    v_shape = (*kv_shape[:-1], value_size or kv_shape[-1])
    ours = [facula.tensor(rng.standard_normal(s)).to(kind) for s in (q_shape, kv_shape, v_shape)]
    g = facula.tensor(rng.standard_normal((*q_shape[:-1], v_shape[-1]))).to(kind)
    arrays = [t.to(facula.float64).numpy() for t in (*ours, g)]
    for t in ours:
        t.requires_grad_(True)
    theirs = None
    if mask is not None:
        theirs = facula.from_numpy(mask)
        theirs = theirs if mask.dtype == bool else theirs.to(kind)
        mask = mask if mask.dtype == bool else theirs.to(facula.float64).numpy()
    out = attend(*ours, theirs, enable_gqa=gqa, **kw)
    out.backward(g)
    assert out.dtype == kind
    wanted = expected(*arrays, mask, kw.get("is_causal", False), kw.get("scale"))
    for got, want in zip([out, *(t.grad for t in ours)], wanted, strict=True):
        limit = TOLERANCE[dtype] * max(1, np.abs(want).max())
        np.testing.assert_allclose(got.detach().to(facula.float64).numpy(), want, atol=limit)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "queries, keys, size, value_size",
    [(8, 1, 1, 1), (33, 150, 20, 24), (200, 130, 64, 64), (130, 300, 33, 17), (300, 20, 8, 40)],
)
def test_shapes(rng, dtype, causal, queries, keys, size, value_size):
    check(rng, (2, 3, queries, size), (2, 3, keys, size), value_size, dtype, is_causal=causal)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("shape", [(40, 150), (2, 3, 40, 150), (2, 1, 1, 150), (1, 3, 40, 1)])
def test_masks(rng, dtype, kind, shape):
    mask = rng.random(shape) > 0.4 if kind == "bool" else rng.standard_normal(shape)
    if shape[-2] > 1:
        mask[..., 1, :] = False if kind == "bool" else -np.inf
    check(rng, (2, 3, 40, 16), (2, 3, 150, 16), dtype=dtype, mask=mask)


@pytest.mark.parametrize("queries", [2, 50])
@pytest.mark.parametrize("causal", [False, True])
def test_shared_heads(rng, queries, causal):
    check(rng, (2, 6, queries, 16), (2, 2, 140, 16), gqa=True, is_causal=causal, scale=0.7)


def test_shared_heads_must_divide():
    q, k = facula.ones(1, 6, 9, 4), facula.ones(1, 4, 9, 4)
    with pytest.raises(RuntimeError, match="must divide"):
        attend(q, k, k, enable_gqa=True)
    with pytest.raises(RuntimeError):
        attend(q, k, k)


def test_strided_operands(rng):
    """Heads taken from one projection are not neighbours in memory."""
    x = facula.tensor(rng.standard_normal((2, 40, 3, 4, 16)), dtype=facula.float32)
    q, k, v = x.permute(2, 0, 3, 1, 4)
    dense = attend(q.contiguous(), k.contiguous(), v.contiguous())
    assert facula.equal(attend(q, k, v), dense)
    turned = [t.transpose(-1, -2).contiguous().transpose(-1, -2) for t in (q, k, v)]
    assert facula.equal(attend(*turned), dense)


def test_broadcast_batch(rng):
    q, k, v = (
        facula.tensor(rng.standard_normal(s)).requires_grad_(True)
        for s in ((2, 3, 20, 8), (1, 3, 30, 8), (2, 1, 30, 8))
    )
    wide = [t.detach().expand(2, 3, -1, -1).clone().requires_grad_(True) for t in (q, k, v)]
    attend(q, k, v).sin().sum().backward()
    attend(*wide).sin().sum().backward()
    np.testing.assert_allclose(k.grad, wide[1].grad.sum(0, keepdim=True), atol=1e-12)
    np.testing.assert_allclose(v.grad, wide[2].grad.sum(1, keepdim=True), atol=1e-12)


@pytest.mark.parametrize("queries, keys", [(0, 5), (9, 0), (0, 0)])
def test_empty(queries, keys):
    q = facula.ones(2, 3, queries, 4, requires_grad=True)
    k = facula.ones(2, 3, keys, 4, requires_grad=True)
    out = attend(q, k, k)
    out.sum().backward()
    assert out.shape == q.shape and not out.any()
    assert not q.grad.any() and not k.grad.any()


def test_nan_and_infinity_stay_in_their_rows(rng):
    q, k, v = (facula.tensor(rng.standard_normal((1, 1, 20, 8))) for _ in range(3))
    q[0, 0, 3, 0] = float("nan")
    out = attend(q, k, v).isnan().any(-1)[0, 0]
    assert out[3] and out.sum() == 1


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_second_derivatives(rng, causal, masked):
    q, k, v = (
        facula.tensor(rng.standard_normal((1, h, 9, 3))).requires_grad_(True) for h in (4, 2, 2)
    )
    mask = facula.tensor(rng.random((9, 9)) > 0.3) if masked and not causal else None

    def f(*x):
        return attend(*x, mask, is_causal=causal, enable_gqa=True)

    assert facula.autograd.gradcheck(f, (q, k, v))
    assert facula.autograd.gradgradcheck(f, (q, k, v))


def test_gradient_of_mask(rng):
    q, k, v = (facula.tensor(rng.standard_normal((1, 2, 9, 3))) for _ in range(3))
    mask = facula.tensor(rng.standard_normal((9, 9))).requires_grad_(True)
    assert facula.autograd.gradcheck(lambda m: attend(q, k, v, m), (mask,))


def test_float_mask_beside_half(rng):
    q = facula.tensor(rng.standard_normal((1, 2, 9, 4)), dtype=facula.bfloat16)
    mask = facula.tensor(rng.standard_normal((9, 9)), dtype=facula.float32)
    wide = attend(q.float(), q.float(), q.float(), mask)
    assert facula.equal(attend(q, q, q, mask), wide.to(facula.bfloat16))
    with pytest.raises(RuntimeError, match="attn_mask dtype"):
        attend(q, q, q, mask.double())


@pytest.mark.parametrize("p", [-0.5, 1.5])
def test_dropout_out_of_range(p):
    q = facula.ones(1, 1, 9, 4)
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        attend(q, q, q, dropout_p=p)


def test_refusals():
    q = facula.ones(1, 1, 9, 4)
    with pytest.raises(RuntimeError, match="is_causal"):
        attend(q, q, q, facula.ones(9, 9), is_causal=True)
    with pytest.raises(RuntimeError, match="Long"):
        attend(q.long(), q.long(), q.long())
    with pytest.raises(RuntimeError, match="do not fit"):
        attend(q, q, facula.ones(1, 1, 8, 4))


def test_dropout_scales_what_is_left(rng):
    facula.manual_seed(0)
    q = facula.zeros(1, 1, 64, 4)
    v = facula.ones(1, 1, 4096, 4)
    out = attend(q, facula.zeros(1, 1, 4096, 4), v, dropout_p=0.5)
    assert abs(out.mean().item() - 1) < 0.02 and out.std().item() > 0


def test_memory_is_linear():
    """The scores of this call alone would take 256 MB."""
    length = 4096
    q, k, v = (facula.randn(1, 4, length, 16, requires_grad=True) for _ in range(3))
    facula.cpu.reset_peak_memory_stats()
    before = facula.cpu.memory_allocated()
    attend(q, k, v, is_causal=True).sum().backward()
    assert facula.cpu.max_memory_allocated() - before < 40 * 4 * length * 16 * 4


THREADS = """
import sys, facula
facula.set_num_threads(int(sys.argv[1]))
facula.manual_seed(0)
total = []
for shape in [(1, 2, 700, 24), (3, 4, 90, 64)]:
    q, k, v = (facula.randn(shape, requires_grad=True) for _ in range(3))
    out = facula.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    out.backward(facula.randn(shape))
    total += [out, q.grad, k.grad, v.grad]
print([hash(t.detach().numpy().tobytes()) for t in total])
"""


def test_threads_do_not_show():
    runs = [
        subprocess.run(
            [sys.executable, "-c", THREADS, n],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        ).stdout
        for n in ("1", "4")
    ]
    assert runs[0] == runs[1]


def test_bias_objects(rng):
    q, k = (facula.tensor(rng.standard_normal((1, 2, n, 4))) for n in (9, 12))
    for make, shift in [(bias.causal_upper_left, 0), (bias.causal_lower_right, 3)]:
        mask = make(9, 12)
        formed = facula.ones(9, 12, dtype=facula.bool).tril(shift)
        assert mask.shape == (9, 12) and repr(mask) == repr(formed)
        assert facula.equal(mask & formed, formed)
        facula.testing.assert_close(attend(q, k, k, mask), attend(q, k, k, formed))
    assert bias.CausalVariant.LOWER_RIGHT == 2
    with pytest.raises(ValueError, match="causal=True"):
        attend(q, k, k, bias.causal_upper_left(9, 12), is_causal=True)
    with pytest.raises(RuntimeError, match="does not fit"):
        attend(q, k, k, bias.causal_upper_left(9, 11))
    with pytest.raises(AssertionError):
        bias.causal_lower_right(3)
    with pytest.raises(AssertionError):
        bias.CausalBias(2, 3, 5)


def test_kernel_choice(rng):
    q = facula.tensor(rng.standard_normal((1, 2, 9, 4)))
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        assert facula.equal(attend(q, q, q), attend(q, q, q))
    with pytest.raises(AssertionError), sdpa_kernel([]):
        pass
