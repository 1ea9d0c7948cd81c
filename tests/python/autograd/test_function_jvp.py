"""The jvp of custom autograd Functions, in every transform of forward mode."""

from __future__ import annotations

import pytest

import facula
import facula.autograd.forward_ad as fwAD
from facula.autograd import Function, gradcheck
from facula.autograd.function import once_differentiable
from facula.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vmap

F64 = facula.float64


def rand(*shape: int, seed: int = 0) -> facula.Tensor:
    """Numbers in (0.5, 1.5)."""
    g = facula.Generator()
    g.manual_seed(seed)
    return facula.rand(shape, generator=g, dtype=F64) + 0.5


def close(a: facula.Tensor, b: facula.Tensor, tolerance: float = 1e-6) -> None:
    assert a.shape == b.shape
    assert facula.allclose(a, b, rtol=tolerance, atol=tolerance), (a, b)


def difference(f, x, t, h=1e-6):
    """The derivative of `f` at `x` in the direction `t`, by the values of `f` alone."""
    with facula.no_grad():
        return (f(x + h * t) - f(x - h * t)) / (2 * h)


calls: list = []


@pytest.fixture(autouse=True)
def no_calls():
    calls.clear()


class Scaled(Function):
    """sin(x) * y * k, whose backward cannot be differentiated."""

    @staticmethod
    def forward(ctx, x, y, k):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.k = k
        return x.sin() * y * k

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x.cos() * y * ctx.k, g * x.sin() * ctx.k, None

    @staticmethod
    def jvp(ctx, tx, ty, tk):
        calls.append((tx, ty, tk))
        x, y = ctx.saved_tensors
        return (tx * x.cos() * y + ty * x.sin()) * ctx.k


def scaled(x):
    return Scaled.apply(x * x, x, 3.0)


def test_every_transform_takes_it():
    x, t = rand(4), rand(4, seed=1)
    want = difference(scaled, x, t)
    value, got = jvp(scaled, (x,), (t,))
    close(got, want)
    close(value, scaled(x))
    with fwAD.dual_level():
        close(fwAD.unpack_dual(scaled(fwAD.make_dual(x, t))).tangent, want)
    close(linearize(scaled, x)[1](t), want)
    close(jacfwd(scaled)(x), facula.diag(difference(scaled, x, facula.ones_like(x))))
    assert len(calls) == 4 and all(k is None for _, _, k in calls)
    close(jacrev(scaled)(x), jacfwd(scaled)(x))


def test_not_called_without_tangents():
    x = rand(3)
    _, got = jvp(lambda t: t + Scaled.apply(x, x, 1.0), (x,), (x,))
    close(got, x)
    with fwAD.dual_level():
        out = Scaled.apply(x.clone().requires_grad_(), x, 1.0)
        assert fwAD.unpack_dual(out).tangent is None
    assert not calls


@pytest.mark.parametrize("materialize", [True, False])
def test_inputs_without_tangents(materialize):
    class Sum(Function):
        @staticmethod
        def forward(ctx, x, y, name):
            ctx.set_materialize_grads(materialize)
            return x + y

        @staticmethod
        def jvp(ctx, tx, ty, name):
            calls.append((tx, ty, name))
            return tx if ty is None else tx + ty

    x, y = rand(3), rand(3, seed=1).requires_grad_()
    close(jvp(lambda t: Sum.apply(t, y, "name"), (x,), (x,))[1], x)
    (_, ty, name), *_ = calls
    assert name is None
    assert ty is None if not materialize else facula.equal(ty, facula.zeros(3, dtype=F64))


class Sorted(Function):
    """Values and places, of which the values are differentiable, and a constant."""

    wrong = False

    @staticmethod
    def forward(x):
        values, places = x.sort()
        return values, places, places.to(x.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1], output[2])
        ctx.save_for_backward(output[1])
        ctx.save_for_forward(output[1])

    @staticmethod
    def backward(ctx, g, *rest):
        (places,) = ctx.saved_tensors
        return facula.zeros_like(g).scatter(0, places, g)

    @staticmethod
    def jvp(ctx, t):
        (places,) = ctx.saved_tensors
        return t[places], None, t if Sorted.wrong else None


