"""== and != of a tensor and a NumPy array compare elements, on either side."""

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
