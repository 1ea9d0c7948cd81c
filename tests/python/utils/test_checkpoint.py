"""Checkpointing gives the same values and gradients as calling the function."""

import pytest

import facula
from facula import nn
from facula.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


def net():
    facula.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 2))


def gradients(module, x, call):
    module.zero_grad()
    x.grad = None
    facula.manual_seed(5)
    y = call(x)
    y.pow(2).sum().backward()
    return [y.detach(), x.grad, *(p.grad for p in module.parameters())]


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("way", ["module", "closure", "unknown", "sequential"])
def test_same_as_the_function(way, reentrant):
    module, x = net(), facula.randn(5, 3, requires_grad=True)
    holder = {"m": module}
    function = {"module": module, "closure": lambda z: module(z)}.get(
        way, eval("lambda z: holder['m'](z)", {"holder": holder})
    )
    expected = gradients(module, x, module)
    if way == "sequential":
        found = gradients(module, x, lambda z: checkpoint_sequential(module, 2, z))
    else:
        found = gradients(module, x, lambda z: checkpoint(function, z, use_reentrant=reentrant))
    for e, f in zip(expected, found, strict=True):
        assert facula.equal(e, f)


def test_runs_again_only_in_backward():
    calls = []

    def function(x, *, scale):
        calls.append(facula.is_grad_enabled())
        return {"y": x * scale, "n": 3}

    x = facula.ones(2, requires_grad=True)
    out = checkpoint(function, x, scale=2.0, use_reentrant=False)
    assert out["n"] == 3 and calls == [False]
    (grad,) = facula.autograd.grad(out["y"].sum(), x)
    assert grad.tolist() == [2.0, 2.0] and calls == [False, True]
    with facula.no_grad():
        assert not checkpoint(function, x, scale=1.0)["y"].requires_grad


def test_parameters_can_be_asked_for():
    module, x = net().eval(), facula.randn(5, 3)
    y = checkpoint(module, x, use_reentrant=False).sum()
    found = facula.autograd.grad(y, list(module.parameters()))
    expected = facula.autograd.grad(module(x).sum(), list(module.parameters()))
    assert all(facula.equal(f, e) for f, e in zip(found, expected, strict=True))
    module.requires_grad_(False)
    assert not checkpoint(module, x, use_reentrant=False).requires_grad


def test_a_function_that_changes_is_found():
    sizes = iter([(2,), (3,)])

    def function(x):
        return x.sum() + facula.zeros(next(sizes))

    y = checkpoint(function, facula.ones(2, requires_grad=True), use_reentrant=False)
    with pytest.raises(CheckpointError, match="second run"):
        y.sum().backward()
