"""Any byte but 0 is true: operators give the same results whichever bytes a bool tensor holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from samples import Sample, samples, spread, tensors_in, transposed

import facula

# Results that nobody has written, or that show the bytes or the layout themselves.
UNLIKE = {"empty", "empty_like", "empty_permuted", "new_empty", "new_empty_strided", "view_as_real"}
BYTES = (255, 2, 128, 1, 254, 64)
REFUSED = (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError)

SAMPLES: dict[str, list[Sample]] = {}
for _dtype, _most in (("bool", 3), ("float32", 2), ("int64", 1)):
    for _op, _found in samples(lambda case, d=_dtype: case.get("dtype") == d, _most).items():
        if _op not in UNLIKE:
            SAMPLES.setdefault(_op, []).extend(_found)


def plain(t: facula.Tensor) -> facula.Tensor:
    """Bool in place of floating numbers; integers, which may be positions, as they are."""
    return t.detach().to(facula.bool) if t.is_floating_point() else t.detach().clone()


def odd(t: facula.Tensor) -> facula.Tensor:
    """The same tensor with other bytes for true."""
    t = plain(t)
    if t.dtype != facula.bool or t.numel() == 0:
        return t
    cycle = facula.tensor(BYTES, dtype=facula.uint8).repeat(t.numel() // len(BYTES) + 1)
    bytes_ = t.to(facula.uint8) * cycle[: t.numel()].reshape(t.shape)
    return bytes_.view(facula.bool)


def in_int64(t: facula.Tensor) -> facula.Tensor:
    """Bool without a look at how the operators read it: the bytes compared with 0."""
    return t.contiguous().view(facula.uint8).to(facula.int64).ne(0).to(facula.int64)


def same(got: Any, want: Any) -> int:
    """Compare two results and count the comparisons."""
    found, wanted = tensors_in(got), tensors_in(want)
    assert len(found) == len(wanted)
    if not wanted and not callable(want):
        assert repr(got) == repr(want)
        return 1
    for g, w in zip(found, wanted, strict=True):
        assert g.dtype == w.dtype
        assert g.shape == w.shape
        if w.dtype == facula.bool:
            g, w = in_int64(g), in_int64(w)
        facula.testing.assert_close(g, w, rtol=0, atol=0, equal_nan=True)
    return len(wanted)


def outcome(sample: Sample, change: Any) -> Any:
    """The result of a call, drawn from the same seed every time; None where bool is refused."""
    call, args, kwargs = sample.build(change)
    facula.manual_seed(0)
    try:
        return call(*args, **kwargs)
    except REFUSED:
        return None


@pytest.mark.parametrize("op", sorted(SAMPLES))
def test_bytes_agree(op: str, checked) -> None:
    done = 0
    for sample in SAMPLES[op]:
        for layout in (lambda t: t, transposed, spread):
            want = outcome(sample, lambda t, f=layout: f(plain(t)))
            if want is not None:
                done += same(outcome(sample, lambda t, f=layout: f(odd(t))), want)
    checked(done)


TRUTH = [True, False, True, True, False, True, False, True] * 20


@pytest.fixture
def flags() -> facula.Tensor:
    """160 flags whose true ones are 255, 2, 128 and so on."""
    t = odd(facula.tensor(TRUTH))
    assert set(t.view(facula.uint8).tolist()) > {0, 2, 255}
    return t


def test_python_reads(flags: facula.Tensor) -> None:
    assert flags.tolist() == TRUTH
    assert [t.item() for t in flags] == TRUTH
    assert [bool(t) for t in flags] == TRUTH
    assert [int(t) for t in flags] == [int(v) for v in TRUTH]
    assert str(flags) == str(facula.tensor(TRUTH))
    assert str(flags[:1].reshape(())) == "tensor(True)"
    assert facula.tensor([flags[0], flags[1]]).tolist() == TRUTH[:2]


@pytest.mark.parametrize(
    "dtype",
    [
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ],
)
@pytest.mark.parametrize("step", [1, 2, 3])
def test_casts(flags: facula.Tensor, dtype: str, step: int) -> None:
    want = [int(v) for v in TRUTH[::step]]
    assert flags[::step].to(getattr(facula, dtype)).tolist() == want
    assert (flags[::step] + facula.zeros(len(want), dtype=getattr(facula, dtype))).tolist() == want


def test_comparisons_meet_true(flags: facula.Tensor) -> None:
    clean = facula.tensor(TRUTH)
    assert facula.equal(flags, clean)
    for result in (
        flags == clean,
        (flags ^ clean).logical_not(),
        flags.eq(flags.clone()),
        ~flags == ~clean,
        flags.maximum(clean) == clean,
        flags.eq(True) == clean,
    ):
        assert in_int64(result).tolist() == [1] * len(TRUTH)


def test_order(flags: facula.Tensor) -> None:
    values, where = flags.sort(stable=True)
    wanted, places = facula.tensor(TRUTH).sort(stable=True)
    assert values.tolist() == wanted.tolist()
    assert where.tolist() == places.tolist()
    assert flags.argmax().item() == 0
    assert flags.unique(return_counts=True)[1].tolist() == [TRUTH.count(False), TRUTH.count(True)]
    assert flags.cumsum(0).tolist() == np.cumsum(TRUTH).tolist()
    assert flags.sum().item() == flags.count_nonzero().item() == sum(TRUTH)


def test_masks(flags: facula.Tensor) -> None:
    x = facula.arange(len(TRUTH))
    want = [i for i, v in enumerate(TRUTH) if v]
    assert x[flags].tolist() == x.masked_select(flags).tolist() == want
    assert flags.nonzero().flatten().tolist() == want
    assert facula.where(flags, x, -1).tolist() == [i if v else -1 for i, v in enumerate(TRUTH)]
    x[flags] = -1
    assert x.tolist() == [-1 if v else i for i, v in enumerate(TRUTH)]


@pytest.mark.parametrize("keys", [5, 160])
def test_attention_masks(keys: int) -> None:
    q, k = facula.randn(2, 2, 48, 16), facula.randn(2, 2, keys, 16)
    mask = facula.rand(48, keys) < 0.5
    attend = facula.nn.functional.scaled_dot_product_attention
    want = attend(q, k, k, attn_mask=mask)
    facula.testing.assert_close(attend(q, k, k, attn_mask=odd(mask)), want, rtol=0, atol=0)


def test_writes_join_with_what_is_there(flags: facula.Tensor) -> None:
    where = facula.arange(len(TRUTH))
    for name in ("sum", "prod", "amax", "amin"):
        clean = facula.tensor(TRUTH)
        got = flags.clone().scatter_reduce(0, where, flags.flip(0), name)
        want = clean.scatter_reduce(0, where, clean.flip(0), name)
        assert in_int64(got).tolist() == in_int64(want).tolist()


def test_memory_of_others() -> None:
    raw = bytes([0, 7, 0, 255, 128, 0, 1, 2])
    want = [b != 0 for b in raw]
    array = np.frombuffer(raw, dtype=np.uint8).copy().view(np.bool_)
    strange = [
        facula.frombuffer(bytearray(raw), dtype=facula.bool),
        facula.from_numpy(array),
        facula.from_dlpack(facula.frombuffer(bytearray(raw), dtype=facula.bool)),
        facula.as_tensor(array),
    ]
    for t in strange:
        assert t.tolist() == want
        assert (~t).tolist() == [not v for v in want]
        assert t.sum().item() == sum(want)
