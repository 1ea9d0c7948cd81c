"""Hooks on saved tensors, and gradient edges, from Python."""

import copy
import gc
import threading
import weakref

import pytest

import facula
from facula.autograd import Function
from facula.autograd.graph import (
    disable_saved_tensors_hooks,
    get_gradient_edge,
    queue_callback,
    register_multi_grad_hook,
    save_on_cpu,
    saved_tensors_hooks,
)


def leaf(*values):
    return facula.tensor(list(values), requires_grad=True)


def test_what_is_saved_goes_through_the_hooks():
    x = leaf(1.0, 2.0)
    packed, unpacked = [], []

    def pack(t):
        packed.append(t.requires_grad)
        return t.tolist()

    def unpack(values):
        unpacked.append(values)
        return facula.tensor(values)

    with saved_tensors_hooks(pack, unpack):
        y = x * x.exp()
    assert len(packed) == 3 and not unpacked
    assert packed.count(True) == 2  # x and exp(x) as inputs; the result of exp has no history
    y.sum().backward()
    assert len(unpacked) == 3
    facula.testing.assert_close(x.grad, (x.exp() * (1 + x)).detach())


def test_hooks_can_change_values():
    x = leaf(3.0)
    with saved_tensors_hooks(lambda t: t, lambda t: t * 10):
        y = x * x
    y.backward()
    assert x.grad.tolist() == [60.0]
    x.grad = None
    (x * x).backward()
    assert x.grad.tolist() == [6.0]


def test_innermost_pair_applies():
    seen = []
    x = leaf(1.0)
    with saved_tensors_hooks(lambda t: seen.append("outer") or t, lambda t: t):
        x.exp()
        with saved_tensors_hooks(lambda t: seen.append("inner") or t, lambda t: t):
            x.exp()
        x.exp()
    x.exp()
    assert seen == ["outer", "inner", "outer"]


def test_hooks_do_not_see_themselves():
    """What the pack hook computes is neither recorded nor packed."""
    x = leaf(1.0)
    count = []

    def pack(t):
        count.append(facula.is_grad_enabled())
        return (t * t).sqrt()

    with saved_tensors_hooks(pack, lambda t: t):
        y = x.exp()
    assert count == [False]
    y.backward()


def test_second_derivatives():
    x = leaf(0.5)
    with saved_tensors_hooks(lambda t: [t], lambda p: p[0]):
        y = x.sin()
        (g,) = facula.autograd.grad(y, x, create_graph=True)
    (h,) = facula.autograd.grad(g, x)
    facula.testing.assert_close(h, -x.detach().sin())


def test_custom_functions():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x = leaf(3.0)
    with saved_tensors_hooks(lambda t: t + 1, lambda t: t):
        y = Square.apply(x)
    y.backward()
    assert x.grad.tolist() == [8.0]


def test_errors():
    x = leaf(1.0)
    with saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type int"):
        y.backward()
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
        with saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
            x.exp()
    with pytest.raises(ZeroDivisionError):
        with saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
            x.exp()
    with saved_tensors_hooks(lambda t: t, lambda t: 1 / 0):
        y = x.exp()
    with pytest.raises(ZeroDivisionError):
        y.backward()
    with pytest.raises(TypeError, match="not callable"):
        with saved_tensors_hooks(3, 4):
            x.exp()
    x.exp().backward()  # no hook is left behind
    with pytest.raises(RuntimeError, match="there are no hooks"):
        facula._C._pop_saved_tensors_hooks()


def test_disabled():
    x = leaf(1.0)
    with disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"):
            with saved_tensors_hooks(lambda t: t, lambda t: t):
                pass
        x.exp().backward()
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        with pytest.raises(RuntimeError, match="not now"):
            with disable_saved_tensors_hooks("not now"):
                pass
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def test_threads_have_their_own():
    seen = []
    x = leaf(1.0)
    with saved_tensors_hooks(lambda t: seen.append(1) or t, lambda t: t):
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
    assert not seen


def test_objects_live_as_long_as_the_graph():
    class Box:
        def __init__(self, t):
            self.t = t

    alive = []

    def pack(t):
        box = Box(t.detach().clone())
        alive.append(weakref.ref(box))
        return box

    x = leaf(1.0)
    with saved_tensors_hooks(pack, lambda box: box.t):
        y = x.exp()
    assert alive[0]() is not None
    y.backward()
    gc.collect()
    assert alive[0]() is None
    with saved_tensors_hooks(pack, lambda box: box.t):
        y = x.exp()
    del y
    gc.collect()
    assert alive[1]() is None


def test_save_on_cpu():
    x = leaf(2.0)
    with save_on_cpu(pin_memory=True):
        y = x * x
    y.backward()
    assert x.grad.tolist() == [4.0]


