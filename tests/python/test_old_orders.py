"""Argument orders and names that PyTorch deprecated and programs still use."""

import numpy as np
import pytest

import facula

pytestmark = pytest.mark.filterwarnings("ignore")


def draw(*shape):
    values = np.random.default_rng(sum(shape) + len(shape)).standard_normal(shape)
    return facula.from_numpy(values)


X, A, B = draw(2, 2), draw(2, 2) + 3, draw(2, 2) - 3
V, W = draw(2), draw(2) * 2
S, T = draw(3, 2, 2), draw(3, 2, 2) + 1

CASES = {
    "add": (lambda: X.add(2, A), lambda: X + 2 * A),
    "add function": (lambda: facula.add(X, 2, A), lambda: X + 2 * A),
    "add in place": (lambda: X.clone().add_(-0.5, A), lambda: X - 0.5 * A),
    "sub": (lambda: X.sub(2, A), lambda: X - 2 * A),
    "addcmul": (lambda: X.addcmul(3, A, B), lambda: X + 3 * A * B),
    "addcdiv": (lambda: X.clone().addcdiv_(-1, A, B), lambda: X - A / B),
    "addcdiv function": (lambda: facula.addcdiv(X, 2, A, B), lambda: X + 2 * A / B),
    "addmm": (lambda: X.addmm(2, 3, A, B), lambda: 2 * X + 3 * A @ B),
    "addmm beta": (lambda: X.clone().addmm_(2, A, B), lambda: 2 * X + A @ B),
    "addmm function": (lambda: facula.addmm(2, X, 3, A, B), lambda: 2 * X + 3 * A @ B),
    "addmm function beta": (lambda: facula.addmm(2, X, A, B), lambda: 2 * X + A @ B),
    "addmv": (lambda: facula.addmv(2, V, 3, A, W), lambda: 2 * V + 3 * A @ W),
    "addr": (lambda: X.addr(2, V, W), lambda: 2 * X + facula.outer(V, W)),
    "addbmm": (lambda: X.addbmm(2, 3, S, T), lambda: 2 * X + 3 * (S @ T).sum(0)),
    "baddbmm": (lambda: facula.baddbmm(2, S, 3, S, T), lambda: 2 * S + 3 * S @ T),
}


@pytest.mark.parametrize("name", CASES)
def test_factors_before_tensors(name):
    old, new = CASES[name]
    np.testing.assert_allclose(old().numpy(), new().numpy())


def test_old_order_warns_and_records():
    x = draw(3).requires_grad_()
    with pytest.warns(UserWarning, match="deprecated"):
        y = x.add(2, draw(3))
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: X.add(A, B),
        lambda: X.addcmul(2, A),
        lambda: X.addmm(2, 3, A),
        lambda: X.mul(2, A),
        lambda: facula.add(X, "2", A),
    ],
)
def test_other_orders_stay_refused(call):
    with pytest.raises(TypeError):
        call()


def test_names_of_split():
    parts = facula.split(tensor=draw(4), split_size_or_sections=[1, 3])
    assert [len(p) for p in parts] == [1, 3]
    assert [len(p) for p in draw(4).split(split_size=2)] == [2, 2]
    assert [len(p) for p in draw(4).split(split_size=[3, 1])] == [3, 1]


def test_variable_makes_leaves_that_share_memory():
    data = facula.ones(2)
    x = facula.autograd.Variable(data, requires_grad=True)
    assert x.requires_grad and x.data_ptr() == data.data_ptr()
    assert not facula.autograd.Variable(x * 2).requires_grad
    assert isinstance(data, facula.autograd.Variable)
    assert not isinstance(3, facula.autograd.Variable)
    with pytest.raises(TypeError):
        facula.autograd.Variable([1.0])


def test_grad_takes_only_inputs_in_its_place():
    x = facula.tensor(3.0, requires_grad=True)
    unused = facula.tensor(1.0, requires_grad=True)
    found = facula.autograd.grad(x * x, (x, unused), None, True, True, True, True)
    assert found[0].item() == 6 and found[1] is None
    assert facula.autograd.grad(x * x, x, only_inputs=True)[0].item() == 6


def test_solvers_that_are_gone():
    for name in ("solve", "symeig", "eig", "lstsq"):
        with pytest.raises(RuntimeError, match="removed"):
            getattr(X, name)(A)


def test_vander_and_polygamma():
    x = facula.tensor([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(facula.vander(x, 2).numpy(), np.vander(x.numpy(), 2))
    np.testing.assert_array_equal(
        facula.vander(x, increasing=True).numpy(), np.vander(x.numpy(), increasing=True)
    )
    with pytest.raises(RuntimeError):
        facula.vander(facula.ones(2, 2))
    assert facula.vander(facula.tensor([True, False])).tolist() == [[1, 1], [0, 1]]
    assert facula.vander(x, 0).shape == (3, 0) and facula.vander(x, 1).tolist() == [[1.0]] * 3
    y = x.clone()
    assert y.polygamma_(1) is y
    assert facula.equal(y, facula.polygamma(1, x))
    with pytest.raises(RuntimeError, match="can't be cast"):
        facula.tensor([5]).polygamma_(1)


def test_arithmetic_takes_two_numbers():
    assert facula.div(7, 2, rounding_mode="trunc").item() == 3
    assert facula.div(7, 2).item() == 3.5 and facula.div(7, 2).dtype == facula.float32
    assert facula.add(1, 2, alpha=3).item() == 7 and facula.mul(2.0, 3).item() == 6
    assert facula.add(True, 1).dtype == facula.int64 and facula.floor_divide(7, 2).item() == 3
    for call in (lambda: facula.maximum(1, 2), lambda: facula.add(1, "2"), lambda: facula.eq(1, 2)):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("number", [np.float32(1.5), 1.5, np.int64(2)])
def test_refused_calls_keep_their_error(number):
    """The arguments of a refused call are looked at for an old order; the refusal must survive."""
    with pytest.raises(TypeError):
        facula.swapdims(number, 0, 1)
    with pytest.raises(TypeError):
        facula.linalg.householder_product(number, X)
    with pytest.raises(TypeError):
        X.add(number, "a")
