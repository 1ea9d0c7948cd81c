"""Forward and reverse mode agree: <u, jvp(v)> = <vjp(u), v> for every operator, in float64; and
pulling many gradients back at once (vmap) gives what pulling back each of them does.
"""

from __future__ import annotations

import warnings

import pytest
from test_gradients import PAIRS, SAMPLES, function_of
from test_vmap import REFUSED, second

import facula
from facula.func import grad, jvp, vjp, vmap


def filled(t: facula.Tensor, seed: int) -> facula.Tensor:
    """A direction of the shape and dtype of a tensor."""
    generator = facula.Generator().manual_seed(seed)
    values = facula.randn(*t.shape, 2, dtype=facula.float64, generator=generator)
    if t.is_complex():
        return facula.view_as_complex(values).to(t.dtype)
    return values[..., 0].to(t.dtype)


def product(a: tuple, b: tuple) -> facula.Tensor:
    """The real inner product of two lists of tensors."""
    return sum(facula.real(facula.conj(x) * y).sum() for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(("op", "kind"), PAIRS)
def test_jvp_agrees_with_vjp(op: str, kind: str) -> None:
    run, leaves = function_of(SAMPLES[kind][op])
    if not leaves or not run(*leaves):
        pytest.skip("nothing to differentiate")
    primals = tuple(t.detach() for t in leaves)
    tangents = tuple(filled(t, 1) for t in primals)
    outputs, pushed = jvp(run, primals, tangents)
    cotangents = tuple(filled(t, 2) for t in outputs)
    values, pull = vjp(run, *primals)
    facula.testing.assert_close(values, outputs, equal_nan=True)
    facula.testing.assert_close(
        product(cotangents, pushed),
        product(pull(cotangents), tangents),
        rtol=1e-6,
        atol=1e-8,
        equal_nan=True,
        check_dtype=False,
    )


@pytest.mark.parametrize(("op", "kind"), PAIRS)
def test_many_gradients_at_once(op: str, kind: str) -> None:
    run, leaves = function_of(SAMPLES[kind][op])
    if not leaves or not run(*leaves):
        pytest.skip("nothing to differentiate")
    outputs, pull = vjp(run, *(t.detach() for t in leaves))
    rows = [tuple(filled(t, seed) for t in outputs) for seed in (2, 3)]
    want = [pull(row) for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = vmap(pull)(tuple(facula.stack(pair) for pair in zip(*rows, strict=True)))
    for k, g in enumerate(got):
        expected = facula.stack([w[k] for w in want])
        facula.testing.assert_close(g, expected, rtol=1e-6, atol=1e-8, equal_nan=True)


@pytest.mark.parametrize(("op", "kind"), PAIRS)
def test_gradients_of_samples(op: str, kind: str) -> None:
    run, leaves = function_of(SAMPLES[kind][op])
    if not leaves or not run(*leaves):
        pytest.skip("nothing to differentiate")

    weights = [filled(t.detach(), 5) for t in run(*leaves)]

    def total(*given: facula.Tensor) -> facula.Tensor:
        outputs = run(*given)
        return sum(facula.real(w * t).sum() for w, t in zip(weights, outputs, strict=True))

    gradient = grad(total, tuple(range(len(leaves))))
    rows = [[t.detach() for t in leaves], [second(t) for t in leaves]]
    try:
        want = [gradient(*row) for row in rows]
    except (RuntimeError, ValueError):
        pytest.skip("the second sample is not a valid input")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            got = vmap(gradient)(*(facula.stack(pair) for pair in zip(*rows, strict=True)))
        except RuntimeError as e:
            if any(word in str(e) for word in REFUSED):
                pytest.skip(str(e))
            raise
    for k, g in enumerate(got):
        for row in range(2):
            facula.testing.assert_close(g[row], want[row][k], rtol=1e-6, atol=1e-8, equal_nan=True)
