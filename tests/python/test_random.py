"""Seeds, states and the random functions as Python programs use them."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest

import facula


def test_a_seed_gives_the_recorded_numbers():
    facula.manual_seed(0)
    expected = [0.49625659, 0.7682218, 0.08847743]
    assert facula.rand(3).tolist() == pytest.approx(expected, abs=1e-7)
    assert facula.initial_seed() == 0


def test_manual_seed_returns_the_default_generator():
    assert facula.manual_seed(2.7) is facula.default_generator
    assert facula.initial_seed() == 2
    facula.manual_seed(-1)
    assert facula.initial_seed() == 2**64 - 1
    for wrong in (2**64, -(2**63) - 1, 1e30):
        with pytest.raises(ValueError, match="Overflow"):
            facula.manual_seed(wrong)
    for wrong in (1.5, "3", True, None, facula.tensor(3)):
        with pytest.raises(RuntimeError, match="expected a long"):
            facula.Generator().manual_seed(wrong)


def test_seed_is_unforeseeable():
    assert facula.seed() != facula.seed()


def test_states_round_trip_through_every_distribution():
    facula.manual_seed(5)
    facula.randn(3)
    state = facula.get_rng_state()
    assert state.dtype == facula.uint8
    assert state.shape == (5056,)

    def draw():
        ones = facula.ones(50)
        return [
            facula.rand(5),
            facula.randn(5),
            facula.randint(10, (5,)),
            facula.randperm(5),
            facula.dropout(ones, 0.5, True),
            facula.bernoulli(ones * 0.5),
            facula.multinomial(ones, 5),
        ]

    first = draw()
    facula.set_rng_state(state)
    for a, b in zip(first, draw(), strict=True):
        assert a.tolist() == b.tolist()


def test_bad_states_are_refused():
    with pytest.raises(RuntimeError, match="wrong size"):
        facula.set_rng_state(facula.zeros(3, dtype=facula.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        facula.set_rng_state(facula.zeros(5056, dtype=facula.uint8))
    with pytest.raises(TypeError):
        facula.set_rng_state(facula.zeros(5056))


def test_fork_rng_restores():
    facula.manual_seed(1)
    with facula.random.fork_rng():
        inside = facula.rand(3).tolist()
    assert facula.rand(3).tolist() == inside
    with facula.random.fork_rng(enabled=False):
        facula.rand(1)
    facula.manual_seed(1)
    facula.rand(3)
    facula.rand(1)
    after = facula.rand(1).item()
    facula.manual_seed(1)
    with pytest.raises(ZeroDivisionError), facula.random.fork_rng():
        facula.rand(9)
        raise ZeroDivisionError
    assert facula.rand(5).tolist()[4] == after


def test_generators_are_independent():
    a = facula.Generator().manual_seed(7)
    b = facula.Generator().manual_seed(7)
    facula.manual_seed(0)
    expected = facula.rand(2).tolist()
    facula.manual_seed(0)
    assert facula.rand(4, generator=a).tolist() == facula.rand(4, generator=b).tolist()
    assert facula.rand(2).tolist() == expected
    twin = a.clone_state()
    assert facula.rand(4, generator=a).tolist() == facula.rand(4, generator=twin).tolist()
    assert facula.Generator().initial_seed() == 67280421310721


def test_generators_are_pickled_with_their_state():
    a = facula.Generator().manual_seed(7)
    facula.randn(1, generator=a)
    for b in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a)):
        assert (
            facula.rand(4, generator=b).tolist()
            == facula.rand(4, generator=a.clone_state()).tolist()
        )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: facula.rand(2, dtype=facula.int32), NotImplementedError, "'Int'"),
        (lambda: facula.rand(-1), RuntimeError, "negative"),
        (lambda: facula.randint(5, 3, (3,)), RuntimeError, "from=5 >= to=3"),
        (lambda: facula.randint(2.5, (3,)), TypeError, "randint"),
        (lambda: facula.normal(0.0, 1.0), TypeError, "normal"),
        (lambda: facula.zeros(3, requires_grad=True).normal_(), RuntimeError, "leaf"),
    ],
)
def test_wrong_calls_raise(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_overloads():
    assert facula.randint(high=5, size=(3,)).dtype == facula.int64
    assert facula.randint(2, 5, (3,), dtype=facula.float32).dtype == facula.float32
    assert facula.randint_like(facula.ones(3), 2, 5).dtype == facula.float32
    assert facula.normal(0, 1, (3,)).shape == (3,)
    assert facula.normal(facula.zeros(3), 2.0).shape == (3,)
    assert facula.normal(0.0, facula.ones(3, 1)).shape == (3, 1)
    assert facula.rand((2, 3)).shape == facula.rand(2, 3).shape == (2, 3)
    assert facula.rand(()).shape == ()
    t = facula.empty(3)
    for fill in (t.random_(), t.random_(5), t.random_(2, 5), t.bernoulli_(), t.bernoulli_(t * 0)):
        assert fill is t
    out = facula.empty(3, dtype=facula.float64)
    assert facula.rand(3, out=out) is out
    assert facula.rand(3, requires_grad=True).requires_grad


def test_fills_pass_a_gradient_of_zero():
    x = facula.ones(3, requires_grad=True)
    y = (x * 2).normal_()
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_dropout_scales_gradients_with_the_same_decisions():
    x = facula.ones(40, 30, requires_grad=True)
    y = facula.dropout(x, 0.25, True)
    (y.t() * 3).sum().backward()
    assert x.grad.tolist() == (y * 3).tolist()


def test_threads_draw_without_deadlock():
    def work():
        for _ in range(20):
            facula.rand(20_000)
            facula.dropout(facula.ones(20_000), 0.5, True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()


DROPOUTS = {
    "dropout": lambda x: facula.nn.functional.dropout(x, 0.5),
    "dropout in place": lambda x: facula.dropout_(x.clone(), 0.5, True),
    "dropout1d": lambda x: facula.nn.functional.dropout1d(x, 0.5),
    "native_dropout": lambda x: facula.native_dropout(x, 0.5, True)[0],
}


@pytest.mark.parametrize("name", DROPOUTS)
@pytest.mark.parametrize("dtype", [facula.complex64, facula.complex128])
def test_dropout_of_complex_elements(name, dtype):
    facula.manual_seed(0)
    x = facula.full((20, 30, 2), 1 + 2j, dtype=dtype)
    y = DROPOUTS[name](x)
    assert y.dtype == dtype and set(y.flatten().tolist()) == {0j, 2 + 4j}
    assert 0.4 < (y != 0).double().mean().item() < 0.6
    assert x[0, 0, 0].item() == 1 + 2j


def test_gradient_of_complex_dropout():
    facula.manual_seed(0)
    x = facula.ones(100, dtype=facula.complex64, requires_grad=True)
    y = facula.nn.functional.dropout(x, 0.25)
    y.real.sum().backward()
    assert facula.equal(x.grad, y.detach()) and 0 < (x.grad == 0).sum().item() < 100


def test_alpha_dropout_of_complex_elements():
    facula.manual_seed(0)
    x = facula.ones(20, 30, dtype=facula.complex64)
    assert len(set(facula.alpha_dropout(x, 0.5, True).flatten().tolist())) == 2
    rows = facula.feature_alpha_dropout(x.reshape(20, 10, 3), 0.5, True)
    assert rows.dtype == facula.complex64 and facula.equal(rows[..., 0], rows[..., 2])
    assert facula.nn.functional.dropout(x, 1.0).abs().sum().item() == 0


def test_draws_have_the_bits_of_pytorch():
    """Scaling and shifting round once; numbers of half types are rounded from float."""
    facula.manual_seed(0)
    weight = facula.nn.Linear(3, 2).weight.detach()
    assert weight.view(facula.int32).tolist() == [
        [-1148345368, 1050579731, -1091351682],
        [-1093039159, -1100761935, 1042188627],
    ]
    facula.manual_seed(4)
    half = facula.empty(4, dtype=facula.bfloat16).uniform_(-0.3, 1.7)
    assert half.tolist() == [0.8203125, 0.81640625, -0.1171875, 0.1201171875]
    facula.manual_seed(4)
    wide = facula.empty(3, dtype=facula.float64).uniform_(-0.3, 1.7)
    want = ["0x1.4ef5c3384a7c2p-1", "0x1.29cea5f68f5f8p+0", "-0x1.7aa578e169b26p-3"]
    assert [v.hex() for v in wide.tolist()] == want
