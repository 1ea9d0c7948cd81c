"""assert_close: what is close, and what the messages say."""

import numpy as np
import pytest

import facula
from facula.testing import assert_close, make_tensor

t = facula.tensor
nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        (t([1.0, 2.0]), t([1.0, 2.0 + 1e-6]), {}),
        (t([1.0]), t([2.0]), {"rtol": 0, "atol": 1.0}),
        (t([nan]), t([nan]), {"equal_nan": True}),
        (t([inf, -inf]), t([inf, -inf]), {}),
        (t([1.0]), t([1.0], dtype=facula.float64), {"check_dtype": False}),
        (t([1.0]).half(), t([1.0005]).half(), {}),
        (facula.zeros(0), facula.zeros(0), {}),
        (facula.zeros(2, 3), facula.zeros(3, 2).t(), {}),
        (1, 1, {}),
        (1.0, 1.0 + 1e-8, {}),
        (nan, nan, {"equal_nan": True}),
        (None, None, {}),
        (True, True, {}),
        ([1, {"a": t([1.0])}], [1, {"a": t([1.0])}], {}),
        ((1, 2), [1, 2], {}),
        (np.ones(2), np.ones(2), {}),
        (np.float64(1), 1.0, {}),
        (t([1.0]), facula.nn.Parameter(t([1.0])), {}),
        (facula.zeros(2, device="meta"), facula.zeros(2, device="meta"), {}),
    ],
)
def test_close(actual, expected, options):
    assert_close(actual, expected, **options)


@pytest.mark.parametrize(
    ("actual", "expected", "options", "text"),
    [
        (
            t([1.0, 2.0]),
            t([1.0, 3.0]),
            {},
            "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n"
            "Greatest absolute difference: 1.0 at index (1,) (up to 1e-05 allowed)\n"
            "Greatest relative difference: 0.3333333432674408 at index (1,) "
            "(up to 1.3e-06 allowed)",
        ),
        (
            t([[1, 2], [3, 4]]),
            t([[1, 2], [3, 6]]),
            {},
            "Tensor-likes are not equal!\n\nMismatched elements: 1 / 4 (25.0%)\n"
            "Greatest absolute difference: 2 at index (1, 1)\n"
            "Greatest relative difference: 0.3333333432674408 at index (1, 1)",
        ),
        (
            t(1.0),
            t(2.0),
            {},
            "Scalars are not close!\n\nExpected 2.0 but got 1.0.\n"
            "Absolute difference: 1.0 (up to 1e-05 allowed)\n"
            "Relative difference: 0.5 (up to 1.3e-06 allowed)",
        ),
        (1, 2, {}, "Scalars are not equal!\n\nExpected 2 but got 1.\n"
         "Absolute difference: 1\nRelative difference: 0.5"),
        (1, 1.0, {}, "The (d)types do not match: <class 'int'> != <class 'float'>."),
        (True, False, {}, "Booleans mismatch: True is not False"),
        (None, 1, {}, "None mismatch: None is not 1"),
        ([1], [1, 2], {}, "The length of the sequences mismatch: 1 != 2"),
        (
            {"a": 1},
            {"b": 1},
            {},
            "The keys of the mappings do not match:\n"
            "Missing keys in the actual mapping: ['b']\n"
            "Additional keys in the actual mapping: ['a']",
        ),
        (
            {"a": [0, 1]},
            {"a": [0, 2]},
            {},
            "Scalars are not equal!\n\nExpected 2 but got 1.\nAbsolute difference: 1\n"
            "Relative difference: 0.5\n\nThe failure occurred for item ['a'][1]",
        ),
        (t([1.0]), t([1.0]), {"check_stride": True}, None),
        (
            facula.zeros(2, 3),
            facula.zeros(3, 2).t(),
            {"check_stride": True},
            "The values for attribute 'stride()' do not match: (3, 1) != (1, 2).",
        ),
        (t([1.0]), t([2.0]), {"msg": "hello"}, "hello"),
        (t([True]), t([False]), {"msg": lambda m: m[:12]}, "Tensor-likes"),
    ],
)  # fmt: skip
def test_messages(actual, expected, options, text):
    if text is None:
        assert_close(actual, expected, **options)
        return
    with pytest.raises(AssertionError) as error:
        assert_close(actual, expected, **options)
    assert str(error.value) == text


def test_nan_differs():
    with pytest.raises(AssertionError, match="nan at index"):
        assert_close(t([nan]), t([nan]))


def test_attributes():
    for actual, expected, name in (
        (t([1.0]), t([1.0, 2.0]), "shape"),
        (t([1.0]), t([1.0], dtype=facula.float64), "dtype"),
        (t([1.0]), facula.zeros(1, device="meta"), "device"),
    ):
        with pytest.raises(AssertionError, match=f"'{name}' do not match"):
            assert_close(actual, expected)


def test_refusals():
    for actual, expected in ((t([1.0]), [1.0]), (t(1.0), 1.0), ("a", "a"), (object(), 1)):
        with pytest.raises(TypeError, match="No comparison pair"):
            assert_close(actual, expected)
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(t([1.0]), facula.nn.Parameter(t([1.0])), allow_subclasses=False)
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(1.0, 1.0, rtol=1)


@pytest.mark.parametrize(
    "dtype",
    [facula.float32, facula.bfloat16, facula.int8, facula.uint8, facula.bool, facula.complex64],
    ids=str,
)
def test_make_tensor(dtype):
    x = make_tensor(30, 4, dtype=dtype, exclude_zero=True)
    assert x.dtype == dtype and x.shape == (30, 4) and not bool((x == 0).any())
    y = make_tensor((3, 4), dtype=dtype, noncontiguous=True)
    assert not y.is_contiguous()
    if dtype not in (facula.bool, facula.complex64):
        z = make_tensor(100, dtype=dtype, low=2, high=4).to(facula.float32)
        assert 2 <= z.min().item() and z.max().item() <= 4


def test_make_tensor_gradients():
    assert make_tensor((), dtype=facula.float64, requires_grad=True).requires_grad
    with pytest.raises(ValueError, match="requires_grad"):
        make_tensor(2, dtype=facula.int64, requires_grad=True)
