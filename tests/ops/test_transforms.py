"""Forward and reverse mode agree: <u, jvp(v)> = <vjp(u), v> for every operator, in float64."""

from __future__ import annotations

import pytest
from test_gradients import PAIRS, SAMPLES, function_of

import facula
from facula.func import jvp, vjp


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
