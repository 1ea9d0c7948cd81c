"""Tools for tests: comparing values with tolerances, and making random tensors."""

from facula._submodules import lazy_submodules
from facula.testing.comparison import assert_allclose, assert_close
from facula.testing.creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

__getattr__ = lazy_submodules(__name__, "_internal")
