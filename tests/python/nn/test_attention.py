"""Attention and the Transformer against sums written out in NumPy."""

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn import functional as F


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(q, k, v, mask=None):
    score = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weight = softmax(score if mask is None else score + mask)
    return weight @ v, weight


def expected_mha(layer, q, k, v, mask=None):
    """(L, N, E) attention with stacked projections; gives output and mean weights."""
    e, heads = layer.embed_dim, layer.num_heads
    w, b = array(layer.in_proj_weight), array(layer.in_proj_bias)

    def project(x, i):
        y = x @ w[i * e : (i + 1) * e].T + b[i * e : (i + 1) * e]
        return y.reshape(*y.shape[:2], heads, e // heads).transpose(1, 2, 0, 3)

    out, weight = attend(project(q, 0), project(k, 1), project(v, 2), mask)
    out = out.transpose(2, 0, 1, 3).reshape(q.shape)
    return out @ array(layer.out_proj.weight).T + array(layer.out_proj.bias), weight.mean(1)


@pytest.fixture
def layer():
    facula.manual_seed(0)
    return nn.MultiheadAttention(6, 2, dtype=facula.float64)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("masked", ["", "float", "bool", "padding"])
def test_multihead(rng, layer, need_weights, masked):
    q, k, v = (rng.standard_normal((n, 2, 6)) for n in (3, 4, 4))
    mask, options = None, {}
    if masked == "float":
        mask = rng.standard_normal((3, 4))
        options["attn_mask"] = tensor(mask)
    elif masked == "bool":
        hidden = np.triu(np.ones((3, 4), dtype=bool), 1)
        options["attn_mask"] = tensor(hidden)
        mask = np.where(hidden, -np.inf, 0.0)
    elif masked == "padding":
        hidden = np.array([[False, False, True, True], [False] * 4])
        options["key_padding_mask"] = tensor(hidden)
        mask = np.where(hidden, -np.inf, 0.0)[:, None, None]
    out, weight = layer(tensor(q), tensor(k), tensor(v), need_weights=need_weights, **options)
    expected, mean = expected_mha(layer, q, k, v, mask)
    np.testing.assert_allclose(array(out), expected, rtol=1e-8, atol=1e-10)
    if need_weights:
        np.testing.assert_allclose(array(weight), mean, rtol=1e-8, atol=1e-10)
    else:
        assert weight is None


def test_batch_first_unbatched_and_causal(rng, layer):
    x = rng.standard_normal((4, 2, 6))
    causal = np.triu(np.full((4, 4), -np.inf), 1)
    expected = expected_mha(layer, x, x, x, causal)[0]
    t = tensor(x)
    mask = nn.Transformer.generate_square_subsequent_mask(4, dtype=facula.float64)
    out = layer(t, t, t, attn_mask=mask, is_causal=True, need_weights=False)[0]
    np.testing.assert_allclose(array(out), expected, rtol=1e-8, atol=1e-10)
    one = tensor(x[:, 0])
    out = layer(one, one, one, attn_mask=mask)[0]
    np.testing.assert_allclose(array(out), expected[:, 0], rtol=1e-8, atol=1e-10)
    layer.batch_first = True
    t = tensor(x.transpose(1, 0, 2))
    out = layer(t, t, t, attn_mask=mask)[0]
    np.testing.assert_allclose(array(out).transpose(1, 0, 2), expected, rtol=1e-8, atol=1e-10)


def test_extra_keys_and_other_widths(rng):
    other = nn.MultiheadAttention(6, 3, kdim=4, vdim=5, add_bias_kv=True, add_zero_attn=True)
    q, k, v = (facula.rand(n, 2, w) for n, w in ((3, 6), (4, 4), (4, 5)))
    out, weight = other(q, k, v, average_attn_weights=False)
    assert out.shape == (3, 2, 6) and weight.shape == (2, 3, 3, 6)
    np.testing.assert_allclose(array(weight.sum(-1)), 1.0, rtol=1e-5)
    out.sum().backward()
    assert all(p.grad is not None for p in other.parameters())


def test_refusals(layer):
    q = facula.ones(3, 2, 6, dtype=facula.float64)
    with pytest.raises(AssertionError, match="For batched .3-D. `query`"):
        layer(q, q[0], q)
    with pytest.raises(AssertionError, match="was expecting embedding dimension of 6, but got 5"):
        layer(q[..., :5], q, q)
    with pytest.raises(RuntimeError, match="The shape of the 2D attn_mask"):
        layer(q, q, q, attn_mask=facula.zeros(2, 2))
    with pytest.raises(RuntimeError, match="Need attn_mask"):
        layer(q, q, q, is_causal=True)
    with pytest.raises(AssertionError, match="divisible by num_heads"):
        nn.MultiheadAttention(5, 2)


@pytest.mark.parametrize("causal", [False, True])
def test_scaled_dot_product_attention(rng, causal):
    q, k, v = (rng.standard_normal((2, 3, n, 4)) for n in (5, 5, 5))
    mask = np.triu(np.full((5, 5), -np.inf), 1) if causal else None
    got = F.scaled_dot_product_attention(tensor(q), tensor(k), tensor(v), is_causal=causal)
    np.testing.assert_allclose(array(got), attend(q, k, v, mask)[0], rtol=1e-8, atol=1e-10)


def norm(x, layer):
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + layer.eps)
    return y * array(layer.weight) + array(layer.bias)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer(rng, norm_first):
    net = nn.TransformerEncoderLayer(
        6, 2, 8, dropout=0.0, norm_first=norm_first, dtype=facula.float64
    )
    x = rng.standard_normal((3, 2, 6))

    def ff(y):
        y = np.maximum(y @ array(net.linear1.weight).T + array(net.linear1.bias), 0)
        return y @ array(net.linear2.weight).T + array(net.linear2.bias)

    if norm_first:
        y = norm(x, net.norm1)
        y = x + expected_mha(net.self_attn, y, y, y)[0]
        expected = y + ff(norm(y, net.norm2))
    else:
        y = norm(x + expected_mha(net.self_attn, x, x, x)[0], net.norm1)
        expected = norm(y + ff(y), net.norm2)
    np.testing.assert_allclose(array(net(tensor(x))), expected, rtol=1e-8, atol=1e-10)


