"""Module: hooks around forward and backward, of one module and of all."""

import warnings

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn.modules import module as global_hooks


class Scale(nn.Module):
    def forward(self, x, factor=2.0):
        return x * factor


def test_forward_hooks_see_and_replace():
    scale, seen = Scale(), []
    pre = scale.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    post = scale.register_forward_hook(lambda m, args, out: seen.append(out) or out + 10)
    assert float(scale(facula.ones(()))) == 14.0
    assert float(seen[0]) == 4.0
    pre.remove()
    post.remove()
    assert float(scale(facula.ones(()))) == 2.0 and len(seen) == 1


def test_hooks_with_kwargs():
    scale, seen = Scale(), []

    def pre(module, args, kwargs):
        return args, {"factor": kwargs["factor"] * 2}

    scale.register_forward_pre_hook(pre, with_kwargs=True)
    scale.register_forward_hook(lambda m, a, kw, out: seen.append(kw), with_kwargs=True)
    assert float(scale(facula.ones(()), factor=3.0)) == 6.0
    assert seen == [{"factor": 6.0}]
    bad = Scale()
    bad.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook must return None or a tuple"):
        bad(facula.ones(()))


def test_prepended_hooks_run_first():
    scale, order = Scale(), []
    scale.register_forward_hook(lambda *a: order.append("second"))
    scale.register_forward_hook(lambda *a: order.append("first"), prepend=True)
    scale(facula.ones(()))
    assert order == ["first", "second"]


def test_handle_as_context():
    scale, order = Scale(), []
    with scale.register_forward_hook(lambda *a: order.append(1)):
        scale(facula.ones(()))
    scale(facula.ones(()))
    assert order == [1]


def test_always_called_hooks_run_after_errors():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("inside")

    fails, seen = Fails(), []
    fails.register_forward_hook(lambda m, a, out: seen.append(out), always_call=True)
    fails.register_forward_hook(lambda m, a, out: seen.append("never"))
    with pytest.raises(ValueError, match="inside"):
        fails(1)
    assert seen == [None]


def test_global_hooks():
    order = []
    handles = [
        global_hooks.register_module_forward_pre_hook(lambda m, a: order.append("pre")),
        global_hooks.register_module_forward_hook(lambda m, a, out: order.append("post")),
    ]
    scale = Scale()
    scale.register_forward_hook(lambda m, a, out: order.append("own"))
    scale(facula.ones(()))
    for h in handles:
        h.remove()
    scale(facula.ones(()))
    assert order == ["pre", "post", "own", "own"]


def test_full_backward_hooks():
    scale, seen = Scale(), []
    scale.register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
    scale.register_full_backward_hook(
        lambda m, gi, go: seen.append((float(gi[0]), float(go[0]))) or (gi[0] + 1,)
    )
    x = facula.ones((), requires_grad=True)
    scale(x).backward()
    assert seen == [(20.0, 10.0)]
    assert float(x.grad) == 21.0


def test_full_backward_hook_without_input_gradient():
    fc, seen = nn.Linear(2, 1), []
    hook = fc.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].shape)))
    with pytest.warns(UserWarning, match="since no inputs require gradients") as shown:
        fc(facula.ones(3, 2)).sum().backward()
    assert len(shown) == 1 and shown[0].filename == __file__
    assert seen == [((None,), (3, 1))]
    np.testing.assert_array_equal(fc.bias.grad.numpy(), [3.0])
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        fc(facula.ones(3, 2, requires_grad=True)).sum().backward()
        hook.remove()
        fc.register_full_backward_pre_hook(lambda m, go: None)
        fc(facula.ones(3, 2)).sum().backward()
    assert not shown


def test_backward_hooks_with_several_values():
    class Pair(nn.Module):
        def forward(self, a, n, b):
            return a * n, b * 3

    pair, seen = Pair(), []
    pair.register_full_backward_hook(lambda m, gi, go: seen.append((len(gi), gi[1], len(go))))
    a, b = facula.ones(2, requires_grad=True), facula.ones(2, requires_grad=True)
    first, second = pair(a, 5, b)
    (first.sum() + second.sum()).backward()
    assert seen == [(3, None, 2)]
    np.testing.assert_array_equal(a.grad.numpy(), [5, 5])
    np.testing.assert_array_equal(b.grad.numpy(), [3, 3])


def test_both_kinds_of_backward_hooks_are_refused():
    fc = nn.Linear(1, 1)
    fc.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full"):
        fc.register_backward_hook(lambda *a: None)


def test_plain_backward_hook():
    scale, seen = Scale(), []
    scale.register_backward_hook(lambda m, gi, go: seen.append(float(go[0])))
    scale(facula.ones((), requires_grad=True)).backward()
    assert seen == [1.0]


def test_hooks_survive_copies():
    import copy

    scale = Scale()
    scale.register_forward_hook(_add_one)
    assert float(copy.deepcopy(scale)(facula.ones(()))) == 3.0


def _add_one(module, args, out):
    return out + 1