def test_outputs_without_derivatives(monkeypatch):
    x, t = facula.tensor([3.0, 1.0, 2.0]), facula.tensor([1.0, 2.0, 3.0])
    with fwAD.dual_level():
        values, places, ranks = map(fwAD.unpack_dual, Sorted.apply(fwAD.make_dual(x, t)))
    assert values.tangent.tolist() == [2.0, 3.0, 1.0]
    assert places.tangent is None and ranks.tangent is None
    monkeypatch.setattr(Sorted, "wrong", True)
    with pytest.raises(RuntimeError, match="gradient at position 2, but"):
        jvp(Sorted.apply, (x,), (t,))


def with_jvp(rule):
    """Make a Function that gives x and 2 x, and whose jvp is `rule`."""

    class Custom(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        jvp = staticmethod(rule)

    return Custom.apply


def test_what_a_jvp_gives_is_checked():
    x = rand(3)

    def push(rule):
        return jvp(with_jvp(rule), (x,), (x,))[1]

    first, second = push(lambda ctx, t: (None, 2 * t))
    close(first, facula.zeros(3, dtype=F64))
    close(second, 2 * x)
    with pytest.raises(RuntimeError, match=r"invalid number.*expected 2 but got 1"):
        push(lambda ctx, t: t)
    with pytest.raises(RuntimeError, match=r"invalid number.*expected 2 but got 3"):
        push(lambda ctx, t: (t, t, t))
    with pytest.raises(RuntimeError, match="different size"):
        push(lambda ctx, t: (t, t[:2]))
    with pytest.raises(TypeError, match="expected Tensor or None"):
        push(lambda ctx, t: (t, "tangent"))

    def fails(ctx, t):
        raise ValueError("from the jvp")

    with pytest.raises(ValueError, match="from the jvp"):
        push(fails)
    close(jvp(lambda t: t * t, (x,), (x,))[1], 2 * x * x)  # no level is left behind


def doubles(how):
    """Make a Function that doubles its argument in place, and whose jvp does `how`."""

    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            calls.append(t)
            return how(t)

    return Double.apply


def test_writes_in_place():
    x, t = rand(3), rand(3, seed=1)

    def f(x, apply):
        y = x * x
        squares = y.t()
        apply(y)
        return y + squares

    def right(t):
        return t.mul_(2)

    _, got = jvp(lambda x: f(x, doubles(right)), (x,), (t,))
    close(got, 8 * x * t)
    assert calls
    with pytest.raises(RuntimeError, match="not modifying the forward mode gradients inplace"):
        jvp(lambda x: f(x, doubles(lambda t: t * 2)), (x,), (t,))
    with pytest.raises(RuntimeError, match="not returning the forward mode gradients as-is"):
        jvp(lambda x: f(x, doubles(lambda t: t.mul_(2).clone())), (x,), (t,))


def test_tangents_of_results_that_are_saved():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_forward(y)
            return y

        @staticmethod
        def jvp(ctx, t):
            (y,) = ctx.saved_tensors
            return t * y

    x, t, s = rand(3), rand(3, seed=1), rand(3, seed=2)

    def once(x):
        return jvp(Exp.apply, (x,), (t,))[1]

    close(jvp(once, (x,), (s,))[1], x.exp() * t * s)  # forward over forward
    close(grad(lambda x: jvp(facula.sin, (x,), (t,))[1].sum())(x), -x.sin() * t)


def test_nesting():
    x, t, s = rand(3), rand(3, seed=1), rand(3, seed=2)

    def once(x):
        return jvp(scaled, (x,), (t,))[1]

    close(jvp(once, (x,), (s,))[1], difference(once, x, s))
    close(hessian(lambda x: (x**3).sum())(x), facula.diag(6 * x))
    total = jacfwd(jacfwd(lambda x: scaled(x).sum()))(x)
    close(total, facula.diag(difference(lambda x: grad(lambda x: scaled(x).sum())(x), x, 1.0)))


def test_reverse_over_forward():
    x, t = rand(3), rand(3, seed=1)

    def pushed(x):
        return jvp(scaled, (x,), (t,))[1].sum()

    want = facula.stack([difference(pushed, x, unit) for unit in facula.eye(3, dtype=F64)])
    close(grad(pushed)(x), want)


def test_with_vmap():
    x, t = rand(5, 3), rand(5, 3, seed=1)
    want = difference(scaled, x, t)
    close(vmap(lambda x, t: jvp(scaled, (x,), (t,))[1])(x, t), want)
    close(jvp(vmap(scaled), (x,), (t,))[1], want)
    rows = vmap(jacfwd(scaled))(x)
    close(rows, facula.diag_embed(difference(scaled, x, facula.ones_like(x))))
    assert calls


@pytest.mark.parametrize(
    "before",
    [
        lambda x: facula.linalg.inv(x + 3 * facula.eye(3, dtype=F64)),
        lambda x: x.clone().mul_(x),
        lambda x: facula.zeros(3, 3, dtype=F64).copy_(x).add_(1),
        facula.linalg.matrix_exp,
    ],
)
def test_behind_what_has_no_rule(before):
    def f(x):
        return Scaled.apply(before(x), x, 2.0)

    x, t = rand(3, 3), rand(3, 3, seed=1)
    close(jvp(f, (x,), (t,))[1], difference(f, x, t))
    close(linearize(f, x)[1](t), difference(f, x, t))


def test_without_a_jvp_the_backward_is_differentiated():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x, t = rand(3), rand(3, seed=1)
    close(jvp(Cube.apply, (x,), (t,))[1], 3 * x**2 * t)
    close(
        jvp(lambda x: Scaled.apply(Cube.apply(x), x, 1.0), (x,), (t,))[1],
        difference(lambda x: Scaled.apply(Cube.apply(x), x, 1.0), x, t),
    )
    close(jacfwd(Cube.apply)(x), facula.diag(3 * x**2))


@pytest.mark.parametrize("leave", [lambda g: g.detach(), lambda g: facula.tensor(g.tolist())])
def test_without_a_jvp_a_backward_that_leaves_the_graph_is_refused(leave):
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            return 2 * leave(g)

    with pytest.raises(NotImplementedError, match="needs a jvp"):
        jvp(Twice.apply, (facula.ones(3),), (facula.ones(3),))


def test_without_a_jvp_backward_has_its_own_saved_tensors():
    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_forward(y.exp())
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    x, y = rand(3), rand(3, seed=1)
    close(jvp(lambda x: Product.apply(x, y), (x,), (facula.ones_like(x),))[1], y)


def test_gradcheck_finds_a_wrong_jvp():
    x, y = rand(3).requires_grad_(), rand(3, seed=1).requires_grad_()

    def f(x, y):
        return Scaled.apply(x, y, 2.0)

    assert gradcheck(f, (x, y), check_forward_ad=True, check_batched_forward_grad=True)

    class Wrong(Scaled):
        @staticmethod
        def jvp(ctx, tx, ty, tk):
            return Scaled.jvp(ctx, tx, ty, tk) * 1.1

    assert gradcheck(lambda x: Wrong.apply(x, x, 1.0), x)
    with pytest.raises(RuntimeError, match="forward mode"):
        gradcheck(lambda x: Wrong.apply(x, x, 1.0), x, check_forward_ad=True)


def test_save_for_forward_takes_tensors():
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x, 3)
            return x

    with pytest.raises(AssertionError, match="tensors"):
        Bad.apply(rand(2))
