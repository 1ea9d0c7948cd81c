"""First and second derivatives of every operator, element by element: the slow mode of gradcheck.

The fast mode of test_gradients.py multiplies by random vectors, which may miss what a full Jacobian
shows. Cases with a very large Jacobian stay in the fast mode.
"""

from __future__ import annotations

import pytest
from samples import tensors_in
from test_gradients import PAIRS, SAMPLES, function_of

from facula.autograd import gradcheck, gradgradcheck

MOST = 600  # elements of inputs times outputs that a Jacobian may have

pytestmark = pytest.mark.full


def prepared(op: str, kind: str) -> tuple:
    """The function and its leaves; skips where nothing can be differentiated."""
    run, leaves = function_of(SAMPLES[kind][op])
    found = run(*leaves) if leaves else ()
    if not found:
        pytest.skip("nothing to differentiate")
    size = sum(t.numel() for t in leaves) * sum(t.numel() for t in tensors_in(found))
    return run, leaves, size


@pytest.mark.parametrize(("op", "kind"), PAIRS)
def test_jacobian(op: str, kind: str, checked) -> None:
    run, leaves, size = prepared(op, kind)
    fast = size > MOST**2
    assert gradcheck(run, leaves, fast_mode=fast, check_undefined_grad=False, atol=1e-4, rtol=1e-3)
    checked(len(leaves))


@pytest.mark.parametrize(("op", "kind"), PAIRS)
def test_second_jacobian(op: str, kind: str, checked) -> None:
    run, leaves, size = prepared(op, kind)
    fast = size > 8 * MOST
    assert gradgradcheck(
        run, leaves, fast_mode=fast, check_undefined_grad=False, atol=1e-4, rtol=1e-3
    )
    checked(len(leaves))
