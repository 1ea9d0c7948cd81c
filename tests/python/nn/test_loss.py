"""Losses against their formulas in NumPy, in all reductions."""

import itertools
import math

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn import functional as F


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_softmax(x, axis):
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def huber(d, delta):
    return np.where(np.abs(d) < delta, d * d / 2, delta * (np.abs(d) - delta / 2))


def signs(rng, n):
    return np.where(rng.random(n) < 0.5, -1.0, 1.0)


ELEMENTWISE = [
    (nn.L1Loss, {}, lambda x, y: np.abs(x - y)),
    (nn.MSELoss, {}, lambda x, y: (x - y) ** 2),
    (nn.SmoothL1Loss, {"beta": 0.5}, lambda x, y: huber(x - y, 0.5) / 0.5),
    (nn.HuberLoss, {"delta": 0.7}, lambda x, y: huber(x - y, 0.7)),
    (nn.PoissonNLLLoss, {}, lambda x, y: np.exp(x) - y * x),
    (nn.PoissonNLLLoss, {"log_input": False}, lambda x, y: x - y * np.log(x + 1e-8)),
    (nn.KLDivLoss, {}, lambda x, y: y * (np.log(y) - x)),
    (nn.KLDivLoss, {"log_target": True}, lambda x, y: np.exp(y) * (y - x)),
    (nn.BCELoss, {}, lambda x, y: -(y * np.log(x) + (1 - y) * np.log(1 - x))),
    (
        nn.BCEWithLogitsLoss,
        {},
        lambda x, y: -(y * np.log(sigmoid(x)) + (1 - y) * np.log(1 - sigmoid(x))),
    ),
    (nn.SoftMarginLoss, {}, lambda x, y: np.log1p(np.exp(-y * x))),
]


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("cls, options, formula", ELEMENTWISE)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_elementwise(rng, cls, options, formula, reduction):
    x, y = rng.uniform(0.1, 0.9, (3, 4)), rng.uniform(0.1, 0.9, (3, 4))
    expected = formula(x, y)
    expected = {"none": expected, "mean": expected.mean(), "sum": expected.sum()}[reduction]
    got = cls(reduction=reduction, **options)(tensor(x), tensor(y))
    np.testing.assert_allclose(array(got), expected, rtol=1e-7)


def test_kl_batchmean(rng):
    x, y = rng.uniform(0.1, 0.9, (3, 4)), rng.uniform(0.1, 0.9, (3, 4))
    got = nn.KLDivLoss(reduction="batchmean")(tensor(x), tensor(y))
    np.testing.assert_allclose(float(got), (y * (np.log(y) - x)).sum() / 3, rtol=1e-9)


def test_bce_weights(rng):
    x, y = rng.standard_normal((3, 4)), rng.random((3, 4))
    weight, positive = rng.random(4), rng.random(4) + 1
    loss = nn.BCEWithLogitsLoss(tensor(weight), pos_weight=tensor(positive))
    p = sigmoid(x)
    expected = -(weight * (positive * y * np.log(p) + (1 - y) * np.log(1 - p))).mean()
    np.testing.assert_allclose(float(loss(tensor(x), tensor(y))), expected, rtol=1e-9)
    assert set(loss.state_dict()) == {"weight", "pos_weight"}


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("extra", [(), (3,), (2, 3)])
def test_cross_entropy_with_indices(rng, reduction, extra):
    x = rng.standard_normal((6, 5, *extra))
    y = rng.integers(0, 5, (6, *extra))
    y.flat[0] = -100
    weight = rng.random(5) + 0.5
    logp = log_softmax(x, 1)
    safe = np.where(y < 0, 0, y)
    w = np.where(y < 0, 0.0, weight[safe])
    expected = -np.take_along_axis(logp, np.expand_dims(safe, 1), 1).squeeze(1) * w
    total = {"none": expected, "mean": expected.sum() / w.sum(), "sum": expected.sum()}[reduction]
    loss = nn.CrossEntropyLoss(tensor(weight), reduction=reduction)
    np.testing.assert_allclose(array(loss(tensor(x), tensor(y))), total, rtol=1e-9)
    nll = nn.NLLLoss(tensor(weight), reduction=reduction)
    np.testing.assert_allclose(array(nll(tensor(logp), tensor(y))), total, rtol=1e-9)


def test_cross_entropy_with_smoothing_and_probabilities(rng):
    x = rng.standard_normal((6, 5))
    y = rng.integers(0, 5, 6)
    smooth = np.eye(5)[y] * 0.9 + 0.1 / 5
    expected = -(smooth * log_softmax(x, 1)).sum(1).mean()
    got = nn.CrossEntropyLoss(label_smoothing=0.1)(tensor(x), tensor(y))
    np.testing.assert_allclose(float(got), expected, rtol=1e-9)
    got = nn.CrossEntropyLoss()(tensor(x), tensor(smooth))
    np.testing.assert_allclose(float(got), expected, rtol=1e-9)


