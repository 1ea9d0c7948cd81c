"""Recurrent layers and cells against steps written out in NumPy; packed sequences."""

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn.utils import rnn


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(mode, x, state, w):
    """One step: w is (w_ih, w_hh, b_ih, b_hh[, w_hr]); state and result are (h, c)."""
    h, c = state
    a, b = x @ w[0].T + w[2], h @ w[1].T + w[3]
    if mode == "LSTM":
        i, f, g, o = np.split(a + b, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return (h @ w[4].T if len(w) > 4 else h), c
    if mode == "GRU":
        ar, az, an = np.split(a, 3, -1)
        br, bz, bn = np.split(b, 3, -1)
        r, z = sigmoid(ar + br), sigmoid(az + bz)
        return (1 - z) * np.tanh(an + r * bn) + z * h, c
    return (np.tanh(a + b) if mode == "RNN_TANH" else np.maximum(a + b, 0)), c


def run(layer, x, h0, c0):
    """The whole layer over (L, N, input); gives output, final h, final c."""
    weights = [[array(w) for w in ws] for ws in layer.all_weights]
    directions = 2 if layer.bidirectional else 1
    hs, cs = [], []
    for k in range(layer.num_layers):
        outs = []
        for d in range(directions):
            at = k * directions + d
            state, out = (h0[at], c0[at]), [None] * len(x)
            for t in range(len(x))[:: -1 if d else 1]:
                state = step(layer.mode, x[t], state, weights[at])
                out[t] = state[0]
            outs.append(np.stack(out))
            hs.append(state[0])
            cs.append(state[1])
        x = np.concatenate(outs, -1)
    return x, np.stack(hs), np.stack(cs)


LAYERS = [
    (nn.RNN, {}), (nn.RNN, {"nonlinearity": "relu", "num_layers": 2}),
    (nn.GRU, {"num_layers": 2, "bidirectional": True}), (nn.LSTM, {}),
    (nn.LSTM, {"num_layers": 2, "bidirectional": True}),
    (nn.LSTM, {"num_layers": 2, "proj_size": 2, "bidirectional": True}),
]  # fmt: skip


@pytest.mark.parametrize("cls, options", LAYERS)
def test_sequences(rng, cls, options):
    layer = cls(3, 4, dtype=facula.float64, **options)
    rows = layer.num_layers * (2 if layer.bidirectional else 1)
    x = rng.standard_normal((5, 2, 3))
    h0 = rng.standard_normal((rows, 2, layer.proj_size or 4))
    c0 = rng.standard_normal((rows, 2, 4))
    expected = run(layer, x, h0, c0)
    hx = (tensor(h0), tensor(c0)) if cls is nn.LSTM else tensor(h0)
    out, last = layer(tensor(x), hx)
    np.testing.assert_allclose(array(out), expected[0], rtol=1e-9, atol=1e-12)
    h = last[0] if cls is nn.LSTM else last
    np.testing.assert_allclose(array(h), expected[1], rtol=1e-9, atol=1e-12)
    if cls is nn.LSTM:
        np.testing.assert_allclose(array(last[1]), expected[2], rtol=1e-9, atol=1e-12)
    layer.batch_first = True
    again, _ = layer(tensor(x.transpose(1, 0, 2)), hx)
    np.testing.assert_allclose(array(again).transpose(1, 0, 2), expected[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", [nn.RNN, nn.GRU, nn.LSTM])
def test_unbatched_and_default_state(rng, cls):
    layer = cls(3, 4, dtype=facula.float64)
    x = rng.standard_normal((5, 3))
    out, _ = layer(tensor(x))
    expected = run(layer, x[:, None], np.zeros((1, 1, 4)), np.zeros((1, 1, 4)))[0]
    np.testing.assert_allclose(array(out), expected[:, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_equals_one_by_one(rng, cls, bidirectional):
    layer = cls(3, 4, bidirectional=bidirectional, dtype=facula.float64)
    parts = [rng.standard_normal((n, 3)) for n in (2, 5, 3)]
    packed = rnn.pack_sequence([tensor(p) for p in parts], enforce_sorted=False)
    out, last = layer(packed)
    padded, lengths = rnn.pad_packed_sequence(out)
    assert lengths.tolist() == [2, 5, 3]
    last = last[0] if cls is nn.LSTM else last
    for i, p in enumerate(parts):
        alone, alone_last = layer(tensor(p))
        got = array(padded)[: len(p), i]
        np.testing.assert_allclose(got, array(alone), rtol=1e-9, atol=1e-12)
        alone_last = alone_last[0] if cls is nn.LSTM else alone_last
        np.testing.assert_allclose(array(last)[:, i], array(alone_last), rtol=1e-9, atol=1e-12)
    padded.sum().backward()
    assert layer.weight_ih_l0.grad is not None


def test_gradients_by_differences(rng):
    layer = nn.LSTM(2, 3, dtype=facula.float64)
    x = rng.standard_normal((4, 1, 2))
    layer(tensor(x))[0].sum().backward()
    weight = layer.weight_hh_l0
    got = array(weight.grad).copy()
    with facula.no_grad():
        for at in [(0, 0), (5, 2), (11, 1)]:
            base = float(weight[at])
            values = []
            for eps in (1e-6, -1e-6):
                weight[at] = base + eps
                values.append(float(layer(tensor(x))[0].sum()))
            weight[at] = base
            np.testing.assert_allclose(got[at], (values[0] - values[1]) / 2e-6, rtol=1e-4)


def test_dropout_between_layers_acts_in_training_only():
    layer = nn.GRU(3, 4, num_layers=2, dropout=0.9)
    x = facula.rand(5, 2, 3)
    a, b = layer(x)[0], layer(x)[0]
    assert (array(a) != array(b)).any()
    layer.eval()
    np.testing.assert_array_equal(array(layer(x)[0]), array(layer(x)[0]))


@pytest.mark.parametrize("cls, mode", [(nn.RNNCell, "RNN_TANH"), (nn.GRUCell, "GRU"),
                                       (nn.LSTMCell, "LSTM")])  # fmt: skip
def test_cells(rng, cls, mode):
    cell = cls(3, 4, dtype=facula.float64)
    w = [array(p) for p in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)]
    x, h, c = rng.standard_normal((2, 3)), rng.standard_normal((2, 4)), rng.standard_normal((2, 4))
    expected = step(mode, x, (h, c), w)
    hx = (tensor(h), tensor(c)) if mode == "LSTM" else tensor(h)
    got = cell(tensor(x), hx)
    got = got[0] if mode == "LSTM" else got
    np.testing.assert_allclose(array(got), expected[0], rtol=1e-9)
    zeros = (np.zeros(4), np.zeros(4))
    got = cell(tensor(x[0]))
    got = got[0] if mode == "LSTM" else got
    np.testing.assert_allclose(array(got), step(mode, x[0], zeros, w)[0], rtol=1e-9)


def test_refusals():
    lstm = nn.LSTM(3, 4)
    with pytest.raises(RuntimeError, match="Expected 3, got 7"):
        lstm(facula.ones(5, 2, 7))
    with pytest.raises(ValueError, match="Expected input to be 2D or 3D, got 4D"):
        lstm(facula.ones(5, 2, 3, 3))
    with pytest.raises(
        RuntimeError, match=r"Expected hidden\[0\] size \(1, 2, 4\), got \[1, 3, 4\]"
    ):
        lstm(facula.ones(5, 2, 3), (facula.zeros(1, 3, 4), facula.zeros(1, 2, 4)))
    with pytest.raises(RuntimeError, match="should also be 2-D"):
        nn.GRU(3, 4)(facula.ones(5, 3), facula.zeros(1, 3, 4))
    with pytest.raises(ValueError, match="does not match weight dtype"):
        lstm(facula.ones(5, 2, 3, dtype=facula.float64))
    with pytest.raises(ValueError, match="only supported for LSTM"):
        nn.GRU(3, 4, proj_size=2)
    with pytest.raises(ValueError, match="smaller than hidden_size"):
        nn.LSTM(3, 4, proj_size=4)
    with pytest.raises(ValueError, match="Unknown nonlinearity 'x'"):
        nn.RNN(3, 4, nonlinearity="x")
    with pytest.raises(ValueError, match="Expected input to be 1D or 2D, got 3D"):
        nn.LSTMCell(3, 4)(facula.ones(1, 2, 3))


def test_names_and_printing():
    lstm = nn.LSTM(3, 4, 2, bidirectional=True, bias=False, proj_size=2)
    names = [n for n, _ in lstm.named_parameters()]
    assert names[:6] == [
        "weight_ih_l0", "weight_hh_l0", "weight_hr_l0",
        "weight_ih_l0_reverse", "weight_hh_l0_reverse", "weight_hr_l0_reverse",
    ]  # fmt: skip
    expected = "LSTM(3, 4, proj_size=2, num_layers=2, bias=False, bidirectional=True)"
    assert repr(lstm) == expected
    assert lstm.flatten_parameters() is None


def test_packing_round_trip(rng):
    x = rng.standard_normal((4, 3, 2))
    lengths = facula.tensor([4, 2, 1])
    t = tensor(x).requires_grad_()
    packed = rnn.pack_padded_sequence(t, lengths)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    rows = [x[i, :n] for i, n in enumerate([3, 2, 1, 1])]
    np.testing.assert_array_equal(array(packed.data), np.concatenate(rows))
    padded, back = rnn.pad_packed_sequence(packed, padding_value=-1.0, total_length=5)
    assert back.tolist() == [4, 2, 1] and padded.shape == (5, 3, 2)
    expected = np.full((5, 3, 2), -1.0)
    for i, n in enumerate([4, 2, 1]):
        expected[:n, i] = x[:n, i]
    np.testing.assert_array_equal(array(padded), expected)
    padded.sum().backward()
    assert float(t.grad.sum()) == 14.0
    with pytest.raises(RuntimeError, match="sorted in decreasing order"):
        rnn.pack_padded_sequence(t, facula.tensor([1, 2, 4]))
    with pytest.raises(ValueError, match="Expected total_length"):
        rnn.pad_packed_sequence(packed, total_length=2)


def test_pad_sequence():
    a, b = facula.ones(3, 2), facula.ones(1, 2)
    assert rnn.pad_sequence([a, b]).shape == (3, 2, 2)
    padded = rnn.pad_sequence([a, b], batch_first=True, padding_value=9.0)
    assert padded[1, :, 0].tolist() == [1.0, 9.0, 9.0]
    left = rnn.pad_sequence([a, b], batch_first=True, padding_side="left")
    assert left[1, :, 0].tolist() == [0.0, 0.0, 1.0]
    parts = rnn.unpad_sequence(padded, facula.tensor([3, 1]), batch_first=True)
    assert [tuple(p.shape) for p in parts] == [(3, 2), (1, 2)]
    parts = rnn.unpack_sequence(rnn.pack_sequence([b, a], enforce_sorted=False))
    assert [tuple(p.shape) for p in parts] == [(1, 2), (3, 2)]


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_no_samples(kind):
    net = getattr(facula.nn, kind)(3, 4, num_layers=2)
    out, _ = net(facula.ones(2, 0, 3, requires_grad=True))
    assert out.shape == (2, 0, 4)
    out.sum().backward()
    assert all(not p.grad.any() for p in net.parameters())


@pytest.mark.parametrize("dtype", [facula.bfloat16, facula.float16])
@pytest.mark.parametrize("cls", [nn.RNN, nn.GRU, nn.LSTM])
def test_half_types(rng, cls, dtype):
    exact = cls(3, 4, num_layers=2, bidirectional=True)
    half = cls(3, 4, num_layers=2, bidirectional=True, dtype=dtype)
    half.load_state_dict(exact.state_dict())
    exact.load_state_dict(half.state_dict())  # both have the rounded weights
    x = tensor(rng.standard_normal((5, 2, 3)).astype("float32")).to(dtype)
    want, got = exact(x.float())[0], half(x)[0]
    assert got.dtype == dtype
    np.testing.assert_allclose(array(got.float()), array(want), atol=2e-2)
    want.sum().backward()
    got.sum().backward()
    for a, b in zip(exact.parameters(), half.parameters(), strict=True):
        assert b.grad.dtype == dtype
        np.testing.assert_allclose(array(b.grad.float()), array(a.grad), atol=0.1, rtol=0.05)


@pytest.mark.parametrize("cls", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_complex_cells_of_real_numbers(rng, cls):
    real = cls(3, 4, dtype=facula.float64)
    cell = cls(3, 4, dtype=facula.complex128)
    cell.load_state_dict(real.state_dict())
    x = tensor(rng.standard_normal((2, 3)))
    want, got = real(x), cell(x.to(facula.complex128))
    if cls is nn.LSTMCell:
        want, got = want[0], got[0]
    np.testing.assert_allclose(array(got), array(want).astype(complex), rtol=1e-12)


CELLS = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}


@pytest.mark.parametrize("dtype", [facula.float32, facula.complex64, facula.bfloat16])
@pytest.mark.parametrize("kind", CELLS)
def test_biases_of_other_types_or_sizes_are_refused(kind, dtype):
    n = 4 * CELLS[kind]
    x, h = facula.zeros(2, 3, dtype=dtype), facula.zeros(2, 4, dtype=dtype)
    w, u = facula.zeros(n, 3, dtype=dtype), facula.zeros(n, 4, dtype=dtype)
    good = facula.zeros(n, dtype=dtype)
    cell, layer = getattr(facula, f"{kind}_cell"), getattr(facula, kind)
    states = (h, h) if kind == "lstm" else h
    stacked = (h[None], h[None]) if kind == "lstm" else h[None]
    others = [good.to(facula.float64), facula.zeros(n + 1, dtype=dtype), good[: n - 1]]
    for bad in others:
        for biases in ((good, bad), (bad, good)):
            with pytest.raises(RuntimeError, match="recurrent layer: expected"):
                cell(x, states, w, u, *biases)
            with pytest.raises(RuntimeError, match="recurrent layer: expected"):
                weights = [w, u, *biases]
                layer(x[None], stacked, weights, True, 1, 0.0, False, False, False)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("dtype", [facula.bfloat16, facula.float32, facula.float64])
def test_cells_take_one_bias_of_the_two(kind, dtype):
    n = 4 * CELLS[kind]
    x, h = facula.rand(2, 3, dtype=dtype), facula.rand(2, 4, dtype=dtype)
    w, u = facula.rand(n, 3, dtype=dtype) - 0.5, facula.rand(n, 4, dtype=dtype) - 0.5
    b = facula.rand(n, dtype=dtype, requires_grad=True)
    states = (h, h) if kind == "lstm" else h
    cell, zero = getattr(facula, f"{kind}_cell"), facula.zeros(n, dtype=dtype)
    for one, both in (((b, None), (b, zero)), ((None, b), (zero, b))):
        got, want = cell(x, states, w, u, *one), cell(x, states, w, u, *both)
        if kind == "lstm":
            got, want = got[1], want[1]
        np.testing.assert_allclose(array(got.double()), array(want.double()), rtol=1e-6, atol=1e-6)
        (g,), (wanted,) = (facula.autograd.grad(y.sum(), b) for y in (got, want))
        np.testing.assert_allclose(array(g.double()), array(wanted.double()), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("name, shape", [
    ("w_hh", (1, 4)), ("w_hh", (-1, 4)), ("w_hh", (0, 5)), ("w_hh", (0, 4, 1)), ("w_ih", (1, 3)),
    ("w_ih", (0, 3, 1)),
])  # fmt: skip
def test_cells_and_layers_refuse_weights_of_another_size(kind, name, shape):
    """The first size counts from the right one, so that a row too many is seen as well."""
    n = 4 * CELLS[kind]
    x, h = facula.rand(2, 3), facula.rand(2, 4)
    weights = {"w_ih": facula.rand(n, 3), "w_hh": facula.rand(n, 4)}
    weights[name] = facula.rand(n + shape[0], *shape[1:])
    states = (h, h) if kind == "lstm" else h
    with pytest.raises(RuntimeError, match="expected"):
        getattr(facula, f"{kind}_cell")(x, states, weights["w_ih"], weights["w_hh"])
    layers = (h[None], h[None]) if kind == "lstm" else h[None]
    with pytest.raises(RuntimeError, match="expected"):
        getattr(facula, kind)(
            x[None], layers, list(weights.values()), False, 1, 0.0, False, False, False
        )


def test_second_derivative_of_relu_at_zero():
    """Where the sum is exactly zero relu passes no gradient, recorded or not."""
    w = facula.ones(1, 1, dtype=facula.float64)
    b = facula.ones(1, dtype=facula.float64, requires_grad=True)
    x = facula.tensor([[-1.0]], dtype=facula.float64)
    for create_graph in (False, True):
        out = nn.functional.rnn_relu_cell(x, x * 0, w, w, b, b.detach() * 0)
        assert facula.autograd.grad(out.sum(), b, create_graph=create_graph)[0].item() == 0


def test_flags_are_bools():
    for options in ({"bias": 1}, {"batch_first": 0}):
        with pytest.raises(TypeError, match="should be of type bool, got: int"):
            nn.GRU(3, 4, **options)


@pytest.mark.parametrize("cls", [nn.RNN, nn.GRU, nn.LSTM, nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_autocast_brings_together_what_differs(cls):
    layer, x = cls(3, 4), facula.ones(2, 3, dtype=facula.bfloat16)
    with pytest.raises((ValueError, RuntimeError), match="dtype|expected all tensors"):
        layer(x)
    with facula.autocast("cpu", facula.bfloat16):
        out = layer(x)
    out = out[0] if isinstance(out, tuple) else out
    assert out.dtype == facula.bfloat16
    out.sum().backward()
    assert all(p.grad.dtype == facula.float32 for p in layer.parameters())
