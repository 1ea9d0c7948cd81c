"""== and != of a tensor and a NumPy array compare elements, on either side."""

import operator

import numpy as np
import pytest

import facula


@pytest.mark.parametrize("array", [np.array([1.0, 2.0]), np.array([2, 1])[::-1], np.array(1)])
def test_arrays_are_compared_by_element(array: np.ndarray) -> None:
    t = facula.tensor([1.0, 2.0])
    want = t.numpy() == array
    for got in (t == array, array == t):
        assert isinstance(got, facula.Tensor) and got.tolist() == want.tolist()
    for got in (t != array, array != t):
        assert isinstance(got, facula.Tensor) and got.tolist() == (~want).tolist()


def test_shapes_must_fit() -> None:
    with pytest.raises(RuntimeError, match="size"):
        _ = facula.ones(2) == np.ones(3)


def test_other_comparisons_stay_refused() -> None:
    with pytest.raises(TypeError, match="not supported between"):
        _ = facula.ones(2) < np.ones(2)


@pytest.mark.parametrize(
    ("kind", "dtype", "result"),
    [
        ("float32", facula.float32, facula.float32),
        ("float64", facula.float32, facula.float64),
        ("int64", facula.int64, facula.float64),
    ],
)
def test_an_array_is_divided_by_a_tensor(
    kind: str, dtype: facula.dtype, result: facula.dtype
) -> None:
    a, t = np.array([1, 2], dtype=kind), facula.tensor([4, 8], dtype=dtype)
    for got in (a / t, operator.itruediv(a, t)):
        assert type(got) is facula.Tensor and got.dtype == result and got.tolist() == [0.25, 0.25]
    assert a.tolist() == [1, 2]
    for other in (operator.sub, operator.mul, operator.matmul, operator.pow, operator.floordiv):
        with pytest.raises(TypeError, match="unsupported operand"):
            other(a, t)
        assert type(other(t, a)) in (facula.Tensor, np.float32, np.float64, np.int64)
    with pytest.raises(RuntimeError, match="requires grad"):
        a / facula.ones(2, requires_grad=True)


def test_results_of_numpy_on_tensors() -> None:
    t = facula.tensor([1.0, 2.0])
    assert np.greater(t, 1).dtype == facula.uint8 and np.sin(t).dtype == facula.float32
