"""gradcheck and gradgradcheck: gradients against finite differences.

Complex tensors are treated as pairs of real ones: the gradient that the engine gives for a
complex input is `dL/d(re) + i dL/d(im)`, so both parts have a finite difference of their own.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import facula
from facula.autograd._jacobians import (
    GradcheckError,
    all_tensors,
    analytical_jacobians,
    central_difference,
    differentiate,
    flat_real,
    numerical_jacobian,
    parts_of,
    recorded_outputs,
    unit_gradients,
    values_of,
)

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


@dataclass
class _Settings:
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    fast_mode: bool


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of `func(*inputs)` against central differences with step `eps`.

    Inputs that require gradients should be float64 or complex128. Slow mode compares whole
    Jacobians, `fast_mode` their product with random vectors. The gradient is computed twice and
    may differ by `nondet_tol`. `check_forward_ad` compares the tangents of forward mode too.
    `check_batched_grad` and `check_batched_forward_grad` compare gradients and tangents of several
    directions at once, inside vmap, with those of one at a time. Raises GradcheckError, or returns
    False with `raise_exception=False`; AssertionError for flags that do not go together.

    >>> x = facula.rand(3, dtype=facula.float64, requires_grad=True)
    >>> gradcheck(facula.sin, x, check_forward_ad=True, check_batched_grad=True)
    True

    """
    if not (check_backward_ad or check_forward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    _require(check_batched_grad, "check_batched_grad", check_backward_ad, "check_backward_ad")
    _require(
        check_batched_forward_grad,
        "check_batched_forward_grad",
        check_forward_ad,
        "check_forward_ad",
    )
    settings = _Settings(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, fast_mode
    )
    args = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    func, args = _without_sparse(func, tuple(args))
    _check_inputs(args)
    try:
        if check_backward_ad:
            _check(func, args, settings)
        if check_forward_ad:
            _check_forward(func, args, settings)
        if check_batched_forward_grad:
            _check_batched_tangents(func, args)
        if check_batched_grad:
            _check_batched_gradients(func, args)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check the gradients of the gradients of `func(*inputs)`, as `gradcheck` does.

    They are gradients with respect to the inputs and to `grad_outputs`, which are drawn at
    random unless given. `check_rev_over_rev` compares the gradients of the gradients, and
    `check_fwd_over_rev` their tangents.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    _require(check_undefined_grad, "check_undefined_grad", check_rev_over_rev, "check_rev_over_rev")
    _require(check_batched_grad, "check_batched_grad", check_rev_over_rev, "check_rev_over_rev")
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    func, args = _without_sparse(func, args)
    if grad_outputs is None:
        outputs = recorded_outputs(func(*args))
        weights = tuple(_random_like(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        weights = (
            tuple(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else (grad_outputs,)
        )
    count = len(weights)
    wants = [isinstance(x, facula.Tensor) and x.requires_grad for x in args + weights]

    def gradients(*both: Any) -> tuple:
        both = tuple(
            x.detach().requires_grad_() if want and not x.requires_grad else x
            for x, want in zip(both, wants, strict=True)
        )
        values, outer = both[: len(both) - count], both[len(both) - count :]
        outputs = recorded_outputs(func(*values))
        wanted = [v for v in values if isinstance(v, facula.Tensor) and v.requires_grad]
        found = facula.autograd.grad(outputs, wanted, outer, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients,
        args + weights,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _require(on: bool, flag: str, needed: bool, other: str) -> None:
    if on and not needed:
        raise AssertionError(f"Setting {flag}=True requires {other} to be True")


def _without_sparse(func: Callable[..., Any], args: tuple) -> tuple[Callable[..., Any], tuple]:
    """Make a function of strided tensors of one that takes sparse ones."""
    strided = (facula.strided, facula.jagged)
    if all(not isinstance(x, facula.Tensor) or x.layout in strided for x in args):
        return func, args
    from facula.sparse._gradcheck import on_values

    return on_values(func, args)


def _generator() -> Any:
    generator = facula.Generator()
    generator.manual_seed(0)
    return generator


def _random_like(t: facula.Tensor, non_contiguous: bool) -> facula.Tensor:
    """Return numbers in [-1, 1) of the type and shape of `t` that require gradients."""
    generator = _generator()
    shape = (*t.shape, 2) if non_contiguous else tuple(t.shape)

    def draw() -> facula.Tensor:
        return facula.rand(shape, generator=generator, dtype=facula.float64) * 2 - 1

    value = facula.complex(draw(), draw()) if t.is_complex() else draw()
    if non_contiguous:
        value = value[..., 0]
    return value.to(t.dtype).detach().requires_grad_()


def _wanted(inputs: tuple) -> list[tuple[int, facula.Tensor]]:
    return [
        (i, x) for i, x in enumerate(inputs) if isinstance(x, facula.Tensor) and x.requires_grad
    ]


def _check_inputs(inputs: tuple) -> None:
    wanted = _wanted(inputs)
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, "
            "but none of the them have requires_grad=True."
        )
    for i, x in wanted:
        if x.dtype not in (facula.float64, facula.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                stacklevel=3,
            )
        if any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
        x.retain_grad()


def _check(func: Callable, inputs: tuple, settings: _Settings) -> None:
    outputs = recorded_outputs(func(*inputs))
    wanted = _wanted(inputs)
    if not outputs:
        _check_no_gradient(func, inputs, wanted, settings)
        return
    if settings.fast_mode:
        _check_fast(func, inputs, outputs, wanted, settings)
    else:
        _check_slow(func, inputs, outputs, wanted, settings)
    _check_zero_gradient(func, inputs, wanted, settings)
    if settings.check_undefined_grad:
        _check_undefined(func, inputs, wanted)


# Slow mode: whole Jacobians.


def _close(a: facula.Tensor, n: facula.Tensor, rtol: float, atol: float) -> bool:
    return bool(facula.isclose(a, n, rtol=rtol, atol=atol, equal_nan=True).all())


def _mismatch(o: int, i: int, numerical: Any, analytical: Any, note: str = "") -> GradcheckError:
    return GradcheckError(
        f"Jacobian mismatch for output {o} with respect to input {i},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n{note}"
    )


def _check_slow(
    func: Callable, inputs: tuple, outputs: tuple, wanted: list, settings: _Settings
) -> None:
    tensors = [x for _, x in wanted]
    analytical = analytical_jacobians(outputs, tensors)
    again = analytical_jacobians(outputs, tensors)
    for k, (i, x) in enumerate(wanted):
        numerical = numerical_jacobian(func, inputs, x, len(outputs), settings.eps)
        for o, n in enumerate(numerical):
            a = analytical[o][k]
            if a.shape != n.shape or not _close(a, n, settings.rtol, settings.atol):
                raise _mismatch(o, i, n, a)
            _check_repeatable(a, again[o][k], settings)


def _check_repeatable(first: facula.Tensor, second: facula.Tensor, settings: _Settings) -> None:
    if not _close(first, second, 0.0, settings.nondet_tol):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches "
            f"numerical gradient.The tolerance for nondeterminism was {settings.nondet_tol}."
        )


# Forward mode: tangents.


def _steps(x: facula.Tensor, settings: _Settings) -> Any:
    """Give the directions to move along: every element's, or a random one in fast mode."""
    if settings.fast_mode:
        if x.numel():
            yield _shaped(_direction(x, _generator(), True), x)
        return
    yield from unit_gradients(x.detach())


def _check_forward(func: Callable, inputs: tuple, settings: _Settings) -> None:
    from facula.autograd._directions import absent_tangents, pushed

    for i, x in _wanted(inputs):

        def evaluate() -> list[facula.Tensor]:
            return values_of(func, inputs, all_tensors)

        for step in _steps(x, settings):
            found = [flat_real(t) for t in pushed(func, inputs, {i: step})]
            differences = central_difference(evaluate, x.data, None, step, settings.eps)
            for o, (a, n) in enumerate(zip(found, differences, strict=True)):
                if a.shape != n.shape or not _close(a, n, settings.rtol, settings.atol):
                    raise _mismatch(o, i, n, a, "The analytical one is that of forward mode.")

    if settings.check_undefined_grad:
        wanted = [i for i, _ in _wanted(inputs)]
        _complain(absent_tangents(func, inputs, wanted, _draw))


# Several directions at once.


def _draw(x: facula.Tensor) -> facula.Tensor:
    """Return numbers of the type and shape of `x`, other ones at each call."""
    return facula.randn_like(x.detach())


def _complain(problem: str | None) -> None:
    if problem:
        raise GradcheckError(problem)


def _check_batched_gradients(func: Callable, inputs: tuple) -> None:
    from facula.autograd._directions import batched_gradients

    tensors = [x for _, x in _wanted(inputs)]
    _complain(batched_gradients(recorded_outputs(func(*inputs)), tensors, _draw))


def _check_batched_tangents(func: Callable, inputs: tuple) -> None:
    from facula.autograd._directions import batched_tangents

    for i, _ in _wanted(inputs):
        _complain(batched_tangents(func, inputs, i, _draw))


# Fast mode: products with random vectors.


def _direction(x: facula.Tensor, generator: Any, unit: bool) -> facula.Tensor:
    """Return a positive random vector over the real parts of `x`, of length one if asked."""
    size = x.numel() * len(parts_of(x))
    v = facula.rand(size, generator=generator, dtype=facula.float64)
    return v / v.norm() if unit and size else v


def _shaped(v: facula.Tensor, x: facula.Tensor) -> facula.Tensor:
    """Turn a vector over real parts into a tensor of the shape and type of `x`."""
    if x.is_complex():
        return facula.view_as_complex(v.reshape(*x.shape, 2)).to(x.dtype)
    return v.reshape(x.shape).to(x.dtype)


def _check_fast(
    func: Callable, inputs: tuple, outputs: tuple, wanted: list, settings: _Settings
) -> None:
    generator = _generator()
    tensors = [x for _, x in wanted]
    weights = [_direction(o, generator, False) for o in outputs]
    gradients, again = (
        [differentiate(o, tensors, _shaped(v, o)) for o, v in zip(outputs, weights, strict=True)]
        for _ in range(2)
    )

    def evaluate() -> list[facula.Tensor]:
        return values_of(func, inputs, recorded_outputs)

    for k, (i, x) in enumerate(wanted):
        if x.numel() == 0:
            continue
        u = _direction(x, generator, True)
        differences = central_difference(evaluate, x.data, None, _shaped(u, x), settings.eps)
        for o, (difference, v) in enumerate(zip(differences, weights, strict=True)):
            n = (difference * v).sum()
            a = (gradients[o][k] * u).sum()
            atol = settings.atol * float(u.sum()) * float(v.sum())
            if not _close(a, n, settings.rtol, atol):
                note = _slow_note(func, inputs, outputs, i, settings)
                raise _mismatch(o, i, n, a, note)
            _check_repeatable(gradients[o][k], again[o][k], settings)


def _slow_note(func: Callable, inputs: tuple, outputs: tuple, i: int, settings: _Settings) -> str:
    """Say what slow mode finds, for the message of a failure in fast mode."""
    x = inputs[i]
    analytical = analytical_jacobians(outputs, [x])
    numerical = numerical_jacobian(func, inputs, x, len(outputs), settings.eps)
    worst = max(
        (
            float((a[0] - n).abs().max())
            for a, n in zip(analytical, numerical, strict=True)
            if n.numel()
        ),
        default=0.0,
    )
    return (
        "\nThe above quantities relating the numerical and analytical jacobians are computed in "
        f"fast mode. In slow mode the largest difference of an entry is {worst}."
    )


# Further properties.


def _check_no_gradient(func: Callable, inputs: tuple, wanted: list, settings: _Settings) -> None:
    """A function without differentiable outputs must not depend on its inputs."""

    def evaluate() -> list[facula.Tensor]:
        return values_of(func, inputs, all_tensors)

    for _, x in wanted:
        for index in itertools.product(*(range(n) for n in x.shape)):
            for part in parts_of(x):
                for d in central_difference(evaluate, x.data, index, part, settings.eps):
                    if not _close(d, facula.zeros_like(d), settings.rtol, settings.atol):
                        raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_zero_gradient(func: Callable, inputs: tuple, wanted: list, settings: _Settings) -> None:
    """Gradients of zero must give zero, in the type and on the device of the input."""
    tensors = [x for _, x in wanted]
    outputs = recorded_outputs(func(*inputs))
    if not outputs:
        return
    zeros = [facula.zeros_like(o, memory_format=facula.contiguous_format) for o in outputs]
    found = facula.autograd.grad(outputs, tensors, zeros, allow_unused=True)
    for x, g in zip(tensors, found, strict=True):
        if g is None:
            continue
        if not bool((g == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if settings.check_grad_dtypes and g.dtype != x.dtype:
            raise GradcheckError(f"grad is incorrect type: {g.dtype} for an input of {x.dtype}")
        if g.device != x.device:
            raise GradcheckError("grad is incorrect device")
        if g.shape != x.shape:
            raise GradcheckError("grad is incorrect size")


class _NoGradient(facula.autograd.Function):
    """Passes its input on and gives no gradient back."""

    @staticmethod
    def forward(ctx: Any, x: facula.Tensor) -> facula.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: facula.Tensor) -> None:
        return None


def _check_undefined(func: Callable, inputs: tuple, wanted: list) -> None:
    """Backward must work where gradients of outputs are undefined, one by one and all."""
    tensors = [x for _, x in wanted]

    def check(indices: Sequence[int]) -> None:
        outputs = recorded_outputs(func(*inputs))
        chosen = [_NoGradient.apply(outputs[i]) for i in indices]
        zeros = [facula.zeros_like(o, memory_format=facula.contiguous_format) for o in chosen]
        try:
            found = facula.autograd.grad(chosen, tensors, zeros, allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at "
                f"'Notes about undefined output gradients': {error}"
            ) from error
        if any(g is not None and not bool((g == 0).all()) for g in found):
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are "
                "undefined or zero."
            )

    count = len(recorded_outputs(func(*inputs)))
    check(range(count))
    if count > 1:
        for i in range(count):
            check([i])
