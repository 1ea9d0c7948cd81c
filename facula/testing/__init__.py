"""Tools for tests: comparing values with tolerances, and making random tensors."""

from facula.testing.comparison import assert_allclose, assert_close
from facula.testing.creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
