"""Checkpointing gives the same values and gradients as calling the function, and saves less."""

import contextlib

import pytest

import facula
from facula import nn
from facula.autograd.graph import saved_tensors_hooks
from facula.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)


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
        found = gradients(
            module, x, lambda z: checkpoint_sequential(module, 2, z, use_reentrant=reentrant)
        )
    else:
        found = gradients(module, x, lambda z: checkpoint(function, z, use_reentrant=reentrant))
    for e, f in zip(expected, found, strict=True):
        assert facula.equal(e, f)


@pytest.mark.parametrize("reentrant, recorded", [(True, [False, True]), (False, [True, True])])
def test_runs_again_only_in_backward(reentrant, recorded):
    calls = []

    def function(x):
        calls.append(facula.is_grad_enabled())
        return {"y": (x * 2.0).sin(), "n": 3}

    x = facula.ones(2, requires_grad=True)
    out = checkpoint(function, x, use_reentrant=reentrant)
    assert out["n"] == 3 and calls == recorded[:1]
    out["y"].sum().backward()
    facula.testing.assert_close(x.grad, 2 * facula.full((2,), 2.0).cos())
    assert calls == recorded
    with facula.no_grad():
        assert not checkpoint(function, x, use_reentrant=reentrant)["y"].requires_grad


def test_nothing_is_saved_between():
    saved = []
    x = facula.ones(2, requires_grad=True)

    def outer(t):
        saved.append(tuple(t.shape))
        return t

    with saved_tensors_hooks(outer, lambda t: t):
        y = checkpoint(lambda t: t.exp().sin().exp(), x, use_reentrant=False)
    assert saved == [(2,)]  # the input only
    y.sum().backward()
    facula.testing.assert_close(x.grad, (x.exp().cos() * x.exp() * x.exp().sin().exp()).detach())


def test_keyword_arguments_and_containers():
    x, w = (facula.ones(2, requires_grad=True) for _ in range(2))
    y = checkpoint(
        lambda d, *, scale: [d["a"] * d["b"] * scale], {"a": x, "b": w}, scale=w,
        use_reentrant=False,
    )
    y[0].sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and w.grad.tolist() == [2.0, 2.0]


def test_parameters_can_be_asked_for():
    module, x = net().eval(), facula.randn(5, 3)
    y = checkpoint(module, x, use_reentrant=False).sum()
    found = facula.autograd.grad(y, list(module.parameters()))
    expected = facula.autograd.grad(module(x).sum(), list(module.parameters()))
    assert all(facula.equal(f, e) for f, e in zip(found, expected, strict=True))
    module.requires_grad_(False)
    assert not checkpoint(module, x, use_reentrant=False).requires_grad