def test_nodes_are_called_with_gradients():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    product = y * x
    of_y, of_x = product.grad_fn(facula.tensor([1.0, 0.0, -1.0]))
    assert of_y.tolist() == [1.0, 0.0, -3.0] and of_x.tolist() == [2.0, 0.0, -6.0]
    assert y.sum().grad_fn(facula.tensor(2.0)).tolist() == [2.0, 2.0, 2.0]
    assert product.grad_fn(None) == (None, None)
    broadcast = (facula.ones(2, 3) * x).grad_fn(facula.ones(2, 3))
    assert broadcast[0] is None and broadcast[1].tolist() == [2.0, 2.0, 2.0]
    assert x.grad is None
    accumulator = y.grad_fn.next_functions[0][0]
    assert accumulator(facula.ones(3)) == () and accumulator(facula.ones(3)) == ()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_called_nodes_are_recorded_and_run_no_hooks():
    x = leaf(1.0, 2.0)
    y = x * x
    y.grad_fn.register_hook(lambda *a: pytest.fail("a hook ran"))
    grad = leaf(1.0, 1.0)
    assert all(g.requires_grad for g in y.grad_fn(grad))
    with facula.no_grad():
        assert not any(g.requires_grad for g in y.grad_fn(grad))


def test_called_nodes_do_what_passes_do():
    x = facula.tensor([1.0, -1.0], requires_grad=True)
    table = facula.eye(3, requires_grad=True)
    rows = facula.nn.functional.embedding(facula.tensor([0, 2]), table, sparse=True)
    of_table = rows.grad_fn(facula.ones(2, 3))[0]
    assert of_table.to_dense().tolist() == [[1.0] * 3, [0.0] * 3, [1.0] * 3]
    with facula.autograd.detect_anomaly():
        y = x.sqrt()
        with pytest.raises(RuntimeError, match="nan values"):
            y.grad_fn(facula.ones(2))


def test_nodes_outlive_a_pass_in_another_thread():
    # Large enough for kernels to let the other thread run.
    x = facula.rand(300_000, requires_grad=True)
    gradient = facula.ones(300_000)
    for _ in range(20):
        y = x.exp()
        node, seen, ready = y.grad_fn, [], threading.Barrier(2)

        def run(total=y.sum(), ready=ready):
            ready.wait()
            total.backward()

        other = threading.Thread(target=run)
        other.start()
        ready.wait()
        try:
            seen.append(node(gradient))
        except RuntimeError as error:  # the pass was first
            assert "second time" in str(error)
        other.join()
        assert not seen or facula.equal(seen[0], y.detach())


def test_nodes_refuse_what_they_cannot_take():
    x = leaf(1.0, 2.0, 3.0)
    y = x.exp()
    node = y.grad_fn
    for args in ((), (facula.ones(3), facula.ones(3)), ("a",), (3.0,)):
        with pytest.raises(TypeError):
            node(*args)
    with pytest.raises(TypeError, match="keyword"):
        node(grad=facula.ones(3))
    with pytest.raises(RuntimeError, match="shape"):
        node(facula.ones(2))
    with pytest.raises(RuntimeError):
        node(facula.ones(3, device="meta"))
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        node(facula.ones(3))


def test_hooks_of_several_gradients_wait_for_those_that_come():
    a, b, c, unused = leaf(1.0), leaf(2.0), leaf(3.0), leaf(4.0)
    inner = a * b
    seen = []
    handle = register_multi_grad_hook(
        (a, b, c, unused, inner), lambda grads: seen.append([g is not None for g in grads])
    )
    inner.backward(retain_graph=True)
    inner.backward(inputs=(a,), retain_graph=True)
    (a * c + unused.detach()).backward()
    facula.autograd.grad(c * 2, [c])
    assert seen == [
        [True, True, False, False, True],
        [True, False, False, False, True],
        [True, False, True, False, False],
        [False, False, True, False, False],
    ]
    handle.remove()
    inner.backward()
    assert len(seen) == 4


