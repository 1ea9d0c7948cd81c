"""Wrong calls raise the type that PyTorch raises, and numbers that do not fit are refused."""

import io
import warnings
import zipfile
from pickle import UnpicklingError

import numpy
import pytest

import facula
from facula import nn, optim

HUGE = 2**70
INDEX = facula.tensor([5])
BYTES = facula.tensor([1, 2], dtype=facula.uint8)
HALF = facula.ones(2, dtype=facula.float16)
SPARSE = facula.tensor([1, 0, 2]).to_sparse()
NAN = float("nan")
PARAMETERS = [nn.Parameter(facula.ones(2))]

WRONG = {
    "cat of nothing": (ValueError, lambda: facula.cat([])),
    "cat of None": (TypeError, lambda: facula.cat(None)),
    "permute by None": (TypeError, lambda: facula.ones(2).permute(None)),
    "~ of floats": (TypeError, lambda: ~facula.ones(2)),
    "+ of bools": (NotImplementedError, lambda: +facula.tensor([True])),
    "imag of reals": (TypeError, lambda: facula.imag(facula.ones(2))),
    "size beyond 64 bits": (TypeError, lambda: facula.zeros(HUGE)),
    "shape beyond 64 bits": (TypeError, lambda: facula.zeros(2).reshape(HUGE)),
    "dim beyond 64 bits": (ValueError, lambda: facula.zeros(2).sum(HUGE)),
    "index beyond 64 bits": (ValueError, lambda: facula.zeros(2)[HUGE]),
    "type of a string": (ValueError, lambda: facula.ones(2).type("foo")),
    "type of a class": (ValueError, lambda: facula.ones(2).type(float)),
    "type of an int": (TypeError, lambda: facula.ones(2).type(3)),
    "tolist of meta": (NotImplementedError, lambda: facula.ones(2, device="meta").tolist()),
    "index_add_": (IndexError, lambda: facula.zeros(3).index_add_(0, INDEX, facula.ones(1))),
    "index_add_ of rows": (
        RuntimeError,
        lambda: facula.zeros(3, 2).index_add_(0, INDEX, facula.ones(1, 2)),
    ),
    "index_copy_": (IndexError, lambda: facula.zeros(3).index_copy_(0, INDEX, facula.ones(2))),
    "set_grad_enabled": (TypeError, lambda: facula.set_grad_enabled("a")),
    "detach": (TypeError, lambda: facula.detach(None)),
    "tensor of bytes": (TypeError, lambda: facula.tensor(b"abc")),
    "NaN as an integer": (RuntimeError, lambda: facula.tensor(NAN, dtype=facula.int8)),
    "clamp of complex": (NotImplementedError, lambda: facula.ones(2).to(facula.complex64).clamp(0)),
    "clamp of half": (RuntimeError, lambda: HALF.clamp(max=1e10)),
    "fill of half": (RuntimeError, lambda: HALF.clone().fill_(65520.0)),
    "masked_fill of half": (RuntimeError, lambda: HALF.masked_fill(HALF > 0, -1e9)),
    "fill of bfloat16": (RuntimeError, lambda: HALF.bfloat16().fill_(1e39)),
    "power that does not fit": (RuntimeError, lambda: BYTES**300),
    "float alpha": (RuntimeError, lambda: facula.add(SPARSE, SPARSE, alpha=1.5)),
    "float alpha in place": (RuntimeError, lambda: SPARSE.clone().add_(SPARSE, alpha=1.5)),
    "bool alpha": (RuntimeError, lambda: facula.add(SPARSE, SPARSE, alpha=True)),
    "step without end": (RuntimeError, lambda: facula.arange(0, 3, float("inf"))),
    "step to minus infinity": (RuntimeError, lambda: facula.arange(0, -3, -float("inf"))),
    "range without end": (RuntimeError, lambda: facula.range(0, 3, float("inf"))),
    "negative maxnorm": (RuntimeError, lambda: facula.renorm(facula.ones(2, 2), 2, 0, -1)),
    "maxnorm of NaN": (RuntimeError, lambda: facula.ones(2, 2).renorm_(2, 0, NAN)),
    "complex maxnorm": (RuntimeError, lambda: facula.renorm(facula.ones(2, 2), 2, 0, 1j)),
    "lerp of integers": (NotImplementedError, lambda: facula.lerp(BYTES, BYTES, 0.5)),
    "hardtanh of bools": (
        NotImplementedError,
        lambda: nn.functional.hardtanh(facula.tensor([True])),
    ),
    "dx that is a bool": (RuntimeError, lambda: facula.trapezoid(facula.ones(3), dx=True)),
    "complex dx": (RuntimeError, lambda: facula.cumulative_trapezoid(facula.ones(3), dx=1j)),
    "bool beta of addr": (
        RuntimeError,
        lambda: facula.addr(facula.ones(2, 2), HALF.float(), HALF.float(), beta=True),
    ),
    "avg_pool2d of a matrix": (
        IndexError,
        lambda: nn.functional.avg_pool2d(facula.ones(4, 4), 2),
    ),
    "max_pool2d of a matrix": (
        RuntimeError,
        lambda: nn.functional.max_pool2d(facula.ones(4, 4), 2),
    ),
    "unfold of a matrix": (IndexError, lambda: nn.functional.unfold(facula.ones(4, 4), 2)),
    "unfold without channels": (
        RuntimeError,
        lambda: nn.functional.unfold(facula.ones(1, 0, 4, 4), 2),
    ),
    "reduction that is None": (ValueError, lambda: nn.L1Loss(reduction=None)(HALF, HALF)),
    "reduction that is an int": (
        ValueError,
        lambda: nn.functional.mse_loss(HALF, HALF, reduction=3),
    ),
    "pixel_shuffle": (
        RuntimeError,
        lambda: nn.functional.pixel_shuffle(facula.ones(1, 4, 2, 2), 2**32),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_type_of_the_exception(case):
    kind, call = WRONG[case]
    with pytest.raises(kind) as caught:
        call()
    assert caught.type is kind and str(caught.value)
    assert facula.is_grad_enabled()


def test_bounds_beyond_the_type_bind_nothing():
    small = facula.tensor([1, 100], dtype=facula.int8)
    assert small.clamp(-1000, 200).tolist() == [1, 100]
    assert BYTES.clamp(min=-1).tolist() == [1, 2] and BYTES.clamp_min(-1).tolist() == [1, 2]
    assert small.clamp_max(HUGE >> 8).tolist() == [1, 100]
    assert small.clone().clamp_min_(-200).tolist() == [1, 100]
    for call in (small.clamp, small.clamp_min, small.clone().clamp_, small.clone().clamp_min_):
        with pytest.raises(RuntimeError, match="Clamp min value 300 is outside"):
            call(300)
    for call in (BYTES.clamp_max, BYTES.clone().clamp_max_, lambda n: BYTES.clamp(None, n)):
        with pytest.raises(RuntimeError, match="Clamp max value -1 is outside"):
            call(-1)
    assert BYTES.clone().clamp_(-5, 1).tolist() == [1, 1]
    assert BYTES.clamp(max=1.5).tolist() == [1.0, 1.5]
    assert HALF.clamp(max=float("inf")).tolist() == [1, 1]


MASK = facula.tensor([True, False])
ONES = facula.ones(2, 2, dtype=facula.int8)

NUMBERS = {
    "where": lambda n: facula.where(MASK, ONES[0], n),
    "where, first": lambda n: facula.where(MASK, n, ONES[0]),
    "Tensor.where": lambda n: ONES[0].where(MASK, n),
    "add": lambda n: facula.add(ONES, ONES, alpha=n),
    "add of a number": lambda n: facula.add(ONES, 2, alpha=n),
    "add_": lambda n: ONES.clone().add_(ONES, alpha=n),
    "sub": lambda n: facula.sub(ONES, ONES, alpha=n),
    "rsub": lambda n: facula.rsub(ONES, ONES, alpha=n),
    "addcmul": lambda n: facula.addcmul(ONES, ONES, ONES, value=n),
    "addcmul_": lambda n: ONES.clone().addcmul_(ONES, ONES, value=n),
    "threshold": lambda n: nn.functional.threshold(ONES, n, 0),
    "value of threshold": lambda n: nn.functional.threshold(ONES, 0, n),
    "hardtanh": lambda n: nn.functional.hardtanh(ONES, -1000, n),
    "addmm": lambda n: facula.addmm(ONES, ONES, ONES, alpha=n),
    "beta of addmm": lambda n: facula.addmm(ONES, ONES, ONES, beta=n),
    "addmv": lambda n: facula.addmv(ONES[0], ONES, ONES[0], alpha=n),
    "addr": lambda n: facula.addr(ONES, ONES[0], ONES[0], alpha=n),
    "beta of addr": lambda n: facula.addr(ONES, ONES[0], ONES[0], beta=n),
    "baddbmm": lambda n: facula.baddbmm(ONES[None], ONES[None], ONES[None], beta=n),
    "addbmm": lambda n: facula.addbmm(ONES, ONES[None], ONES[None], alpha=n),
    "scatter": lambda n: ONES.scatter(0, facula.tensor([[0]]), n),
    "scatter that adds": lambda n: ONES.scatter(0, facula.tensor([[0]]), n, reduce="add"),
    "index_add": lambda n: ONES.index_add(0, facula.tensor([0]), ONES[:1], alpha=n),
    "a mask": lambda n: ONES.clone().__setitem__(MASK, n),
}


@pytest.mark.parametrize("number", [300, -300, 2**40])
@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_fit_the_type_that_they_meet(case, number):
    if case == "hardtanh" and number < -1000:
        pytest.skip("bounds have an order")
    with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
        NUMBERS[case](number)
    assert (ONES == 1).all()
    if case != "hardtanh":
        NUMBERS[case](-1), NUMBERS[case](2)


def test_factors_fit_floats():
    for call in (
        lambda n: facula.add(HALF, HALF, alpha=n),
        lambda n: facula.addcdiv(HALF, HALF, HALF, value=n),
        lambda n: facula.lerp(HALF, HALF, n),
        lambda n: nn.functional.leaky_relu(HALF, n),
        lambda n: nn.functional.elu(HALF, n),
        lambda n: nn.functional.celu(HALF, n),
        lambda n: nn.functional.softplus(HALF, n),
        lambda n: nn.functional.hardshrink(HALF, n),
    ):
        for number in (1e300, 1j):
            with pytest.raises(RuntimeError):
                call(number)
        assert call(2).dtype == facula.float16
    single = facula.ones(2)
    with pytest.raises(RuntimeError, match="without overflow"):
        facula.where(MASK, single, 1e300)
    assert facula.where(MASK, single.double(), 1e300)[1] == 1e300
    assert facula.where(MASK, HALF, 2**40)[1] == float("inf")
    assert facula.nan_to_num(single * NAN, 1e300).tolist() == [float("inf")] * 2


def test_divisors_that_wrap_to_zero():
    for divide in (
        lambda n: BYTES // n,
        lambda n: BYTES % n,
        lambda n: BYTES.fmod(n),
        lambda n: BYTES.div(n, rounding_mode="trunc"),
    ):
        for number in (0, 256, -256, 2**40):
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                divide(number)
        divide(255)
    assert (BYTES.long() // 256).tolist() == [0, 0]


def test_numbers_that_lose_a_fraction_or_a_part_are_written():
    assert ONES.masked_fill(MASK, 2.5)[0].tolist() == [2, 1]
    truth = MASK.clone()
    truth[1] = 1j
    assert truth.tolist() == [True, True]
    with pytest.raises(RuntimeError):
        ONES.masked_fill(MASK, 1j)


def test_subtractions_know_no_bool():
    x = facula.ones(2)
    for call in (
        lambda: x - True,
        lambda: True - x,
        lambda: x - MASK,
        lambda: MASK - x,
        lambda: MASK - 1,
        lambda: 1.5 - MASK,
        lambda: facula.rsub(x, MASK),
        lambda: facula.subtract(x.long(), True, alpha=2),
        lambda: x.sub_(MASK),
        lambda: MASK.clone().sub_(x),
        lambda: MASK - MASK,
    ):
        with pytest.raises(NotImplementedError, match="Subtraction, the `-` operator, with"):
            call()
    assert x.tolist() == [1, 1]


def test_one_value_for_elements_that_share_memory():
    base = facula.ones(1, requires_grad=True)
    wide = (base * 1).expand(3)
    assert facula.zeros(1).expand(3).fill_(2).tolist() == [2, 2, 2]
    assert facula.ones(1).expand(3).zero_().tolist() == [0, 0, 0]
    assert facula.ones(1).expand(3).resize_(4).shape == (4,)
    assert facula.ones(1, 1).expand(3, 1).squeeze_().shape == (3,)
    for write in (lambda t: t.add_(1), lambda t: t.copy_(facula.ones(3)), lambda t: t.normal_()):
        with pytest.raises(RuntimeError, match="single memory location"):
            write(facula.zeros(1).expand(3))
    assert wide.sum() == 3


def test_writes_into_expanded_tensors_warn():
    """An element that shares its memory gets what was written to any of those that share it."""
    mask = facula.tensor([[True, False, False], [False, True, False]])
    zero, one, rows = facula.tensor([0]), facula.tensor([1]), facula.tensor([0, 1])
    columns = facula.tensor([1, 2])
    writes = {
        "masked_fill_": (lambda t: t.masked_fill_(mask, 9), [9, 9]),
        "masked_fill_ by row": (lambda t: t.masked_fill_(mask[:, 1:2], facula.tensor(9.0)), [1, 9]),
        "index_fill_": (lambda t: t.index_fill_(0, one, 9), [1, 9]),
        "index_fill_ by column": (lambda t: t.index_fill_(1, zero, facula.tensor(9.0)), [9, 9]),
        "index_put_": (lambda t: t.index_put_((zero, one), facula.tensor(9.0)), [9, 2]),
        "two values": (lambda t: t.index_put_((rows, columns), facula.tensor([8.0, 9])), [8, 9]),
        "sums": (
            lambda t: t.index_put_((zero, columns), facula.tensor([8.0, 9]), accumulate=True),
            [18, 2],
        ),
        "values under a mask": (lambda t: t.__setitem__(mask, facula.tensor([8.0, 9])), [8, 9]),
        "a number under a mask": (lambda t: t.__setitem__(mask, 9), [9, 9]),
        "a number at positions": (lambda t: t.__setitem__(zero, 9), [9, 2]),
        "a row of values": (lambda t: t.__setitem__(zero, facula.tensor([7.0, 8, 9])), [9, 2]),
    }
    for name, (write, expected) in writes.items():
        base = facula.tensor([[1.0], [2.0]])
        with pytest.warns(UserWarning, match="_ on expanded tensors is deprecated"):
            write(base.expand(2, 3))
        assert base.flatten().tolist() == expected, name
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning):
                write(base.fill_(1).expand(2, 3))
            write(facula.ones(2, 3))
        assert base.flatten().tolist() == [1, 1]
    recorded = (facula.ones(2, 1, requires_grad=True) * 1).expand(2, 3)
    with pytest.raises(RuntimeError, match="single memory location"):
        recorded.masked_fill_(mask, 9)


def test_one_number_of_another_type_under_a_mask():
    mask = facula.tensor([True, False, True])
    for value in (facula.tensor(2), facula.tensor([2.5]).double(), facula.tensor(True)):
        x = facula.zeros(3)
        x[mask] = value
        assert x.tolist() == [value.item(), 0, value.item()]
        y = facula.zeros(3, 3, dtype=facula.int64)
        y[:, mask] = value
        assert y[0].tolist() == [int(value.item()), 0, int(value.item())]
    with pytest.raises(RuntimeError):
        x[mask] = facula.tensor(1j)
    with pytest.raises(RuntimeError):
        x[facula.tensor([0, 1])] = facula.tensor(2)
    with pytest.raises(ValueError):
        x[0] = HUGE
    wide = facula.zeros(1, dtype=facula.uint64)
    wide[0] = 2**63
    assert wide.item() == 2**63


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_grid_sample_keeps_nan(mode):
    image = facula.arange(9.0).reshape(1, 1, 3, 3) + 1
    inf = float("inf")
    grid = facula.tensor([[[[NAN, 0.0], [0.0, NAN], [NAN, 1e20], [inf, 0.0], [1e20, 0.0]]]])
    out = nn.functional.grid_sample(image, grid, mode=mode, align_corners=False).flatten()
    assert out.isnan().tolist() == [True, True, True, True, False] and out[4] == 0
    volume = nn.functional.grid_sample(
        facula.ones(1, 1, 3, 3, 3), facula.full((1, 1, 1, 1, 3), NAN), align_corners=False
    )
    assert volume.isnan().all()


def test_samples_of_integers_and_of_positions_from_the_end():
    rows = facula.arange(6, dtype=facula.int32).reshape(2, 3)
    for dot in (facula.dot, facula.vdot):
        out = facula.func.vmap(dot)(rows, rows)
        assert out.dtype == facula.int32 and out.tolist() == [5, 50]
    take = facula.func.vmap(facula.take)
    assert take(rows, facula.tensor([[-1], [0]])).tolist() == [[2], [3]]
    for position in (3, -4):
        with pytest.raises(IndexError):
            take(rows, facula.tensor([[position], [0]]))


@pytest.mark.parametrize(
    "code, dtype", [("B", "uint8"), ("i", "int32"), ("d", "float64"), ("q", "int64")]
)
def test_asarray_reads_the_type_of_a_buffer(code, dtype):
    import array

    source = array.array(code, [1, 2, 3])
    t = facula.asarray(source)
    assert t.dtype == getattr(facula, dtype) and t.tolist() == [1, 2, 3]
    t[0] = 7
    assert source[0] == 7
    assert facula.asarray(memoryview(bytearray(b"abc"))).tolist() == [97, 98, 99]
    assert facula.asarray(bytearray(8), dtype=facula.float32).tolist() == [0, 0]
    with pytest.raises(ValueError):
        facula.asarray(bytearray(0))


LAYERS = {
    "no inputs": (ValueError, lambda: nn.LSTM(0, 2)),
    "negative inputs": (ValueError, lambda: nn.GRU(-1, 2)),
    "inputs of text": (TypeError, lambda: nn.RNN("a", 2)),
    "hidden of floats": (TypeError, lambda: nn.RNN(2, 1.5)),
    "softmax along text": (TypeError, lambda: nn.Softmax("a")),
    "softmax along a bool": (TypeError, lambda: nn.LogSoftmax(True)),
    "norm of 0": (ValueError, lambda: nn.LPPool1d(0, 2)),
    "pooling by the norm of 0": (
        ValueError,
        lambda: nn.functional.lp_pool2d(facula.ones(1, 1, 4, 4), 0, 2),
    ),
}


@pytest.mark.parametrize("case", LAYERS)
def test_layers_refuse_what_they_cannot_do(case):
    kind, make = LAYERS[case]
    with pytest.raises(kind) as caught:
        make()
    assert caught.type is kind and str(caught.value)
    assert nn.Softmax(None).dim is None and nn.LPPool1d(-1, 2).norm_type == -1


def checkpoint(**changes):
    """The bytes of a file of `save` with some records changed; None leaves one out."""
    saved, changed = io.BytesIO(), io.BytesIO()
    facula.save({"a": facula.ones(3)}, saved)
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = changes.get(name.rsplit("/", 1)[-1].partition(".")[0], old.read(name))
            if data is not None:
                new.writestr(name, data)
    return io.BytesIO(changed.getvalue())


FILES = {
    "no version": (RuntimeError, lambda: facula.load(checkpoint(version=None))),
    "a version that is no number": (RuntimeError, lambda: facula.load(checkpoint(version=b"x"))),
    "a version of the future": (RuntimeError, lambda: facula.load(checkpoint(version=b"99"))),
    "half a pickle": (UnpicklingError, lambda: facula.load(checkpoint(data=b"\x80\x02X\x09"))),
    "an unknown option": (TypeError, lambda: facula.load(checkpoint(), foo=1)),
    "an array of dates": (TypeError, lambda: facula.asarray(numpy.zeros(2, "M8[s]"))),
}
OPTIMISERS = {
    "alpha": (ValueError, lambda: optim.ASGD(PARAMETERS, alpha=-1.0)),
    "lambd": (ValueError, lambda: optim.ASGD(PARAMETERS, lambd=float("nan"))),
    "cyclic": (TypeError, lambda: optim.lr_scheduler.CyclicLR(None, 0.1, 0.2)),
    "one cycle": (TypeError, lambda: optim.lr_scheduler.OneCycleLR([], 0.1, total_steps=5)),
}


@pytest.mark.parametrize("case", [*FILES, *OPTIMISERS])
def test_files_and_optimisers(case):
    kind, call = {**FILES, **OPTIMISERS}[case]
    with pytest.raises(kind) as caught:
        call()
    own = kind is UnpicklingError  # there is a subclass for files that are cut short
    assert (caught.type is kind or own) and str(caught.value)
    assert facula.load(checkpoint(), encoding="utf-8")["a"].tolist() == [1, 1, 1]
    assert optim.ASGD(PARAMETERS, alpha=0, lambd=0)
