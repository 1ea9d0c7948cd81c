"""First and second derivatives of every operator against central differences, in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from samples import Sample, samples, tensors_in

import facula
from facula.autograd import gradcheck, gradgradcheck

# Random operators, and those whose recorded inputs stand on kinks where differences mean nothing.
UNFIT = {
    "special.polygamma": "steps across poles",
    "polygamma": "steps across poles",
    "float": "rounds to single precision",
    "cfloat": "rounds to single precision",
    "half": "rounds to half precision",
    "bfloat16": "rounds to half precision",
    "nn.functional.max_unpool2d": "recorded indices repeat, so that the last write wins",
    "nn.functional.max_unpool3d": "recorded indices repeat, so that the last write wins",
    "__rpow__": "recorded exponents of a negative base",
}

# Operators that read one triangle only: their inputs are kept Hermitian (or triangular) while the
# differences are taken, as their gradients are those on such matrices.
HERMITIAN = {
    "linalg.cholesky",
    "linalg.cholesky_ex",
    "linalg.eigvalsh",
    "linalg.matrix_sqrth",
}
TRIANGULAR = {"cholesky_inverse": 0, "cholesky_solve": 1}  # which input holds the factor


def prepared(op: str, inputs: tuple, upper: bool) -> tuple:
    """The inputs as the operator's gradient takes them."""
    if op in HERMITIAN:
        return ((inputs[0] + inputs[0].mH) / 2, *inputs[1:])
    if op in TRIANGULAR:
        place = TRIANGULAR[op]
        factor = inputs[place].triu() if upper else inputs[place].tril()
        return (*inputs[:place], factor, *inputs[place + 1 :])
    return inputs


def differentiable(case: dict) -> bool:
    """Cases of float32 and complex inputs whose gradient was recorded."""
    return bool(case.get("grads")) and case.get("dtype") in ("float32", "complex64")


def of(dtype: str) -> dict[str, Sample]:
    """One differentiable sample of this dtype for each operator."""
    found = samples(lambda case: differentiable(case) and case["dtype"] == dtype, 1)
    return {op: s[0] for op, s in found.items() if op not in UNFIT}


SAMPLES = {"real": of("float32"), "complex": of("complex64")}
PAIRS = sorted((op, kind) for kind, ops in SAMPLES.items() for op in ops)


def widened(t: facula.Tensor) -> facula.Tensor:
    """Floats in double precision, as fresh leaves that keep the wish for a gradient."""
    if not (t.is_floating_point() or t.is_complex()):
        return t
    wide = t.detach().to(facula.complex128 if t.is_complex() else facula.float64).clone()
    return wide.requires_grad_(t.requires_grad)


def function_of(sample: Sample, change: Callable = widened) -> tuple:
    """The call as a function of its leaves: (function, leaves)."""
    call, args, kwargs = sample.build(change)
    leaves = [t for t in tensors_in(args) + tensors_in(list(kwargs.values())) if t.requires_grad]

    def run(*inputs: facula.Tensor):
        place = iter(prepared(sample.op, inputs, bool(kwargs.get("upper"))))

        def swap(value):
            if isinstance(value, facula.Tensor):
                return next(place) if value.requires_grad else value
            if isinstance(value, (list, tuple)):
                return type(value)(swap(v) for v in value)
            return value

        out = call(*[swap(a) for a in args], **{k: swap(v) for k, v in kwargs.items()})
        found = [t for t in tensors_in(out) if t.requires_grad]
        return tuple(found)

    return run, leaves


@pytest.mark.parametrize(("op", "kind"), PAIRS)
def test_first_derivative(op: str, kind: str, checked) -> None:
    run, leaves = function_of(SAMPLES[kind][op])
    if not leaves or not run(*leaves):
        pytest.skip("nothing to differentiate")
    assert gradcheck(run, leaves, fast_mode=True, check_undefined_grad=False, atol=1e-4, rtol=1e-3)
    checked(len(leaves))


@pytest.mark.parametrize(("op", "kind"), PAIRS)
def test_second_derivative(op: str, kind: str, checked) -> None:
    run, leaves = function_of(SAMPLES[kind][op])
    if not leaves or not run(*leaves):
        pytest.skip("nothing to differentiate")
    assert gradgradcheck(
        run, leaves, fast_mode=True, check_undefined_grad=False, atol=1e-4, rtol=1e-3
    )
    checked(len(leaves))
