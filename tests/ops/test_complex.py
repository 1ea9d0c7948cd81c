"""Complex inputs of operators whose samples are real: those that take them give what real ones give
where the imaginary parts are zero, and forward and reverse mode agree.
"""

from __future__ import annotations

import pytest
from samples import samples, tensors_in
from test_gradients import function_of, of
from test_transforms import filled, product

import facula
from facula.func import jvp, vjp

DIFFERENT = {
    "__rpow__": "powers of a negative base are complex",
    "linalg.eig": "eigenvalues of real matrices come in another order",
    "linalg.eigvals": "eigenvalues of real matrices come in another order",
    "stft": "spectra of complex signals have two sides",
}
REAL = {
    op: s[0]
    for op, s in samples(lambda case: case.get("dtype") == "float32", 1).items()
    if op not in DIFFERENT
}
DIFFERENTIABLE = of("float32")


def double(t: facula.Tensor) -> facula.Tensor:
    return t.detach().double() if t.is_floating_point() else t


def as_complex(t: facula.Tensor) -> facula.Tensor:
    return t.detach().to(facula.complex128) if t.is_floating_point() else t


def imagined(t: facula.Tensor) -> facula.Tensor:
    """Floats with an imaginary part, as fresh leaves that keep the wish for a gradient."""
    if not t.is_floating_point():
        return t
    wide = t.detach().double()
    return facula.complex(wide, 0.3 * filled(wide, 7)).requires_grad_(t.requires_grad)


def results(op: str, change) -> list[facula.Tensor]:
    facula.manual_seed(0)
    call, args, kwargs = REAL[op].build(change)
    return [t.to_dense() for t in tensors_in(call(*args, **kwargs))]


@pytest.mark.parametrize("op", sorted(REAL))
def test_zero_imaginary_parts_change_nothing(op: str) -> None:
    expected = results(op, double)
    try:
        found = results(op, as_complex)
    except (RuntimeError, TypeError, ValueError):
        pytest.skip("takes no complex numbers")
    for t, want in zip(found, expected, strict=True):
        t = t.to(facula.complex128)
        facula.testing.assert_close(t.real, want.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
        assert not t.imag.nan_to_num().abs().gt(1e-6).any()


@pytest.mark.parametrize("op", sorted(DIFFERENTIABLE))
def test_jvp_agrees_with_vjp(op: str) -> None:
    try:
        run, leaves = function_of(DIFFERENTIABLE[op], imagined)
        if not leaves or not run(*leaves):
            pytest.skip("nothing to differentiate")
    except (RuntimeError, TypeError, ValueError):
        pytest.skip("takes no complex numbers")
    primals = tuple(t.detach() for t in leaves)
    tangents = tuple(filled(t, 1) for t in primals)
    outputs, pushed = jvp(run, primals, tangents)
    cotangents = tuple(filled(t, 2) for t in outputs)
    _, pull = vjp(run, *primals)
    facula.testing.assert_close(
        product(cotangents, pushed),
        product(pull(cotangents), tangents),
        rtol=1e-6,
        atol=1e-8,
        equal_nan=True,
        check_dtype=False,
    )
