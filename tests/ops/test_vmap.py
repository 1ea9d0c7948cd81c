"""Every operator under vmap gives what a loop over the samples gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
from samples import Sample, samples, tensors_in

import facula
from facula.func import vmap

SAMPLES = samples(lambda case: case.get("dtype") in ("float32", "int64", "bool"), 2)
PAIRS = [(op, i) for op in sorted(SAMPLES) for i in range(len(SAMPLES[op]))]
# Refusals that belong to vmap: the result depends on data, or the draw is random.
REFUSED = ("vmap", "inplace arithmetic", "randomness")


def second(t: facula.Tensor) -> facula.Tensor:
    """Another sample of the same kind: its elements in reverse order; indices stay valid."""
    t = t.detach()
    if t.dim() == 2 and t.shape[0] == t.shape[1]:  # definite and triangular matrices stay so
        return t * 2 if t.is_floating_point() else t.clone()
    return t.reshape(-1).flip(0).reshape(t.shape)


def outcome(call: Callable, args: list, kwargs: dict) -> list[facula.Tensor]:
    return tensors_in(call(*args, **kwargs))


def replaced(value: object, source: list[facula.Tensor]) -> object:
    """The nested arguments with their tensors taken from a list, in order."""
    if isinstance(value, facula.Tensor):
        return source.pop(0)
    if isinstance(value, (list, tuple)):
        return type(value)(replaced(v, source) for v in value)
    if isinstance(value, dict):
        return {k: replaced(v, source) for k, v in value.items()}
    return value


def choices(count: int) -> list[set[int]]:
    """Which tensors are mapped over: all of them, only the first, only the last."""
    found: list[set[int]] = [set(range(count))]
    return found + [{0}, {count - 1}] if count > 1 else found


@pytest.mark.parametrize(("op", "i"), PAIRS)
def test_vmap_agrees_with_a_loop(op: str, i: int, checked: Callable) -> None:
    sample: Sample = SAMPLES[op][i]
    call, args, kwargs = sample.build(lambda t: t.detach())
    tensors = tensors_in([args, list(kwargs.values())])
    if not tensors or kwargs.get("out") is not None:
        pytest.skip("nothing to map over")

    def run(*given: facula.Tensor) -> tuple[facula.Tensor, ...]:
        source = list(given)
        new = replaced([list(args), dict(kwargs)], source)
        return tuple(outcome(call, new[0], new[1]))

    done = [compare(run, tensors, mapped) for mapped in choices(len(tensors))]
    if not any(done):
        pytest.skip("no two samples with results of one shape, or refused as it should be")
    checked(sum(done))


def compare(run: Callable, tensors: list[facula.Tensor], mapped: set[int]) -> bool:
    """Compare vmap over some arguments with the calls for two samples; False if that cannot be."""
    rows = [[t.clone() for t in tensors] for _ in range(2)]
    for k in mapped:
        rows[1][k] = second(tensors[k])
    try:
        want = [run(*(t.clone() for t in row)) for row in rows]
    except (RuntimeError, ValueError, IndexError):
        return False
    if not want[0] or any(a.shape != b.shape for a, b in zip(*want, strict=True)):
        return False
    given = [
        facula.stack([t.clone() for t in pair]) if k in mapped else pair[0]
        for k, pair in enumerate(zip(*rows, strict=True))
    ]
    in_dims = tuple(0 if k in mapped else None for k in range(len(tensors)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = vmap(run, in_dims)(*given)
    except RuntimeError as e:
        if any(word in str(e) for word in REFUSED):
            return False
        raise
    for k, g in enumerate(got):
        for row in range(2):
            assert g.dtype == want[row][k].dtype
            facula.testing.assert_close(g[row], want[row][k], rtol=1e-4, atol=1e-4, equal_nan=True)
    return True
