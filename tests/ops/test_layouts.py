"""Every operator gives the same values for any layout of its inputs."""

from __future__ import annotations

import pytest
from samples import Sample, samples, spread, tensors_in, transposed

import facula

# Operators that show or depend on strides and storages themselves.
ABOUT_LAYOUT = {
    "as_strided",
    "as_strided_copy",
    "as_strided_scatter",
    "resize_",
    "view",
    "view_as",
    "view_copy",
    "view_as_complex",
    "contiguous",
    "empty_like",
    "set_",
}

SAMPLES = {
    op: s
    for op, s in samples(
        lambda case: case.get("dtype") in ("float32", "int64", "bool", "complex64"), 2
    ).items()
    if op not in ABOUT_LAYOUT
}
PAIRS = [(op, i) for op in sorted(SAMPLES) for i in range(len(SAMPLES[op]))]


def values(sample: Sample, change) -> list[facula.Tensor]:
    call, args, kwargs = sample.build(change)
    return tensors_in(call(*args, **kwargs))


@pytest.mark.parametrize(("op", "i"), PAIRS)
def test_layouts_agree(op: str, i: int, checked) -> None:
    sample = SAMPLES[op][i]
    want = values(sample, lambda t: t.detach())
    for change in (transposed, spread):
        got = values(sample, change)
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            assert g.dtype == w.dtype
            facula.testing.assert_close(g, w, rtol=1e-4, atol=1e-5, equal_nan=True)
            checked()
