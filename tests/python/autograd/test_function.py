"""Custom autograd Functions."""

import gc
import weakref

import pytest

import facula
from facula.autograd import Function
from facula.autograd.function import once_differentiable


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


def test_forward_and_backward():
    x = facula.tensor([0.0, 1.0], requires_grad=True)
    y = Exp.apply(x)
    assert type(y.grad_fn).__name__ == "ExpBackward" and y.grad_fn.name() == "ExpBackward"
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([1.0, 2.718281828])


def test_double_backward():
    x = facula.tensor(0.5, requires_grad=True, dtype=facula.float64)
    (g,) = facula.autograd.grad(Exp.apply(x), x, create_graph=True)
    (h,) = facula.autograd.grad(g, x)
    assert h.item() == pytest.approx(1.6487212707)


def test_saved_tensors_after_backward():
    x = facula.ones(1, requires_grad=True)
    y = Exp.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_arguments_of_any_type_and_needs():
    seen = {}

    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.factor = factor
            seen["needs"] = ctx.needs_input_grad
            return x * factor, y

        @staticmethod
        def backward(ctx, g, gy):
            seen["gy"] = gy
            return g * ctx.factor, None, None

    x = facula.ones(2, requires_grad=True)
    y = facula.ones(2)
    out, same = Scale.apply(x, 3, y)
    assert seen["needs"] == (True, False, False)
    out.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert seen["gy"].tolist() == [0.0, 0.0]


def test_materialize_grads_off():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            assert a is None
            return b * 2

    x = facula.ones(1, requires_grad=True)
    Two.apply(x)[1].sum().backward()
    assert x.grad.item() == 2.0


def test_setup_context():
    class Square(Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = facula.tensor(3.0, requires_grad=True)
    Square.apply(x).backward()
    assert x.grad.item() == 6.0


def test_wrong_number_of_gradients():
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g, g

    x = facula.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="incorrect number of gradients .expected 1, got 2."):
        Bad.apply(x).backward()


def test_python_errors_pass_through():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    x = facula.ones(1, requires_grad=True)
    with pytest.raises(KeyError, match="mine"):
        Fails.apply(x).backward()


def test_non_differentiable():
    class Arg(Function):
        @staticmethod
        def forward(ctx, x):
            i = x > 0
            ctx.mark_non_differentiable(i)
            return x * 1, i

        @staticmethod
        def backward(ctx, g, gi):
            return g

    y, i = Arg.apply(facula.ones(1, requires_grad=True))
    assert y.requires_grad and not i.requires_grad


def test_dirty_input():
    class AddOne(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.add_(1)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = facula.ones(2, requires_grad=True)
    h = x * 2
    same = AddOne.apply(h)
    assert same is h and h.tolist() == [3.0, 3.0]
    h.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_input_returned_as_it_is():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = facula.ones(1, requires_grad=True)
    y = Same.apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    y.sum().backward()
    assert x.grad.item() == 2.0


def test_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return g * 2

    x = facula.ones(1, requires_grad=True)
    (g,) = facula.autograd.grad(Once.apply(x) * x, x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_no_grad_keeps_no_graph():
    with facula.no_grad():
        y = Exp.apply(facula.ones(1, requires_grad=True))
    assert y.grad_fn is None


def test_instances_warn_and_cannot_be_called():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        made = Exp()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        made(facula.ones(1))


def test_cycle_through_the_context_is_collected():
    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mine = x
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    x = facula.ones(1, requires_grad=True)
    y = Keeps.apply(x)
    y.grad_fn.loop = y
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


def test_forward_may_write_to_views_that_it_returns():
    class Positive(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.detach().clone().reshape(2, 2)
            y.clamp_(min=0)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return (grad * (y > 0)).reshape(-1)

    x = facula.tensor([1.0, -1.0, 2.0, -2.0], requires_grad=True)
    y = Positive.apply(x)
    assert y.grad_fn.name() == "PositiveBackward"
    (y * y).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 4.0, 0.0]


@pytest.mark.parametrize("factor", [1j, 2 + 3j])
def test_complex_gradient_of_a_real_input_is_refused(factor):
    class Turn(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * factor

    leaf = facula.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="TurnBackward returned an invalid gradient at"):
        Turn.apply(leaf).sum().backward()
    with pytest.raises(RuntimeError, match="expected type float"):
        Turn.apply(leaf * 1).sum().backward()
    turned = facula.ones(3, dtype=facula.complex64, requires_grad=True)
    Turn.apply(turned).backward(facula.ones(3, dtype=facula.complex64))
    assert facula.equal(turned.grad, facula.full((3,), factor, dtype=facula.complex64))


@pytest.mark.parametrize("grad", [True, False])
def test_marks_of_what_is_not_returned_are_refused(grad):
    class Forgets(Function):
        @staticmethod
        def forward(ctx, x, marked):
            ctx.mark_dirty(marked)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    x = facula.ones(3, requires_grad=grad) * 1
    with pytest.raises(RuntimeError, match="were not returned as output"):
        Forgets.apply(x, x)
    with pytest.raises(RuntimeError, match="mark_dirty can only accept variables"):
        Forgets.apply(x, 3)


def test_saved_tensors_of_a_freed_graph_are_refused():
    kept = []

    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            kept.append(ctx)
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = facula.ones(3, requires_grad=True)
    y = Keeps.apply(x)
    y.sum().backward()
    for _ in range(2):  # with the graph released, then gone
        with pytest.raises(RuntimeError, match="second time"):
            kept[0].saved_tensors  # noqa: B018
        y = None
    Keeps.apply(x)
    assert facula.equal(kept[1].saved_tensors[0], x)