def test_chosen_gradients_need_the_other_way():
    x = facula.ones(2, requires_grad=True)
    y = checkpoint(lambda t: t.sin(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\)"):
        facula.autograd.grad(y.sum(), x)
    y = checkpoint(lambda t: t.sin(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="incompatible with"):
        y.sum().backward(inputs=[x])


def test_early_stop():
    ends = []

    def function(x):
        y = x.exp().sin()
        ends.append(True)
        return y

    def run(**options):
        ends.clear()
        x = facula.ones(2, requires_grad=True)
        checkpoint(function, x, use_reentrant=False, **options).sum().backward()
        return len(ends)

    assert run() == 1 and run(early_stop=False) == 2
    with set_checkpoint_early_stop(False):
        assert run() == 2
    with set_checkpoint_early_stop(True):
        assert run(early_stop=False) == 1


def test_backward_twice_and_second_derivatives():
    x = facula.tensor([0.3, 0.7], requires_grad=True)
    y = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad = None
    y.backward()
    assert facula.equal(x.grad, first)
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()

    def twice(call):
        (g,) = facula.autograd.grad(call(x).sum(), x, create_graph=True)
        return facula.autograd.grad(g.sum(), x)[0]

    plain = twice(lambda t: (t * t).sin())
    facula.testing.assert_close(
        twice(lambda t: checkpoint(lambda s: (s * s).sin(), t, use_reentrant=False)), plain
    )


@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("early", [True, False])
def test_nested(inner, early):
    counts = {"outer": 0, "inner": 0}
    module = net()

    def deep(x):
        counts["inner"] += 1
        return module(x).sin()

    def shallow(x):
        counts["outer"] += 1
        return checkpoint(deep, x.exp(), use_reentrant=inner).cos()

    x = facula.randn(5, 3, requires_grad=True)
    expected = gradients(module, x, lambda z: module(z.exp()).sin().cos())
    with set_checkpoint_early_stop(early):
        found = gradients(module, x, lambda z: checkpoint(shallow, z, use_reentrant=False))
    for e, f in zip(expected, found, strict=True):
        facula.testing.assert_close(e, f)
    assert counts["outer"] == 2 and counts["inner"] >= 2


def test_random_numbers():
    def gap(**options):
        facula.manual_seed(1)
        x = facula.ones(100, requires_grad=True)
        y = checkpoint(lambda t: t * facula.rand(100), x, use_reentrant=False, **options)
        facula.rand(3)
        before = facula.get_rng_state()
        y.sum().backward()  # the gradient is the factor, as y is
        kept = facula.equal(facula.get_rng_state(), before)
        assert kept == options.get("preserve_rng_state", True)
        return (x.grad - y).abs().max().item()

    assert gap() == 0
    assert gap(preserve_rng_state=False) > 0


def test_autocast():
    x = facula.ones(2, 2, requires_grad=True)
    kinds = []

    def function(t):
        y = t @ t
        kinds.append(y.dtype)
        return y.sin()

    with facula.amp.autocast("cpu", dtype=facula.bfloat16):
        y = checkpoint(function, x, use_reentrant=False, early_stop=False)
    y.float().sum().backward()
    assert kinds == [facula.bfloat16, facula.bfloat16]


def test_contexts():
    seen = []

    @contextlib.contextmanager
    def note(which):
        seen.append(which)
        yield

    x = facula.ones(2, requires_grad=True)
    y = checkpoint(lambda t: t.sin(), x, use_reentrant=False,
                   context_fn=lambda: (note("first"), note("second")))  # fmt: skip
    y.sum().backward()
    assert seen == ["first", "second"]


def test_a_function_that_changes_is_found():
    def changing(first, second, **options):
        runs = iter([first, second])
        x = facula.ones(2, requires_grad=True)
        y = checkpoint(lambda t: next(runs)(t), x, use_reentrant=False, **options)
        y.sum().backward()

    def one(t):
        return t.exp()

    def two(t):
        return t.exp().sin()

    with pytest.raises(CheckpointError, match="different number of tensors was saved"):
        changing(two, one)
    with pytest.raises(CheckpointError, match="save more tensors during recomputation"):
        changing(one, two, early_stop=False)
    with pytest.raises(CheckpointError, match=r"different metadata(.|\n)*position 0"):
        changing(one, lambda t: t[:1].exp() + t[:1].exp())
    changing(one, lambda t: t[:1].exp(), determinism_check="none")


def test_refusals():
    x = facula.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoint(facula.sin, x, use_reentrant=True, foo=1)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(facula.sin, x, use_reentrant=True, debug=True)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(facula.sin, x, use_reentrant=False, determinism_check="x")
    with pytest.warns(UserWarning, match="passed explicitly"):
        checkpoint(facula.sin, x)
    with pytest.warns(UserWarning, match="None of the inputs"):
        assert not checkpoint(facula.sin, facula.ones(2), use_reentrant=True).requires_grad
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoint_sequential([facula.sin], 1, x, use_reentrant=False, foo=1)


def test_memory_is_given_back():
    import gc
    import weakref

    class Held:
        pass

    held = Held()
    x = facula.ones(2, requires_grad=True)

    def function(t, keep):
        return t.exp().sin()

    y = checkpoint(function, x, held, use_reentrant=False)
    alive = weakref.ref(held)
    y.sum().backward()
    del held, y, function
    gc.collect()
    assert alive() is None


def test_decorators_checkpoint_each_call():
    @checkpoint(use_reentrant=False, preserve_rng_state=False)
    def squared(x, *, times=1):
        """Its words."""
        calls.append(times)
        return x * x * times

    calls = []
    x = facula.ones(2, requires_grad=True)
    squared(x, times=3).sum().backward()
    assert x.grad.tolist() == [6, 6] and calls == [3, 3]
    assert squared.__name__ == "squared" and squared.__doc__ == "Its words."
    with pytest.raises(ValueError, match="Unexpected keyword arguments: colour"):
        checkpoint(use_reentrant=False, colour=1)
