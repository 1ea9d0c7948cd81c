"""L-BFGS on functions whose minimum is known."""

import numpy as np
import pytest

import facula
from facula import optim


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def run(f, start, steps, **options):
    p = facula.tensor(start, dtype=facula.float64, requires_grad=True)
    o = optim.LBFGS([p], **options)
    calls = []

    def closure():
        o.zero_grad()
        loss = f(p)
        loss.backward()
        calls.append(loss.item())
        return loss

    for _ in range(steps):
        o.step(closure)
    return p, o, calls


def test_rosenbrock_with_line_search():
    p, _, _ = run(rosenbrock, [-1.5, 2.0], 5, line_search_fn="strong_wolfe")
    np.testing.assert_allclose(p.detach().numpy(), [1.0, 1.0], atol=1e-5)


def test_quadratic_in_few_steps():
    a = np.diag([1.0, 10.0, 100.0])
    m = facula.from_numpy(a)
    b = facula.tensor([1.0, 2.0, 3.0], dtype=facula.float64)
    p, o, _ = run(
        lambda p: 0.5 * p @ (m @ p) - b @ p, [0.0, 0.0, 0.0], 3, line_search_fn="strong_wolfe"
    )
    np.testing.assert_allclose(p.detach().numpy(), np.linalg.solve(a, b.numpy()), rtol=1e-4)
    state = o.state[p]
    assert state["n_iter"] > 3 and len(state["old_dirs"]) == len(state["old_stps"])


def test_returns_first_loss_and_limits_evaluations():
    p, o, calls = run(rosenbrock, [0.0, 0.0], 1, max_iter=4, lr=1e-3)
    assert len(calls) == 4 and o.state[p]["func_evals"] == 4
    p = facula.tensor([0.0, 0.0], requires_grad=True)
    o = optim.LBFGS([p], lr=1e-3)

    def closure():
        p.grad = None
        loss = rosenbrock(p)
        loss.backward()
        return loss

    assert o.step(closure).item() == 1.0


def test_stops_at_a_minimum():
    _, o, calls = run(lambda p: (p * p).sum(), [0.0, 0.0], 2)
    assert len(calls) == 2


def test_several_and_complex_parameters():
    p = facula.zeros(2, dtype=facula.float64, requires_grad=True)
    z = facula.zeros(2, dtype=facula.complex128, requires_grad=True)
    goal = facula.tensor([1 + 2j, -3j], dtype=facula.complex128)
    o = optim.LBFGS([p, z], line_search_fn="strong_wolfe")

    def closure():
        o.zero_grad()
        d = facula.view_as_real(z - goal)
        loss = ((p - 3) ** 2).sum() + (d * d).sum()
        loss.backward()
        return loss

    for _ in range(3):
        o.step(closure)
    np.testing.assert_allclose(z.detach().numpy(), goal.numpy(), atol=1e-6)
    np.testing.assert_allclose(p.detach().numpy(), [3.0, 3.0], atol=1e-6)


def test_resume():
    want, _, _ = run(rosenbrock, [-1.5, 2.0], 2, max_iter=5, line_search_fn="strong_wolfe")
    half, o, _ = run(rosenbrock, [-1.5, 2.0], 1, max_iter=5, line_search_fn="strong_wolfe")
    p = half.detach().clone().requires_grad_()
    again = optim.LBFGS([p], max_iter=5, line_search_fn="strong_wolfe")
    again.load_state_dict(o.state_dict())

    def closure():
        p.grad = None
        loss = rosenbrock(p)
        loss.backward()
        return loss

    again.step(closure)
    np.testing.assert_allclose(p.detach().numpy(), want.detach().numpy(), rtol=1e-9)


def test_unknown_line_search():
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        run(rosenbrock, [0.0, 0.0], 1, line_search_fn="armijo")


def test_factors_of_the_first_loop_are_state():
    _, o, _ = run(rosenbrock, [-1.5, 2.0], 1, max_iter=1)
    assert "al" not in o.state_dict()["state"][0]
    _, o, _ = run(rosenbrock, [-1.5, 2.0], 1, max_iter=3, history_size=5, lr=1e-3)
    state = o.state_dict()["state"][0]
    count = len(state["ro"])
    assert count > 0
    assert len(state["al"]) == 5
    assert [a is not None for a in state["al"]] == [i < count for i in range(5)]
