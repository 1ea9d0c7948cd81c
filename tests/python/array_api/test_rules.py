"""Rules of the standard that samples cannot show: refusals, sharing of memory, derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest

import facula
from facula import array_api as xp

# ---- refusals


@pytest.mark.parametrize(
    "error, call",
    [
        (ValueError, lambda: xp.squeeze(xp.ones((2, 1)), 0)),
        (IndexError, lambda: xp.squeeze(xp.ones((2, 1)), 2)),
        (IndexError, lambda: xp.expand_dims(xp.ones(2), axis=2)),
        (IndexError, lambda: xp.expand_dims(xp.ones(2), axis=-3)),
        (IndexError, lambda: xp.sum(xp.ones(2), axis=1)),
        (ValueError, lambda: xp.sum(xp.ones((2, 2)), axis=(0, -2))),
        (IndexError, lambda: xp.concat([xp.ones(2)], axis=1)),
        (ValueError, lambda: xp.concat([])),
        (ValueError, lambda: xp.nonzero(xp.asarray(1))),
        (ValueError, lambda: xp.cumulative_sum(xp.ones((2, 2)))),
        (ValueError, lambda: xp.take(xp.ones((2, 2)), xp.asarray([0]))),
        (ValueError, lambda: xp.take(xp.ones(2), xp.asarray([[0]]))),
        (IndexError, lambda: xp.take(xp.ones(2), xp.asarray([2]))),
        (ValueError, lambda: xp.take_along_axis(xp.ones((2, 2)), xp.asarray([0]))),
        (ValueError, lambda: xp.matmul(xp.asarray(1.0), xp.ones(2))),
        (ValueError, lambda: xp.matrix_transpose(xp.ones(2))),
        (ValueError, lambda: xp.vecdot(xp.ones(3), xp.ones(1))),
        (ValueError, lambda: xp.searchsorted(xp.ones(2), xp.ones(2), side="middle")),
        (ValueError, lambda: xp.searchsorted(xp.ones((2, 2)), xp.ones(2))),
        (ValueError, lambda: xp.meshgrid(xp.ones(2), indexing="yx")),
        (ValueError, lambda: xp.meshgrid(xp.ones(2), xp.ones(2, dtype=xp.int8))),
        (ValueError, lambda: xp.linspace(0, 1, -1)),
        (ValueError, lambda: xp.arange(0, 1, 0)),
        (ValueError, lambda: xp.isdtype(xp.int8, "whole")),
        (TypeError, lambda: xp.isdtype(xp.int8, 8)),
        (ValueError, lambda: xp.result_type(1, 2.0)),
        (TypeError, lambda: xp.result_type(xp.int8, xp.uint64)),
        (TypeError, lambda: xp.add(1, 2)),
        (TypeError, lambda: xp.add(xp.ones(1), "1")),
        (TypeError, lambda: xp.astype(xp.ones(1, dtype=xp.complex64), xp.float32)),
        (TypeError, lambda: xp.clip(xp.ones(1, dtype=xp.int8), 0.5)),
        (TypeError, lambda: xp.finfo(xp.int8)),
        (TypeError, lambda: xp.iinfo(xp.bool)),
        (OverflowError, lambda: xp.asarray(300, dtype=xp.uint8)),
        (OverflowError, lambda: xp.asarray([[1], [-1]], dtype=xp.uint64)),
        (OverflowError, lambda: xp.asarray(2**63)),
        (OverflowError, lambda: xp.full(2, 2**64, dtype=xp.uint64)),
        (OverflowError, lambda: xp.add(xp.ones(1, dtype=xp.int8), 128)),
        (ValueError, lambda: xp.asarray([1], copy=False)),
        (ValueError, lambda: xp.asarray(xp.ones(1), dtype=xp.int8, copy=False)),
        (ValueError, lambda: xp.linalg.qr(xp.ones((2, 2)), mode="r")),
        (facula.linalg.LinAlgError, lambda: xp.linalg.inv(xp.ones((2, 2)))),
        (TypeError, lambda: xp.add(x1=xp.ones(1), x2=xp.ones(1))),
        (TypeError, lambda: xp.sum(xp.ones(1), 0)),
        (TypeError, lambda: xp.linalg.trace(xp.ones((1, 1)), 0)),
        (TypeError, lambda: xp.fft.fft(xp.ones(1), 1)),
    ],
)
def test_refusals(error, call):
    with pytest.raises(error):
        call()


# ---- where the array object keeps PyTorch's rules (docs/array_api.md)


@pytest.mark.parametrize("mask", [(0,), (2, 0), (0, 3), (0, 0)])
def test_masks_have_the_sizes_that_they_stand_for(mask):
    x = xp.ones((2, 3))
    with pytest.raises(IndexError):
        x[xp.zeros(mask, dtype=xp.bool)]
    with pytest.raises(IndexError):
        x[xp.zeros(mask, dtype=xp.bool)] = 0.0
    empty = xp.ones((0, 3))
    assert empty[xp.zeros((0,), dtype=xp.bool)].shape == (0, 3)


def test_operators_let_arrays_without_dimensions_yield():
    small, wide = xp.ones(3, dtype=xp.int8), xp.asarray(2, dtype=xp.int64)
    assert (small + wide).dtype is xp.int8
    with pytest.raises(ValueError):
        small[::-1]
    assert xp.flip(xp.asarray([1, 2])).tolist() == [2, 1]


def test_quotients_of_infinities_are_those_of_python():
    infinity, one = xp.asarray(math.inf), xp.asarray(1.0)
    assert xp.isnan(infinity // one) and one // -infinity == -1
    assert xp.floor_divide(infinity, one) == math.inf
    assert math.copysign(1, xp.floor_divide(one, -infinity)) == -1


# ---- promotion


def test_arrays_without_dimensions_promote_as_others():
    small, wide = xp.ones(3, dtype=xp.int8), xp.asarray(2, dtype=xp.int64)
    assert xp.add(small, wide).dtype is xp.int64
    assert xp.where(xp.ones(3, dtype=xp.bool), small, wide).dtype is xp.int64
    assert xp.result_type(small, wide, 1) is xp.int64
    assert xp.add(xp.ones(2), xp.asarray(1.0, dtype=xp.float64)).dtype is xp.float64


def test_numbers_take_the_dtype_of_the_array():
    for dtype in (xp.int8, xp.uint64, xp.float32, xp.complex128):
        assert xp.add(xp.ones(2, dtype=dtype), 1).dtype is dtype
        assert xp.subtract(1, xp.ones(2, dtype=dtype)).dtype is dtype
    assert xp.multiply(xp.ones(2), 1j).dtype is xp.complex64
    assert xp.multiply(xp.ones(2, dtype=xp.int8), 0.5).dtype is xp.float32
    assert xp.result_type(xp.bool, 1) is xp.int64


UNSIGNED_PAIRS = [
    ("uint16", "int8", "int32"),
    ("uint32", "int32", "int64"),
    ("uint16", "uint64", "uint64"),
    ("uint32", "int64", "int64"),
]


@pytest.mark.parametrize("first, second, result", UNSIGNED_PAIRS)
def test_operators_promote_unsigned_integers(first, second, result):
    x = facula.full((2,), 7, dtype=getattr(facula, first))
    y = facula.full((2,), 3, dtype=getattr(facula, second))
    for sum_ in (x + y, y + x, xp.add(x, y)):
        assert sum_.dtype is getattr(facula, result) and sum_.tolist() == [10, 10]
    assert (x - y).tolist() == [4, 4] and (x > y).all()


def test_products_of_unsigned_matrices_wrap():
    rng = np.random.default_rng(3)
    for dtype in ("uint8", "uint16", "uint32", "uint64"):
        high = np.iinfo(dtype).max
        a = rng.integers(0, high, (3, 5), dtype, endpoint=True)
        b = rng.integers(0, high, (5, 2), dtype, endpoint=True)
        found = facula.from_numpy(a) @ facula.from_numpy(b)
        assert (found.numpy() == a @ b).all() and found.numpy().dtype == dtype
        assert facula.dot(found[:, 0], found[:, 1]).numpy() == (a @ b)[:, 0] @ (a @ b)[:, 1]


def test_large_integers_of_uint64():
    big = 2**64 - 1
    x = xp.asarray([1, big], dtype=xp.uint64)
    assert x.tolist() == [1, big] and x[1].__index__() == big and int(x[1]) == big
    assert facula.tensor(big, dtype=facula.uint64).item() == big
    assert xp.full(2, big, dtype=xp.uint64).tolist() == [big, big]
    assert xp.equal(x, big).tolist() == [False, True]
    assert xp.bitwise_and(x, 2**63).tolist() == [0, 2**63]
    assert xp.arange(2**63, 2**63 + 3, dtype=xp.uint64).tolist() == [2**63 + i for i in range(3)]
    with pytest.raises(ValueError, match="Overflow"):
        facula.tensor(big, dtype=facula.int64)


@pytest.mark.parametrize("dtype, number", [(xp.float32, 1e39), (xp.complex64, complex(1, -1e308))])
def test_numbers_beyond_a_floating_point_type_become_infinite(dtype, number):
    x = xp.ones(3, dtype=dtype)
    for found in (xp.add(x, number), x + number, xp.full(3, number, dtype=dtype),
                  xp.full_like(x, number), xp.asarray([number] * 3, dtype=dtype)):  # fmt: skip
        assert found.dtype is dtype and found.shape == (3,) and xp.all(xp.isinf(found))
    if dtype is xp.float32:
        assert xp.all(xp.less(x, number)) and xp.clip(x, -number, number).tolist() == [1, 1, 1]
        assert xp.full(2, number).tolist() == [math.inf] * 2
        just_above = math.nextafter(xp.finfo(dtype).max, math.inf)  # rounds to the largest
        assert xp.full((), just_above, dtype=dtype) == xp.finfo(dtype).max
        assert xp.all(xp.isfinite(xp.minimum(x, just_above)))


# ---- creation


def test_asarray_of_sequences_that_hold_arrays():
    x = xp.asarray([xp.asarray([1, 2]), xp.asarray([3.5, 4.0])])
    assert x.dtype is xp.float32 and x.tolist() == [[1, 2], [3.5, 4]]
    assert xp.asarray([[xp.asarray(1), 2], [3, 4]], dtype=xp.uint8).tolist() == [[1, 2], [3, 4]]
    again = xp.asarray(xp.unstack(xp.ones((2, 3))), dtype=xp.float64)
    assert again.shape == (2, 3) and again.dtype is xp.float64


def test_asarray_copies_as_told():
    x = xp.ones(3)
    assert xp.asarray(x) is x and xp.asarray(x, copy=False) is x
    y = xp.asarray(x, copy=True)
    y[0] = 5
    assert x[0] == 1
    source = np.zeros(3)
    shared, own = xp.asarray(source, copy=False), xp.asarray(source, copy=True)
    source[0] = 1
    assert shared[0] == 1 and own[0] == 0
    assert xp.asarray(memoryview(np.arange(3.0, dtype=np.float32))).tolist() == [0, 1, 2]


def test_dtypes_of_python_values():
    assert xp.asarray([True, False]).dtype is xp.bool
    assert xp.asarray([1, 2]).dtype is xp.int64 and xp.asarray([1, 2.0]).dtype is xp.float32
    assert xp.asarray([1.0, 2j]).dtype is xp.complex64
    assert xp.full(2, True).dtype is xp.bool and xp.full(2, 1j).dtype is xp.complex64
    assert xp.zeros(1).dtype is xp.float32 and xp.arange(3.0).dtype is xp.float32


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
def test_linspace_ends_where_it_should(dtype):
    largest = xp.finfo(dtype).max
    for start, stop, num in [(0.1, 0.7, 7), (-largest, largest, 5), (1e-3, 1e20, 100), (3, 3, 4)]:
        x = xp.linspace(start, stop, num, dtype=dtype)
        assert x[0] == xp.full((), start, dtype=dtype) and x[-1] == xp.full((), stop, dtype=dtype)
        assert xp.all(xp.isfinite(x))
        longer = xp.linspace(start, stop, num + 1, dtype=dtype)
        assert xp.all(longer[:-1] == xp.linspace(start, stop, num, dtype=dtype, endpoint=False))


def test_eye_far_off_the_diagonal():
    for k in (-(10**9), 10**9, 5, -5):
        assert not xp.any(xp.eye(4, 5, k=k) != 0)


# ---- views and copies


def test_astype_copies_unless_told():
    x = xp.ones(2)
    assert xp.astype(x, xp.float32, copy=False) is x
    assert xp.astype(x, xp.float32).data_ptr() != x.data_ptr()
    assert xp.astype(x, xp.float32, device="meta").is_meta


def test_reshape_copies_as_told():
    x = xp.reshape(xp.arange(6), (2, 3))
    assert xp.reshape(x, (6,)).data_ptr() == x.data_ptr()
    assert xp.reshape(x, (6,), copy=True).data_ptr() != x.data_ptr()
    turned = xp.matrix_transpose(x)
    assert xp.reshape(turned, (6,), copy=True).tolist() == [0, 3, 1, 4, 2, 5]
    with pytest.raises(ValueError, match="copy"):
        xp.reshape(turned, (6,), copy=False)


# ---- NaN


def test_limits_that_are_nan():
    assert xp.all(xp.isnan(xp.clip(xp.ones(2), math.nan)))
    assert xp.all(xp.isnan(xp.clip(xp.ones(2), None, math.nan)))
    assert xp.isnan(xp.clip(xp.asarray(math.nan), 0, 1))


def test_unique_values_keep_each_nan():
    x = xp.asarray([math.nan, 1.0, math.nan, 1.0, -0.0, 0.0])
    found = xp.unique_all(x)
    assert found.values.shape == (4,) and found.counts.tolist() == [2, 2, 1, 1]
    assert xp.unique_values(x).shape == (4,)
    assert xp.unique_values(xp.asarray([complex(math.nan, 0), 1j, 1j])).shape == (2,)


# ---- derivatives


DIFFERENTIABLE = [
    lambda x: xp.sum(xp.sin(x) * xp.exp(x), axis=0),
    lambda x: xp.prod(x, axis=(0, 1)),
    lambda x: xp.var(x, axis=1, correction=0.5),
    lambda x: xp.cumulative_sum(x, axis=1, include_initial=True),
    lambda x: xp.linalg.inv(x),
    lambda x: xp.linalg.solve(x, x[0]),
    lambda x: xp.linalg.svdvals(x),
    lambda x: xp.linalg.trace(x),
    lambda x: xp.linalg.vector_norm(x, axis=0),
    lambda x: xp.tensordot(x, x, axes=1),
    lambda x: xp.vecdot(x, x, axis=0),
    lambda x: xp.clip(x, -0.4, 0.6),
    lambda x: xp.where(x > 0, x, 2.0),
    lambda x: xp.floor_divide(x, 3.0) + xp.remainder(x, 3.0),
    lambda x: xp.sort(x, axis=0, descending=True),
    lambda x: xp.take(x, xp.asarray([0, -1]), axis=1),
    lambda x: xp.unique_values(x),
    lambda x: xp.abs(xp.fft.fftn(xp.astype(x, xp.complex128))),
    lambda x: xp.repeat(xp.roll(x, 1), 2, axis=0),
]


@pytest.mark.parametrize("number", range(len(DIFFERENTIABLE)))
def test_derivatives(number):
    x = facula.tensor(
        [[1.31, 0.27, -0.42], [0.11, -1.73, 0.35], [-0.64, 0.48, 2.17]],
        dtype=facula.float64,
        requires_grad=True,
    )
    assert facula.autograd.gradcheck(DIFFERENTIABLE[number], (x,))


def test_asarray_keeps_the_history():
    x = facula.ones(2, requires_grad=True)
    xp.sum(xp.asarray(x * 2, dtype=xp.float64)).backward()
    assert x.grad.tolist() == [2, 2]


# ---- other devices


def test_functions_of_meta_arrays():
    x = facula.ones(2, 3, device="meta")
    assert xp.add(x, 1).is_meta and xp.sum(x, axis=0).shape == (3,)
    assert xp.zeros_like(x).is_meta and xp.full((2,), 1, device="meta").is_meta


def test_solve_takes_one_dimension_for_a_vector():
    matrix = xp.reshape(xp.asarray([4.0]), (1, 1, 1))
    assert xp.linalg.solve(matrix, xp.asarray([2.0])).shape == (1, 1)
    assert xp.linalg.solve(xp.broadcast_to(xp.eye(2), (2, 2, 2)), xp.ones(2)).shape == (2, 2)
