"""The Python objects of graph nodes while they die."""

import gc
import weakref

import facula


def test_a_finalizer_may_ask_for_the_node_of_its_dying_object():
    y = facula.ones(3, requires_grad=True) * 2
    seen = []

    class Asks:
        def __del__(self):
            seen.append(y.grad_fn)

    node = y.grad_fn
    node.asks = Asks()
    del node
    gc.collect()
    assert seen[0] is y.grad_fn and seen[0].name() == "MulBackward0"
    assert len(seen[0].next_functions) == 2
    seen.clear()
    assert y.grad_fn.name() == "MulBackward0"


def test_a_callback_may_ask_for_the_node_of_its_dying_object():
    y = facula.ones(3, requires_grad=True) * 2
    seen = []
    node = y.grad_fn
    reference = weakref.ref(node, lambda _: seen.append(y.grad_fn))
    del node
    assert reference() is None
    assert seen[0] is y.grad_fn and seen[0].name() == "MulBackward0"


def test_notes_of_a_dying_object_may_ask_for_its_node():
    y = facula.ones(3, requires_grad=True) * 2
    seen = []

    class Asks:
        def __del__(self):
            seen.append(y.grad_fn)

    y.grad_fn.metadata["asks"] = Asks()
    gc.collect()
    assert seen[0] is y.grad_fn and seen[0].name() == "MulBackward0"