def test_linear_cross_entropy(rng):
    loss = nn.LinearCrossEntropyLoss(3, 5, out_features=(2,), bias=True, dtype=facula.float64)
    x, y = rng.standard_normal((4, 3)), rng.integers(0, 5, (4, 2))
    weight, bias = array(loss.linear.weight), array(loss.linear.bias)
    logits = (x @ weight.T + bias).reshape(4, 5, 2)
    expected = F.cross_entropy(tensor(logits), tensor(y))
    np.testing.assert_allclose(float(loss(tensor(x), tensor(y))), float(expected), rtol=1e-9)
    with pytest.raises(NotImplementedError, match="chunked"):
        F.linear_cross_entropy(tensor(x), loss.linear.weight, tensor(y), options=object())


def test_gaussian_nll(rng):
    x, y, v = rng.standard_normal((3, 4)), rng.standard_normal((3, 4)), rng.random((3, 1)) + 0.1
    expected = (0.5 * (np.log(v) + (x - y) ** 2 / v)).mean() + 0.5 * math.log(2 * math.pi)
    got = nn.GaussianNLLLoss(full=True)(tensor(x), tensor(y), tensor(v))
    np.testing.assert_allclose(float(got), expected, rtol=1e-9)
    with pytest.raises(ValueError, match="negative"):
        F.gaussian_nll_loss(tensor(x), tensor(y), -1.0)


def test_pairs(rng):
    a, b, y = rng.standard_normal((5, 3)), rng.standard_normal((5, 3)), signs(rng, 5)
    cos = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    expected = np.where(y > 0, 1 - cos, np.maximum(cos - 0.2, 0)).mean()
    got = nn.CosineEmbeddingLoss(0.2)(tensor(a), tensor(b), tensor(y))
    np.testing.assert_allclose(float(got), expected, rtol=1e-6)
    expected = np.maximum(-y * (a[:, 0] - b[:, 0]) + 0.1, 0).mean()
    got = nn.MarginRankingLoss(0.1)(tensor(a[:, 0]), tensor(b[:, 0]), tensor(y))
    np.testing.assert_allclose(float(got), expected, rtol=1e-9)
    expected = np.where(y > 0, a[:, 0], np.maximum(0.5 - a[:, 0], 0)).mean()
    got = nn.HingeEmbeddingLoss(0.5)(tensor(a[:, 0]), tensor(y))
    np.testing.assert_allclose(float(got), expected, rtol=1e-9)


@pytest.mark.parametrize("swap", [False, True])
def test_triplets(rng, swap):
    a, p, n = (rng.standard_normal((5, 3)) for _ in range(3))

    def distance(u, v):
        return np.linalg.norm(u - v + 1e-6, axis=1)

    negative = np.minimum(distance(a, n), distance(p, n)) if swap else distance(a, n)
    expected = np.maximum(distance(a, p) - negative + 1, 0).mean()
    args = (tensor(a), tensor(p), tensor(n))
    np.testing.assert_allclose(float(nn.TripletMarginLoss(swap=swap)(*args)), expected, rtol=1e-6)
    other = nn.TripletMarginWithDistanceLoss(swap=swap)
    np.testing.assert_allclose(float(other(*args)), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="greater than 0"):
        nn.TripletMarginLoss(margin=-1)


@pytest.mark.parametrize("p", [1, 2])
def test_multi_margin(rng, p):
    x, y = rng.standard_normal((4, 5)), rng.integers(0, 5, 4)
    expected = 0.0
    for row, label in zip(x, y, strict=True):
        others = np.delete(row, label)
        expected += (np.maximum(0.8 - row[label] + others, 0) ** p).sum() / 5
    got = nn.MultiMarginLoss(p=p, margin=0.8)(tensor(x), tensor(y))
    np.testing.assert_allclose(float(got), expected / 4, rtol=1e-9)


def test_multi_label_losses(rng):
    x = rng.standard_normal((3, 4))
    y = np.array([[2, 0, -1, 1], [3, -1, 0, 0], [-1, 0, 0, 0]])
    expected = 0.0
    for row, labels in zip(x, y, strict=True):
        marked = list(itertools.takewhile(lambda c: c >= 0, labels))
        for i, c in itertools.product(range(4), marked):
            if i not in marked:
                expected += max(0.0, 1 - (row[c] - row[i])) / 4
    got = nn.MultiLabelMarginLoss(reduction="sum")(tensor(x), tensor(y))
    np.testing.assert_allclose(float(got), expected, rtol=1e-9)
    t = (rng.random((3, 4)) < 0.5).astype("float64")
    expected = -(t * np.log(sigmoid(x)) + (1 - t) * np.log(sigmoid(-x))).mean(1)
    got = nn.MultiLabelSoftMarginLoss(reduction="none")(tensor(x), tensor(t))
    np.testing.assert_allclose(array(got), expected, rtol=1e-9)


