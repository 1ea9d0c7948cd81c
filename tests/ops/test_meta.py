"""Meta tensors give the shape, dtype and strides of eager results: every operator and layout."""

from __future__ import annotations

import pytest
from samples import Sample, samples, spread, tensors_in, transposed

import facula

# Operators that need the data: for the shape of the result, or for Python values.
DATA = {
    "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "bincount", "item",
    "tolist", "equal", "allclose", "is_nonzero", "nn.functional.one_hot", "repeat_interleave",
    "tensor_split", "combinations", "nn.functional.ctc_loss", "cartesian_prod", "histogram",
    "histc", "histogramdd", "multinomial", "nonzero_static", "nn.functional.embedding_bag",
}

# LAPACK's order of columns shows in one; the other wants a last stride of 1.
UNFIT = {"linalg.lstsq", "view_as_complex"}

FOUND = samples(lambda case: case.get("dtype") in ("float32", "int64", "bool", "complex64"), 3)
SAMPLES = {op: s for op, s in FOUND.items() if op not in UNFIT}


def on_meta(t: facula.Tensor) -> facula.Tensor:
    """A meta tensor that lies as this one does."""
    return facula.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="meta")


def strides(t: facula.Tensor) -> list[int]:
    """The strides that mean something: those of dimensions with several elements."""
    return [s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1] if t.numel() else []


def outcome(sample: Sample, change) -> list[tuple]:
    """Shape, dtype and strides of each tensor of the result."""
    call, args, kwargs = sample.build(change)
    found = tensors_in(call(*args, **kwargs))
    return [(tuple(t.shape), t.dtype, strides(t)) for t in found]


@pytest.mark.parametrize("op", sorted(SAMPLES))
def test_meta_agrees(op: str, checked) -> None:
    done = 0
    for sample in SAMPLES[op]:
        for change in (facula.Tensor.detach, transposed, spread):
            want = outcome(sample, change)
            try:
                got = outcome(sample, lambda t, change=change: on_meta(change(t)))
            except (NotImplementedError, RuntimeError) as error:
                assert op in DATA, f"{type(error).__name__}: {error}"
                continue
            assert got == want
            done += 3 * len(want)
    checked(done)
