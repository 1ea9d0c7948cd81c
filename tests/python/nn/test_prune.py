"""Pruning: which elements go, how methods combine, and that modules stay whole."""

import pytest

import facula
from facula import nn
from facula.nn.utils import prune

W = [[0.5, -1.0, 2.0, 0.1], [3.0, -0.2, 0.3, 0.05], [1.0, 1.1, -0.7, 0.9]]


def linear(scale=1.0):
    net = nn.Linear(4, 3)
    net.weight.data = facula.tensor(W) * scale
    return net


def mask(net):
    return net.weight_mask.int().tolist()


KEPT = [
    (lambda n: prune.l1_unstructured(n, "weight", 3), [[1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 1]]),
    (lambda n: prune.l1_unstructured(n, "weight", 0.25), [[1, 1, 1, 0], [1, 0, 1, 0], [1] * 4]),
    (lambda n: prune.ln_structured(n, "weight", 0.34, 2, 0), [[1] * 4, [1] * 4, [0] * 4]),
    (lambda n: prune.ln_structured(n, "weight", 2, float("inf"), 1), [[1, 0, 1, 0]] * 3),
    (lambda n: prune.ln_structured(n, "weight", 1, 1, dim=-1), [[1, 1, 1, 0]] * 3),
    (lambda n: prune.identity(n, "weight"), [[1] * 4] * 3),
    (
        lambda n: prune.custom_from_mask(n, "weight", facula.eye(3, 4)),
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]],
    ),
    (
        lambda n: prune.l1_unstructured(
            n, "weight", 2, importance_scores=facula.arange(12.0).view(3, 4)
        ),
        [[0, 0, 1, 1], [1] * 4, [1] * 4],
    ),
]


@pytest.mark.parametrize("method, kept", KEPT)
def test_masks(method, kept):
    net = method(linear())
    assert mask(net) == kept
    facula.testing.assert_close(net.weight, net.weight_orig * net.weight_mask)
    assert sorted(net.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    assert sorted(dict(net.named_parameters())) == ["bias", "weight_orig"]
    assert prune.is_pruned(nn.Sequential(net))


def test_random():
    facula.manual_seed(3)
    net = prune.random_unstructured(linear(), "weight", 0.5)
    assert net.weight_mask.sum().item() == 6
    net = prune.random_structured(linear(), "weight", 2, 1)
    assert net.weight_mask.sum(0).tolist().count(0.0) == 2


def test_methods_combine():
    net = linear()
    prune.l1_unstructured(net, "weight", 3)
    prune.ln_structured(net, "weight", 1, 2, 0)
    prune.l1_unstructured(net, "weight", 2)
    assert mask(net) == [[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    (hook,) = net._forward_pre_hooks.values()
    assert [type(m).__name__ for m in hook] == ["L1Unstructured", "LnStructured", "L1Unstructured"]


def test_gradients_and_steps():
    net = prune.l1_unstructured(linear(), "weight", 3)
    opt = facula.optim.SGD(net.parameters(), lr=0.1)
    net(facula.ones(2, 4)).sum().backward()
    assert net.weight_orig.grad.tolist() == (2 * net.weight_mask).tolist()
    opt.step()
    net(facula.ones(2, 4))
    assert (net.weight[net.weight_mask == 0] == 0).all()


def test_remove():
    net = prune.l1_unstructured(linear(), "weight", 3)
    value = net.weight.detach().clone()
    prune.remove(net, "weight")
    assert isinstance(net.weight, nn.Parameter) and facula.equal(net.weight, value)
    assert sorted(net.state_dict()) == ["bias", "weight"] and not prune.is_pruned(net)
    with pytest.raises(ValueError, match="has to be pruned before"):
        prune.remove(net, "weight")


def test_global():
    net = nn.Sequential(linear(), linear(0.11))
    parameters = [(net[0], "weight"), (net[1], "weight")]
    prune.global_unstructured(parameters, prune.L1Unstructured, amount=0.5)
    assert mask(net[0]) == [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert mask(net[1]) == [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    prune.global_unstructured(parameters, prune.L1Unstructured, amount=3)
    assert mask(net[0]) == [[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]]
    assert mask(net[1]) == [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    with pytest.raises(TypeError, match='Only "unstructured"'):
        prune.global_unstructured(parameters, prune.LnStructured, amount=1, n=2)
    with pytest.raises(TypeError, match="type dict"):
        prune.global_unstructured(parameters, prune.L1Unstructured, 3, amount=1)


def test_without_a_module():
    pruned = prune.L1Unstructured(2).prune(facula.tensor([3.0, -1.0, 2.0]))
    assert pruned.tolist() == [3.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda n: prune.l1_unstructured(n, "weight", 100), ValueError, "smaller than the number"),
        (lambda n: prune.l1_unstructured(n, "weight", 1.5), ValueError, r"range \[0, 1\]"),
        (lambda n: prune.l1_unstructured(n, "weight", -1), ValueError, "non-negative integer"),
        (lambda n: prune.l1_unstructured(n, "weight", "a"), TypeError, "Must be int or float"),
        (lambda n: prune.ln_structured(n, "bias", 1, 2, 0), ValueError, "multidimensional"),
        (lambda n: prune.ln_structured(n, "weight", 1, 2, 3), IndexError, "Invalid index 3"),
        (
            lambda n: prune.custom_from_mask(n, "weight", facula.eye(3)),
            AssertionError,
            "must match self.mask shape",
        ),
        (
            lambda n: prune.l1_unstructured(n, "weight", 1, importance_scores=facula.ones(2)),
            AssertionError,
            "same shape as parameter",
        ),
    ],
)
def test_refusals_leave_the_module_whole(call, error, message):
    net = linear()
    with pytest.raises(error, match=message):
        call(net)
    assert sorted(net.state_dict()) == ["bias", "weight"] and not net._forward_pre_hooks
    assert isinstance(net.weight, nn.Parameter)