def test_transformer_is_causal_where_masked():
    facula.manual_seed(0)
    net = nn.Transformer(8, 2, 1, 2, 16, dropout=0.0, activation="gelu", batch_first=True)
    src, tgt = facula.rand(2, 5, 8), facula.rand(2, 4, 8)
    mask = net.generate_square_subsequent_mask(4)
    first = net(src, tgt, tgt_mask=mask)
    changed = tgt.clone()
    changed[:, 3] += 1.0
    second = net(src, changed, tgt_mask=mask)
    np.testing.assert_allclose(array(first)[:, :3], array(second)[:, :3], rtol=1e-5, atol=1e-6)
    assert np.abs(array(first)[:, 3] - array(second)[:, 3]).max() > 1e-3
    first.sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    with pytest.raises(RuntimeError, match="batch number of src and tgt must be equal"):
        net(src[:1], tgt)


def test_encoder_ignores_padding():
    facula.manual_seed(0)
    net = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, nn.LayerNorm(8)
    )
    x = facula.rand(1, 5, 8)
    padding = facula.tensor([[False, False, False, True, True]])
    full = net(x, src_key_padding_mask=padding)
    short = net(x[:, :3])
    np.testing.assert_allclose(array(full)[:, :3], array(short), rtol=1e-4, atol=1e-5)
    assert net.layers[0].linear1.weight is not net.layers[1].linear1.weight


def test_backend_choice():
    from facula.nn.attention import SDPBackend, sdpa_kernel

    q = facula.rand(1, 1, 2, 4)
    with sdpa_kernel([SDPBackend.MATH]):
        assert F.scaled_dot_product_attention(q, q, q).shape == q.shape
    with pytest.raises(AssertionError), sdpa_kernel(["x"]):
        pass


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("shape", [(0, 2, 4), (3, 0, 4)])
def test_nothing_to_attend(shape, need_weights):
    layer = nn.MultiheadAttention(4, 2)
    x = facula.ones(*shape, requires_grad=True)
    out, _ = layer(x, x, x, need_weights=need_weights)
    assert out.shape == shape
    out.sum().backward()
    assert x.grad.shape == shape


@pytest.mark.parametrize("activation, kind", [
    ("relu", 1), (F.relu, 1), (nn.ReLU(), 1), ("gelu", 2), (nn.GELU(), 2), (facula.tanh, 0),
])  # fmt: skip
def test_encoder_layers_tell_their_activation(activation, kind):
    assert nn.TransformerEncoderLayer(4, 2, activation=activation).activation_relu_or_gelu == kind