def test_hooks_of_several_gradients_in_passes_within_passes():
    a, b = leaf(1.0), leaf(2.0)
    seen = []
    register_multi_grad_hook((a, b), lambda grads: seen.append([g and g.item() for g in grads]))

    class Nested(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            with facula.enable_grad():
                (b * 5).backward()
            return gradient

    (Nested.apply(a) * 3).backward()
    assert seen == [[None, 5.0], [3.0, None]]


def test_a_hook_of_the_first_gradient_is_called_once_a_pass():
    a, b = leaf(1.0), leaf(2.0)
    seen = []
    register_multi_grad_hook((a, b), lambda grad: seen.append(grad.item()), mode="any")
    for _ in range(2):
        (a * b).backward()
        (a * 7).backward()
    assert len(seen) == 4 and seen[1::2] == [7.0, 7.0]


class NoneForSecond(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("fails")


def gradients_that_came(tensors):
    seen = []
    register_multi_grad_hook(tensors, lambda grads: seen.append([g is not None for g in grads]))
    return seen


def test_hooks_of_several_gradients_end_with_the_pass_where_none_comes():
    a, b = leaf(1.0), leaf(2.0)
    x, y = a * 1, b * 1
    seen = gradients_that_came((x, y))
    NoneForSecond.apply(x, y).backward()
    assert seen == [[True, False]]
    del x, y
    seen = gradients_that_came((a, b))
    (a * 2).backward(inputs=[a, b])
    facula.autograd.grad(a * 2, (a, b), allow_unused=True)
    b.requires_grad_(False)
    (a * 2).backward()
    assert seen == [[True, False]] * 3


def test_hooks_of_several_gradients_are_called_though_their_nodes_are_gone():
    seen, a = [], leaf(1.0)

    def build():
        x, y = a * 1, a * 1
        register_multi_grad_hook((x, y), lambda grads: seen.append(grads))
        return NoneForSecond.apply(x, y)

    build().backward()
    assert [[g is not None for g in grads] for grads in seen] == [[True, False]]


def test_hooks_of_several_gradients_keep_nothing_of_passes_that_fail():
    a, b = leaf(1.0), leaf(2.0)
    held = []
    # The gradient of the call that was recorded last is there first.
    bad = Fails.apply(a * 1)
    x, factor = b * 1, facula.tensor([3.0])
    x.register_hook(lambda g: held.append(weakref.ref(g)))

    def fail():
        with pytest.raises(ValueError, match="fails"):
            (x * factor + bad).backward(retain_graph=True)

    seen = gradients_that_came((x, a))
    for _ in range(5):
        fail()
    (x * a).backward(retain_graph=True)
    gc.collect()
    assert seen == [[True, True]]
    assert len(held) == 6 and not any(ref() is not None for ref in held)


def test_a_hook_of_the_first_gradient_is_called_once_where_passes_run_within_passes():
    a, b = leaf(1.0), leaf(2.0)

    class Nested(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            with facula.enable_grad():
                (b * 5).backward()
            return gradient

    first, last = a * 1, Nested.apply(a * 1)
    seen = []
    register_multi_grad_hook((first, last, b), lambda grad: seen.append(grad.item()), mode="any")
    (first * 3 + last * 7).backward()
    assert seen == [7.0, 5.0]


def test_handles_of_hooks_are_removable_handles_that_are_not_copied():
    a = leaf(1.0)
    joint = register_multi_grad_hook((a,), print)
    handles = [joint, a.register_hook(print), (a * 1).grad_fn.register_hook(print)]
    for handle in handles:
        assert isinstance(handle, facula.utils.hooks.RemovableHandle)
        assert isinstance(handle.id, int)
        with pytest.raises(TypeError, match="cannot pickle or copy"):
            copy.copy(handle)
        with pytest.raises(TypeError, match="no state"):
            handle.__setstate__((None, 0))
        with handle:
            pass


def test_multi_grad_hooks_hold_nothing():
    a = leaf(1.0)
    alive = weakref.ref(a)
    register_multi_grad_hook((a, a * 2), lambda grads: None)
    del a
    gc.collect()
    assert alive() is None


def test_callbacks_run_after_the_pass():
    x = leaf(1.0)
    order = []
    x.register_hook(lambda g: queue_callback(lambda: order.append(x.grad.item())))
    (x * 3).backward()
    assert order == [3.0]
    with pytest.raises(RuntimeError, match="during backward pass"):
        queue_callback(print)


def test_edges_are_checked_as_tensors_are():
    x, other = leaf(1.0, 2.0, 3.0), leaf(1.0)
    y = x * 2
    for unused in (other, get_gradient_edge(other)):
        with pytest.raises(RuntimeError, match="not have been used"):
            facula.autograd.grad(y.sum(), unused)
        assert facula.autograd.grad(y.sum(), unused, allow_unused=True) == (None,)
    for root in (y, x, get_gradient_edge(y), get_gradient_edge(x)):
        for backward in (facula.autograd.backward, lambda r, s: facula.autograd.grad(r, x, s)):
            with pytest.raises(RuntimeError, match="Mismatch in shape"):
                backward(root, facula.ones(2, 3))
            with pytest.raises(RuntimeError, match="both grad_output and output"):
                backward(root, facula.ones(3, dtype=facula.complex64))
    with pytest.raises(ValueError, match="non-empty"):
        facula.autograd.grad(get_gradient_edge(y), [], facula.ones(3))
    with pytest.raises(RuntimeError, match="GradientEdge"):
        facula.autograd.grad(y.sum(), get_gradient_edge(other), materialize_grads=True)
    single = leaf(2.0)
    assert facula.autograd.grad(get_gradient_edge(single), single)[0].tolist() == [1.0]


@pytest.mark.parametrize("as_list", [False, True])
def test_backward_into_edges(as_list):
    x, other = leaf(1.0, 2.0), leaf(1.0)
    y = x * 2
    edge = get_gradient_edge(x)
    (y.sum() + other).backward(inputs=[edge] if as_list else edge, retain_graph=True)
    facula.autograd.backward(y.sum(), inputs=[edge] if as_list else edge, retain_graph=True)
    assert x.grad.tolist() == [4.0, 4.0] and other.grad is None
    middle = get_gradient_edge(y)
    y.sum().backward(inputs=[middle], retain_graph=True)
    y.retain_grad()
    y.sum().backward(inputs=[middle])
    assert x.grad.tolist() == [4.0, 4.0] and y.grad.tolist() == [1.0, 1.0]
