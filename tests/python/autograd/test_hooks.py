"""Gradients that hooks give back look as the ones they got, whatever the kind of hook."""

import pytest

import facula
from facula.nn import functional as F

IMAGE = (2, 2, 8, 8)
WEIGHT = facula.ones(3, 2, 3, 3)
NODES = {
    "max_pool": lambda x: F.max_pool2d(x, 2),
    "avg_pool": lambda x: F.avg_pool2d(x, 2),
    "conv": lambda x: F.conv2d(x, WEIGHT),
    "layer_norm": lambda x: F.layer_norm(x, (8,)),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "pad": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
    "sigmoid": lambda x: x.sigmoid(),
}
CHANGES = {
    "sizes": lambda g: facula.ones(1),
    "more dimensions": lambda g: facula.ones(3, *g.shape),
    "dtype": lambda g: g.to(facula.int8),
    "device": lambda g: g.to("meta"),
    "layout": lambda g: g.to_sparse(),
}


def register(kind, x, y, change):
    if kind == "leaf":
        x.register_hook(change)
    elif kind == "result":
        y.register_hook(change)
    elif kind == "before":
        y.grad_fn.register_prehook(lambda grads: (change(grads[0]), *grads[1:]))
    else:
        y.grad_fn.register_hook(lambda inner, outer: (change(inner[0]), *inner[1:]))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["leaf", "result", "before", "after"])
def test_changed_looks_are_refused(kind, change):
    x = facula.ones(3, 4, requires_grad=True)
    y = x.exp()
    register(kind, x, y, lambda g: CHANGES[change](g * 1))
    with pytest.raises(RuntimeError, match="hook has changed"):
        (y * 2).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("name", NODES)
def test_kernels_get_gradients_of_their_sizes(name):
    for wrong in (facula.ones(1), facula.ones(1, dtype=facula.int8)):
        x = facula.ones(IMAGE, requires_grad=True)
        y = NODES[name](x)
        y.grad_fn.register_prehook(lambda grads, wrong=wrong: (wrong, *grads[1:]))
        with pytest.raises(RuntimeError, match="hook has changed"):
            y.sum().backward()


@pytest.mark.parametrize("kind", ["result", "before"])
def test_gradients_resized_in_place_are_refused(kind):
    x = facula.ones(3, requires_grad=True)
    y = x.exp()
    register(kind, x, y, lambda g: g.resize_(1))
    with pytest.raises(RuntimeError, match="hook has changed the size"):
        (y * 2).sum().backward()


def test_none_is_not_replaced():
    x = facula.ones(3, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda inner, outer: (inner[0], facula.ones(3)))
    with pytest.raises(RuntimeError, match="can't replace a None gradient"):
        y.sum().backward()


def test_a_gradient_that_hooks_take_away_is_none_further_on():
    for at_leaf in (False, True):
        x = facula.ones(3, requires_grad=True)
        y = x.sigmoid()
        node = y.grad_fn.next_functions[0][0] if at_leaf else y.grad_fn
        node.register_prehook(lambda grads: (None,))
        y.sum().backward()
        assert x.grad is None


def test_hooks_after_accumulation_may_change_the_leaf():
    x = facula.ones(3, requires_grad=True)

    def release(leaf):
        leaf.grad, leaf.data = None, facula.empty(0, dtype=facula.float64)

    x.register_post_accumulate_grad_hook(release)
    (x * 2).sum().backward()
    assert x.shape == (0,) and x.dtype == facula.float64 and x.grad is None
