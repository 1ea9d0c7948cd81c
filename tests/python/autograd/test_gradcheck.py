"""gradcheck and gradgradcheck accept right gradients and find wrong ones."""

import pytest

import facula
from facula.autograd import gradcheck, gradgradcheck
from facula.autograd.gradcheck import GradcheckError

F64, C128 = facula.float64, facula.complex128


def values(*shape, dtype=F64):
    g = facula.Generator()
    g.manual_seed(0)
    t = facula.rand(shape, generator=g, dtype=F64) + 0.5
    if dtype == C128:
        t = facula.complex(t, facula.rand(shape, generator=g, dtype=F64) - 0.5)
    return t.requires_grad_()


def function(backward, outputs=1):
    class Custom(facula.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2 if outputs == 1 else (x * 2, x * 3)

        @staticmethod
        def backward(ctx, *grads):
            return backward(ctx, *grads)

    return Custom.apply


fast = pytest.mark.parametrize("fast_mode", [False, True])


@fast
@pytest.mark.parametrize(
    ("f", "make"),
    [
        (facula.sin, lambda: (values(3, 2),)),
        (facula.mm, lambda: (values(2, 3), values(3, 2))),
        (lambda x: x.expand(4, 3, 2), lambda: (values(3, 2),)),
        (lambda x: x.unbind(0), lambda: (values(3, 2),)),
        (lambda x, y: (x * y, x + 1), lambda: (values(3), values(3))),
        (lambda x: (x > 1).to(F64), lambda: (values(3),)),
        (facula.exp, lambda: (values(0),)),
        (facula.exp, lambda: (values(),)),
        (lambda x: x.t(), lambda: (values(3, 2),)),
        (lambda z: z * z, lambda: (values(3, dtype=C128),)),
        (lambda z: z.abs(), lambda: (values(3, dtype=C128),)),
        (lambda z, x: z * x, lambda: (values(3, dtype=C128), values(3))),
    ],
)
def test_right_gradients(f, make, fast_mode):
    inputs = make()
    assert gradcheck(f, inputs, fast_mode=fast_mode)


@fast
def test_second_derivatives(fast_mode):
    assert gradgradcheck(lambda x: x.tanh() * x, values(4), fast_mode=fast_mode)
    assert gradgradcheck(
        facula.sin, values(4), fast_mode=fast_mode, gen_non_contig_grad_outputs=True
    )
    weight = facula.ones(4, dtype=F64, requires_grad=True)
    assert gradgradcheck(lambda x: x**3, values(4), weight, fast_mode=fast_mode)


@fast
def test_wrong_gradient(fast_mode):
    f = function(lambda ctx, g: g * 3)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to inpu"):
        gradcheck(f, values(3), fast_mode=fast_mode)
    assert gradcheck(f, values(3), fast_mode=fast_mode, raise_exception=False) is False


@fast
def test_gradient_that_ignores_its_argument(fast_mode):
    f = function(lambda ctx, g: facula.ones_like(g) * 2)
    with pytest.raises(RuntimeError):
        gradcheck(f, values(1), fast_mode=fast_mode)


@fast
def test_random_gradient(fast_mode):
    g = facula.Generator()
    g.manual_seed(0)
    f = function(lambda ctx, grad: grad * (2 + 1e-7 * facula.rand((), generator=g, dtype=F64)))
    with pytest.raises(RuntimeError, match="not reentrant"):
        gradcheck(f, values(3), fast_mode=fast_mode)
    assert gradcheck(f, values(3), nondet_tol=1e-4, fast_mode=fast_mode)


def test_function_without_history():
    with pytest.raises(RuntimeError, match="expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, values(3))


def test_refusals():
    x = values(3)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(facula.sin, x.detach())
    with pytest.warns(UserWarning, match="not a double precision"):
        gradcheck(facula.sin, x.detach().float().requires_grad_(), raise_exception=False)
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(facula.sin, facula.ones(1, dtype=F64).expand(3).requires_grad_())
    with pytest.raises(AssertionError, match="check_forward_ad or check_backward_ad"):
        gradcheck(facula.sin, x, check_backward_ad=False)
    with pytest.raises(AssertionError, match="requires check_backward_ad to be True"):
        gradcheck(
            facula.sin, x, check_batched_grad=True, check_backward_ad=False, check_forward_ad=True
        )
    with pytest.raises(AssertionError, match="requires check_forward_ad to be True"):
        gradcheck(facula.sin, x, check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="check_fwd_over_rev or check_rev_over_rev"):
        gradgradcheck(facula.sin, x, check_rev_over_rev=False)
    for flag in ("check_undefined_grad", "check_batched_grad"):
        flags = {"check_undefined_grad": False, flag: True}
        with pytest.raises(AssertionError, match=f"{flag}=True requires check_rev_over_rev"):
            gradgradcheck(facula.sin, x, check_rev_over_rev=False, check_fwd_over_rev=True, **flags)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_forward_mode(fast_mode):
    x, z = values(3, 2), values(4, dtype=facula.complex128)

    def several(x, z):
        return x.t() @ x.sin(), z * z.abs(), facula.arange(2)

    assert gradcheck(several, (x, z), check_forward_ad=True, fast_mode=fast_mode)
    calls = []

    def other(x):
        # Wrong in forward mode alone: what the gradient sees as a constant moves along.
        dual = facula.autograd.forward_ad.unpack_dual(x).tangent is not None
        calls.append(dual)
        return x * (x if dual else x.detach() * 0 + 1)

    assert gradcheck(other, values(3), fast_mode=fast_mode) and not any(calls)
    with pytest.raises(GradcheckError, match="forward mode"):
        gradcheck(other, values(3), check_forward_ad=True, fast_mode=fast_mode)
    assert any(calls)
    assert gradcheck(lambda x: x.sin(), values(3), check_forward_ad=True, check_backward_ad=False)


SMOOTH = [
    (lambda x: x.sin() * x, lambda: (values(3, 2),)),
    (lambda x, y: (x @ y, x.exp()), lambda: (values(2, 3), values(3, 2))),
    (lambda x: facula.linalg.inv(x + 2 * facula.eye(3, dtype=F64)), lambda: (values(3, 3),)),
    (lambda x: x.clone().mul_(x)[1:], lambda: (values(3),)),
    (lambda z: z * z.abs(), lambda: (values(3, dtype=C128),)),
    (lambda x, n: x.softmax(0)[n], lambda: (values(4), 2)),
]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize(("f", "make"), SMOOTH)
def test_several_directions_at_once(f, make):
    assert gradcheck(f, make(), check_batched_grad=True)
    assert gradcheck(f, make(), check_forward_ad=True, check_batched_forward_grad=True)


@fast
@pytest.mark.parametrize(("f", "make"), SMOOTH)
def test_forward_over_reverse(f, make, fast_mode):
    both = {"check_fwd_over_rev": True, "fast_mode": fast_mode}
    assert gradgradcheck(f, make(), **both, check_batched_grad=not fast_mode)
    assert gradgradcheck(f, make(), **both, check_rev_over_rev=False, check_undefined_grad=False)


def test_batched_gradients_that_differ():
    def wrong(ctx, g):
        # One direction at a time is right; several at once, inside vmap, are not.
        return g * (3 if facula._C._is_batched(g) else 2)

    def fails(ctx, g):
        return g * 2 + 0 * g.sum().item()

    for backward, message in ((wrong, "differ from those of one"), (fails, "While computing")):
        f = function(backward)
        assert gradcheck(f, values(3))
        with pytest.raises(GradcheckError, match=message):
            gradcheck(f, values(3), check_batched_grad=True)
        assert gradcheck(f, values(3), check_batched_grad=True, raise_exception=False) is False


def test_batched_tangents_that_differ():
    def f(x):
        # Half of the derivative is lost inside vmap.
        return x * (x.detach() if facula._C._vmap_levels() else x)

    assert gradcheck(f, values(3), check_forward_ad=True)
    with pytest.raises(GradcheckError, match="Batched tangents for input 0 of output 0"):
        gradcheck(f, values(3), check_forward_ad=True, check_batched_forward_grad=True)


def test_tangents_that_are_not_there():
    class Custom(facula.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g

        @staticmethod
        def jvp(ctx, tx, ty):
            if tx is None or ty is None:
                return tx if ty is None else ty
            return tx + wrong * ty

    for wrong in (1, 2):
        flags = {"check_forward_ad": True, "raise_exception": False}
        assert gradcheck(Custom.apply, (values(3), values(3)), **flags) is (wrong == 1)
        assert gradcheck(Custom.apply, (values(3), values(3)), **flags, check_undefined_grad=False)
    with pytest.raises(GradcheckError, match="input 0 has an undefined tangent value"):
        gradcheck(Custom.apply, (values(3), values(3)), check_forward_ad=True)


def test_wrong_second_derivatives():
    class Custom(facula.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (x + x.detach())

    assert gradcheck(Custom.apply, values(3))
    for flags in (
        {},
        {"check_rev_over_rev": False, "check_fwd_over_rev": True, "check_undefined_grad": False},
    ):
        with pytest.raises(GradcheckError, match="Jacobian mismatch"):
            gradgradcheck(Custom.apply, values(3), **flags)


def test_inputs_are_left_as_they_were():
    x = values(3)
    before = x.tolist()
    gradcheck(facula.exp, x)
    gradcheck(facula.exp, x, fast_mode=True)
    assert x.tolist() == before and x.grad is None
