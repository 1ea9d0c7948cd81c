"""TorchVersion compares as a version with texts, tuples and its like."""

import pytest

from facula.torch_version import TorchVersion


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("2.8", "2.15.0"),
        ("2.15.0", "2.15.1"),
        ("2.15.0rc1", "2.15.0"),
        ("2.15.0a1", "2.15.0b1"),
        ("2.15.0.dev20260101", "2.15.0a0"),
        ("2.15.0", "2.15.0+cpu"),
        ("2.15.0", "2.15.0.post1"),
        ("1.13", (2,)),
        ("2.15.0", (2, 16)),
    ],
)
def test_order(low, high):
    v = TorchVersion(low)
    assert v < high and v <= high and v != high
    assert not v > high and not v >= high and not v == high
    if isinstance(high, str):
        w = TorchVersion(high)
        assert w > low and w >= low and not w < low and w > v


def test_equal_and_text():
    v = TorchVersion("2.15.0")
    assert v == "2.15" and v == (2, 15) and v >= "2.15.0" and v == TorchVersion("2.15")
    assert isinstance(v, str) and v.split(".") == ["2", "15", "0"] and hash(v) == hash("2.15.0")
    assert TorchVersion("parrot") > "coconut"
    with pytest.raises(TypeError):
        v < 3
