"""Operators over lists of tensors give what the operators give for each tensor."""

import pytest

import facula
from facula import _foreach

t = facula.tensor


def lists():
    return [t([0.3, 0.7]), t([0.9, 0.2, 0.5])]


@pytest.mark.parametrize("op", _foreach._UNARY)
def test_unary(op):
    want = [getattr(facula, op)(x) for x in lists()]
    got = getattr(facula, "_foreach_" + op)(lists())
    assert isinstance(got, tuple) and all(map(facula.equal, got, want))
    held = lists()
    out = getattr(facula, f"_foreach_{op}_")(held)
    assert out is held and all(map(facula.equal, held, want))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "pow", "maximum", "minimum"])
@pytest.mark.parametrize("inplace", [False, True])
def test_binary(op, inplace):
    others = [t([2.0, 0.5]), t([0.1, 3.0, 1.0])]
    function = getattr(facula, f"_foreach_{op}" + "_" * inplace)
    single = getattr(facula, op)
    for argument, each in [
        (2.0, [t(2.0)] * 2),
        ([0.5, 2.0], [t(0.5), t(2.0)]),
        (others, others),
    ]:
        want = [single(x, y) for x, y in zip(lists(), each, strict=True)]
        facula.testing.assert_close(list(function(lists(), argument)), want)


def test_alpha_and_scalar_tensors():
    got = facula._foreach_add(lists(), lists(), alpha=2)
    facula.testing.assert_close(list(got), [3 * x for x in lists()])
    got = facula._foreach_mul(lists(), t(2.0))
    facula.testing.assert_close(list(got), [2 * x for x in lists()])
    with pytest.raises(TypeError, match="alpha"):
        facula._foreach_add(lists(), 1, alpha=2)
    with pytest.raises(RuntimeError, match="expected to be 0 dim"):
        facula._foreach_add(lists(), facula.ones(2))
    got = facula._foreach_pow(2, lists())
    facula.testing.assert_close(list(got), [facula.pow(2, x) for x in lists()])


@pytest.mark.parametrize("op", ["addcmul", "addcdiv"])
@pytest.mark.parametrize("inplace", [False, True])
def test_fused(op, inplace):
    function = getattr(facula, f"_foreach_{op}" + "_" * inplace)
    a, b = [x + 1 for x in lists()], [x + 2 for x in lists()]

    def want(factors):
        rows = zip(lists(), a, b, factors, strict=True)
        return [getattr(x, op)(p, q, value=f) for x, p, q, f in rows]

    for arguments, factors in [
        ((), [1, 1]),
        ((2.0,), [2.0, 2.0]),
        (([0.5, 3.0],), [0.5, 3.0]),
        ((t([0.5, 3.0]),), [0.5, 3.0]),
    ]:
        facula.testing.assert_close(list(function(lists(), a, b, *arguments)), want(factors))


def test_others():
    ends = [facula.ones(2), facula.ones(3)]
    for weight in (0.25, [0.25, 0.25], [facula.full((2,), 0.25), facula.full((3,), 0.25)]):
        got = facula._foreach_lerp(lists(), ends, weight)
        facula.testing.assert_close(list(got), [x * 0.75 + 0.25 for x in lists()])
    for ord in (1, 2, float("inf")):
        got = facula._foreach_norm(lists(), ord)
        facula.testing.assert_close(list(got), [x.norm(ord) for x in lists()])
    assert facula._foreach_norm(lists(), dtype=facula.float64)[0].dtype == facula.float64
    facula.testing.assert_close(
        list(facula._foreach_powsum(lists(), 3)), [x.pow(3).sum() for x in lists()]
    )
    assert [x.item() for x in facula._foreach_max([t([1.0, 2.0]), t([3.0])])] == [2.0, 3.0]
    held = lists()
    copies = facula._foreach_clone(held)
    facula._foreach_zero_(held)
    assert not any(x.any() for x in held) and all(map(facula.equal, copies, lists()))
    facula._foreach_copy_(held, copies)
    assert all(map(facula.equal, held, lists()))
    assert facula._foreach_mm([facula.ones(1, 2)], [facula.ones(2, 1)])[0].item() == 2.0


def test_gradients():
    xs = [x.requires_grad_() for x in lists()]
    out = facula._foreach_mul(facula._foreach_exp(xs), 2.0)
    facula._foreach_add(out, 1.0)[1].sum().backward()
    facula.testing.assert_close(xs[1].grad, 2 * xs[1].detach().exp())
    assert xs[0].grad is None


def test_errors():
    for call, error, message in [
        (lambda: facula._foreach_add([], 1), RuntimeError, "at least one tensor"),
        (lambda: facula._foreach_add(lists(), lists()[:1]), RuntimeError, "got 2 and 1"),
        (lambda: facula._foreach_add(lists(), [1.0]), RuntimeError, "as scalar list"),
        (lambda: facula._foreach_add(3, 1), TypeError, "tuple of Tensors, not int"),
        (lambda: facula._foreach_add(lists(), "x"), TypeError, "not str"),
        (lambda: facula._foreach_nothing, AttributeError, "_foreach_nothing"),
    ]:
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("op", ["add", "sub"])
@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("dtype", [facula.int64, facula.float32, facula.bool])
@pytest.mark.parametrize("alpha", [1, 2, 2.5, True, False, 2j, "a", None])
def test_alpha_is_that_of_the_operator(op, inplace, dtype, alpha):
    function = getattr(facula, f"_foreach_{op}" + "_" * inplace)
    a, b = t([1, 0]).to(dtype), t([1, 1]).to(dtype)
    try:
        want = getattr(a.clone(), op + "_" * inplace)(b, alpha=alpha)
    except (RuntimeError, TypeError) as error:
        with pytest.raises(type(error)):
            function([a], [b], alpha=alpha)
    else:
        assert facula.equal(function([a.clone()], [b], alpha=alpha)[0], want)