def ctc_by_enumeration(logp, target, blank=0):
    """Minus the logarithm of the sum over all paths that collapse to the target."""
    steps, classes = logp.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        collapsed = [c for i, c in enumerate(path) if i == 0 or path[i - 1] != c]
        if [c for c in collapsed if c != blank] == list(target):
            total += math.exp(sum(logp[t, c] for t, c in enumerate(path)))
    return -math.log(total)


def test_ctc(rng):
    logp = log_softmax(rng.standard_normal((4, 2, 3)), 2)
    targets = np.array([[1, 2], [2, 2]])
    expected = [ctc_by_enumeration(logp[:, 0], [1, 2]), ctc_by_enumeration(logp[:3, 1], [2, 2])]
    lengths = (facula.tensor([4, 3]), facula.tensor([2, 2]))
    got = nn.CTCLoss(reduction="none")(tensor(logp), tensor(targets), *lengths)
    np.testing.assert_allclose(array(got), expected, rtol=1e-9)
    got = nn.CTCLoss()(tensor(logp), tensor(targets), *lengths)
    np.testing.assert_allclose(float(got), np.mean(np.array(expected) / 2), rtol=1e-9)


def test_old_arguments():
    x = facula.ones(2)
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert float(F.l1_loss(x, x * 3, size_average=False)) == 4.0
    with pytest.warns(UserWarning, match="please use reduction='none' instead"):
        assert nn.MSELoss(reduce=False).reduction == "none"


def test_refusals_and_warnings():
    x = facula.ones(2, 3)
    with pytest.raises(ValueError, match="foo is not a valid value for reduction"):
        F.mse_loss(x, x, reduction="foo")
    with pytest.raises(ValueError, match="\x00 is not a valid value for reduction"):
        F.poisson_nll_loss(x, x, reduction="\x00")
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(x, x[0])
    with pytest.raises(ValueError, match="must be the same as input size"):
        F.binary_cross_entropy_with_logits(x, x[0])
    with pytest.raises(ValueError, match="only p == 1 and p == 2 supported"):
        nn.MultiMarginLoss(p=3)
    with pytest.raises(RuntimeError, match="same dimension"):
        F.margin_ranking_loss(x, x[0], x)


def test_weighted_losses():
    x, y, w = facula.tensor([1.0, 2.0]), facula.tensor([0.0, 4.0]), facula.tensor([1.0, 3.0])
    assert float(F.mse_loss(x, y, weight=w)) == 13.0 / 4
    assert float(F.l1_loss(x, y, weight=w, reduction="sum")) == 7.0
    with pytest.raises(ValueError, match="same size"):
        F.mse_loss(x, y, weight=w[:1])


def test_adaptive_log_softmax(rng):
    facula.manual_seed(0)
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0, dtype=facula.float64)
    x, y = rng.standard_normal((6, 8)), np.array([0, 2, 3, 5, 6, 9])
    logp = array(layer.log_prob(tensor(x)))
    np.testing.assert_allclose(np.exp(logp).sum(1), 1.0, rtol=1e-9)
    output, loss = layer(tensor(x), tensor(y))
    np.testing.assert_allclose(array(output), logp[np.arange(6), y], rtol=1e-9)
    np.testing.assert_allclose(float(loss), -logp[np.arange(6), y].mean(), rtol=1e-9)
    assert array(layer.predict(tensor(x))).tolist() == logp.argmax(1).tolist()
    with pytest.raises(RuntimeError, match=r"should be in \[0, 9\]"):
        layer(tensor(x), tensor(y + 1))
    with pytest.raises(ValueError, match="cutoffs should be a sequence of unique"):
        nn.AdaptiveLogSoftmaxWithLoss(4, 10, [5, 2])


def test_binary_cross_entropy_refuses_nan():
    one = facula.tensor([1.0])
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        facula.nn.functional.binary_cross_entropy(one * float("nan"), one)


@pytest.mark.parametrize("loss", ["nll_loss", "cross_entropy", "multi_margin_loss"])
def test_class_weights_have_the_dtype_of_the_scores(loss):
    x, t = facula.rand(2, 3), facula.tensor([1, 2])
    with pytest.raises(RuntimeError, match="scalar type Float but found Double"):
        getattr(nn.functional, loss)(x, t, weight=facula.ones(3, dtype=facula.float64))


def test_weighted_logits_keep_their_dtype():
    x = facula.rand(2, 3).bfloat16()
    got = nn.functional.binary_cross_entropy_with_logits(x, x, weight=facula.ones(3))
    assert got.dtype == facula.bfloat16
    assert nn.functional.huber_loss(x, facula.rand(2, 3)).dtype == facula.bfloat16


def test_refusals_of_options():
    with pytest.raises(TypeError, match="delta must be a float or int"):
        nn.HuberLoss(delta=1j)
    x = facula.rand(2, 3)
    with pytest.raises(RuntimeError, match="ignore_index is not supported"):
        nn.functional.cross_entropy(x, x.softmax(1), ignore_index=1)
    with pytest.raises(ValueError, match="batch_size"):
        nn.functional.cross_entropy(x, facula.rand(4, 3))
