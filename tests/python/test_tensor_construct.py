"""facula.tensor and its relatives: inferred types and shapes, copies and sharing, errors."""

import numpy as np
import pytest

import facula


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, "int64", ()), (1.5, "float32", ()), (True, "bool", ()), (1j, "complex64", ()),
        ([1, 2.5], "float32", (2,)), ([True, 2], "int64", (2,)), ([1, 2j], "complex64", (2,)),
        ([], "float32", (0,)), ([[], []], "float32", (2, 0)), ([[1, 2], [3, 4]], "int64", (2, 2)),
        (range(3), "int64", (3,)), (np.float64(1), "float64", ()),
        ([np.float64(1)], "float64", (1,)),
        ([np.float32(1)], "float32", (1,)), ([np.int32(1), 2], "int64", (2,)),
        (np.ones((2, 1), np.int16), "int16", (2, 1)), ([np.array([1.0, 2.0])], "float64", (1, 2)),
        ((1, (2.0)), "float32", (2,)),
    ],
)  # fmt: skip
def test_inference(data, dtype, shape):
    t = facula.tensor(data)
    assert t.dtype == getattr(facula, dtype) and t.shape == shape


def test_tensors_in_lists():
    assert facula.tensor([facula.tensor(1.0, dtype=facula.float64)]).dtype == facula.float64
    with pytest.raises(ValueError, match="only one element"):
        facula.tensor([facula.ones(2)])


def test_values():
    assert facula.tensor([1, -1], dtype=facula.uint8).tolist() == [1, 255]
    assert facula.tensor([1.5], dtype=facula.int32).tolist() == [1]
    assert facula.tensor(2**63, dtype=facula.uint64).item() == 2**63
    assert facula.tensor(-(2**63)).item() == -(2**63)
    assert facula.tensor(2**70, dtype=facula.float64).item() == 2.0**70
    assert facula.tensor([[1, 2], [3, 4]], dtype=facula.bfloat16).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("data", "kwargs", "error", "text"),
    [
        ([[1], [2, 3]], {}, ValueError, "expected sequence of length 1 at dim 1 .got 2."),
        ([[1], 2], {}, TypeError, "not a sequence"),
        ("a", {}, TypeError, "invalid data type 'str'"),
        (["a"], {}, ValueError, "too many dimensions 'str'"),
        (None, {}, RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, {}, RuntimeError, "Could not infer dtype of dict"),
        (2**63, {}, ValueError, "Overflow"),
        ([300], {"dtype": facula.uint8}, RuntimeError, "without overflow"),
        (1j, {"dtype": facula.float32}, TypeError, "must be real number, not complex"),
        ([float("nan")], {"dtype": facula.int32}, RuntimeError, "without overflow"),
        (float("inf"), {"dtype": facula.int64}, RuntimeError, "without overflow"),
    ],
)
def test_errors(data, kwargs, error, text):
    with pytest.raises(error, match=text):
        facula.tensor(data, **kwargs)


def test_copies_and_shares():
    a = np.zeros(3, np.float32)
    facula.tensor(a)[0] = 1.0
    assert a[0] == 0
    facula.as_tensor(a)[0] = 1.0
    assert a[0] == 1
    t = facula.zeros(2)
    assert facula.as_tensor(t) is t
    assert facula.as_tensor(t, dtype=facula.float64).dtype == facula.float64
    with pytest.warns(UserWarning, match="copy construct"):
        assert facula.tensor(t).data_ptr() != t.data_ptr()


def test_asarray():
    a = np.zeros(3, np.float32)
    assert facula.asarray(a).data_ptr() == a.ctypes.data
    assert facula.asarray(a, copy=True).data_ptr() != a.ctypes.data
    with pytest.raises(ValueError, match="alias"):
        facula.asarray([1, 2], copy=False)
    assert facula.asarray([1.0], requires_grad=True).requires_grad


def test_asarray_keeps_the_history_of_a_tensor():
    x = facula.ones(2, requires_grad=True)
    y = x * 2
    for t in (x, y):
        with pytest.warns(UserWarning, match="unspecified requires_grad now defaults to"):
            assert facula.asarray(t) is t
        assert facula.asarray(t, requires_grad=True) is t
        assert not facula.asarray(t, requires_grad=False).requires_grad
        for changed in ({"dtype": facula.float64}, {"copy": True}):
            t.grad = x.grad = None
            facula.asarray(t, requires_grad=True, **changed).sum().backward()
            assert x.grad.tolist() == ([1, 1] if t is x else [2, 2])
    plain = facula.ones(2)
    assert facula.asarray(plain, requires_grad=True).requires_grad and not plain.requires_grad


def test_requires_grad():
    t = facula.tensor([1.0], requires_grad=True)
    assert t.requires_grad and t.is_leaf
    with pytest.raises(RuntimeError, match="floating point"):
        facula.tensor([1], requires_grad=True)


def test_default_dtype():
    facula.set_default_dtype(facula.float64)
    try:
        assert facula.tensor(1.0).dtype == facula.float64
        assert facula.zeros(1).dtype == facula.float64
        assert facula.tensor(1j).dtype == facula.complex128
    finally:
        facula.set_default_dtype(facula.float32)
    with pytest.raises(TypeError):
        facula.set_default_dtype(facula.int32)


