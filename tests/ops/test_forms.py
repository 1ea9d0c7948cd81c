"""out= and in-place forms against the functional form, for every operator and dtype."""

from __future__ import annotations

import pytest
from samples import DTYPES, Sample, opcases, samples, tensors_in

import facula

# The functional form of these draws numbers, or gives storage that nobody has written.
UNLIKE = {
    "bernoulli", "normal", "multinomial", "rand", "randn", "randint", "randperm", "empty",
    "empty_like", "nn.functional.dropout", "nn.functional.rrelu",
}
# These compute in the dtype of out=.
FOLLOWS = {"cumprod", "cumsum", "full", "mean", "nanmean", "nansum", "ones", "prod", "sum", "zeros"}
SAMPLES = {
    op: s
    for op, s in samples(lambda case: case.get("dtype") in ("float32", "int64"), 2).items()
    if op not in UNLIKE
}
NOT_BUILT = (NotImplementedError, RuntimeError, TypeError, IndexError)


def cast(dtype: facula.dtype):
    """A change of samples: floating tensors in another dtype, integers and masks as they are."""

    def change(t: facula.Tensor) -> facula.Tensor:
        return t.detach().to(dtype) if t.is_floating_point() else t.detach().clone()

    return change


def same(got: facula.Tensor, want: facula.Tensor) -> None:
    assert got.dtype == want.dtype
    facula.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


def results(sample: Sample, dtype: facula.dtype, **extra) -> list[facula.Tensor] | None:
    """The result's tensors; None where the operator refuses the dtype."""
    call, args, kwargs = sample.build(cast(dtype))
    try:
        out = call(*args, **{**kwargs, **extra})
    except NOT_BUILT:
        return None
    return tensors_in(out)


def has_out(sample: Sample) -> bool:
    """Whether the operator takes out= with the arguments of this sample."""
    call, args, kwargs = sample.build(lambda t: t.detach())
    if "out" in kwargs or sample.op in opcases.ATTRIBUTES:
        return False
    want = tensors_in(call(*args, **kwargs))
    outs = tuple(facula.empty(0, dtype=w.dtype) for w in want)
    try:
        call(*args, **kwargs, out=outs[0] if len(outs) == 1 else outs)
    except TypeError:
        return False
    return bool(outs)


def gap_of(t: facula.Tensor) -> tuple[facula.Tensor, facula.Tensor]:
    """A tensor of the same shape with gaps between its elements, and the whole of its memory."""
    whole = facula.zeros((*t.shape, 2), dtype=t.dtype)
    return whole[..., 0], whole


def check_out(sample: Sample, dtype: facula.dtype) -> int:
    want = results(sample, dtype)
    if not want:
        return 0
    call, args, kwargs = sample.build(cast(dtype))

    def into(outs: list[facula.Tensor]) -> list[facula.Tensor]:
        return tensors_in(call(*args, **kwargs, out=outs[0] if len(want) == 1 else tuple(outs)))

    empty = [facula.empty(0, dtype=w.dtype) for w in want]
    gaps = [gap_of(w) for w in want]
    for outs in (empty, [g for g, _ in gaps]):
        got = into(outs)
        for g, o, w in zip(got, outs, want, strict=True):
            assert g is o
            same(o, w)
    assert all(not whole[..., 1].any() for _, whole in gaps), "the gaps were written"
    if want[0].is_floating_point() and sample.op not in FOLLOWS:
        with pytest.raises(RuntimeError, match="cast|to have dtype|does not match dtype"):
            into([facula.empty(w.shape, dtype=facula.int8) for w in want])
    return 2 * len(want)


def in_place(op: str):
    return getattr(facula.Tensor, op + "_", None) if "." not in op else None


def check_in_place(sample: Sample, dtype: facula.dtype, change) -> int:
    method = in_place(sample.op)
    want = results(sample, dtype)
    if not want or len(want) != 1:
        return 0
    _, args, kwargs = sample.build(cast(dtype))
    if not args or not isinstance(args[0], facula.Tensor) or "out" in kwargs:
        return 0
    x = change(args[0])
    version = x._version
    if x.shape != want[0].shape or not facula.can_cast(want[0].dtype, x.dtype):
        with pytest.raises(RuntimeError):
            method(x, *args[1:], **kwargs)
        return 1
    if x.dtype != want[0].dtype:
        return 0
    got = method(x, *args[1:], **kwargs)
    assert got is x and x._version > version
    same(x, want[0])
    return 1


WITH_OUT = sorted(op for op, s in SAMPLES.items() if has_out(s[0]))
# These change the shape of self itself.
APART = {
    "squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided",
}
WITH_IN_PLACE = sorted(op for op in SAMPLES if in_place(op) and op not in APART)


@pytest.mark.parametrize("op", WITH_OUT)
def test_out(op: str, checked) -> None:
    fitting = [s for s in SAMPLES[op] if has_out(s)]
    done = sum(check_out(s, getattr(facula, d)) for s in fitting for d in DTYPES)
    checked(done)
    assert done


@pytest.mark.parametrize("op", WITH_IN_PLACE)
def test_in_place(op: str, checked) -> None:
    def plain(t: facula.Tensor) -> facula.Tensor:
        return t.clone()

    def gaps(t: facula.Tensor) -> facula.Tensor:
        room, _ = gap_of(t)
        room.copy_(t)
        return room

    done = 0
    for sample in SAMPLES[op]:
        for name in DTYPES:
            for change in (plain, gaps):
                done += check_in_place(sample, getattr(facula, name), change)
    checked(done)
    assert done


def test_there_are_enough() -> None:
    assert len(WITH_OUT) > 200 and len(WITH_IN_PLACE) > 75
