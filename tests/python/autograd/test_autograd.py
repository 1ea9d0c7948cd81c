"""backward, grad, hooks and graph nodes from Python; cycles through the graph."""

import gc
import weakref

import pytest

import facula
from facula.autograd.graph import GradientEdge, get_gradient_edge


def leaf(*values):
    return facula.tensor(list(values), requires_grad=True)


def test_backward_accumulates():
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    x.grad = None
    assert x.grad is None


def test_backward_arguments():
    x = leaf(1.0, 2.0)
    y = x * x
    y.backward(facula.tensor([1.0, 10.0]), retain_graph=True)
    assert x.grad.tolist() == [2.0, 40.0]
    facula.autograd.backward([y], [facula.ones(2)])
    assert x.grad.tolist() == [4.0, 44.0]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward(facula.ones(2))
    with pytest.raises(RuntimeError, match="scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        facula.ones(1).backward()


def test_backward_to_chosen_inputs():
    a, b = leaf(1.0), leaf(2.0)
    (a * b).backward(inputs=[a])
    assert a.grad.item() == 2.0 and b.grad is None


def test_grad():
    x, y = leaf(2.0), leaf(3.0)
    gx, gy = facula.autograd.grad(x * x * y, [x, y])
    assert gx.item() == 12.0 and gy.item() == 4.0 and x.grad is None
    with pytest.raises(RuntimeError):
        facula.autograd.grad(x * 2, y)
    assert facula.autograd.grad(x * 2, y, allow_unused=True) == (None,)
    (z,) = facula.autograd.grad(x * 2, y, materialize_grads=True)
    assert z.item() == 0.0
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        facula.autograd.grad(x * 2, x, facula.ones(3))


def test_higher_derivatives():
    x = leaf(2.0)
    (g,) = facula.autograd.grad(x * x * x, x, create_graph=True)
    (h,) = facula.autograd.grad(g, x)
    assert h.item() == 12.0


def test_assigned_gradients_are_checked():
    x = leaf(1.0, 2.0)
    with pytest.raises(TypeError):
        x.grad = 3
    with pytest.raises(RuntimeError, match="size"):
        x.grad = facula.ones(3)
    with pytest.raises(RuntimeError, match="type"):
        x.grad = facula.ones(2, dtype=facula.float64)
    x.grad = facula.ones(2)
    assert x.grad.tolist() == [1.0, 1.0]


def test_requires_grad_rules():
    t = facula.ones(2)
    assert t.requires_grad_() is t and t.requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        facula.ones(1, dtype=facula.int64).requires_grad_()
    with pytest.raises(RuntimeError):
        (t * 2).requires_grad_(False)
    with pytest.raises(TypeError, match="must be bool"):
        t.requires_grad_(1)


def test_nodes():
    x = leaf(1.0)
    y = x * 2
    node = y.grad_fn
    assert type(node).__name__ == "MulBackward0" == node.name()
    assert node is y.grad_fn
    ((accumulate, number),) = [e for e in node.next_functions if e[0] is not None]
    assert number == 0 and accumulate.name() == "AccumulateGrad" and accumulate.variable is x
    node.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}
    edge = get_gradient_edge(y)
    assert edge.node is node and edge.output_nr == 0
    (g,) = facula.autograd.grad(edge, x, grad_outputs=(facula.ones(1),))
    assert g.item() == 2.0


def test_gradient_edges_need_no_seed_of_one_element():
    x = leaf(1.0, 2.0)
    y = x * x
    total = y.sum()
    for output in (total, get_gradient_edge(total)):
        for wanted in (x, get_gradient_edge(x), [get_gradient_edge(y)]):
            (g,) = facula.autograd.grad(output, wanted, retain_graph=True)
            assert g.tolist() == ([1.0, 1.0] if isinstance(wanted, list) else [2.0, 4.0])
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        facula.autograd.grad(y, get_gradient_edge(x))
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        facula.autograd.grad(get_gradient_edge(y), x)


def test_gradient_edges_that_lead_nowhere():
    x = leaf(1.0)
    y = (x * x).sum()
    edge = get_gradient_edge(x)
    with pytest.raises(RuntimeError, match="1 outputs in a GradientEdge, got 99"):
        facula.autograd.grad(y, GradientEdge(edge.node, 99), facula.ones(()))
    with pytest.raises((RuntimeError, TypeError)):
        facula.autograd.grad(y, GradientEdge("a", 0), facula.ones(()))
    with pytest.raises(RuntimeError, match="does not require grad"):
        facula.autograd.grad(y, [edge, facula.ones(2)], facula.ones(()))


def test_tensor_hooks():
    x = leaf(1.0)
    y = x * 2
    seen = []
    handle = y.register_hook(lambda g: seen.append(g.item()))
    y.register_hook(lambda g: g * 10)
    (y * 3).sum().backward(retain_graph=True)
    assert seen == [3.0] and x.grad.item() == 60.0
    handle.remove()
    (y * 3).sum().backward()
    assert seen == [3.0]
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        facula.ones(1).register_hook(print)