def test_value_types():
    assert repr(facula.float32) == "facula.float32"
    assert facula.float is facula.float32 and facula.long is facula.int64
    assert facula.float32.itemsize == 4 and facula.float32.is_floating_point
    assert facula.complex64.is_complex and not facula.uint8.is_signed
    assert facula.complex64.to_real() == facula.float32
    d = facula.device("cpu", 0)
    assert d.type == "cpu" and d.index == 0 and str(d) == "cpu:0"
    assert repr(facula.device("cpu")) == "device(type='cpu')"
    assert facula.device(type="cpu") == facula.device("cpu")
    with pytest.raises(RuntimeError, match="foo"):
        facula.device("foo")
    s = facula.Size([1, 2])
    assert repr(s) == "facula.Size([1, 2])" and s.numel() == 2
    assert repr(s + (3,)) == "facula.Size([1, 2, 3])" and repr((3,) + s) == "facula.Size([3, 1, 2])"
    assert isinstance(s[:1], facula.Size) and s == (1, 2)
    with pytest.raises(TypeError, match="item 0 is 'str'"):
        facula.Size(["a"])


def test_infos():
    f = facula.finfo(facula.float16)
    assert (f.max, f.eps, f.tiny, f.bits) == (65504.0, 2.0**-10, 2.0**-14, 16)
    assert facula.finfo(facula.float32).max == float(np.finfo(np.float32).max)
    assert facula.iinfo(facula.int8).min == -128 and facula.iinfo(facula.uint16).max == 65535
    with pytest.raises(TypeError):
        facula.finfo(facula.int8)


def test_generator_and_seeds():
    g = facula.Generator().manual_seed(3)
    assert g.initial_seed() == 3
    state = g.get_state()
    assert state.dtype == facula.uint8 and g.set_state(state) is g
    assert facula.manual_seed(5) is facula.default_generator
    assert facula.initial_seed() == 5
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got str"):
        g.manual_seed("a")


@pytest.mark.parametrize(
    "call",
    [
        lambda: facula.zeros(1, dtype=facula.int8).fill_(300),
        lambda: facula.full((1,), 300, dtype=facula.uint8),
        lambda: facula.full_like(facula.zeros(1, dtype=facula.int8), -129),
        lambda: facula.zeros(1, dtype=facula.int16).new_full((1,), 2**15),
        lambda: facula.zeros(1).fill_(1e300),
        lambda: facula.zeros(1, dtype=facula.int32).fill_(float("nan")),
        lambda: facula.zeros(1, dtype=facula.int64).fill_(2**63),
        lambda: facula.zeros(1).fill_(1j),
        lambda: facula.zeros(1, dtype=facula.int8).masked_fill(facula.tensor([True]), 300),
        lambda: facula.zeros(1, dtype=facula.int8).index_fill(0, facula.tensor([0]), 300),
        lambda: facula.nn.functional.pad(facula.zeros(1, dtype=facula.int8), (1, 0), value=300),
        lambda: facula.zeros(1, dtype=facula.float16).fill_(1e6),
        lambda: facula.full((2,), 65520.0, dtype=facula.float16),
        lambda: facula.zeros(1, dtype=facula.uint8).fill_(-1.0),
        lambda: facula.zeros(1, dtype=facula.int64).fill_(2.0**63),
        lambda: facula.scalar_tensor(300, dtype=facula.uint8),
        lambda: facula.linspace(0, 300, 3, dtype=facula.uint8),
    ],
)
def test_numbers_that_do_not_fit_are_refused(call):
    with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
        call()


def test_numbers_at_the_edge_fit():
    assert facula.zeros(1, dtype=facula.uint8).fill_(-1).item() == 255
    assert facula.zeros(1, dtype=facula.float16).fill_(65504).item() == 65504
    assert facula.full((1,), float("inf"), dtype=facula.float16).item() == float("inf")
    assert facula.full((1,), float("inf")).item() == float("inf")
    with pytest.raises(NotImplementedError, match="two bool tensors"):
        facula.tensor([True]) - facula.tensor([True])


@pytest.mark.parametrize("value", [2**64 - 1, 2**63, 2**63 - 1, 0])
def test_integers_without_sign(value):
    for t in (facula.tensor([value], dtype=facula.uint64), facula.zeros(1, dtype=facula.uint64)):
        t[0] = value
        assert t.item() == value and t.tolist() == [value] and int(t) == value
        assert repr(t) == f"tensor([{value}], dtype=facula.uint64)" and float(t) == float(value)
    assert facula.full((1,), value, dtype=facula.uint64).item() == value
    assert facula.tensor(value * 4 + 1, dtype=facula.bool).item() is True


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (-1, OverflowError),
        (2**64, OverflowError),
        (-(2**70), OverflowError),
        (1.5, TypeError),
        (float("inf"), TypeError),
    ],
)
def test_what_no_integer_without_sign_holds(value, kind):
    for data in (value, [value], [[0], [value]]):
        with pytest.raises(kind):
            facula.tensor(data, dtype=facula.uint64)
    if kind is OverflowError:
        with pytest.raises(kind):
            facula.zeros(1, dtype=facula.uint64)[0] = value