def test_leaf_hooks_and_post_accumulate():
    x = leaf(1.0)
    x.register_hook(lambda g: g + 1)
    seen = []
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.item())))
    (x * 2).backward()
    assert seen == [(True, 3.0)]
    handle.remove()
    (x * 2).backward()
    assert len(seen) == 1
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 1).register_post_accumulate_grad_hook(print)


def test_post_accumulate_hooks_may_return_what_they_wrote_to():
    x = leaf(1.0)
    handle = x.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.5))
    (x * 2).backward()
    assert x.item() == 0
    handle.remove()
    x.register_post_accumulate_grad_hook(lambda p: 5)
    with pytest.raises(TypeError, match="hook returned 'int'"):
        (x * 2).backward()


def test_hooks_are_removed_by_one_kind_of_handle():
    x = leaf(1.0)
    y = x * 2
    handles = [
        x.register_hook(lambda g: g),
        y.register_hook(lambda g: g),
        x.register_post_accumulate_grad_hook(lambda p: None),
        y.grad_fn.register_hook(lambda gi, go: None),
        y.grad_fn.register_prehook(lambda g: None),
    ]
    for handle in handles:
        assert isinstance(handle, facula.utils.hooks.RemovableHandle)
        with handle:
            pass
        handle.remove()
    y.backward()


def test_node_hooks():
    x = leaf(1.0)
    y = x * 2
    order = []
    y.grad_fn.register_prehook(lambda g: order.append("pre") or (g[0] * 2,))
    y.grad_fn.register_hook(lambda gi, go: order.append(("post", gi[0].item(), go[0].item())))
    y.backward()
    assert order == ["pre", ("post", 4.0, 2.0)] and x.grad.item() == 4.0


def test_retain_grad():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    assert y.retains_grad
    (y * 3).backward()
    assert y.grad.item() == 3.0


def test_errors_in_hooks_pass_through():
    x = leaf(1.0)

    def fail(g):
        raise KeyError("hook")

    x.register_hook(fail)
    with pytest.raises(KeyError, match="hook"):
        (x * 2).backward()


def test_modified_saved_tensor_names_both_places():
    x = leaf(1.0)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError) as info:
        z.backward()
    text = str(info.value)
    assert "modified by an inplace operation" in text and text.count("test_autograd.py:") >= 2


def test_detach():
    x = leaf(1.0)
    d = (x * 2).detach()
    assert not d.requires_grad and d.grad_fn is None


CYCLES = {
    "dict": lambda x: setattr(x, "me", x),
    "graph": lambda x: setattr(x, "y", x * x),
    "longer": lambda x: setattr(x, "y", (x * x).exp() * x),
    "hook": lambda x: x.register_hook(lambda g: x),
    "node hook": lambda x: setattr(x, "y", x * x) or x.y.grad_fn.register_hook(lambda a, b: x.y),
}


@pytest.mark.parametrize("name", CYCLES)
def test_cycles_are_collected(name):
    x = leaf(1.0)
    CYCLES[name](x)
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None
    assert facula._C._python_objects_owned() >= 0


def test_cycle_through_grad():
    x = leaf(1.0)
    x.grad = facula.ones(1)
    x.grad.owner = x
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None


def test_cycle_through_create_graph():
    class Probe:
        pass

    def leave():
        x = leaf(1.0, 2.0)
        probe = Probe()
        x.register_hook(lambda g, probe=probe: None)
        x.exp().sum().backward(create_graph=True)
        return weakref.ref(probe), weakref.ref(x), weakref.ref(x.grad)

    refs = leave()
    gc.collect()
    assert [r() for r in refs] == [None, None, None]

    def leave_without_hooks():
        x = leaf(1.0)
        x.exp().backward(create_graph=True)

    before = facula._C._memory_stats()["allocated_bytes.current"]
    for _ in range(20):
        leave_without_hooks()
    gc.collect()
    after = facula._C._memory_stats()["allocated_bytes.current"]
    assert after - before < 4096


def test_parameters_with_hooks_live_on():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 2)
    for _ in range(2):
        gc.collect()
        (x * 3).backward()
    assert x.grad.item() == 12.0


def test_graph_dies_with_its_last_tensor():
    x = leaf(1.0)
    y = (x * 2).exp()
    h = x * 3
    ref = weakref.ref(h)
    z = h * y
    del h
    gc.collect()
    assert ref() is not None
    del z
    assert ref() is None


def test_anomaly_mode():
    x = leaf(0.0)
    with pytest.warns(UserWarning), facula.autograd.detect_anomaly():
        assert facula.is_anomaly_enabled()
        y = (x * 0.0) / (x * 1.0)
        with pytest.raises(RuntimeError, match="returned nan"):
            y.backward()
    assert not facula.is_anomaly_enabled()
